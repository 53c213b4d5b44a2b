"""Tests as Python the sandbox runs: pairs, properties and doctests written as `test_…` functions.

Takes the tests of a case; gives the text of `Program.tests` with a name for each test in it. The text keeps
to what the sandbox's judge runs in a process apart from the code under test, doctests excepted: those stand
in the code itself and are no secret.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from spanproof.evaluators.casetests.inputs import build_inputs
from spanproof.evaluators.casetests.model import Pair, Property

_SAME = """
import json, math
def _same(got, expected, tolerance):
    if isinstance(expected, bool) or expected is None or isinstance(expected, str):
        return isinstance(got, bool) == isinstance(expected, bool) and got == expected
    if isinstance(expected, (int, float)):
        if isinstance(got, (bool, str, bytes)) or got is None:
            return False
        if got == expected:
            return True
        try:
            number = float(got)
        except Exception:
            return False
        if math.isnan(expected):
            return math.isnan(number)
        return abs(number - expected) <= tolerance
    if isinstance(expected, dict):
        if not isinstance(got, dict) or len(got) != len(expected):
            return False
        got = {str(key): value for key, value in got.items()}
        return all(key in got and _same(got[key], value, tolerance) for key, value in expected.items())
    if not isinstance(got, (list, tuple)):
        try:
            got = got.tolist()
        except Exception:
            return False
        if not isinstance(got, list):
            return False
    if len(got) != len(expected):
        return False
    return all(_same(one, other, tolerance) for one, other in zip(got, expected))
def _in_json(got):
    if isinstance(got, dict):
        return all(_in_json(item) for item in got.values())
    if isinstance(got, (list, tuple)):
        return all(_in_json(item) for item in got)
    if got is None or isinstance(got, (bool, int, float, str)):
        return True
    try:
        got.tolist
    except Exception:
        return False
    return True
"""

NO_FORM = "what it returns has no form in JSON, so no pair can hold it: write a test under `unit`"
"""Why a pair fails whose function returns a set, a date, a table …"""

_RESULT = """
_in{n}, _kw{n} = json.loads({args}), json.loads({kwargs})
def test_{n}_result():
    _got = {call}(*_in{n}, **_kw{n})
    assert _same(_got, json.loads({result}), {tolerance}), "" if _in_json(_got) else {no_form!r}
def test_{n}_unchanged():
    assert _in{n} == json.loads({args}) and _kw{n} == json.loads({kwargs})
"""

_RAISES = """
_in{n}, _kw{n} = json.loads({args}), json.loads({kwargs})
def test_{n}_raises():
    try:
        {call}(*_in{n}, **_kw{n})
    except {raises}:
        return
    raise AssertionError
def test_{n}_unchanged():
    assert _in{n} == json.loads({args}) and _kw{n} == json.loads({kwargs})
"""

FALSIFIED = "falsified by "
"""How the message of a failed property begins; behind it stand the inputs."""

CHANGES = "it changes an argument it is given"
"""Why a test fails whose case demands that arguments stay as they are."""

_PROPERTY = """
def _shown{n}(example):
    return ", ".join(name + "=" + repr(value) for name, value in example.items())
def _where{n}({names}):
    return {where}
def _holds{n}({names}):
    return {holds}
_changed{n} = []
def test_{n}_holds():
    for _example, _given in zip(json.loads({examples}), json.loads({examples})):
        try:
            _passes = not _where{n}(**_example) or _holds{n}(**_example)
        except ImportError:
            raise
        except Exception as _failure:
            raise AssertionError({falsified!r} + _shown{n}(_given) + ": " + type(_failure).__name__)
        if _example != _given:
            _changed{n}.append(_given)
        if not _passes:
            raise AssertionError({falsified!r} + _shown{n}(_given))
def test_{n}_unchanged():
    if _changed{n}:
        raise AssertionError({falsified!r} + _shown{n}(_changed{n}[0]) + {changes!r})
"""

_SETTLED = """
def _settle():
    from hypothesis import settings
    settings.register_profile("case", derandomize=True, database=None, deadline=None)
    settings.load_profile("case")
_settle()
"""

_REPORTING = """
def _reporting(test):
    import re
    form = r"(?:Falsifying example|Failing test case): \\w+\\((.*?),?\\s*\\)$"
    def run():
        try:
            test()
        except Exception as failure:
            for note in getattr(failure, "__notes__", ()):
                own = re.match(form, note, re.DOTALL)
                if own is not None and not isinstance(failure, ImportError):
                    raise AssertionError({falsified!r} + " ".join(own[1].split())) from failure
            raise
    return run
