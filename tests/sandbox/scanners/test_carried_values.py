"""No bound may turn into an allow: a denied value is never allowed, whatever carries it, at any length."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spanproof.sandbox.scanners.model import Verdict
from spanproof.sandbox.scanners.pipeline import Pipeline

_PIPELINE = Pipeline()

Carrier = Callable[[str, int, str], tuple[str, str]]
"""From an expression, a size and a new name: statements, and an expression of the same value."""


def _items(form: str, count: int) -> str:
    return "".join(form.format(number) for number in range(count))


_files = partial(_items, "'f{}', ")
_more_files = partial(_items, ", 'f{}'")
_late = partial(_items, "'~{}', ")
_empty = partial(_items, "'', ")
_pairs = partial(_items, "['k{}', 'f'], ")
_keys = partial(_items, "'k{}': 'f', ")
_fields = partial(_items, "k{}: 'f', ")
_yields = partial(_items, "yield 'f{}'; ")
_PLUS, _OR, _EITHER, _REPLACE = " + ''", "'' or ", "'' || ", ".replace('~', '')"


def _cases(name: str, count: int) -> str:
    return _items(f"case {{}}: {name} = 'f'; break; ", count)


def _shell_cases(name: str, count: int) -> str:
    return _items(f"k{{}}) {name}=f;; ", count)


def _empties(name: str, count: int) -> str:
    return f"${{{name}_}}" * (count % 60)


_PYTHON: dict[str, Carrier] = {
    "assignments": lambda e, n, v: (f"{v}0 = {e}\n" + _items(f"{v}_ = {v}0\n{v}0 = {v}_\n", n), f"{v}0"),
    "list": lambda e, n, v: (f"{v} = [{_items('{}, ', n)}{e}]\n", f"{v}[-1]"),
    "list of texts": lambda e, n, v: (f"{v} = [{_files(n)}{e}]\n", f"{v}[{n}]"),
    "appended": lambda e, n, v: (
        f"{v} = []\n" + _items(f"{v}.append('f{{}}')\n", n) + f"{v}.append({e})\n",
        f"{v}[-1]",
    ),
    "dict": lambda e, n, v: (f"{v} = {{{_keys(n)}'k': {e}}}\n", f"{v}['k']"),
    "stored": lambda e, n, v: (
        f"{v} = {{}}\n" + _items(f"{v}['k{{}}'] = 'f'\n", n) + f"{v}['k'] = {e}\n",
        f"{v}['k']",
    ),
    "tuple": lambda e, n, v: (f"{v}, {v}_ = {e}, [{_items('{}, ', n)}]\n", v),
    "function": lambda e, n, v: (
        f"def {v}(a):\n" + _items("    b{} = a\n", n) + f"    return a\n{v}('a')\n",
        f"{v}({e})",
    ),
    "functions": lambda e, n, v: (
        f"def {v}0(a):\n    return a\n"
        + "".join(f"def {v}{k}(a):\n    return {v}{k - 1}(a)\n" for k in range(1, n % 40 + 1)),
        f"{v}{n % 40}({e})",
    ),
    "calls before": lambda e, n, v: (
        f"def {v}(a):\n    return a\n" + _items(f"{v}('f{{}}')\n", n),
        f"{v}({e})",
    ),
    "lambda": lambda e, n, v: (f"{v} = lambda *a, **k: a[-1]\n", f"{v}({_items('{}, ', n)}{e})"),
    "keywords": lambda e, n, v: (f"def {v}(**k):\n    return k['p']\n", f"{v}({_items('k{}=1, ', n)}p={e})"),
    "object": lambda e, n, v: (
        f"class {v.upper()}:\n    def __init__(self, p):\n"
        + _items("        self.a{} = 1\n", n)
        + f"        self.p = p\n{v} = {v.upper()}({e})\n",
        f"{v}.p",
    ),
    "loop": lambda e, n, v: (f"for {v} in [{_files(n)}{e}]:\n    pass\n", v),
    "loop that stores": lambda e, n, v: (f"{v} = 'f'\nfor i in range({n} + 1):\n    {v} = {e}\n", v),
    "while": lambda e, n, v: (f"{v} = 'f'\ni = 0\nwhile i < {n} + 1:\n    {v} = {e}\n    i += 1\n", v),
    "branches": lambda e, n, v: (
        f"{v} = 'f'\n"
        + _items(f"if unknown() == {{}}:\n    {v} = 'f'\n", n)
        + f"if unknown():\n    {v} = {e}\n",
        v,
    ),
    "elif": lambda e, n, v: (
        f"if unknown() == 'a':\n    {v} = 'f'\n"
        + _items(f"elif unknown() == {{}}:\n    {v} = 'f'\n", n % 90)
        + f"else:\n    {v} = {e}\n",
        v,
    ),
    "dead branch": lambda e, n, v: (f"{v} = {e}\nif False:\n" + _items(f"    {v} = 'f{{}}'\n", n + 1), v),
    "try": lambda e, n, v: (
        f"try:\n    {v} = {e}\n" + _items("    int('{}')\n", n) + f"except ValueError:\n    {v} = 'f'\n",
        v,
    ),
    "concatenation": lambda e, n, v: (f"{v} = {e}\n" + _items(f"{v} = {v} + ''\n", n), v),
    "plus": lambda e, n, v: ("", f"({e}{_PLUS * (n % 60)})"),
    "joined": lambda e, n, v: ("", f"''.join([{_empty(n)}{e}])"),
    "format": lambda e, n, v: (f"{v} = {e}\n", f"f'{{{v}}}'"),
    "replaced": lambda e, n, v: ("", f"({e}){_REPLACE * (n % 60)}"),
    "comprehension": lambda e, n, v: ("", f"[x for x in [{_files(n)}{e}]][-1]"),
    "generator": lambda e, n, v: (
        f"def {v}():\n" + _items("    yield 'f{}'\n", n) + f"    yield {e}\n",
        f"list({v}())[-1]",
    ),
    "next": lambda e, n, v: (f"def {v}():\n    yield {e}\n" + _items("    yield 'f{}'\n", n), f"next({v}())"),
    "walrus": lambda e, n, v: (_items("# {}\n", n), f"({v} := {e})"),
    "conditional": lambda e, n, v: ("", f"({e} if unknown() else 'f')"),
    "or": lambda e, n, v: ("", f"({_OR * (n % 60)}{e})"),
    "bytes": lambda e, n, v: (f"{v} = 'a' * {n * 1000}\n", f"({e})"),
    "sorted": lambda e, n, v: ("", f"sorted([{_late(n)}{e}])[0]"),
    "max": lambda e, n, v: ("", f"min([{_late(n)}{e}])"),
    "reduce": lambda e, n, v: ("import functools\n", f"functools.reduce(lambda a, b: b, [{_files(n)}{e}])"),
    "zip": lambda e, n, v: ("", f"list(zip([{_files(n)}{e}], range({n} + 1)))[-1][0]"),
    "map": lambda e, n, v: ("", f"list(map(str, [{_files(n)}{e}]))[-1]"),
    "split": lambda e, n, v: ("", f"('{'a ' * n}' + {e}).split()[-1]"),
    "global": lambda e, n, v: (f"{v} = 'f'\ndef {v}_set(p):\n    global {v}\n    {v} = p\n{v}_set({e})\n", v),
    "closure": lambda e, n, v: (
        f"def {v}_make(p):\n    def {v}_get():\n        return p\n    return {v}_get\n",
        f"{v}_make({e})()",
    ),
    "default": lambda e, n, v: (f"def {v}(p={e}):\n    return p\n", f"{v}()"),
    "pop": lambda e, n, v: (f"{v} = [{_files(n)}{e}]\n", f"{v}.pop()"),
    "queue": lambda e, n, v: (
        f"import collections\n{v} = collections.deque([{e}{_more_files(n)}])\n",
        f"{v}.popleft()",
    ),
    "exception": lambda e, n, v: (
        f"try:\n    raise ValueError({e})\nexcept ValueError as x:\n    {v} = x.args[0]\n",
        v,
    ),
    "partial": lambda e, n, v: ("import functools\n", f"functools.partial(str, {e})()"),
    "nested lists": lambda e, n, v: ("", f"{'[' * (n % 30)}{e}{']' * (n % 30)}{'[0]' * (n % 30)}"),
    "setattr": lambda e, n, v: (
        f"class {v.upper()}: pass\n{v} = {v.upper()}()\nsetattr({v}, 'p', {e})\n",
        f"getattr({v}, 'p')",
    ),
    "enumerate": lambda e, n, v: (f"for i, {v} in enumerate([{_files(n)}{e}]):\n    pass\n", v),
    "match": lambda e, n, v: (
        f"match {e}:\n    case 'f':\n        {v} = 'f'\n    case {v}_:\n        {v} = {v}_\n",
        v,
    ),
    "with": lambda e, n, v: (f"import contextlib\nwith contextlib.nullcontext({e}) as {v}:\n    pass\n", v),
    "dict of dicts": lambda e, n, v: (f"{v} = {{'a': {{'b': [{e}]}}}}\n", f"{v}.get('a')['b'][0]"),
    "items": lambda e, n, v: (f"for _, {v} in {{{_keys(n)}'k': {e}}}.items():\n    pass\n", v),
}

_SHELL: dict[str, Carrier] = {
    "assignments": lambda e, n, v: (f"{v}0={e}\n" + _items(f"{v}_=${v}0\n{v}0=${v}_\n", n), f"${v}0"),
    "array": lambda e, n, v: (f"{v}=({_items('f{} ', n)}{e})\n", f"${{{v}[{n}]}}"),
    "whole array": lambda e, n, v: (f"{v}=({_items('f{} ', n)}{e})\n", f"${{{v}[@]}}"),
    "loop": lambda e, n, v: (f"for {v} in {_items('f{} ', n)}{e}; do :; done\n", f"${v}"),
    "loop that stores": lambda e, n, v: (f"{v}=f\nfor i in {_items('{} ', n)}x; do {v}={e}; done\n", f"${v}"),
    "branches": lambda e, n, v: (
        f"{v}=f\n" + _items(f"if test $1 = {{}}; then {v}=f; fi\n", n) + f"if test $1; then {v}={e}; fi\n",
        f"${v}",
    ),
    "case": lambda e, n, v: (f"case $1 in {_shell_cases(v, n)}*) {v}={e};; esac\n", f"${v}"),
    "dead branch": lambda e, n, v: (
        f"{v}={e}\nif false; then\n" + _items(f"{v}=f{{}}\n", n + 1) + "fi\n",
        f"${v}",
    ),
    "function": lambda e, n, v: (
        f"{v}_f() {{ {v}=$1; }}\n" + _items(f"{v}_f f{{}}\n", n) + f"{v}_f {e}\n",
        f"${v}",
    ),
    "positions": lambda e, n, v: (
        f"{v}_f() {{ shift {n}; {v}=$1; }}\n{v}_f {_items('f{} ', n)}{e}\n",
        f"${v}",
    ),
    "substitution": lambda e, n, v: ("", f"$(echo {e})"),
    "nested substitution": lambda e, n, v: ("", f"{'$(echo ' * (n % 12)}{e}{')' * (n % 12)}"),
    "default": lambda e, n, v: (f"unset {v}\n", f"${{{v}:-{e}}}"),
    "quoted": lambda e, n, v: (f"{v}={e}\n", f'"${{{v}}}"'),
    "empty parts": lambda e, n, v: (f"{v}={e}\n{v}_=''\n", f"{_empties(v, n)}${v}"),
    "printf": lambda e, n, v: (f"printf -v {v} %s {e}\n", f"${v}"),
    "read": lambda e, n, v: (f"read -r {v} <<< {e}\n", f"${v}"),
    "eval": lambda e, n, v: (f"eval {v}={e}\n", f"${v}"),
    "set": lambda e, n, v: (f"set -- {_items('f{} ', n % 8)}{e}\n", f"${n % 8 + 1}"),
    "comments": lambda e, n, v: ("# padding\n" * n, e),
    "tail": lambda e, n, v: ("", f"$(printf '%s\\n' {_items('f{} ', n)}{e} | tail -n 1)"),
    "export": lambda e, n, v: (f"export {v}={e}\n", f"${v}"),
    "local": lambda e, n, v: (f"{v}_f() {{ local p={e}; echo $p; }}\n", f"$({v}_f)"),
    "indirect": lambda e, n, v: (f"{v}={e}\n{v}_n={v}\n", f"${{!{v}_n}}"),
    "suffix": lambda e, n, v: (f"{v}={e}{'x' * n}\n", f"${{{v}%{'x' * n}}}"),
    "while": lambda e, n, v: (f"i=0; while [ $i -le {n} ]; do {v}={e}; i=$((i + 1)); done\n", f"${v}"),
    "group": lambda e, n, v: (f"{'{ ' * (n % 20)}{v}={e}{'; }' * (n % 20)}\n", f"${v}"),
    "map": lambda e, n, v: (
        f"declare -A {v}\n" + _items(f"{v}[k{{}}]=f\n", n) + f"{v}[k]={e}\n",
        f"${{{v}[k]}}",
    ),
    "appended": lambda e, n, v: (
        f"{v}=()\n" + _items(f"{v}+=(f{{}})\n", n) + f"{v}+=({e})\n",
        f"${{{v}[{n}]}}",
    ),
}

_SCRIPT: dict[str, Carrier] = {
    "assignments": lambda e, n, v: (f"let {v} = {e}, {v}_\n" + _items(f"{v}_ = {v}; {v} = {v}_\n", n), v),
    "array": lambda e, n, v: (f"const {v} = [{_files(n)}{e}]\n", f"{v}[{n}]"),
    "at": lambda e, n, v: (f"const {v} = [{_files(n)}{e}]\n", f"{v}.at(-1)"),
    "pushed": lambda e, n, v: (
        f"const {v} = []\n" + _items(f"{v}.push('f{{}}')\n", n) + f"{v}.push({e})\n",
        f"{v}.pop()",
    ),
    "object": lambda e, n, v: (f"const {v} = {{{_fields(n)}k: {e}}}\n", f"{v}.k"),
    "stored": lambda e, n, v: (
        f"const {v} = {{}}\n" + _items(f"{v}['k{{}}'] = 'f'\n", n) + f"{v}['k'] = {e}\n",
        f"{v}.k",
    ),
    "destructured": lambda e, n, v: (f"const {{ {v} }} = {{ {v}: {e} }}\n", v),
    "function": lambda e, n, v: (
        f"function {v}(a) {{ return a }}\n" + _items(f"{v}('f{{}}')\n", n),
        f"{v}({e})",
    ),
    "arrows": lambda e, n, v: ("", f"{'(a => a)(' * (n % 12)}{e}{')' * (n % 12)}"),
    "rest": lambda e, n, v: (f"const {v} = (...a) => a[a.length - 1]\n", f"{v}({_files(n)}{e})"),
    "class": lambda e, n, v: (
        (
            f"class {v.upper()} {{ constructor(p) {{ {_items('this.a{} = 1; ', n)}this.p = p }} }}\n"
            f"const {v} = new {v.upper()}({e})\n"
        ),
        f"{v}.p",
    ),
    "loop": lambda e, n, v: (f"let {v}\nfor (const x of [{_files(n)}{e}]) {{ {v} = x }}\n", v),
    "counted loop": lambda e, n, v: (f"let {v} = 'f'\nfor (let i = 0; i <= {n}; i++) {{ {v} = {e} }}\n", v),
    "branches": lambda e, n, v: (
        f"let {v} = 'f'\n" + _items(f"if (q() === {{}}) {v} = 'f'\n", n) + f"if (q()) {v} = {e}\n",
        v,
    ),
    "switch": lambda e, n, v: (f"let {v}\nswitch (q()) {{ {_cases(v, n)}default: {v} = {e} }}\n", v),
    "dead branch": lambda e, n, v: (
        f"let {v} = {e}\nif (false) {{\n" + _items(f"{v} = 'f{{}}'\n", n + 1) + "}\n",
        v,
    ),
    "try": lambda e, n, v: (f"let {v}\ntry {{ {v} = {e} }} catch (x) {{ {v} = 'f' }}\n", v),
    "plus": lambda e, n, v: ("", f"({e}{_PLUS * (n % 60)})"),
    "template": lambda e, n, v: (f"const {v} = {e}\n", f"`${{{v}}}`"),
    "joined": lambda e, n, v: ("", f"[{_empty(n)}{e}].join('')"),
    "conditional": lambda e, n, v: ("", f"(q() ? {e} : 'f')"),
    "or": lambda e, n, v: ("", f"({_EITHER * (n % 60)}{e})"),
    "map": lambda e, n, v: ("", f"[{_files(n)}{e}].map(x => x)[{n}]"),
    "reduce": lambda e, n, v: ("", f"[{_files(n)}{e}].reduce((a, b) => b)"),
    "find": lambda e, n, v: ("", f"[{_files(n)}{e}].find(x => !x.startsWith('f'))"),
    "split": lambda e, n, v: ("", f"('{'a ' * n}' + {e}).split(' ')[{n}]"),
    "closure": lambda e, n, v: ("", f"((p) => () => p)({e})()"),
    "default": lambda e, n, v: (f"function {v}(p = {e}) {{ return p }}\n", f"{v}()"),
    "generator": lambda e, n, v: (f"function* {v}() {{ {_yields(n)}yield {e} }}\n", f"[...{v}()][{n}]"),
    "Map": lambda e, n, v: (f"const {v} = new Map([{_pairs(n)}['k', {e}]])\n", f"{v}.get('k')"),
    "set": lambda e, n, v: ("", f"[...new Set([{_files(n)}{e}])][{n}]"),
    "bind": lambda e, n, v: ("", f"((p) => p).bind(null, {e})()"),
    "values": lambda e, n, v: ("", f"Object.values({{ {_fields(n)}k: {e} }})[{n}]"),
    "exception": lambda e, n, v: (f"let {v}\ntry {{ throw {e} }} catch (x) {{ {v} = x }}\n", v),
    "forEach": lambda e, n, v: (f"let {v}\n;[{_files(n)}{e}].forEach(x => {{ {v} = x }})\n", v),
    "spread": lambda e, n, v: (f"const {v} = {{ ...{{ p: {e} }} }}\n", f"{v}.p"),
    "slice": lambda e, n, v: ("", f"({e} + '{'x' * n}').slice(0, -{n} || undefined)"),
    "comma": lambda e, n, v: ("", f"({'0, ' * (n % 60)}{e})"),
    "nested arrays": lambda e, n, v: ("", f"{'[' * (n % 30)}{e}{']' * (n % 30)}{'[0]' * (n % 30)}"),
}

_CODE = """"open('/etc/shadow')\""""
_SINKS: dict[str, tuple[dict[str, Carrier], list[tuple[str, str]]]] = {
    "python": (
        _PYTHON,
        [
            ("'/etc/shadow'", "{0}open({1}).read()"),
            ("'/etc/shadow'", "{0}import os\nos.remove({1})"),
            ("'https://evil.example/'", "{0}import requests\nrequests.get({1})"),
            (_CODE, "{0}exec({1})"),
            ("'reboot'", "{0}import os\nos.system({1})"),
            ("'reboot'", "{0}import subprocess\nsubprocess.run([{1}])"),
            ("'os'", "{0}import importlib\nimportlib.import_module({1}).remove('/etc/x')"),
            ("'remove'", "{0}import os\ngetattr(os, {1})('/etc/x')"),
        ],
    ),
    "bash": (
        _SHELL,
        [
            ("/etc/shadow", "{0}cat {1}"),
            ("/etc/shadow", "{0}rm -f {1}"),
            ("/etc/x", "{0}echo a > {1}"),
            ("https://evil.example/", "{0}curl {1}"),
            ("reboot", "{0}bash -c {1}"),
            ("reboot", "{0}{1}"),
        ],
    ),
    "javascript": (
        _SCRIPT,
        [
            ("'/etc/shadow'", "{0}require('fs').readFileSync({1})"),
            ("'/etc/shadow'", "{0}require('fs').rmSync({1})"),
            ("'https://evil.example/'", "{0}fetch({1})"),
            ("'reboot'", "{0}require('child_process').execSync({1})"),
            ("'reboot'", "{0}require('child_process').spawnSync({1})"),
            ("\"require('fs').rmSync('/etc/x')\"", "{0}eval({1})"),
            ("'child_process'", "{0}require({1}).execSync('reboot')"),
            ("'rmSync'", "{0}require('fs')[{1}]('/etc/x')"),
        ],
    ),
    "typescript": (_SCRIPT, [("'/etc/shadow'", "{0}require('fs').readFileSync({1})")]),
}


