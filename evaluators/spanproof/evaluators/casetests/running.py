"""A case's tests run in the sandbox, after the run's own code; gives a report of names and counts.

Each kind is a program of its own, and pairs that were stopped together are run one by one, so that one that
never ends costs no other. Expected results stay on the host or in the sandbox's judge: the code under test,
hostile as it may be, meets questions and never an answer.
"""

from __future__ import annotations

import base64
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from spanproof.evaluators.casetests import artifacts
from spanproof.evaluators.casetests.model import CaseTests, Pair
from spanproof.evaluators.casetests.subject import CannotRun, Subject, build_subject
from spanproof.evaluators.casetests.text import (
    CHANGES,
    FALSIFIED,
    NO_FORM,
    TestText,
    build_pair_tests,
    build_property_test,
    build_unit_tests,
    find_doctests,
    list_imports,
)
from spanproof.evaluators.casetests.work import FIND_MODULES, tests_modules
from spanproof.evaluators.model import Budget, TestReport, UnrunCause
from spanproof.evaluators.replay.fixtures import NO_FIXTURES, FixtureSet
from spanproof.evaluators.replay.limits import DEFAULT_LIMITS, ReplayLimits
from spanproof.evaluators.replay.plan import build_plan
from spanproof.evaluators.replay.tape import DIVERGED
from spanproof.sandbox import Execution, FailureClass, Program, Sandbox, SessionSpec
from spanproof.sandbox.guest.testing import build_test_plan
from spanproof.sandbox.guest.uncollected import HOW_TO_WRITE_TESTS, list_uncollected
from spanproof.trace import Run

TESTS_FILE = "tests.yaml"
"""Where the tests of a case are, beside its `case.yaml`."""

_STOPPED = frozenset(
    {FailureClass.TIMEOUT, FailureClass.OUT_OF_MEMORY, FailureClass.OUTPUT_LIMIT, FailureClass.KILLED}
)
# The type of the exception is reported: it holds nothing of what a test expects.
_ENDED_BY_EXCEPTION = frozenset(
    {FailureClass.EXCEPTION, FailureClass.MISSING_DEPENDENCY, FailureClass.SYNTAX_ERROR}
)
# Exceptions by which a test says that it does not apply, by the name of their class.
_SKIPS = frozenset({"SkipTest", "Skipped"})

_MAX_WHY = 200
_NOT_APART = (
    "the case requires tests that run apart from the code, and these share its interpreter or let it decide a"
    " comparison"
)

_MAX_ARTIFACT = 4 * 1024 * 1024

_COLLECT = """
def _collect(mark, paths):
    import base64, sys
    for path in paths:
        try:
            with open(path, "rb") as file:
                text = base64.b64encode(file.read({most})).decode()
        except OSError:
            continue
        sys.stdout.write("\\n" + mark + " " + path + " " + text + "\\n")
    sys.stdout.flush()
try:
    exec(compile({source!r}, "<snippet>", "exec"), globals())
finally:
    _collect({mark!r}, {paths!r})
"""


def run_tests(
    tests: CaseTests,
    run: Run,
    sandbox: Sandbox,
    fixtures: FixtureSet = NO_FIXTURES,
    limits: ReplayLimits = DEFAULT_LIMITS,
) -> TestReport:
    """Run every test of a case, in the surroundings its replay has.

    Args:
        tests: of the case.
        run: that left the code.
        sandbox: where to run.
        fixtures: the fixtures of its cohort.
        limits: bounds of the programs; their time is the tests' own.

    Raises:
        SandboxUnavailable: the backend cannot run here.
        SandboxBroken: it failed; worth one retry.
    """
    if not tests.demands_tests:
        return _build_report(tests)
    try:
        subject = _build_subject(tests, run)
        testing = _Testing(tests, subject, sandbox, build_plan(run, fixtures, limits=limits).spec)
        testing.run_all()
    except CannotRun as problem:
        return build_unrun_report(tests, str(problem), problem.cause)
    return replace(
        _build_report(tests),
        results=tuple(testing.results),
        changed_inputs=tuple(testing.changed),
        why=testing.why,
        skipped=tuple(testing.skipped),
        apart=testing.are_apart,
    )