"""

_DOCTEST = """
import doctest as _doctest
def _carry_out(text):
    test = _doctest.DocTestParser().get_doctest(text, dict(globals()), "docstring", None, 0)
    if _doctest.DocTestRunner(verbose=False).run(test, out=lambda text: None).failed:
        raise AssertionError
"""


@dataclass(frozen=True, slots=True)
class TestText:
    """Python that holds tests.

    Attributes:
        names: of its tests, in order; None for one that only looks whether the inputs of the test before it
            were changed. Empty where what collects them names them.
    """

    text: str
    names: tuple[str | None, ...]

    __test__ = False


def build_pair_tests(pairs: Sequence[tuple[str, Pair]], entry_point: str | None) -> TestText:
    """Return tests of named pairs of arguments and results."""
    parts, names = [_SAME], []
    for number, (name, pair) in enumerate(pairs):
        form = _RAISES if pair.raises is not None else _RESULT
        parts.append(
            form.format(
                n=number,
                call=pair.call or entry_point,
                args=_to_literal(list(pair.args or ())),
                kwargs=_to_literal(pair.kwargs),
                result=_to_literal(pair.result),
                raises=pair.raises,
                tolerance=repr(pair.tolerance),
                no_form=NO_FORM,
            )
        )
        names += [name, None]
    return TestText("".join(parts), tuple(names))


def build_property_test(tested: Property) -> TestText:
    """Return the test of one property over its inputs."""
    examples = build_inputs(tested.given, tested.examples, tested.seed)
    text = _PROPERTY.format(
        n=0,
        names=", ".join(tested.given),
        where=f"({tested.where})",
        holds=f"({tested.holds})",
        examples=_to_literal(examples),
        falsified=FALSIFIED,
        changes=f": {CHANGES}",
    )
    return TestText(f"import json\n{text}", (tested.name, None))


def build_unit_tests(unit: str, names: Sequence[str]) -> TestText:
    """Return unit tests; hypothesis, where used, draws the same inputs in every run and reports them.

    Args:
        unit: as it was written.
        names: of its tests, in order.
    """
    tree = ast.parse(unit)
    if not any(_imports(node, "hypothesis") for node in ast.walk(tree)):
        return TestText(unit, tuple(names))
    defined = [node.name for node in tree.body if isinstance(node, ast.FunctionDef) and node.name in names]
    wrapped = "".join(f"{name} = _reporting({name})\n" for name in defined)
    text = f"{_SETTLED}\n{unit}\n{_REPORTING.format(falsified=FALSIFIED)}{wrapped}"
    return TestText(text, tuple(names))


def list_imports(text: str) -> list[str]:
    """Return the absolute imports of tests as statements, wherever they are; none of what does not parse."""
    try:
        nodes = list(ast.walk(ast.parse(text)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    return [
        ast.unparse(node)
        for node in nodes
        if isinstance(node, ast.Import) or (isinstance(node, ast.ImportFrom) and not node.level)
    ]


def _imports(node: ast.AST, package: str) -> bool:
    if isinstance(node, ast.ImportFrom):
        return (node.module or "").partition(".")[0] == package
    return isinstance(node, ast.Import) and any(
        alias.name.partition(".")[0] == package for alias in node.names
    )


def find_doctests(sources: Iterable[str]) -> TestText | None:
    """Return a test for each docstring with examples, by its dotted name; None where there are none."""
    # A function that a later step defines anew is the later one's.
    written = {name: text for source in sources for name, text in _iter_docstrings(source)}
    found = [(name, text) for name, text in written.items() if ">>>" in text]
    if not found:
        return None
    tests = [f"def test_{number}():\n    _carry_out({text!r})\n" for number, (_, text) in enumerate(found)]
    return TestText(_DOCTEST + "".join(tests), tuple(f"doctest of {name}" for name, _ in found))


def _iter_docstrings(source: str) -> Iterator[tuple[str, str]]:
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    yield "the module", ast.get_docstring(tree) or ""
    yield from _iter_docstrings_below(tree, "")


def _iter_docstrings_below(node: ast.AST, prefix: str) -> Iterator[tuple[str, str]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield f"{prefix}{child.name}", ast.get_docstring(child) or ""
            yield from _iter_docstrings_below(child, f"{prefix}{child.name}.")
        else:
            yield from _iter_docstrings_below(child, prefix)


def _to_literal(value: object) -> str:
    """Return the source of a Python string that holds the value as JSON."""
    return repr(json.dumps(value))
