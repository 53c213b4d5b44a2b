"""The `jail` backend: programs in namespaces of their own, on this machine, with nothing but Python.

In: a `Program` or a `SessionSpec`. Out: `Execution`s. Supervisors are kept warm and handed to one caller at a
time; one that breaks is dropped and replaced. See docs/sandbox.md for what the wall holds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from queue import SimpleQueue
from typing import ClassVar, TypeVar

from spanproof.sandbox.backend import AnswerTool, Availability, Sandbox, Session
from spanproof.sandbox.backends.jail import probe
from spanproof.sandbox.backends.jail.build_sandbox import run_in_build_sandbox
from spanproof.sandbox.backends.jail.leftovers import run_cleanup
from spanproof.sandbox.backends.jail.pool import (
    Kind,
    Pool,
    get_environment_kind,
    get_kind,
    get_session_kind,
)
from spanproof.sandbox.calls import check_files
from spanproof.sandbox.environments import Environments, Leases
from spanproof.sandbox.errors import BadSetting, UnsupportedLanguage
from spanproof.sandbox.guest.outcome import build_execution
from spanproof.sandbox.guest.wire import Frame, Header
from spanproof.sandbox.javascript_tests import has_javascript_tests, run_javascript_tests
from spanproof.sandbox.model import Execution, PackageSet, Program, SessionSpec, Tier
from spanproof.sandbox.supervisor.forkserver.host import JobNotBegun
from spanproof.sandbox.supervisor.namespaces.host_paths import may_exist_on_host
from spanproof.sandbox.supervisor.run.ahead import compute_ahead_plan
from spanproof.sandbox.supervisor.run.job import build_job, check_database, check_language, read_runtimes
from spanproof.sandbox.supervisor.run.session import Loan, SupervisorSession, build_session_job
from spanproof.sandbox.toolchains import TOOLCHAINS, StartCounts, build_script, read_outcome

_GRACE_S = 15.0
_Result = TypeVar("_Result")


class JailSandbox(Sandbox):
    """Runs programs in the jail; `workers` of them at once."""

    name = "jail"
    settings: ClassVar[Mapping[str, str]] = {
        "tier": "the wall to demand: `full`, the default, or `reduced`, which takes less where it must"
    }

    def __init__(self, *, workers: int = 1, tier: str = Tier.FULL) -> None:
        self._demanded = _parse_tier(tier)
        self._runtimes = read_runtimes()
        self.languages = self._runtimes.languages
        self._turns: SimpleQueue[None] = SimpleQueue()  # does what a semaphore does for a tenth of its time
        for _ in range(max(1, workers)):
            self._turns.put(None)
        self._pool = Pool(self._demanded)
        self._start_counts = StartCounts()
        self.environments = Environments(partial(run_in_build_sandbox, demanded=self._demanded))
        self._leases = Leases(self.environments)

    def availability(self) -> Availability:
        """Return what this machine gives."""
        return probe.get_availability(self._demanded)

    def run(self, program: Program) -> Execution:
        """Run one program; see `Sandbox.run`."""
        if has_javascript_tests(program):
            return run_javascript_tests(program, self.run)
        if program.language in TOOLCHAINS:
            check_language(program.language, self._runtimes)
            execution = self.run(build_script(program))
            return read_outcome(program, execution, self._start_counts.find_counts(program, self.run))
        header, parts = build_job(program, self._runtimes)
        plan = compute_ahead_plan(header) if self._pool.get_tier() is Tier.FULL else None
        if plan is not None:
            header["ahead"] = plan
        kind = self._find_package_kind(program.fixtures.packages) or get_kind(program)
        self._turns.get()
        try:
            answer = _run_with_retry(lambda: self._run_job(header, parts, program, kind))
        finally:
            self._turns.put(None)
        execution = build_execution(
            answer.header,
            answer.parts,
            program.limits,
            language=program.language,
            may_exist=may_exist_on_host,
            tests=program.tests,
        )
        check_database(answer.header, execution, program)
        return execution

    def _run_job(self, header: Header, parts: list[bytes], program: Program, kind: Kind) -> Frame:
        supervisor = self._pool.get_supervisor(
            kind, _describe_interpreter(program) if "ahead" in header else ""
        )
        try:
            supervisor.send(header, parts)
            answer = supervisor.wait_for_frame(program.limits.wall_s + _GRACE_S)
        except BaseException:
            supervisor.close()
            raise
        self._pool.add_idle(kind, supervisor)
        return answer

    def session(self, spec: SessionSpec, answer: AnswerTool) -> Session:
        """Start a session; see `Sandbox.session`."""
        if spec.language != "python":
            raise UnsupportedLanguage(f"the jail has sessions in python only, not in {spec.language!r}")
        check_files(spec.files)
        job = build_session_job(spec)
        kind = get_session_kind(spec, self._find_package_kind(spec.fixtures.packages))
        return _run_with_retry(lambda: self._start_session(job, kind, spec, answer))

    def _start_session(
        self, job: tuple[Header, list[bytes]], kind: Kind, spec: SessionSpec, answer: AnswerTool
    ) -> SupervisorSession:
        supervisor = self._pool.get_supervisor(kind)
        loan = Loan(supervisor, lambda: self._pool.add_idle(kind, supervisor), supervisor.close)
        return SupervisorSession(loan, job, spec, answer, may_exist_on_host)

    def remove_leftovers(self) -> list[str]:
        """See `Sandbox.remove_leftovers`: processes, control groups and directories of dead jails."""
        return run_cleanup()

    def close(self) -> None:
        """End every process of it."""
        self._pool.close()
        self._leases.close()

    def _find_package_kind(self, packages: PackageSet | None) -> Kind | None:
        """Return the interpreter of a package set, which is built at its first use."""
        if packages is None:
            return None
        return get_environment_kind(self._leases.get_lease(packages).path, packages.ecosystem)


def _run_with_retry(run: Callable[[], _Result]) -> _Result:
    """Run a job, and once more where its supervisor ended over the program before it."""
    try:
        return run()
    except JobNotBegun:
        return run()


def _describe_interpreter(program: Program) -> str:
    """Return which supervisors a program's interpreter may wait in: with a seed it starts otherwise."""
    if program.tests is None:
        interpreter = program.language
    else:
        interpreter = f"{program.language}, tested"
    if program.fixtures.seed is None:
        return interpreter
    return f"{interpreter}, seeded"


def _parse_tier(value: str) -> Tier:
    try:
        return Tier(value)
    except ValueError:
        tiers = " or ".join(Tier)
        raise BadSetting(
            f"sandbox backend 'jail': setting 'tier' cannot be {value!r}; give {tiers}"
        ) from None
