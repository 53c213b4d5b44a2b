"""Counting tests: from test code to a form that goes on after a failing assert and reports each result.

In: the text of tests as `Program.tests` describes it. Out: a `Plan`, made before the program under test has
run, so that the program has no say in how many tests there are. Each assert becomes a call that records it;
a test counts as passed when it was carried out and no execution of it failed. Never prints.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass
from types import CodeType
from typing import Any

from spanproof.sandbox.guest.reporter import Reporter

TESTS_FILENAME = "<tests>"

# Calls that start another runner.
_RUNNERS = frozenset(("doctest.testmod", "pytest.main", "unittest.main"))


# Of tests: what a report of them holds at most.
_NAME_CHARACTERS = 200
_MAX_NAMES = 1_000


@dataclass(frozen=True, slots=True)
class Plan:
    """Compiled tests.

    Attributes:
        code: defines and runs what is at top level.
        total: how many tests there are.
        functions: names of `test_…` functions to call, with the number of each one's test.
        check: whether `check(entry_point)` must still be called.
        check_tests: the numbers of the asserts in `check`.
        names: of the tests, by number: the function's, or the line of an assert.
        lacks_entry_point: whether there is a `check` that nothing calls, for want of something to hand to it.
    """

    code: CodeType
    total: int
    functions: tuple[tuple[str, int], ...]
    check: bool
    check_tests: tuple[int, ...]
    names: tuple[str, ...] = ()
    lacks_entry_point: bool = False


class _Numbering(ast.NodeTransformer):
    """Wraps each assert it visits; does not look into functions defined inside."""

    def __init__(self, recorder: str, first: int) -> None:
        self.recorder = recorder
        self.next = first
        self.lines: list[int] = []

    def visit_Assert(self, node: ast.Assert) -> ast.AST:
        number = self.next
        self.next += 1
        self.lines.append(node.lineno)
        wrapped = ast.Try(
            body=[node],
            handlers=[
                ast.ExceptHandler(
                    type=None,
                    name=None,
                    body=[ast.Expr(self._build_call(number, passed=False))],
                )
            ],
            orelse=[ast.Expr(self._build_call(number, passed=True))],
            finalbody=[],
        )
        return ast.copy_location(wrapped, node)

    def _build_call(self, number: int, *, passed: bool) -> ast.Call:
        return ast.Call(
            func=ast.Name(self.recorder, ast.Load()),
            args=[ast.Constant(number), ast.Constant(passed)],
            keywords=[],
        )


class _TopLevel(_Numbering):
    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        return node

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AST:
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        return node

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        return node


class _TypeCalls(ast.NodeTransformer):
    """Replaces `type(value)` by a call of another name."""

    def __init__(self, name: str) -> None:
        self._name = name

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        is_type = isinstance(node.func, ast.Name) and node.func.id == "type"
        if is_type and len(node.args) == 1 and not node.keywords:
            node.func = ast.copy_location(ast.Name(self._name, ast.Load()), node.func)
        return node


def build_test_plan(text: str, entry_point: str | None, recorder: str, type_name: str | None = None) -> Plan:
    """Read tests.

    Args:
        text: the test code.
        entry_point: what `check` is given.
        recorder: the global name under which the running tests find their recorder.
        type_name: the name by which they call `type` with one argument, where that is another.

    Raises:
        SyntaxError, ValueError: the test code does not compile.
    """
    tree = ast.parse(text, TESTS_FILENAME)
    called = any(_calls_check(statement) for statement in tree.body)
    number = 0
    functions: list[tuple[str, int]] = []
    names: list[str] = []
    check_tests: tuple[int, ...] = ()
    defines_check = False
    body: list[ast.stmt] = []
    if type_name is not None:
        tree = _TypeCalls(type_name).visit(tree)
    for statement in tree.body:
        if starts_runner(statement):
            continue
        if isinstance(statement, ast.FunctionDef) and statement.name == "check":
            defines_check = True
            inside = _Numbering(recorder, number)
            statement.body = [inside.visit(inner) for inner in statement.body]
            check_tests += tuple(range(number, inside.next))
            number = inside.next
            names += _list_assert_names("check, line", inside.lines)
        elif isinstance(statement, ast.FunctionDef) and statement.name.startswith("test"):
            if not has_required_parameters(statement) or is_property_test(statement):
                functions.append((statement.name, number))
                names.append(statement.name)
                number += 1
        else:
            outside = _TopLevel(recorder, number)
            statement = outside.visit(statement)
            number = outside.next
            names += _list_assert_names("line", outside.lines)
        body.append(statement)
    tree.body = body
    ast.fix_missing_locations(tree)
    is_left_to_call = defines_check and not called
    needs_check = is_left_to_call and entry_point is not None
    code = compile(tree, TESTS_FILENAME, "exec", dont_inherit=True)
    return Plan(
        code,
        number,
        tuple(functions),
        needs_check,
        check_tests,
        tuple(names),
        lacks_entry_point=is_left_to_call and entry_point is None,
    )


def _list_assert_names(prefix: str, lines: list[int]) -> list[str]:
    return [f"{prefix} {line}" for line in lines]


def starts_runner(statement: ast.stmt) -> bool:
    """Whether a statement hands the module to another runner, which would end the process."""
    is_call = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call)
    return is_call and ast.unparse(statement.value.func) in _RUNNERS  # type: ignore[attr-defined]


def _calls_check(statement: ast.stmt) -> bool:
    return (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Call)
        and isinstance(statement.value.func, ast.Name)
        and statement.value.func.id == "check"
    )


def has_required_parameters(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether a function cannot be called without arguments."""
    arguments = function.args
    positional = len(arguments.posonlyargs) + len(arguments.args)
    return positional > len(arguments.defaults) or None in arguments.kw_defaults


