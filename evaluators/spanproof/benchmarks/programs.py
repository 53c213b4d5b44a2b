"""Problems that are graded by programs: the answer's code with tests around it, run in the sandbox.

Tests in Python, JavaScript and TypeScript are given to the sandbox beside the code: it counts them, and, but
for TypeScript, the code under test never holds an expected result. In other languages the tests follow the
code in one program, which must come to its end: a code that exits early does not pass.
"""

from __future__ import annotations

import ast
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from spanproof.benchmarks.languages import LANGUAGES, build_program, describe_missing
from spanproof.benchmarks.model import (
    PASSED,
    Answer,
    Grade,
    Graded,
    GradingSetup,
    Problem,
    build_failed_grade,
    build_unjudged_grade,
)
from spanproof.benchmarks.output import matches_output
from spanproof.sandbox import (
    Ecosystem,
    Execution,
    FailureClass,
    Fixtures,
    Limits,
    PackageSet,
    Program,
    SandboxError,
)

_SHOWN: Final = 300
_OUTPUT_BYTES: Final = 4 * 1024 * 1024

# The harnesses of HumanEval, EvalPlus, MBPP and BigCodeBench execute an answer as a module: what is
# under `if __name__ == "__main__"` (a dialogue, `sys.argv`, `sys.exit`) does not run, and reading from stdin
# raises an OSError. The module is known by its name: dataclasses look for it there.
_AS_MODULE: Final = (
    '__name__ = "solution"; '
    '__import__("sys").modules[__name__] = __import__("sys").modules["__main__"]; '
    '__import__("sys").stdin = open(__import__("os").devnull, "w")\n'
)


@dataclass(frozen=True, slots=True)
class Check:
    """One program that must end well.

    Attributes:
        before: text in front of the code.
        after: tests in the answer's language, where that is not Python.
        tests: Python tests, as `Program.tests` takes them.
        entry_point: the function that `check` is given.
        stdin, stdout: of a program that reads and writes; stdout None is not compared.
    """

    before: str = ""
    after: str = ""
    tests: str | None = None
    entry_point: str | None = None
    stdin: str = ""
    stdout: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramProblem(Problem):
    """A problem whose answers are run.

    Attributes:
        checks: by test set; a set passes when all its checks do.
        public: what an agent may see of them.
        head: what a whole answer needs in front of it, such as imports of the prompt.
        modules: what the tests import: where the sandbox lacks one of them, answers are unjudged.
        packages: that programs find, for npm's languages.
        instruction: what an agent is given in front of the prompt.
        defects: assertions that the published solution fails, by check, as far as they were looked for; None
            where it does not come to their end.
    """

    checks: Mapping[str, tuple[Check, ...]]
    public: tuple[Check, ...] = ()
    head: str = ""
    modules: tuple[str, ...] = ()
    packages: PackageSet | None = None
    instruction: str = ""
    defects: dict[Check, frozenset[int] | None] = field(default_factory=dict, compare=False)

    @property
    def test_sets(self) -> tuple[str, ...]:
        """Names of the sets, the last being the strictest: it counts first."""
        return tuple(self.checks)[::-1]

    @property
    def task(self) -> str:
        """The prompt, with what form the answer must have."""
        wanted = self.instruction or f"Complete this {self.language} code."
        return f"{wanted} Answer with the whole code in one fenced block.\n\n{self.prompt}"

    def evaluate(self, answer: Answer, setup: GradingSetup) -> Mapping[str, Graded]:
        """Return a grade by each test set; a set holds what the sets before it hold."""
        grades: dict[str, Graded] = {}
        before: Graded = PASSED
        for name, checks in self.checks.items():
            if before.passed:
                before = self._run_checks(answer, checks, setup)
            grades[name] = before
        return {name: grades[name] for name in self.test_sets}

    def evaluate_public(self, answer: Answer, setup: GradingSetup) -> Graded | None:
        """Return the grade by the public tests; None where the published solution fails them, too."""
        if not self.public:
            return None
        graded = self._run_checks(answer, self.public, setup)
        if not graded.passed and self.reference is not None:
            if self._run_checks(self.reference, self.public, setup).passed:
                return graded
            return None
        return graded

    def _run_checks(self, answer: Answer, checks: tuple[Check, ...], setup: GradingSetup) -> Graded:
        if answer.error:
            return build_failed_grade(answer.error)
        lacking = describe_missing(self.language, setup.sandbox) or self._describe_missing_module(setup)
        if lacking:
            return build_unjudged_grade(lacking)
        if not checks:
            return build_unjudged_grade("the problem has no tests")
        code = self._build_program(answer)
        wall_s, remark = 0.0, ""
        for number, check in enumerate(checks, start=1):
            try:
                graded = run_check(self.language, code, check, setup, self.packages)
                if graded.failed_tests and self._are_defects(graded.failed_tests, check, setup):
                    count = len(graded.failed_tests)
                    remark = f"{count} of the assertions fail for the published solution, too"
                    continue
            except SandboxError as problem:
                return build_unjudged_grade(str(problem))
            wall_s += graded.wall_s
            if not graded.passed:
                where = f"test {number} of {len(checks)}: " if len(checks) > 1 else ""
                return Graded(graded.grade, where + graded.reason, graded.failure, wall_s)
        return Graded(Grade.PASSED, remark, wall_s=wall_s)

    def _are_defects(self, failing: tuple[int, ...], check: Check, setup: GradingSetup) -> bool:
        """Return whether the published solution fails these assertions, too: then they are at fault."""
        if self.reference is None:
            return False
        if check not in self.defects:
            graded = run_check(
                self.language, self._build_program(self.reference), check, setup, self.packages
            )
            self.defects[check] = frozenset(graded.failed_tests) if graded.failed_tests else None
        defects = self.defects[check]
        return defects is not None and defects.issuperset(failing)

    def _build_program(self, answer: Answer) -> str:
        if answer.is_whole:
            if self.head:
                return f"{self.head}\n{answer.text}"
            return answer.text
        return self.prompt + answer.text

    def _describe_missing_module(self, setup: GradingSetup) -> str:
        if not self.modules or self.language != "python":
            return ""
        source = "\n".join(f"import {name}" for name in self.modules)
        tried = setup.sandbox.run(Program("python", source, fixtures=Fixtures(packages=setup.packages)))
        if tried.failure_class is FailureClass.OK:
            return ""
        why = tried.raised.message if tried.raised else tried.failure_class.value
        return f"the tests need what the sandbox lacks: {why}"


