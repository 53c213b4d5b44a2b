"""Tests that pytest, unittest or doctest collect and the runner's own plan does not.

In: the text of tests. Out: what `testing.build_test_plan` leaves out, and what collects it. It is found in
the syntax tree alone, before anything runs: a test that is left out silently counts as passed.
"""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterator
from dataclasses import dataclass

from spanproof.sandbox.guest.testing import has_required_parameters, is_property_test

HOW_TO_WRITE_TESTS = (
    "write functions test_… without parameters, asserts at top level, unittest's classes or check(candidate)"
    " with an entry point, or install pytest where the tests run (pip install 'spanproof[all]', or the case's"
    " packages)"
)

_MAX_NAMED = 3

_EXAMPLE = re.compile(r"^\s*>>> ", re.MULTILINE)

# Decorators that decide whether, how often or with what a test runs.
_MARKS = frozenset(
    (
        "expectedFailure",
        "parametrize",
        "skip",
        "skipIf",
        "skipUnless",
        "skipif",
        "usefixtures",
        "xfail",
    )
)
# Of unittest alone, which loads no module here.
_UNITTEST_HOOK = "load_tests"
# Functions and variables of a module that pytest and unittest look up by name.
_HOOKS = frozenset(
    (
        _UNITTEST_HOOK,
        "pytest_generate_tests",
        "pytest_plugins",
        "pytestmark",
        "setUpModule",
        "setup_function",
        "setup_module",
        "tearDownModule",
        "teardown_function",
        "teardown_module",
    )
)
# Calls that start another runner, which ends the process.
_RUNNERS = frozenset(("doctest.testfile", "doctest.testmod", "pytest.main", "unittest.main"))
_TEST_CASES = frozenset(("IsolatedAsyncioTestCase", "TestCase"))
# Bases that bring no test, beside the builtin classes.
_PLAIN_BASES = frozenset(
    (
        "ABC",
        "BaseModel",
        "Enum",
        "Flag",
        "Generic",
        "IntEnum",
        "NamedTuple",
        "Protocol",
        "StrEnum",
        "TypedDict",
    )
) | frozenset(dir(builtins))

# The attribute by which a class says to pytest that it holds no tests.
_OPTS_OUT = "__test__"

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(frozen=True, slots=True)
class Uncollected:
    """One thing that another runner collects or obeys.

    Attributes:
        what: a noun for people: `class TestX`.
        line: where it begins, from 1.
        by_unittest: whether the standard library collects or obeys it here.
        by_pytest: whether pytest does.
    """

    what: str
    line: int
    by_unittest: bool = False
    by_pytest: bool = True

    def __str__(self) -> str:
        return f"{self.what} (line {self.line})"