def _build_subject(tests: CaseTests, run: Run) -> Subject:
    """Return what is tested: the files that the agent left where tests import them, else its code.

    Raises:
        CannotRun: there is none, or the record does not hold all of it.
    """
    imports_files = tests_modules(tests.unit or "", tests.files)
    if imports_files and tests.has_work and tests.snippet is None:
        return Subject(FIND_MODULES, ())
    subject = build_subject(run, tests.snippet)
    if imports_files:
        return replace(subject, source=FIND_MODULES + subject.source)
    return subject


def build_unrun_report(tests: CaseTests, reason: str, cause: UnrunCause) -> TestReport:
    """Build the report where nothing could be run; a budget alone has no test to run."""
    return replace(_build_report(tests), unrun=reason if tests.demands_tests else None, unrun_cause=cause)


def _build_report(tests: CaseTests) -> TestReport:
    """Build the report of what a case demands, before anything was run."""
    limits = tests.budget
    budget = Budget(limits.wall_s, limits.memory_mb) if limits is not None else None
    return TestReport(inputs_must_stay=tests.inputs_unchanged, budget=budget)


@dataclass(slots=True)
class _Testing:
    """The tests of one case, their subject, and the results so far."""

    tests: CaseTests
    subject: Subject
    sandbox: Sandbox
    spec: SessionSpec
    results: list[tuple[str, bool]] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    why: str | None = None
    skipped: list[str] = field(default_factory=list)
    are_apart: bool = True

    def run_all(self) -> None:
        """Run all tests.

        Raises:
            CannotRun: some cannot be run, or there are none.
        """
        if self.tests.unit is not None:
            self._run_text(_read_unit_tests(self.tests.unit, self.tests.entry_point))
        if self.tests.doctests:
            found = find_doctests(self.subject.own)
            if found is not None:
                self._run_text(found)
        self._run_pairs()
        if self.tests.artifacts:
            self._check_artifacts()
        for tested in self.tests.properties:
            self._run_text(build_property_test(tested))
        if self.tests.require_apart and not self.are_apart:
            raise CannotRun(UnrunCause.NOT_APART, _NOT_APART)
        if not self.results and self.tests.doctests:
            raise CannotRun(UnrunCause.WORK_MISSING, "no docstring of the code has an example")
        if not self.results:
            raise CannotRun(UnrunCause.NOT_COLLECTED, f"{TESTS_FILE} has no tests")

    def _run_pairs(self) -> None:
        named = [(pair.name or f"pair {number}", pair) for number, pair in enumerate(self.tests.pairs, 1)]
        of_calls = [(name, pair) for name, pair in named if pair.stdout is None]
        if of_calls:
            self._run_call_pairs(of_calls)
        for name, pair in named:
            if pair.stdout is not None:
                self._run_stream_pair(name, pair)

    def _run_call_pairs(self, named: Sequence[tuple[str, Pair]]) -> None:
        together = self._run_test_program(build_pair_tests(named, self.tests.entry_point))
        if together.failure_class not in _STOPPED or len(named) == 1:
            self._add_results(build_pair_tests(named, self.tests.entry_point), together)
            return
        for one in named:
            alone = build_pair_tests([one], self.tests.entry_point)
            self._add_results(alone, self._run_test_program(alone))

    def _run_stream_pair(self, name: str, pair: Pair) -> None:
        execution = self._run_program(self.subject.source, stdin=(pair.stdin or "").encode())
        self._check_dependencies(None, execution)
        as_expected = artifacts.is_same_text(execution.stdout, pair.stdout or "", pair.tolerance)
        ended_well = execution.failure_class is FailureClass.OK and not execution.stdout_cut
        self.results.append((name, ended_well and as_expected))

    def _check_artifacts(self) -> None:
        wanted = self.tests.artifacts
        mark = secrets.token_hex(16)
        source = _COLLECT.format(
            source=self.subject.source,
            mark=mark,
            paths=[artifact.path for artifact in wanted],
            most=_MAX_ARTIFACT,
        )
        execution = self._run_program(source, output_bytes=16 * 1024 * 1024)
        self._check_dependencies(None, execution)
        found = _parse_artifacts(execution.stdout, mark)
        for artifact in wanted:
            as_expected = artifacts.matches_artifact(artifact, found.get(artifact.path))
            self.results.append((artifact.name or artifact.path, as_expected))

    def _run_text(self, text: TestText) -> None:
        self._add_results(text, self._run_test_program(text))

    def _run_test_program(self, text: TestText) -> Execution:
        execution = self._run_program(self.subject.source, tests=text.text)
        self._check_dependencies(text.text, execution)
        return execution

    def _add_results(self, text: TestText, execution: Execution) -> None:
        names = _get_reported_names(text, execution)
        self.are_apart = self.are_apart and execution.tests_apart is not False
        failed, skipped = set(execution.tests_failed), set(execution.tests_skipped)
        first = all(passed for _, passed in self.results)
        for number, name in enumerate(names):
            if number in skipped:
                self.skipped.append(str(name))
                continue
            if name is not None:
                self.results.append((name, number not in failed))
            elif number in failed and (number - 1 not in failed or _is_assertion_failure(execution)):
                self._add_change(passed=number - 1 not in failed)
        if first and not all(passed for _, passed in self.results):
            self.why = _find_failure_reason(execution) or self.why

    def _add_change(self, *, passed: bool) -> None:
        """Record that the test noted last changed an argument; `passed` apart from that."""
        name, _ = self.results[-1]
        self.changed.append(name)
        if passed and self.tests.inputs_unchanged:
            if all(passed for _, passed in self.results):
                self.why = CHANGES
            self.results[-1] = (name, False)

    def _run_program(
        self, source: str, *, tests: str | None = None, stdin: bytes = b"", output_bytes: int = 256 * 1024
    ) -> Execution:
        seconds = self.tests.timeout_s
        limits = replace(
            self.spec.limits,
            wall_s=seconds,
            cpu_s=seconds,
            output_bytes=max(output_bytes, self.spec.limits.output_bytes),
        )
        execution = self.sandbox.run(
            Program(
                "python",
                source,
                tests=tests,
                entry_point=self.tests.entry_point,
                files={
                    **self.spec.files,
                    **{path: text.encode() for path, text in self.tests.files.items()},
                },
                stdin=stdin,
                limits=limits,
                fixtures=self.spec.fixtures,
            )
        )
        raised = execution.raised
        if execution.failure_class is FailureClass.SANDBOX_UNAVAILABLE:
            reason = execution.reason or "the sandbox is not available"
            raise CannotRun(UnrunCause.SANDBOX_UNAVAILABLE, reason)
        if raised is not None and raised.type == DIVERGED:
            reason = f"the code calls a tool the record has no answer for: {raised.message}"
            raise CannotRun(UnrunCause.RECORD_INCOMPLETE, reason)
        return execution

    def _check_dependencies(self, tests: str | None, execution: Execution) -> None:
        """Refuse to judge code that lacks what the sandbox ought to have.

        What the agent's code imports is the agent's doing, unless that very import succeeded on record.

        Raises:
            CannotRun: the sandbox lacks what the tests import, or what the run had.
        """
        if execution.failure_class is not FailureClass.MISSING_DEPENDENCY:
            return
        imported = "\n".join(list_imports(tests or ""))
        if imported:
            of_tests = self._run_program(imported)
            if of_tests.failure_class is FailureClass.MISSING_DEPENDENCY:
                reason = f"the tests need what the sandbox does not have: {_describe_missing(of_tests)}"
                raise CannotRun(UnrunCause.DEPENDENCY_MISSING, reason)
        if not self.subject.ran_well:
            return
        if tests is None:
            of_code = execution
        else:
            of_code = self._run_program(self.subject.source)
        if of_code.failure_class is FailureClass.MISSING_DEPENDENCY:
            reason = f"the sandbox does not have what the code needs: {_describe_missing(of_code)}"
            raise CannotRun(UnrunCause.DEPENDENCY_MISSING, reason)


