"""Tests in the forms that pytest, unittest and doctest collect: collected and run by these themselves.

In: the text of tests, and the namespace they run in: that of the judge, or the program's own. Out: each
test's result by its number. pytest reads nothing of the work directory here: no configuration, no
`conftest.py`, no plug-in but its own. A skip that its author wrote is reported and counts neither way; a test
that skips itself as it runs has not passed.
"""

from __future__ import annotations

import ast
import contextlib
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from importlib.util import find_spec
from types import ModuleType
from typing import Any

from spanproof.sandbox.guest.testing import TESTS_FILENAME, Plan, Tally, run_check, run_plan
from spanproof.sandbox.guest.uncollected import find_collector

MODULE_NAME = "case_tests"
"""`__name__` of collected tests: none of their `if __name__ == "__main__"` runs."""

_NO_PYTEST = (
    "no:terminal",
    "no:cacheprovider",
    "no:faulthandler",
    "no:junitxml",
    "no:doctest",
    "no:pastebin",
)


def list_collectors(tests: str) -> list[str]:
    """Return the modules that collect these tests; none where the runner's own plan holds all of them."""
    found = find_collector(tests, has_pytest=_has_pytest())
    if found is None:
        return []
    return ["pytest", "doctest", "unittest"] if found == "pytest" else ["unittest", "doctest"]


def list_expected_names(tests: str, plan: Plan, collectors: list[str]) -> list[str]:
    """Return the names of tests as their text shows them: a program may end before they are collected."""
    names = [*plan.names]
    if not collectors:
        return names
    for node in ast.parse(tests, TESTS_FILENAME).body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            found = [node.name]
        elif isinstance(node, ast.ClassDef):
            methods = [
                child.name for child in node.body if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef)
            ]
            found = [f"{node.name}::{name}" for name in methods if name.startswith("test")]
        else:
            continue
        names += [name for name in found if name.rpartition(":")[2].startswith("test") and name not in names]
    return names


def _has_pytest() -> bool:
    try:
        return "pytest" in sys.modules or find_spec("pytest") is not None
    except (ImportError, ValueError):
        return False


def run_tests(
    tests: str,
    plan: Plan,
    collectors: list[str],
    namespace: dict[str, Any],
    entry_point: str | None,
    recorder: str,
    tally: Tally,
    *,
    count_questions: Callable[[], int] = lambda: 0,
) -> None:
    """Run tests by their plan; or define what they hold, collect it, report what is collected, and run it.

    Args:
        tests: their text.
        plan: of the same tests: asserts at top level are recorded as they run.
        collectors: modules that collect them, as `list_collectors` gives them.
        namespace: that the tests run in.
        entry_point: the name of what `check` is given.
        recorder: the global name under which they find their recorder.
        tally: takes the results.
        count_questions: how often the program was queried so far; it decides no skip.

    Raises:
        BaseException: what ended the definition of the tests.
    """
    if not collectors:
        run_plan(plan, namespace, entry_point, recorder, tally)
        return
    namespace.update({"__name__": MODULE_NAME, recorder: tally.record})
    exec(plan.code, namespace)  # noqa: S102 - inside the jail
    run_check(plan, namespace, entry_point, tally)
    module = ModuleType(MODULE_NAME)
    module.__dict__.update({name: value for name, value in namespace.items() if name != "__builtins__"})
    numbering = _Numbering(plan)
    run_doctests = _build_doctest_runner(tests, namespace, numbering)
    if "pytest" in collectors:
        _run_by_pytest(module, numbering, tally, count_questions, run_doctests)
    else:
        _run_by_unittest(module, numbering, tally, run_doctests)


class _Numbering:
    """Numbers of tests by their names: those of the plan, then those that are collected besides."""

    def __init__(self, plan: Plan) -> None:
        self.by_name: dict[str, int] = dict(plan.functions)
        self.names = [*plan.names]

    def add(self, name: str) -> int:
        if name not in self.by_name:
            self.by_name[name] = len(self.names)
            self.names.append(name)
        return self.by_name[name]


def _run_by_pytest(
    module: ModuleType,
    numbering: _Numbering,
    tally: Tally,
    count_questions: Callable[[], int],
    run_doctests: Callable[[Tally], None],
) -> None:
    import pytest
    from _pytest.skipping import evaluate_skip_marks

    class TestsModule(pytest.Module):
        def _getobj(self) -> ModuleType:
            return module

    class Plugin:
        def __init__(self) -> None:
            self.numbers: dict[str, int] = {}
            self.failures: dict[str, BaseException] = {}

        @pytest.hookimpl(tryfirst=True)
        def pytest_collection(self, session: Any) -> bool:
            path = session.path / f"{MODULE_NAME}.py"
            session.items = [*session.genitems(TestsModule.from_parent(session, path=path))]
            skipped = []
            for item in session.items:
                number = self.numbers[item.nodeid] = numbering.add(item.nodeid.partition("::")[2])
                questions = count_questions()
                if evaluate_skip_marks(item) is not None and count_questions() == questions:
                    skipped.append(number)
            tally.send_plan(numbering.names, "pytest")
            for number in skipped:
                tally.record_skip(number)
            session.items = [item for item in session.items if self.numbers[item.nodeid] not in skipped]
            session.testscollected = len(session.items)
            return True

        @pytest.hookimpl(tryfirst=True)
        def pytest_pyfunc_call(self, pyfuncitem: Any) -> bool | None:
            import inspect

            if not inspect.iscoroutinefunction(pyfuncitem.obj):
                return None
            import asyncio

            wanted = pyfuncitem._fixtureinfo.argnames  # noqa: SLF001 - as pytest's own hook does
            asyncio.run(pyfuncitem.obj(**{name: pyfuncitem.funcargs[name] for name in wanted}))
            return True

        def pytest_exception_interact(self, node: Any, call: Any) -> None:
            self.failures.setdefault(node.nodeid, call.excinfo.value)

        def pytest_runtest_logreport(self, report: Any) -> None:
            number = self.numbers[report.nodeid]
            if report.skipped and hasattr(report, "wasxfail"):
                tally.record_skip(number)
            elif report.failed or report.skipped:
                tally.record_failure(number, self.failures.get(report.nodeid))
            elif report.when == "call":
                tally.record(number, True)  # noqa: FBT003 - as generated code does

    plugin = Plugin()
    options = [word for plugin in _NO_PYTEST for word in ("-p", plugin)]
    folder = os.path.dirname(os.__file__)  # noqa: PTH120 - a folder that no program writes
    with _quiet_environment():
        pytest.main(
            [
                *options,
                "--noconftest",
                "--assert=plain",
                "--capture=no",
                "-c",
                os.devnull,
                "--rootdir",
                folder,
            ],
            plugins=[plugin],
        )
    run_doctests(tally)


