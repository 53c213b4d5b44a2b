"""Forms of the languages that Spanproof does not distinguish, by kinds that look alike.

A kind of its own for each lets a linear model distinguish Rust from TypeScript and PHP from JavaScript; all of them
count as `other`. `{a}`, `{b}`, `{c}` are names, `{A}` and `{T}` the same in capitals and as a title, `{n}` a number.
"""

# ruff: noqa: E501 - a form per line says more than its length

from __future__ import annotations

JAVA = [
    "public class {T} {{\n    private int {a};\n    public static void main(String[] args) {{\n        System.out.println({n});\n    }}\n}}",
    "import java.util.*;\nList<String> {a} = new ArrayList<>();\n{a}.add(\"{b}\");", "private static final int {A} = {n};",
    "for (int i = 0; i < {a}.length; i++) {{\n    {b} += {a}[i];\n}}", "public int get{T}() {{\n    return this.{a};\n}}",
    "Map<String, Integer> {a} = new HashMap<>();\nfor (String {b} : {c}) {{\n    {a}.merge({b}, 1, Integer::sum);\n}}",
    "@Override\npublic String toString() {{\n    return \"{T}\" + {a};\n}}", "if ({a} == null) {{\n    throw new IllegalArgumentException(\"{b}\");\n}}",
    "int {a} = {n};\nwhile ({a} > 0) {{\n    {a} /= {n};\n}}\nreturn {b};", "try {{\n    {a}.close();\n}} catch (IOException e) {{\n    {b}.printStackTrace();\n}}",
    "return {a}.stream().filter(x -> x.get{T}() > {n}).collect(Collectors.toList());", "@Test\nvoid {a}{T}() {{\n    assertEquals({n}, {b}.{c}());\n}}",
    "record {T}(String {a}, int {b}) {{}}", "protected boolean {a}(final {T} {b}) {{", "switch ({a}) {{\n    case {n}:\n        return {b};\n    default:\n        break;\n}}",
    # C#
    "using System;\nusing System.Linq;\n\nnamespace {T}s\n{{\n    public class {T}\n    {{\n        public string {b} {{ get; set; }}\n    }}\n}}",
    "Console.WriteLine($\"{{{a}}}: {{{b}}}\");", "var {a} = {b}.Where(x => x.{T} > {n}).Select(x => x.{T}).ToList();", "foreach (var {a} in {b})\n{{\n    {c}.Add({a});\n}}",
    "public async Task<{T}> Get{T}Async(int id)\n{{\n    return await _{a}.FindAsync(id);\n}}", "string {a} = \"{b}\";\nint[] {c} = new int[{n}];",
    # Kotlin, Scala, Swift, Dart
    "fun {a}({b}: Int): String {{\n    val {c} = {n}\n    return \"${c}\"\n}}", "data class {T}(val {a}: String, val {b}: Int)", "val {a} = listOf({n}, {n}).map {{ it * {n} }}\nprintln({a})",
    "object {T} extends App {{\n  val {a} = List({n})\n  println({a}.sum)\n}}", "case class {T}({a}: Int, {b}: String)\ndef {c}(x: Int): Int = x * {n}",
    "let {a} = {b}.filter {{ $0 > {n} }}\nprint({a})", "guard let {a} = {b} else {{\n    return nil\n}}", "func {a}(_ {b}: Int) -> String {{\n    var {c}: [Int] = []\n    return \"\\({c})\"\n}}",
    "struct {T}: View {{\n    @State private var {a} = {n}\n    var body: some View {{ Text(\"{b}\") }}\n}}", "void main() {{\n  final {a} = <String>[];\n  print({a}.length);\n}}",
]  # fmt: skip