def list_uncollected(text: str) -> tuple[Uncollected, ...]:
    """Return what is not collected, in the order of the text; nothing of a text that does not parse."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ()
    found = [*_iter_statements_left_out(tree), *_iter_doctests(tree)]
    return tuple(sorted(found, key=lambda one: one.line))


def find_collector(text: str, *, has_pytest: bool) -> str | None:
    """Return what collects tests that this runner's own plan leaves out: `pytest` or `unittest`.

    None where there are none, or where they need a pytest that is not there. unittest collects its own
    classes.
    """
    left_out = list_uncollected(text)
    if not left_out:
        return None
    if all(one.by_unittest for one in left_out):
        return "unittest"  # loaded in a tenth of pytest's 120 ms
    return "pytest" if has_pytest and all(one.by_pytest for one in left_out) else None


def find_unrun_reason(text: str, total: int | None, collector: str = "", skipped: int = 0) -> str | None:
    """Return why tests that ended well prove nothing; None where each of them was carried out.

    Args:
        text: the tests.
        total: how many were collected, less those that are skipped; None where none was reported.
        collector: what collected them, beside the runner's own plan; empty where nothing did.
        skipped: how many their author skips.
    """
    left_out = () if collector else list_uncollected(text)
    if left_out:
        return f"the tests have {format_uncollected(left_out)}"
    if not total and skipped:
        return f"the tests have none that is run: {skipped} skipped by their author"
    if not total:
        return f"the tests have no test that this runner collects: {HOW_TO_WRITE_TESTS}"
    return None


def format_uncollected(found: tuple[Uncollected, ...]) -> str:
    """Return what is not collected as a clause, with the remedy."""
    named = ", ".join(map(str, found[:_MAX_NAMED]))
    more = f" and {len(found) - _MAX_NAMED} more" if len(found) > _MAX_NAMED else ""
    return f"{named}{more}, which this runner does not collect: {HOW_TO_WRITE_TESTS}"


def _iter_statements_left_out(tree: ast.Module) -> Iterator[Uncollected]:
    opted_out = _list_opted_out(tree)
    test_classes: set[str] = set()
    for statement, is_nested in _iter_module_level(tree.body):
        if isinstance(statement, _FUNCTIONS):
            what = _find_function_problem(statement, is_nested=is_nested)
        elif isinstance(statement, ast.ClassDef):
            what = None
            if statement.name not in opted_out and _is_test_class(statement, test_classes):
                test_classes.add(statement.name)
                what = f"class {statement.name}"
        elif isinstance(statement, ast.Assign | ast.AnnAssign):
            what = _find_assignment_problem(statement)
        elif isinstance(statement, ast.ImportFrom):
            what = _find_import_problem(statement)
        elif isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
            runner = _read_dotted_name(statement.value.func)
            what = f"{runner}()" if runner in _RUNNERS else None
        else:
            what = None
        if what is not None:
            yield Uncollected(
                what,
                statement.lineno,
                by_unittest=_is_of_unittest(statement),
                by_pytest=what != f"function {_UNITTEST_HOOK}",
            )


def _is_of_unittest(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.ClassDef):
        return any(_read_dotted_name(base).rpartition(".")[2] in _TEST_CASES for base in statement.bases)
    return isinstance(statement, ast.Expr)  # a call of a runner, which is not carried out


def _iter_module_level(body: list[ast.stmt], *, is_nested: bool = False) -> Iterator[tuple[ast.stmt, bool]]:
    """Yield the statements that run when the module does, and whether each is inside a block."""
    for statement in body:
        yield statement, is_nested
        if isinstance(statement, (*_FUNCTIONS, ast.ClassDef)):
            continue
        for field in ("body", "orelse", "finalbody"):
            yield from _iter_module_level(getattr(statement, field, []), is_nested=True)
        for part in (*getattr(statement, "handlers", ()), *getattr(statement, "cases", ())):
            yield from _iter_module_level(part.body, is_nested=True)


def _find_function_problem(
    function: ast.FunctionDef | ast.AsyncFunctionDef, *, is_nested: bool
) -> str | None:
    name, decorators = function.name, [_read_dotted_name(decorator) for decorator in function.decorator_list]
    if any(decorator.rpartition(".")[2] == "fixture" for decorator in decorators):
        return f"fixture {name}"
    if name in _HOOKS:
        return f"function {name}"
    if not name.startswith("test"):
        return None
    if isinstance(function, ast.AsyncFunctionDef):
        return f"async function {name}"
    if is_nested:
        return f"function {name} inside a block"
    if has_required_parameters(function) and not is_property_test(function):
        return f"function {name} with parameters"
    mark = next((decorator for decorator in decorators if decorator.rpartition(".")[2] in _MARKS), None)
    return f"function {name} with @{mark}" if mark else None


def _is_test_class(node: ast.ClassDef, test_classes: set[str]) -> bool:
    """Whether pytest or unittest would look for tests in a class, or in what it inherits.

    A base that is imported may hold tests, or make every method `test…` one.
    """
    if _OPTS_OUT in map(_find_switched_off, node.body):
        return False
    bases = {_read_dotted_name(base).rpartition(".")[2] for base in node.bases} - _PLAIN_BASES
    if bases & test_classes:
        return True
    methods = [child.name for child in ast.walk(node) if isinstance(child, _FUNCTIONS)]
    if any(name.startswith("test") or name == "runTest" for name in methods):
        return node.name.startswith("Test") or bool(bases)
    foreign = bases - _TEST_CASES
    return any("Test" in base for base in foreign) or (node.name.startswith("Test") and bool(foreign))


def _list_opted_out(tree: ast.Module) -> set[str]:
    """Return the classes that are no tests by `NAME.__test__ = False`."""
    targets = map(_find_switched_off, tree.body)
    return {target.removesuffix(_OPTS_OUT).removesuffix(".") for target in targets if target is not None}


def _find_switched_off(statement: ast.stmt) -> str | None:
    """Return the target of `__test__ = False` or of `NAME.__test__ = False`; None of other statements."""
    if not isinstance(statement, ast.Assign) or not isinstance(statement.value, ast.Constant):
        return None
    target = _read_dotted_name(statement.targets[0])
    is_off = statement.value.value is False and target.rpartition(".")[2] == _OPTS_OUT
    return target if is_off else None


def _find_assignment_problem(statement: ast.Assign | ast.AnnAssign) -> str | None:
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    for name in (target.id for target in targets if isinstance(target, ast.Name)):
        if name in _HOOKS:
            return name
        if isinstance(statement.value, ast.Attribute) and statement.value.attr in _TEST_CASES:
            return f"class {name}"
        if isinstance(statement.value, ast.Lambda) and name.startswith("test"):
            return f"function {name}"
    return None


def _find_import_problem(statement: ast.ImportFrom) -> str | None:
    names = [alias.asname or alias.name for alias in statement.names]
    imported = next((name for name in names if name.startswith("test_")), None)
    return f"imported function {imported}" if imported else None


def _iter_doctests(tree: ast.Module) -> Iterator[Uncollected]:
    for node in ast.walk(tree):
        if isinstance(node, (*_FUNCTIONS, ast.ClassDef, ast.Module)):
            text = ast.get_docstring(node, clean=False)
            if text is not None and _EXAMPLE.search(text):
                yield Uncollected("doctest examples", node.body[0].lineno, by_unittest=True)


def _read_dotted_name(node: ast.expr) -> str:
    """Return `pytest.mark.skip` of that name, or of a call of it; empty where it is another expression."""
    if isinstance(node, ast.Call | ast.Subscript):
        return _read_dotted_name(node.func if isinstance(node, ast.Call) else node.value)
    if isinstance(node, ast.Attribute):
        before = _read_dotted_name(node.value)
        return f"{before}.{node.attr}" if before else node.attr
    return node.id if isinstance(node, ast.Name) else ""