@contextlib.contextmanager
def _quiet_environment() -> Iterator[None]:
    """Let no variable of the environment configure pytest."""
    before = {name: os.environ.pop(name) for name in [*os.environ] if name.startswith("PYTEST_")}
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    try:
        yield
    finally:
        del os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"]
        os.environ.update(before)


def _run_by_unittest(
    module: ModuleType, numbering: _Numbering, tally: Tally, run_doctests: Callable[[Tally], None]
) -> None:
    import unittest

    cases = [*_iter_cases(unittest.defaultTestLoader.loadTestsFromModule(module))]
    numbers = {case.id(): numbering.add(_format_case_name(case)) for case in cases}
    functions = [name for name in numbering.by_name if callable(vars(module).get(name))]
    tally.send_plan(numbering.names, "unittest")
    for name in functions:
        number = numbering.by_name[name]
        try:
            vars(module)[name]()
        except BaseException as failure:  # noqa: BLE001 - a failing test is a result
            tally.record_failure(number, failure)
        else:
            tally.record(number, True)  # noqa: FBT003

    class Result(unittest.TestResult):
        def addSuccess(self, test: Any) -> None:  # noqa: N802
            tally.record(numbers[test.id()], True)  # noqa: FBT003

        def addFailure(self, test: Any, err: Any) -> None:  # noqa: N802
            self._note_failure(test, err[1])

        addError = addFailure  # noqa: N815

        def addSubTest(self, test: Any, subtest: Any, err: Any) -> None:  # noqa: N802
            if err is not None:
                self._note_failure(test, err[1])

        def addUnexpectedSuccess(self, test: Any) -> None:  # noqa: N802
            self._note_failure(test, None)

        def addExpectedFailure(self, test: Any, err: Any) -> None:  # noqa: N802
            tally.record_skip(numbers[test.id()])

        def addSkip(self, test: Any, reason: str) -> None:  # noqa: N802
            method = getattr(test, getattr(test, "_testMethodName", ""), None)
            is_written = getattr(test, "__unittest_skip__", False) or getattr(
                method, "__unittest_skip__", False
            )
            if is_written:
                tally.record_skip(numbers[test.id()])
            else:
                self._note_failure(test, None)

        def _note_failure(self, test: Any, failure: BaseException | None) -> None:
            of_class = [number for name, number in numbers.items() if name.startswith(f"{MODULE_NAME}.")]
            number = numbers.get(test.id())
            # Of a class or the module: all of them.
            for failing in [number] if number is not None else of_class:
                tally.record_failure(failing, failure)

    unittest.defaultTestLoader.suiteClass(cases).run(Result())
    run_doctests(tally)


def _iter_cases(suite: Any) -> Iterator[Any]:
    for case in suite:
        if hasattr(case, "_testMethodName"):
            yield case
        else:
            yield from _iter_cases(case)


def _format_case_name(case: Any) -> str:
    return f"{type(case).__qualname__}::{case._testMethodName}"  # noqa: SLF001 - what its id is made of


def _build_doctest_runner(
    tests: str, namespace: dict[str, Any], numbering: _Numbering
) -> Callable[[Tally], None]:
    """Number the docstrings of tests that hold examples; returns what runs them."""
    found: dict[int, str] = {}
    for node in ast.walk(ast.parse(tests, TESTS_FILENAME)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Module):
            text = ast.get_docstring(node, clean=False)
            if text is not None and ">>> " in text:
                name = getattr(node, "name", "the module")
                found[numbering.add(f"doctest of {name}")] = text
    return lambda tally: _run_doctests(found, namespace, tally)


def _run_doctests(found: Mapping[int, str], namespace: dict[str, Any], tally: Tally) -> None:
    import doctest

    for number, text in found.items():
        test = doctest.DocTestParser().get_doctest(text, {}, f"doctest {number}", None, 0)
        test.globs = namespace
        runner = doctest.DocTestRunner(verbose=False)
        failed = runner.run(test, out=lambda _text: None, clear_globs=False).failed
        if failed:
            tally.record_failure(
                number, AssertionError(f"{failed} of the examples do not print what they say")
            )
        else:
            tally.record(number, True)  # noqa: FBT003