C = [
    "std::vector<int> {a};\nstd::cout << {a}.size() << std::endl;", "#include <{a}>\nusing namespace std;\nint main() {{\n    cout << {n} << endl;\n    return 0;\n}}",
    "#include <stdio.h>\n\nint main(void) {{\n    printf(\"%d\\n\", {n});\n    return 0;\n}}", "int {a}(int {b}, int {c}) {{\n    return {b} > {c} ? {b} : {c};\n}}",
    "struct {a} {{\n    int {b};\n    char *{c};\n}};", "static int {a}(const char *{b}, size_t len)\n{{\n    if (!{b})\n        return -1;\n    return 0;\n}}",
    "template <typename T>\nclass {T} {{\npublic:\n    explicit {T}(T {a}) : {a}_({a}) {{}}\nprivate:\n    T {a}_;\n}};", "auto {a} = std::make_unique<{T}>({n});",
    "for (auto& {a} : {b}) {{\n    {c}.push_back({a});\n}}", "for (int i = 0; i < {n}; ++i) {{\n    {a}[i] = {b}[i] * {n};\n}}", "unordered_map<string, int> {a};\n{a}[\"{b}\"]++;",
    "vector<int> {a}(vector<int>& {b}, int {c}) {{\n    sort({b}.begin(), {b}.end());\n    return {b};\n}}", "#define {A} {n}\n#ifdef {A}_H\n#endif", "typedef struct {{\n    double {a};\n}} {b}_t;",
    "char *{a} = malloc({n});\nmemset({a}, 0, {n});\nfree({a});", "if (fp == NULL) {{\n    perror(\"{a}\");\n    exit(1);\n}}", "{a}->{b} = {c}->{b};\n{a}->next = NULL;",
    "namespace {a} {{\nvoid {b}(const std::string& {c});\n}}  // namespace {a}", "void {T}::{a}() const {{\n  return {b}_;\n}}", "bool {a}(string {b}) {{\n    int {c} = {b}.length();\n    return {c} % 2 == 0;\n}}",
    "long long {a}(vector<long> {b}) {{\n    long long {c} = 0;\n    for (auto x : {b}) {c} += x;\n    return {c};\n}}", "unsigned int {a} = 0x{n}u;", "extern int {a}(void *{b}, const void *{c});",
]  # fmt: skip

GO = [
    "package main\n\nimport \"fmt\"\n\nfunc main() {{\n\tfmt.Println(\"{a}\", {n})\n}}", "func {a}({b} int) string {{\n\treturn strconv.Itoa({b})\n}}", "if err != nil {{\n\treturn nil, err\n}}",
    "for i, {a} := range {b} {{\n\t{c} += {a}\n}}", "{a}, err := {b}.{T}({c})\nif err != nil {{\n\tlog.Fatal(err)\n}}", "type {T} struct {{\n\t{T} string `json:\"{a}\"`\n\t{b}  int\n}}",
    "func (s *{T}) Get{T}() int {{\n\ts.mu.Lock()\n\tdefer s.mu.Unlock()\n\treturn s.{a}\n}}", "{a} := make(map[string]int)\n{a}[\"{b}\"]++", "var {a} []int\n{a} = append({a}, {n})", "go func() {{\n\t{a} <- {b}\n}}()",
    "switch {{\ncase {a} > {n}:\n\treturn {b}\ndefault:\n\treturn nil\n}}", "const (\n\t{T} = iota\n\t{A}\n)", "import (\n\t\"fmt\"\n\t\"os\"\n)", "func Test{T}(t *testing.T) {{\n\tif got := {a}({n}); got != {n} {{\n\t\tt.Errorf(\"got %d\", got)\n\t}}\n}}",
    "type {T} interface {{\n\t{T}({a} []byte) (int, error)\n}}", "select {{\ncase {a} := <-{b}:\ncase <-ctx.Done():\n}}",
]  # fmt: skip

