"""No bound may turn into an allow: whatever is put around a crossing, it is not allowed."""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from golden_yaml import load_golden
from hypothesis import given, settings
from hypothesis import strategies as st

from spanproof.sandbox.scanners.model import Verdict
from spanproof.sandbox.scanners.pipeline import Pipeline

_Padding = Callable[[str, int], str]
"""A snippet and how much, to the snippet with that much around it."""


def _inside(line: str, end: str = "") -> _Padding:
    """Within so many blocks, a level deeper in each."""

    def pad(text: str, count: int) -> str:
        for _ in range(min(count, 12)):
            text = f"{line}\n{textwrap.indent(text, '    ')}\n{end}"
        return text

    return pad


def _around(start: str, end: str) -> _Padding:
    def pad(text: str, count: int) -> str:
        deep = min(count, 12)
        return start * deep + text + end * deep

    return pad


def _before(line: str) -> _Padding:
    def pad(text: str, count: int) -> str:
        return "".join(line.format(n=n) + "\n" for n in range(count)) + text

    return pad


def _behind(line: str) -> _Padding:
    def pad(text: str, count: int) -> str:
        return text + "\n" + "".join(line.format(n=n) + "\n" for n in range(count))

    return pad


_PYTHON: dict[str, _Padding] = {
    "comments": _before("# line {n}"),
    "statements": _before("pad{n} = {n}"),
    "statements behind": _behind("pad{n} = {n}"),
    "texts": _before("pad{n} = 'text {n} " + "x" * 200 + "'"),
    "calls": lambda text, count: "def pad(a):\n    return a\n" + "pad(1)\n" * count + text,
    "different calls": lambda text, count: (
        "def pad(a):\n    return a\n" + "".join(f"pad({n})\n" for n in range(count)) + text
    ),
    "functions": _before("def pad{n}():\n    return {n}"),
    "dead branches": _before("if False:\n    pad = {n}"),
    "branches": _before("if len(input()) == {n}:\n    pad = {n}"),
    "loops": _before("for pad in range({n}00):\n    pad2 = pad * 2"),
    "nested loops": lambda text, count: (
        (
            "for pad in range(24):\n    for pad1 in range(24):\n        for pad2 in range(24):\n"
            "            pad3 = pad + pad1 + pad2\n" * min(count, 3)
        )
        + text
    ),
    "a list": lambda text, count: f"pad = [{', '.join(map(str, range(count)))}]\n" + text,
    "a dictionary": lambda text, count: f"pad = {{{', '.join(f'{n}: {n}' for n in range(count))}}}\n" + text,
    "conditions": _inside("if True:"),
    "unknown conditions": _inside("if len(input()) < 9:"),
    "turns": _inside("for pad in range(2):"),
    "attempts": _inside("try:", "finally:\n    pass"),
    "handlers": _inside("try:\n    raise ValueError\nexcept ValueError:"),
    "contexts": _inside("with open('pad.txt') as pad:"),
}

_BASH: dict[str, _Padding] = {
    "comments": _before("# line {n}"),
    "commands": _before("true {n}"),
    "commands behind": _behind("true {n}"),
    "variables": _before("pad{n}={n}"),
    "functions": _before("pad{n}() {{ true; }}"),
    "calls": lambda text, count: "pad() { true; }\n" + "pad 1\n" * count + text,
    "loops": _before("for pad in 1 2 3; do true; done"),
    "branches": _before('if [ "$pad" = {n} ]; then true; fi'),
    "a list": lambda text, count: f"pad=({' '.join(map(str, range(count)))})\n" + text,
    "conditions": _around("if true; then\n", "\nfi"),
    "groups": _around("{\n", "\n}"),
    "subshells": _around("( ", "\n)"),
    "turns": _around("for pad in 1 2; do\n", "\ndone"),
    "cases": _around("case x in x)\n", "\n;; esac"),
}

_JAVASCRIPT: dict[str, _Padding] = {
    "comments": _before("// line {n}"),
    "statements": _before("const pad{n} = {n};"),
    "statements behind": _behind("; var padded{n} = {n};"),
    "functions": _before("function pad{n}() {{ return {n}; }}"),
    "calls": lambda text, count: "function pad(a) { return a; }\n" + "pad(1);\n" * count + text,
    "loops": _before("for (let pad = 0; pad < {n}; pad++) {{}}"),
    "branches": _before("if (process.argv.length === {n}) {{ var pad = {n}; }}"),
    "a list": lambda text, count: f"const pads = [{', '.join(map(str, range(count)))}];\n" + text,
    "conditions": _around("if (true) {\n", "\n}"),
    "blocks": _around("{\n", "\n}"),
    "turns": _around("for (const pad of [1, 2]) {\n", "\n}"),
    "attempts": _around("try {\n", "\n} finally {}"),
}