def is_property_test(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether hypothesis' `@given` fills its parameters."""
    calls = [node.func for node in function.decorator_list if isinstance(node, ast.Call)]
    return any(getattr(node, "attr", getattr(node, "id", None)) == "given" for node in calls)


class Tally:
    """Records results as tests run, and reports each change at once: a program may end at will."""

    def __init__(self, reporter: Reporter) -> None:
        self._reporter = reporter
        self._results: dict[int, bool] = {}
        self.first_failure: BaseException | None = None
        self._current = _find_current_exception

    def record(self, number: int, passed: bool, /) -> None:
        """Note one execution of a test; one failure outweighs any number of passes."""
        failure = None if passed else self._current()
        if isinstance(failure, SystemExit | KeyboardInterrupt):
            raise failure
        if not passed and self.first_failure is None:
            self.first_failure = failure
        if self._results.get(number, not passed) is not passed and self._results.get(number) is not False:
            self._results[number] = passed
            self._reporter.send("test", number=number, passed=passed)

    def send_plan(self, names: list[str], collector: str) -> None:
        """Report how many tests there are, by their names, and what collected them."""
        shown = [name[:_NAME_CHARACTERS] for name in names[:_MAX_NAMES]]
        self._reporter.send("planned", total=len(names), names=shown, collector=collector)

    def record_failure(self, number: int, failure: BaseException | None) -> None:
        """Record that a test failed by an exception, where there is one."""
        if self._results.get(number) is not False:
            self._results[number] = False
            self._reporter.send("test", number=number, passed=False)
        if self.first_failure is None:
            self.first_failure = failure or AssertionError()

    def record_skip(self, number: int) -> None:
        """Record that a test is skipped, as its author wrote."""
        self._reporter.send("skipped", number=number)

    def record_carried_out(self, numbers: tuple[int, ...]) -> None:
        """Record asserts on a branch not taken: they hold when their function came to its end."""
        for number in numbers:
            if number not in self._results:
                self.record(number, True)  # noqa: FBT003 - as generated code does


def _find_current_exception() -> BaseException | None:
    import sys

    return sys.exc_info()[1]


def run_plan(
    plan: Plan, namespace: dict[str, Any], entry_point: str | None, recorder: str, tally: Tally
) -> None:
    """Run tests in the program's namespace; stops only where test code itself, not an assert, fails.

    Raises:
        BaseException: what ended the test code.
    """
    namespace[recorder] = tally.record
    exec(plan.code, namespace)  # noqa: S102 - inside the jail
    run_check(plan, namespace, entry_point, tally)
    for name, number in plan.functions:
        _run_function(namespace[name], number, tally)


def run_check(plan: Plan, namespace: dict[str, Any], entry_point: str | None, tally: Tally) -> None:
    """Call `check` with what `entry_point` names, where tests have one that they do not call themselves.

    Raises:
        BaseException: what ended it.
    """
    if plan.check:
        assert entry_point is not None
        namespace["check"](_get_candidate(namespace, entry_point))
    tally.record_carried_out(plan.check_tests)


def _get_candidate(namespace: dict[str, Any], entry_point: str) -> Any:
    try:
        return namespace[entry_point]
    except KeyError:
        raise NameError(f"name {entry_point!r} is not defined") from None


def _run_function(function: Callable[[], object], number: int, tally: Tally) -> None:
    try:
        function()
    except BaseException:  # noqa: BLE001 - a failing test is a result, and pytest's failures are no Exception
        tally.record(number, False)  # noqa: FBT003
    else:
        tally.record(number, True)  # noqa: FBT003