RUST = [
    "fn {a}({b}: &str) -> i32 {{\n    let mut {c} = {n};\n    println!(\"{{}}\", {c});\n    {c}\n}}", "use std::collections::HashMap;\nlet {a}: Vec<u32> = vec![{n}];", "impl {T} {{\n    pub fn new({a}: u32) -> Self {{\n        Self {{ {a} }}\n    }}\n}}",
    "let {a}: f64 = {b}.iter().map(|x| x.{c}).sum();", "match {a} {{\n    Some({b}) => {b},\n    None => return Err({T}::Missing),\n}}", "#[derive(Debug, Clone)]\npub struct {T} {{\n    pub {a}: String,\n    {b}: Option<u64>,\n}}",
    "pub enum {T} {{\n    {A}(u8),\n    Other {{ {b}: String }},\n}}", "fn main() -> Result<(), Box<dyn Error>> {{\n    let {a} = fs::read_to_string(\"{b}\")?;\n    Ok(())\n}}", "if let Some({a}) = {b}.get(&{c}) {{\n    {a}.push({n});\n}}",
    "for {a} in {b}.iter_mut() {{\n    *{a} += {n};\n}}", "impl<'a, T> Iterator for {T}<'a, T> {{\n    type Item = &'a T;\n    fn next(&mut self) -> Option<Self::Item> {{", "let {a} = {b}\n    .into_iter()\n    .filter(|&x| x > {n})\n    .collect::<Vec<_>>();",
    "#[test]\nfn {a}_{b}() {{\n    assert_eq!({c}({n}), {n});\n}}", "let {a} = match {b}.parse::<u32>() {{\n    Ok(v) => v,\n    Err(e) => panic!(\"{{e}}\"),\n}};", "pub mod {a};\nmod {b};", "unsafe {{ *{a}.add({n}) }}", "while let Some({a}) = {b}.pop() {{", "static {A}: &[u8] = b\"{b}\";",
]  # fmt: skip

PHP = [
    "<?php\n${a} = {n};\necho ${a};\nforeach (${b} as ${c}) {{\n    print(${c});\n}}", "function {a}(${b}, ${c}) {{\n    return ${b} + ${c};\n}}", "${a} = array_map(function (${b}) {{ return ${b} * {n}; }}, ${c});", "class {T} extends Model\n{{\n    protected ${a} = [];\n    public function {b}(): array\n    {{\n        return $this->{a};\n    }}\n}}",
    "if (isset(${a}['{b}'])) {{\n    ${c} = ${a}['{b}'];\n}}", "for (${a} = 0; ${a} < count(${b}); ${a}++) {{\n    ${c}[] = ${b}[${a}];\n}}", "namespace App\\{T};\n\nuse App\\Models\\{T};", "echo json_encode(['{a}' => ${b}]);", "function {a}(array ${b}): int {{\n    return array_sum(${b});\n}}",
    "public function __construct(private string ${a}) {{}}", "return ${a}->{b}(${c})->get();", "${a} = preg_replace('/\\s+/', ' ', ${b});\n${c} = strlen(${a});", "$sql = \"SELECT * FROM {a} WHERE id = ?\";\n$stmt = $pdo->prepare($sql);",
]  # fmt: skip