_SQL: dict[str, _Padding] = {
    "comments": _before("-- line {n}"),
    "long comments": _before("/* line {n} */"),
    "blanks": _before("   "),
    "comments behind": _behind("-- line {n}"),
    "statements": _before("SELECT {n};"),
    "statements behind": _behind(";SELECT {n}"),
    "a list": lambda text, count: f"SELECT 1 WHERE 1 IN ({', '.join(map(str, range(count + 1)))});\n" + text,
    "unions": lambda text, count: "SELECT 0 " + "UNION ALL SELECT 1 " * count + ";\n" + text,
    "joins": lambda text, count: "SELECT * FROM a " + "JOIN a USING (b) " * min(count, 40) + ";\n" + text,
    "cases": lambda text, count: "SELECT CASE " + "WHEN a = 1 THEN 2 " * (count + 1) + "END;\n" + text,
    "parentheses": lambda text, count: (
        "SELECT " + "(" * min(count, 12) + "1" + ")" * min(count, 12) + ";\n" + text
    ),
    "subqueries": lambda text, count: _select(text, "SELECT * FROM (\n", "\n) pad", min(count, 12)),
    "expressions before": lambda text, count: _select(
        text, "WITH " + ", ".join(f"pad{n} AS (SELECT {n})" for n in range(count)) + "\n", "", 1
    ),
    "alternatives": lambda text, count: _select(text, "SELECT 1 UNION ALL " * count, "", 1),
}


def _select(text: str, start: str, end: str, count: int) -> str:
    """A query within another; what is none stays as it is."""
    query = text.strip().removesuffix(";")
    is_query = re.match(r"(?i)select\b", query) and ";" not in query and "--" not in query
    return start * count + query + end * count if is_query else text


_JINJA: Mapping[str, _Padding] = {
    "lines before": lambda text, count: "<p>line</p>\n" * count + text,
    "comments": lambda text, count: "{# a note #}\n" * count + text,
    "values": lambda text, count: "{{ row.name|e }}\n" * count + text,
    "conditions": lambda text, count: "{% if a %}" * min(count, 20) + text + "{% endif %}" * min(count, 20),
    "sets": lambda text, count: "".join(f"{{% set pad{n} = 'a' ~ {n} %}}" for n in range(count)) + text,
}


_PADDINGS: Mapping[str, Mapping[str, _Padding]] = {
    "python": _PYTHON,
    "bash": _BASH,
    "javascript": _JAVASCRIPT,
    "typescript": _JAVASCRIPT,
    "sql": _SQL,
    "jinja": _JINJA,
}

_HERE = Path(__file__).parent
_PIPELINE = Pipeline()
_CROSSINGS: dict[str, list[str]] = {}
for _path in sorted(_HERE.glob("crossings*.yaml")):
    for _language, _codes in load_golden(_path).items():
        _CROSSINGS.setdefault(_language, []).extend(_codes.values() if isinstance(_codes, dict) else _codes)
for _path in sorted(_HERE.glob("evasions*.yaml")):
    for _language, _entries in load_golden(_path).items():
        if _language != "review":
            _CROSSINGS.setdefault(_language, []).extend(entry["code"] for entry in _entries.values())


@pytest.mark.parametrize(
    ("language", "code"), [(language, code) for language, codes in _CROSSINGS.items() for code in codes]
)
def test_a_crossing_is_not_allowed(language: str, code: str) -> None:
    assert _PIPELINE.scan(language, code).verdict is not Verdict.ALLOW


@pytest.mark.parametrize("language", sorted(_CROSSINGS))
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_no_padding_turns_a_crossing_into_an_allow(language: str, data: st.DataObject) -> None:
    code = data.draw(st.sampled_from(_CROSSINGS[language]))
    names = data.draw(st.lists(st.sampled_from(sorted(_PADDINGS[language])), min_size=1, max_size=3))
    for name in names:
        code = _PADDINGS[language][name](code, data.draw(st.sampled_from([1, 7, 40, 300])))

    assert _PIPELINE.scan(language, code).verdict is not Verdict.ALLOW


_TARGET = re.compile(r"(?:/etc|/root|/var|~/|https?://|\d+\.\d+\.\d+\.\d+).*", re.DOTALL)
_COUNTS = [1, 13, 70, 500]


def _others(count: int) -> list[str]:
    return [f"{n}.csv" for n in range(count)]


class _AmongOthers(ast.NodeTransformer):
    """Puts each text that is a target behind so many others, of which the program takes the last."""

    def __init__(self, form: str, count: int) -> None:
        self._form = form
        self._count = count

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.JoinedStr:
        return node

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        if not isinstance(node.value, str) or not _TARGET.fullmatch(node.value):
            return node
        source = self._form.format(others=_others(self._count), target=node.value, last=self._count)
        return ast.parse(source, mode="eval").body