def _carry(language: str, ways: list[tuple[str, int]], sink: int) -> str:
    carriers, sinks = _SINKS[language]
    expression, form = sinks[sink]
    before = ""
    for number, (name, size) in enumerate(ways):
        statements, expression = carriers[name](expression, size, f"v{'abcdef'[number]}")
        before += statements
    return form.format(before, expression)


@pytest.mark.parametrize("size", [0, 1, 3, 12, 70, 700])
@pytest.mark.parametrize(
    ("language", "name"), [(language, name) for language in _SINKS for name in _SINKS[language][0]]
)
def test_a_value_is_judged_through_one_carrier(language: str, name: str, size: int) -> None:
    source = _carry(language, [(name, size)], 0)

    assert _PIPELINE.scan(language, source).verdict is not Verdict.ALLOW, source[:1000]


@pytest.mark.parametrize("language", _SINKS)
@given(data=st.data())
@settings(max_examples=60, deadline=None)
def test_a_value_is_judged_through_several_carriers(language: str, data: st.DataObject) -> None:
    names = st.sampled_from(sorted(_SINKS[language][0]))
    ways = data.draw(st.lists(st.tuples(names, st.integers(0, 90)), min_size=1, max_size=4))
    source = _carry(language, ways, data.draw(st.integers(0, len(_SINKS[language][1]) - 1)))

    assert _PIPELINE.scan(language, source).verdict is not Verdict.ALLOW, source[:2000]