SCRIPT = [
    "def {a}({b})\n  {b}.map {{ |x| x + {n} }}\nend", "class {T}\n  attr_reader :{a}, :{b}\n\n  def initialize({a})\n    @{a} = {a}\n  end\nend", "{a}.each do |{b}|\n  puts {b}\nend", "require '{a}'\nputs \"#{{{b}}} {c}\"", "unless {a}.nil?\n  {b} << {a}\nend", "has_many :{a}\nvalidates :{b}, presence: true",
    "local {a} = {{}}\nfor i = 1, {n} do\n  {a}[i] = i * {n}\nend", "function {a}({b})\n  return {b} + {n}\nend", "if {a} == nil then\n  print(\"{b}\")\nend", "local {a} = require(\"{b}\")", "my ${a} = shift;\nmy @{b} = map {{ $_ * {n} }} @{c};", "use strict;\nuse warnings;\nprint \"${a}\\n\";", "foreach my ${a} (sort keys %{b}) {{\n    print \"${a}\\n\";\n}}", "if (${a} =~ /^{b}\\s+(\\d+)/) {{ ${c} = $1; }}",
    "{a} <- subset({b}, {c} > {n})\nprint(mean({a}${c}))", "library({a})\nplot({b}$x, {b}${c}, main = \"{a}\")", "{a} <- function({b}, n = {n}) {{\n  {b} %>% head(n)\n}}", "for ({a} in 1:{n}) {{\n  {b}[{a}] <- {c} * {n}\n}}", "{a} <- c(1, {n})\nsummary({a}${b})", "ggplot({a}, aes(x = {b}, y = {c})) + geom_point()",
    "Get-ChildItem -Path $env:{A} | Where-Object {{ $_.Length -gt {n} }}", "param([string]${a})\nWrite-Host \"${a}\"\nforeach (${b} in ${c}) {{ Remove-Item ${b} }}", "${a} = Get-Content {b}.txt | Measure-Object -Line", "module {T} where\n{a} :: Int -> Int\n{a} x = x * {n}", "let rec {a} {b} = match {b} with\n  | [] -> 0\n  | x :: xs -> x + {a} xs", "defmodule {T} do\n  def {a}({b}), do: Enum.map({b}, &(&1 + {n}))\nend", "(defn {a} [{b}]\n  (map inc {b}))", "function {a} = {b}({c})\n  {a} = zeros({n}, 1);\nend", "using DataFrames\n{a} = [x^2 for x in 1:{n}]\nprintln({a})",
]  # fmt: skip

FILES = [
    ".{a} {{ color: #333; margin: {n}px; }}", "#{a} > .{b}:hover {{\n  display: flex;\n  padding: {n}rem;\n}}", "@media (max-width: {n}px) {{\n  .{a} {{ font-size: {n}px; }}\n}}", "body {{\n  font-family: sans-serif;\n  background: #fff;\n}}", "FROM {a}:{n}\nRUN make {b}\nCMD [\"{c}\"]", "FROM python:3.12\nWORKDIR /{a}\nCOPY {b}.txt .\nRUN pip install -r {b}.txt\nEXPOSE {n}", "{a}: {b}.o\n\tgcc -o {a} {b}.o\n\n.PHONY: clean\nclean:\n\trm -f *.o", "[{a}]\n{b} = {n}\nname = \"{c}\"", "[package]\nname = \"{a}\"\nversion = \"0.1.{n}\"\n\n[dependencies]\n{b} = \"1.0\"", "[{a}]\n{b}={c}\n{c}_max={n}\n; {a} of {b}", "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<{a}>\n  <{b} id=\"{n}\">{c}</{b}>\n</{a}>", "<{a}>\n  <{b}>{n}</{b}>\n  <{c} type=\"{a}\"/>\n</{a}>", "resource \"aws_{a}\" \"{b}\" {{\n  name = \"{c}\"\n  count = {n}\n}}", "variable \"{a}\" {{\n  type    = string\n  default = \"{b}\"\n}}", "syntax = \"proto3\";\n\nmessage {T} {{\n  string {a} = 1;\n  repeated int32 {b} = 2;\n}}", "query {T} {{\n  {a}(first: {n}) {{\n    {b}\n    {c} {{ id }}\n  }}\n}}", "type {T} {{\n  {a}: String!\n  {b}: [Int]\n}}", "diff --git a/{a}.py b/{a}.py\n--- a/{a}.py\n+++ b/{a}.py\n@@ -1,{n} +1,{n} @@\n-{b} = {n}\n+{b} = {c}", "server {{\n    listen {n};\n    location /{a} {{\n        proxy_pass http://{b};\n    }}\n}}", "cmake_minimum_required(VERSION 3.{n})\nproject({a})\nadd_executable({b} {c}.cpp)",
]  # fmt: skip

OTHER_KINDS = {"java": JAVA, "c": C, "go": GO, "rust": RUST, "php": PHP, "script": SCRIPT, "files": FILES}
