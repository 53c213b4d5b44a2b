"""Snippets written for training, as agents write them: short, with names and values drawn by chance."""

# ruff: noqa: E501 - a form per line says more than its length

from __future__ import annotations

import random
import re

_NAMES = "users orders items total price name city country rate result rows data value count email status day amount region product invoices sessions events config path report balance".split()  # noqa: SIM905

_SQL = [
    "SELECT {a}, {b} FROM {c} WHERE {a} > {n} ORDER BY {b} DESC LIMIT {n};",
    "SELECT COUNT(*) AS {a} FROM {c} GROUP BY {b} HAVING COUNT(*) > {n}",
    "INSERT INTO {c} ({a}, {b}) VALUES ({n}, '{b}');",
    "UPDATE {c} SET {a} = {a} + {n} WHERE id = {n};",
    "DELETE FROM {c} WHERE {a} IS NULL",
    "CREATE TABLE {c} (\n  id INTEGER PRIMARY KEY,\n  {a} TEXT NOT NULL,\n  {b} REAL\n);",
    "select t.{a}, avg(o.{b})\nfrom {c} t\njoin orders o on o.{a}_id = t.id\ngroup by t.{a}",
    "WITH x AS (\n  SELECT {a} FROM {c}\n)\nSELECT * FROM x WHERE {a} LIKE '%{b}%';",
    "DROP TABLE {c}", "SHOW TABLES", "EXPLAIN SELECT {a} FROM {c}", "DESCRIBE {c};", "ALTER TABLE {c} ADD COLUMN {a} INT;",
    "SELECT *\nFROM {c}\nWHERE {a} = '{b}' AND {b} IN (1, {n});", "CREATE INDEX idx_{a} ON {c} ({a});", "SELECT DISTINCT {a}, CASE WHEN {b} > {n} THEN 1 ELSE 0 END FROM {c};",
    "BEGIN;\nUPDATE {c} SET {a} = NULL;\nCOMMIT;", "CREATE VIEW {a} AS SELECT {b} FROM {c};", "TRUNCATE TABLE {c};", "USE {c};", "PRAGMA {a};",
]  # fmt: skip
_BASH = [
    "ls -la /{a} | grep {b}", "for f in *.{a}; do\n  echo \"$f\"\ndone", "cat {a}.txt | sort | uniq -c",
    "#!/bin/bash\nset -e\ncd /{a}\nmake {b}", "curl -s https://{a}.example/{b} | jq .{c}",
    "pip install {a} && python3 {b}.py", "git add . && git commit -m '{a}'", "export {A}=$(cat {b})",
    "if [ -f {a} ]; then\n  rm -rf {b}\nfi", "find . -name '*.{a}' -exec wc -l {{}} \\;",
    "grep -rn \"{a}\" src/ > {b}.log 2>&1", "docker run --rm -it {a} bash", "chmod +x ./{a}.sh && ./{a}.sh",
    "mkdir -p {a}/{b}\ncp -r {c}/* {a}/{b}/", "awk '{{print $1}}' {a}.csv | head -{n}", "echo ${A} >> {b}",
    "{a}=$1\nif [[ -z \"${a}\" ]]; then\n  echo \"usage: $0 {a}\" >&2\n  exit 1\nfi", "{a}() {{\n  local {b}=\"$1\"\n  echo \"${b}\"\n}}", "case \"${a}\" in\n  {b}) {c} ;;\n  *) exit {n} ;;\nesac",
    "tar -czf {a}.tar.gz {b}/", "kubectl get pods -n {a}", "npm install && npm run {a}", "for i in $(seq 1 {n}); do {a} --{b} $i; done", "{a} --{b} {n} -o {c}.txt", "{a}=\"$(basename \"${b}\")\"\nexport {A}=/opt/{b}",
    "sudo apt-get update\nsudo apt-get install -y {a}", "while read -r line; do\n  echo $line\ndone < {a}.txt",
]  # fmt: skip
_PYTHON = [
    "{a} = sum({b}[\"{c}\"] for {b} in {c}s)\nprint(f\"{{{a}:.2f}}\")", "{a} = web_search(query=\"{b} of {c}\")\nprint({a})",
    "final_answer(round({a}[\"{b}\"].mean(), {n}))", "import numpy as np\n{a} = np.zeros({n})\nprint({a}.shape)",
    "df = pd.read_csv('{a}.csv')\ndf.groupby('{b}')['{c}'].sum()", "def {a}({b}):\n    return [{c} for {c} in {b} if {c} > {n}]",
    "try:\n    {a} = {b}[{n}]\nexcept KeyError:\n    {a} = None", "with open('{a}.txt') as f:\n    {b} = f.read()",
    "{a}[\"{b}\"] = {a}[\"{c}\"] / {n}", "for {a} in range({n}):\n    print({a}, {b}[{a}])", "class {T}:\n    def __init__(self, {a}):\n        self.{a} = {a}", "{a} = [x for x in {b} if x.{c}]\nprint(len({a}))",
    "if __name__ == \"__main__\":\n    {a}()", "assert {a}({n}) == {n}", "from {a} import {b}\n\n{c} = {b}(n={n}, verbose=True)", "{a} = {{\n    \"{b}\": {n},\n    \"{c}\": [{n}, {n}],\n}}", "@{a}.route(\"/{b}\")\ndef {c}():\n    return None", "lambda x: x[\"{a}\"]",
    "while {a}:\n    {b} = {a}.pop()\n    if {b} in {c}:\n        continue", "{a} = requests.get({b}).json()\nfor {c} in {a}:\n    print({c})",
]  # fmt: skip
_JAVASCRIPT = [
    "const {a} = {b}.map((x) => x.{c});\nconsole.log({a});", "let {a} = {n};\nfor (let i = 0; i < {a}; i++) {{\n  console.log(i);\n}}",
    "function {a}({b}) {{\n  return {b} + {n};\n}}", "class {T} {{\n  constructor({b}) {{ this.{b} = {b}; }}\n  {c}() {{ return this.{b}; }}\n}}",
    "document.getElementById('{a}').onclick = () => {b}();", "const {a} = require('{b}');\nmodule.exports = {{ {a} }};",
    "Object.keys({a}).forEach((key) => console.log(key, {a}[key]));", "async function {a}() {{\n  const {b} = await fetch({c});\n  return {b}.json();\n}}",
    "console.log({a});", "import {a} from '{b}';\nexport default {c};", "const {{ {a}, {b} }} = require(\"{c}\");", "try {{\n  {a}({b});\n}} catch (err) {{\n  console.error(err);\n}}", "const [{a}, set{T}] = useState({n});\nreturn <div className=\"{b}\">{{{a}}}</div>;",
    "{a}.map(x => x.{b}).filter(Boolean)", "await page.{a}('{b}');", "app.get('/{a}', (req, res) => res.json({{ {b}: {n} }}));", "return new Promise((resolve, reject) => {{\n  setTimeout(resolve, {n});\n}});", "for (const {a} of {b}) {{\n  {c}.push(`${{{a}}}-{n}`);\n}}", "\"use strict\";\nvar {a} = exports.{b} = {n};", "if (!{a}) return null;\nswitch ({a}.type) {{\n  case '{b}':\n    return {c};\n}}", "describe('{a}', () => {{\n  it('{b}', () => {{\n    expect({c}).toBe({n});\n  }});\n}});", "delete {a}[{b}];\n{a}?.{b} ?? {n};",
    "var {a} = [{n}, {n}];\nif ({a}.length === {n}) {{ alert('{b}'); }}", "{a}.then(function ({b}) {{ console.log({b}); }});",
]  # fmt: skip
_TYPESCRIPT = [
    "interface {T} {{\n  {a}: string;\n  {b}?: number;\n}}", "const {a}: number = {n};\nlet {b}: string[] = [];",
    "function {a}({b}: number, {c}: string): boolean {{\n  return {b} > {n};\n}}",
    "export type {T} = '{a}' | '{b}';", "const {a} = ({b}: {T}): void => console.log({b});",
    "async function {a}<T>({b}: T[]): Promise<T> {{\n  return {b}[{n}] as T;\n}}",
    "class {T} {{\n  private {a}: Map<string, number> = new Map();\n  constructor(readonly {b}: string) {{}}\n}}",
    "export class {T} {{\n  constructor(private readonly {a}: {T}Service) {{}}\n\n  get(id: string): Observable<{T}> {{\n    return this.{a}.get(id);\n  }}\n}}", "const {a}: Record<string, {T}> = {{}};", "type {T}<T extends object> = {{ [K in keyof T]?: T[K] }};", "export const {a} = async ({b}: {T}[], {c} = {n}): Promise<void> => {{", "let {a} = {b} as unknown as {T};\nfor (const x of {a}!) console.log(x);",
    "abstract class {T}<T> implements {T}Like {{\n  protected abstract {a}(x: T): void;\n}}", "function {a}<K extends keyof {T}>({b}: K): {T}[K] {{", "declare module '{a}';\nnamespace {T} {{\n  export const {b} = {n};\n}}", "const {a} = new Map<string, number[]>();\nconst {b} = <T,>(x: T): T => x;",
    "enum {T} {{ {A}, B }}", "import type {{ {T} }} from './{a}';", "let {a}: {T} | undefined;",
]  # fmt: skip
_HTML = [
    "<link href=\"{a}.css\" rel=\"stylesheet\">", "<script src=\"/{a}/{b}.js\" defer></script>", "<h1>{a} {b}</h1>\n<p>{c}: {n}</p>",
    "<table>\n  <tr><th>{a}</th><th>{b}</th></tr>\n  <tr><td>{n}</td><td>{c}</td></tr>\n</table>", "<img src=\"{a}.png\" alt=\"{b}\" width=\"{n}\">",
    "<form action=\"/{a}\" method=\"post\">\n  <input name=\"{b}\" type=\"text\">\n  <button>{c}</button>\n</form>", "<meta name=\"{a}\" content=\"{b}\">",
    "<!DOCTYPE html>\n<html>\n<head><title>{a}</title></head>\n<body>\n<div id=\"{b}\">{c}</div>\n</body>\n</html>", "<script>\n  {a}({n});\n</script>",
    "<ul class=\"{a}\">\n  <li>{b}</li>\n  <li><a href=\"/{c}\">{c}</a></li>\n</ul>", "<div class=\"{a}\"><span style=\"color: red\">{b}</span></div>",
]  # fmt: skip
_PROSE = [
    "The {a} of the {b} is {n}, as the {c} shows.", "I found {n} {a} for this {b}. Let me select the next {c}.",
    "Please update the {a}, then create a {b} and delete the {c} if needed.", "- {a}: {n}\n- {b}: {n} %\n- {c}: none",
    "1. Open the {a}.\n2. Check the {b}.\n3. Return the {c}.", "Error: the {a} did not answer within {n} seconds.",
    "| {a} | {b} |\n|---|---|\n| {c} | {n} |", "Name: {a}\nCity: {b}\nTotal: {n}", "What is the {a} of {b}, and from when?",
    "While the {a} is low, for most {b} the {c} stays the same; if not, we import more.", "{T}Error: '{a}'",
    "Dear all,\n\nhere is the {a} for the {b}.\n\nBest regards", "Total ({a}): {n}.00, {b}: {n}.50",
    "Order {n} was shipped on {n} May (see {a}); the {b} is in class {A}.", "As an assistant I cannot {a} the {b}.",
]  # fmt: skip