def _read_unit_tests(unit: str, entry_point: str | None) -> TestText:
    """Return unit tests as they are run.

    Raises:
        CannotRun: part of them would not be run, or there are none.
    """
    where = f"`unit` of {TESTS_FILE}"
    try:
        plan = build_test_plan(unit, entry_point, "_")
    except (SyntaxError, ValueError) as problem:
        raise CannotRun(UnrunCause.NOT_COLLECTED, f"{where} is no Python: {problem}") from problem
    if plan.lacks_entry_point:
        reason = f"{where} defines check(candidate), and {TESTS_FILE} has no entry_point to hand to it"
        raise CannotRun(UnrunCause.NOT_COLLECTED, reason)
    if list_uncollected(unit):
        return build_unit_tests(unit, ())  # who collects them names them
    if not plan.names:
        raise CannotRun(
            UnrunCause.NOT_COLLECTED, f"{where} has no test that this runner collects: {HOW_TO_WRITE_TESTS}"
        )
    return build_unit_tests(unit, plan.names)


def _get_reported_names(text: TestText, execution: Execution) -> Sequence[str | None]:
    """Return the names of the tests that ran, in order; None for a check of arguments after a test.

    Raises:
        CannotRun: the sandbox does not report every test.
    """
    total, passed = execution.tests_total, execution.tests_passed or 0
    if execution.failure_class is FailureClass.TESTS_NOT_RUN:
        raise CannotRun(UnrunCause.NOT_COLLECTED, execution.reason or "the sandbox ran no test")
    if total is None and execution.failure_class is FailureClass.SYNTAX_ERROR:
        raise CannotRun(UnrunCause.NOT_COLLECTED, "the sandbox's Python does not parse the tests")
    names = text.names if text.names else execution.tests_names
    if total is None or total != len(names):
        count = "none" if total is None else str(total)
        raise CannotRun(UnrunCause.NOT_REPORTED, f"of {len(names)} tests the sandbox reports {count}")
    if passed + len(execution.tests_failed) + len(execution.tests_skipped) != total:
        raise CannotRun(UnrunCause.NOT_REPORTED, "the sandbox does not report which tests failed")
    return names