def run_check(
    language: str, code: str, check: Check, setup: GradingSetup, packages: PackageSet | None = None
) -> Graded:
    """Run one check of a code.

    Raises:
        SandboxUnavailable: the sandbox cannot run here, or packages cannot be had.
    """
    how = LANGUAGES[language]
    limits = Limits(
        wall_s=setup.timeout_s,
        cpu_s=setup.timeout_s,
        memory_bytes=setup.memory_bytes,
        output_bytes=_OUTPUT_BYTES,
    )
    tests = check.after if check.after and how.has_tests else check.tests
    token = secrets.token_hex(16) if check.after and how.proof else ""
    source = check.before + code
    if check.after and not how.has_tests:
        source += "\n" + check.after
        source += how.proof.format(token=token) if token else ""
    if language == "python" and check.tests is not None:
        source = build_module(source)
    program = build_program(language, source, limits)
    fixtures = Fixtures(seed=0, packages=_find_packages(language, setup, packages))
    execution = setup.sandbox.run(
        Program(
            program.language,
            program.source,
            tests=tests,
            entry_point=check.entry_point,
            files=program.files,
            stdin=check.stdin.encode("utf-8", "surrogatepass"),
            limits=program.limits,
            fixtures=fixtures,
        )
    )
    if setup.require_apart and execution.tests_apart is False:
        return build_unjudged_grade("its tests share the answer's interpreter, where it could forge them")
    return _evaluate_execution(execution, check, token, has_tests=tests is not None)


def build_module(source: str) -> str:
    """Return Python code that runs as one that is imported; code that does not parse stays as it is."""
    try:
        statements = ast.parse(source).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return source
    # Nothing but a docstring may stand in front of these imports.
    heads = [
        statement
        for statement in statements
        if isinstance(statement, ast.ImportFrom) and statement.module == "__future__"
    ]
    if not heads:
        return _AS_MODULE + source
    lines = source.splitlines(keepends=True)
    end = heads[-1].end_lineno or heads[-1].lineno
    head = "".join(lines[:end])
    return head + ("" if head.endswith("\n") else "\n") + _AS_MODULE + "".join(lines[end:])


def _find_packages(language: str, setup: GradingSetup, packages: PackageSet | None) -> PackageSet | None:
    if packages is not None:
        return packages
    own = setup.packages
    if own is None or (own.ecosystem is Ecosystem.PIP) != (language == "python"):
        return None
    return own


_UNJUDGED = {
    FailureClass.SANDBOX_UNAVAILABLE: "the sandbox is not available",
    FailureClass.TESTS_NOT_RUN: "the tests were not run",
}


def _evaluate_execution(execution: Execution, check: Check, token: str, *, has_tests: bool) -> Graded:
    failure, wall_s = execution.failure_class, execution.wall_s
    if failure in _UNJUDGED:
        return build_unjudged_grade(execution.reason or _UNJUDGED[failure], failure)
    passed, total = execution.tests_passed or 0, execution.tests_total or 0
    if has_tests and passed < total:
        return _build_test_failure(execution, total - passed)
    if failure is not FailureClass.OK:
        return build_failed_grade(_describe_failure(execution), failure, wall_s)
    if has_tests and not execution.tests_total:
        return build_unjudged_grade("the sandbox reports no test")
    if token and token not in execution.stdout.split("\n"):
        return build_failed_grade("the program ended before its tests did", failure, wall_s)
    if check.stdout is not None and not matches_output(execution.stdout, check.stdout):
        shown = f"wrote {_format_excerpt(execution.stdout)}, expected {_format_excerpt(check.stdout)}"
        return build_failed_grade(shown, FailureClass.ASSERTION_FAILURE, wall_s)
    return Graded(Grade.PASSED, wall_s=wall_s, failure=failure)


def _build_test_failure(execution: Execution, missing: int) -> Graded:
    """Return the grade of an answer of which so many tests did not pass."""
    count = f"{execution.tests_passed} of {execution.tests_total} tests pass"
    reason = f"{count}; {_describe_failure(execution)}" if execution.raised else count
    if execution.failure_class not in (FailureClass.OK, FailureClass.ASSERTION_FAILURE):
        return build_failed_grade(reason, execution.failure_class, execution.wall_s)
    # All of them are known only where none was cut off.
    failed_tests = execution.tests_failed if len(execution.tests_failed) == missing else ()
    return Graded(Grade.FAILED, reason, FailureClass.ASSERTION_FAILURE, execution.wall_s, failed_tests)


def _describe_failure(execution: Execution) -> str:
    raised = execution.raised
    if raised is not None:
        message = f": {_format_excerpt(raised.message)}" if raised.message else ""
        return f"{raised.type}{message}"
    last = execution.stderr.strip()
    if last:
        return f"{execution.failure_class.value}: {last[-_SHOWN:]}"
    return execution.failure_class.value


def _format_excerpt(text: str) -> str:
    shown = repr(text.strip())
    if len(shown) <= _SHOWN:
        return shown
    return f"{shown[:_SHOWN]}…"