def _filled(form: str, draw: random.Random) -> str:
    a, b, c = draw.sample(_NAMES, 3)
    values = {"a": a, "b": b, "c": c, "A": a.upper(), "T": b.title()}
    text = form.format(n="\0", **values)
    return re.sub("\0", lambda _: str(draw.choice([1, 3, 10, 42, 250, 1999])), text)


def _some(forms: list[str], draw: random.Random, join: str) -> str:
    return join.join(_filled(form, draw) for form in draw.sample(forms, draw.randint(1, 3)))


def sql(draw: random.Random) -> str:
    """Statements."""
    return _some(_SQL, draw, "\n")


def bash(draw: random.Random) -> str:
    """Commands."""
    return _some(_BASH, draw, "\n")


def python(draw: random.Random) -> str:
    """Steps of a code agent."""
    return _some(_PYTHON, draw, "\n")


def javascript(draw: random.Random) -> str:
    """Untyped statements."""
    return _some(_JAVASCRIPT, draw, "\n")


def typescript(draw: random.Random) -> str:
    """Typed declarations."""
    return _some(_TYPESCRIPT, draw, "\n")


def html(draw: random.Random) -> str:
    """Elements and small pages."""
    return _some(_HTML, draw, "\n")


def other(forms: list[str], draw: random.Random) -> str:
    """Lines of a kind of language that is not distinguished, by its forms."""
    return _some(forms, draw, "\n")


def prose(draw: random.Random) -> str:
    """Sentences, lists, tables, errors."""
    return _some(_PROSE, draw, draw.choice([" ", "\n", "\n\n"]))
