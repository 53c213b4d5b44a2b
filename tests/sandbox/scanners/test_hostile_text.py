"""Any text gets a result, the same one each time, in bounded time."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import AbstractContextManager

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spanproof.sandbox.policy import Policy
from spanproof.sandbox.scanners import context, grammar
from spanproof.sandbox.scanners.boundary import Boundary
from spanproof.sandbox.scanners.model import Verdict
from spanproof.sandbox.scanners.pipeline import Pipeline, list_default_scanners
from spanproof.sandbox.scanners.report import Report
from spanproof.sandbox.scanners.source import Source

pytestmark = pytest.mark.load

Deadline = Callable[[float], AbstractContextManager[None]]
_PIPELINE = Pipeline()
_LANGUAGES = ["python", "bash", "sql", "javascript", "typescript", "json", "other"]
_CODE = st.sampled_from(
    ["open(", "'/etc/passwd'", ")", "\n", "    ", "import os", "os.", "system", "x = ", "def f(a):",
    "for i in ", "[", "]",
     "{", "}", "$(", "`", "\"", "'", "|", ";", "eval ", "<<EOF\n", "EOF", "SELECT ", " FROM ", "require(",
     "=>", "f'{", "}'",
     "lambda: ", "class A:", "*", "**", "\\", "\x00", "\ud800", "\u202e", "é", "if ", "else:", "return ",
     "yield ", "@", "0",
     "while ", "1 ", "and ", "${x:-", "`${", "await ", "global x", "del x", "match x:", "case ", "!ls",
     "%%", ">>> "]
)  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(language=st.sampled_from(_LANGUAGES), text=st.text(st.characters(), max_size=200))
def test_arbitrary_text_gets_a_result(language: str, text: str) -> None:
    scan = _PIPELINE.scan(language, text)

    assert scan.verdict in set(Verdict)
    assert not [finding.message for finding in scan.findings if finding.rule == "scanner_error"]


@settings(max_examples=500, deadline=None)
@given(language=st.sampled_from(_LANGUAGES[:5]), parts=st.lists(_CODE, max_size=30))
def test_text_that_looks_like_code_gets_the_same_result_twice(language: str, parts: list[str]) -> None:
    text = "".join(parts)

    first, second = _PIPELINE.scan(language, text), _PIPELINE.scan(language, text)

    assert (first.verdict, first.findings) == (second.verdict, second.findings)
    assert not [finding.message for finding in first.findings if finding.rule == "scanner_error"]
    lines = text.count("\n") + 1
    for finding in first.findings:
        assert 1 <= finding.line <= max(lines, finding.line)
        assert finding.column >= 1


_BOMBS = {
    "parentheses": "(" * 100_000,
    "balanced parentheses": "(" * 5_000 + ")" * 5_000,
    "lists": "[" * 3_000 + "]" * 3_000,
    "unary": "-" * 50_000 + "1",
    "sum": "+".join(["1"] * 20_000),
    "attributes": "a" + ".b" * 5_000,
    "calls": "f(" * 2_000 + ")" * 2_000,
    "nested ifs": "\n".join(" " * n + "if x:" for n in range(95)) + " pass",
    "else if": "if x: pass\n" + "elif x: pass\n" * 3_000,
    "lambdas": "lambda: " * 3_000 + "1",
    "doubling": "s = 'x'\n" + "s = s + s\n" * 200,
    "power": "x = 9 ** 9 ** 9 ** 9",
    "repetition": "x = 'a' * 10 ** 12",
    "format width": "x = '%1000000000d' % 1\ny = '{:>999999999}'.format('a')\nz = 'a'.ljust(10 ** 10)",
    "nested loops": "".join(" " * n + f"for v{n} in range(99):\n" for n in range(15))
    + " " * 15
    + "s = chr(v0)\n",
    "endless recursion": "def f(x):\n    return f(x + 1) + f(x + 2)\nf(0)",
    "mutual recursion": "def f(x):\n    return g(x), g(x)\ndef g(x):\n    return f(x), f(x)\nf(0)",
    "exec of itself": "s = 'exec(s)'\nexec(s)",
    "many functions": "def f0(x): return x\n"
    + "".join(f"def f{n}(x): return f{n - 1}(f{n - 1}(x))\n" for n in range(1, 60))
    + "f59(1)",
    "substitutions": "$(" * 2_000 + ")" * 2_000,
    "braces": "{a,b}" * 2_000,
    "quotes": "'" * 50_001,
    "backticks": "`" * 20_001,
    "shell loops": "for a in 1 2; do " * 200 + "ls;" + " done;" * 200,
    "shell recursion": "f() { f; f; }; f",
    "shell doubling": "s=x\n" + "s=$s$s\n" * 200,
    "sql nesting": "SELECT " * 300 + "1",
    "sql parentheses": "SELECT " + "(" * 3_000 + "1" + ")" * 3_000,
    "arrow functions": "x => " * 2_000 + "1",
    "template": "`${" * 500 + "1" + "}`" * 500,
    "zip bomb": "import zlib, base64\nexec(zlib.decompress(base64.b64decode('" + "eJw" * 100 + "')))",
    "lone surrogates": "x = '\ud800'\n\udfff = 1",
    "NUL bytes": "print(1)\x00\nopen('/etc/passwd')\x00",
}


@pytest.mark.parametrize("language", ["python", "bash", "sql", "javascript"])
@pytest.mark.parametrize("bomb", _BOMBS.values(), ids=_BOMBS.keys())
def test_a_bomb_gets_a_result(language: str, bomb: str, deadline: Deadline) -> None:
    with deadline(60):
        assert _PIPELINE.scan(language, bomb).verdict in set(Verdict)


_REPEATED = {
    "names of names": "token_0 = input()\n"
    + "".join(f"token_{n} = [{f'token_{n - 1}, ' * 200}]\n" for n in range(1, 12))
    + "open(token_11)\nopen('a' + token_11)\n",
    "one large text again and again": "s = 'ab' * 100_000\n" + "t = s.upper() + s[::-1]\n" * 3_000,
    "lists of lists": "a_0 = [1]\n"
    + "".join(f"a_{n} = [{f'a_{n - 1}, ' * 300}]\n" for n in range(1, 7))
    + "".join(f"print(sum(a_{n}), sorted(a_{n}))\n" for n in range(7)),
    "a list that doubles": "x = [1]\n" + "x = x + x\n" * 40 + "x = [*x, *x]\n" * 40,
    "secrets side by side": ("token = '" + "gh" + "p_" + "a8Xk29dLqPz0Wm3v7TnB5cR1yE4uHs6gJf2Q" + "'\n")
    * 20_000,
    "statements built from one text": "q = 'SELECT ' + "
    + " + ".join(["x"] * 500)
    + "\n"
    + "cur.execute(q)\n" * 20_000,
    "secrets returned": "t = [" + "1, " * 20_000 + "]\ndef token():\n" + "    return t\n" * 20_000,
}


@pytest.mark.parametrize("bomb", _REPEATED.values(), ids=_REPEATED.keys())
def test_what_is_used_many_times_is_looked_at_a_bounded_number_of_times(
    bomb: str, deadline: Deadline
) -> None:
    with deadline(60):
        scan = _PIPELINE.scan("python", bomb)

    assert "scanner_error" not in {finding.rule for finding in scan.findings}


@pytest.mark.parametrize("language", ["python", "bash", "sql", "javascript", "json"])
@pytest.mark.parametrize(
    "line",
    ["a" * 10_000_000, "x = '" + "a" * 1_900_000 + "'", "# " + "é" * 1_000_000],
    ids=["10 MB", "2 MB", "comment"],
)
def test_a_very_long_line_gets_a_result(language: str, line: str, deadline: Deadline) -> None:
    with deadline(60):
        assert _PIPELINE.scan(language, line).verdict in set(Verdict)


_TEXTS_THAT_MAKE_PATTERNS_BACKTRACK = {
    "names": "token_" * 30_000,
    "names and blanks": ("api_key" + " " * 50) * 3_000,
    "dashes": "sk-" * 60_000,
    "dots": "eyJ" + "a" * 2_000 + ("." + "eyJ" + "a" * 2_000) * 60,
    "urls": "http://" * 30_000,
    "at signs": "https://" + "a@" * 80_000,
    "quotes": "'" + "A1b2" * 40_000,
    "equals": "secret=" * 30_000,
    "letters": "é" * 150_000,
    "private keys": "-----BEGIN " * 20_000,
}


@pytest.mark.parametrize(
    "text", _TEXTS_THAT_MAKE_PATTERNS_BACKTRACK.values(), ids=_TEXTS_THAT_MAKE_PATTERNS_BACKTRACK.keys()
)
def test_no_pattern_backtracks_without_end(text: str, deadline: Deadline) -> None:
    # Linear patterns take a tenth of a second here; a quadratic one would take minutes.
    with deadline(60):
        _PIPELINE.scan("text", text)


_BLOCKS = {
    "python": "def mean_{n}(rows):\n    t = sum(r['v'] for r in rows)\n    if t:\n        print(t)\n",
    "bash": "sort data_{n}.csv | uniq > out_{n}.txt\nif [ -f out_{n}.txt ]; then x_{n}=1; else y=2; fi\n",
    "javascript": "function mean_{n}(x) {{ if (x) {{ return x.reduce((a, b) => a + b.v, {n}); }} }}\n",
    "sql": "SELECT a_{n}, SUM(b) FROM t_{n} WHERE c > {n} GROUP BY a_{n};\n",
}


@pytest.mark.parametrize("language", _BLOCKS)
def test_a_large_program_is_read_to_its_end(language: str, deadline: Deadline) -> None:
    source = "".join(_BLOCKS[language].format(n=n) for n in range(1_600))
    # How the time grows with the size is for `tests/bench/scanners.py --sizes` to show.
    with deadline(60):
        assert _PIPELINE.scan(language, source).verdict in {Verdict.ALLOW, Verdict.REVIEW}


_OWN = {scanner.name: scanner for scanner in list_default_scanners()}
_CODE_OF = {
    "python": ("python", "x = [str(n) for n in range(9)]\n"),
    "weaknesses": ("python", "x = hashlib.sha256(b'a')\n"),
    "shell": ("bash", "sort a.csv | uniq > b.csv\n"),
    "sql": ("sql", "SELECT a FROM t;\n"),
    "javascript": ("javascript", "const x = [1].map(n => n + 1);\n"),
}


@pytest.mark.parametrize(("name", "code"), _CODE_OF.items(), ids=_CODE_OF.keys())
def test_a_scanner_stops_at_work_when_its_time_is_up(
    name: str, code: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    looks: list[float] = []

    def clock() -> float:
        looks.append(0.0 if len(looks) < 3 else 9.0)
        return looks[-1]

    monkeypatch.setattr(context, "clock", clock)
    monkeypatch.setattr(grammar, "_limit", math.inf)
    given = context.Context(Boundary(Policy()), Report(), deadline=1.0)

    with pytest.raises(context.OutOfTime):
        _OWN[name].scan(given, Source(code[0], code[1] * 2_000))

    assert len(looks) == 4


def test_no_character_ends_the_process() -> None:
    # The grammar's scanner read outside a table for these, and the process was gone.
    for code in range(0x100, 0x110000, 0x1F3):
        text = f"\n{chr(code)}{{{chr(code)}x(y)\n$({chr(code)} <<{chr(code)}\n{chr(code)}"
        assert _PIPELINE.scan("bash", text).verdict in set(Verdict)