_FORMS = [
    "[*{others!r}, {target!r}][-1]",
    "[*{others!r}, {target!r}][len(input())]",
    "dict(enumerate([*{others!r}, {target!r}]))[{last}]",
    "next(iter([{target!r}, *{others!r}]))",
    "max([*{others!r}, {target!r}], key=len)",
    "({target!r} + ''.join([''] * {last}))",
    "__import__('random').choice([*{others!r}, {target!r}])",
]


@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_no_number_of_values_turns_a_crossing_into_an_allow(data: st.DataObject) -> None:
    code = data.draw(st.sampled_from(_CROSSINGS["python"]))
    try:
        tree = ast.parse(code)
    except SyntaxError:  # a notebook's magics
        return
    if _PIPELINE.scan("python", ast.unparse(tree)).verdict is Verdict.ALLOW:
        return  # its characters are the crossing, and `unparse` writes them as escapes
    form = data.draw(st.sampled_from(_FORMS))
    padded = ast.unparse(
        ast.fix_missing_locations(_AmongOthers(form, data.draw(st.sampled_from(_COUNTS))).visit(tree))
    )

    assert _PIPELINE.scan("python", padded).verdict is not Verdict.ALLOW, padded


_WORD = re.compile(r"(?<=[ \n])(?:/etc|/root|/var|https?://)[\w./-]*(?=[ \n;|)]|$)")
_TEXT = re.compile(r"""(?<=[(,=:\[ ])(["'])(?:/etc|/root|/var|https?://)[\w./-]*\1""")

_SHELL_FORMS = [
    ("pads=({others} {target})", '"${{pads[{last}]}}"'),
    ("pads=({others} {target})", '"${{pads[-1]}}"'),
    # Words that follow an option's argument do not change it.
    ("pads=({target} {others})", '"${{pads[@]}}"'),
    ("pads='{target} {others}'", "$pads"),
    ("set -- {target} {others}", '"$@"'),
    ("for pad in {others} {target}; do pads=$pad; done", "$pads"),
    ("case $pad in 1) pads={target} ;; *) pads=0.csv ;; esac", "$pads"),
    ("pads='{others} {target}'", "${{pads##* }}"),
]
"""What is put before a command, and what replaces its target."""

_SCRIPT_FORMS = [
    "[{others}, {target}][{last}]",
    "[{others}, {target}].at(-1)",
    "[{others}, {target}][Math.floor(Math.random() * 9)]",
    "[{others}].concat({target}).pop()",
    "[{others}, {target}].find((pad) => pad.length > 7)",
    "Object.values({{...[{others}], pad: {target}}})[{last}]",
    "[{others}, {target}].filter((pad) => pad.length > 7)[0]",
    "({target} + [{others}].map(() => '').join(''))",
    "(process.argv[2] ? '0.csv' : {target})",
]


@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_no_number_of_words_turns_a_crossing_into_an_allow(data: st.DataObject) -> None:
    code = data.draw(st.sampled_from([one for one in _CROSSINGS["bash"] if _WORD.search(one)]))
    before, instead = data.draw(st.sampled_from(_SHELL_FORMS))
    count = data.draw(st.sampled_from(_COUNTS))
    # The last one: the words that replace it may follow it, and would change what an option before it takes.
    target = _WORD.findall(code)[-1]
    given_words = {"others": " ".join(_others(count)), "target": target, "last": count}
    start, _, end = code.rpartition(target)
    padded = f"{before.format(**given_words)}\n{start}{instead.format(**given_words)}{end}"

    assert _PIPELINE.scan("bash", padded).verdict is not Verdict.ALLOW, padded


@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_no_number_of_items_turns_a_crossing_into_an_allow(data: st.DataObject) -> None:
    code = data.draw(st.sampled_from([one for one in _CROSSINGS["javascript"] if _TEXT.search(one)]))
    form = data.draw(st.sampled_from(_SCRIPT_FORMS))
    count = data.draw(st.sampled_from(_COUNTS))
    others = ", ".join(map(repr, _others(count)))

    def pad(found: re.Match[str]) -> str:
        """Return a text among others; one inside another text, such as a statement's, as it is."""
        before = code[: found.start()].rpartition("\n")[2]
        is_inside = before.count("'" if found[1] == '"' else '"') % 2 == 1
        return found[0] if is_inside else form.format(others=others, target=found[0], last=count)

    padded = _TEXT.sub(pad, code)

    assert _PIPELINE.scan("javascript", padded).verdict is not Verdict.ALLOW, padded