def _describe_missing(execution: Execution) -> str:
    if execution.raised is not None:
        return execution.raised.message
    return "it does not say what"


def _find_failure_reason(execution: Execution) -> str | None:
    """Return why the first of its tests failed, where that reveals nothing of what was expected."""
    if execution.failure_class in _STOPPED:
        return execution.failure_class.value
    if execution.raised is not None and execution.raised.type in _SKIPS:
        return "it was skipped"
    if execution.raised is not None and execution.failure_class in _ENDED_BY_EXCEPTION:
        return execution.raised.type
    message = execution.raised.message if execution.raised is not None else ""
    if not message.startswith((FALSIFIED, NO_FORM)):
        return None
    words = " ".join(message.split())
    if len(words) <= _MAX_WHY:
        return words
    return f"{words[: _MAX_WHY - 1]}…"


def _is_assertion_failure(execution: Execution) -> bool:
    """Whether a test failed on what came back: then the code before it had run, and its call returned."""
    return execution.raised is not None and execution.raised.type == "AssertionError"


def _parse_artifacts(stdout: str, mark: str) -> dict[str, bytes]:
    """Return the files as the program printed them; what is no base64 is none."""
    found = {}
    for line in stdout.splitlines():
        words = line.split(" ")
        if len(words) >= 3 and words[0] == mark:
            try:
                found[" ".join(words[1:-1])] = base64.b64decode(words[-1], validate=True)
            except ValueError:
                continue
    return found
