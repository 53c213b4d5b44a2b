"""Running the code of runs: replayed, looked up in the runtime, held against the tests of their case.

In: a run, and a sandbox, or the reason why there is none. Out: what running its code found, or why it did not
run. A sandbox's own trouble is no finding about the code: it is tried once more, then it is the reason given.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

from spanproof.evaluators.model import ApiReport, NoReplay, NoReplayCause, Replay, TestReport, UnrunCause
from spanproof.evaluators.replay import (
    ApiIndex,
    FixtureBook,
    FixtureSet,
    TraceEnvironments,
    read_parameters,
    replay_run,
)
from spanproof.evaluators.replay.limits import DEFAULT_LIMITS, ReplayLimits
from spanproof.evaluators.sampling import compute_hash_share
from spanproof.sandbox import (
    BadFixture,
    Sandbox,
    SandboxBroken,
    SandboxUnavailable,
    Tier,
    UnsupportedLanguage,
)
from spanproof.sandbox.policy import Policy
from spanproof.sandbox.scanners.model import Scan
from spanproof.trace import Run, Trace

if TYPE_CHECKING:
    from spanproof.evaluators.casetests import CaseTests

log = logging.getLogger(__name__)

_Found = TypeVar("_Found")

_SWITCHED_OFF = "replay is switched off"


class Runner:
    """Runs the code of runs in one sandbox. As thread-safe as that is."""

    def __init__(
        self,
        sandbox: Sandbox | None,
        disabled_reason: str,
        repeat_share: float,
        *,
        packages_from_trace: Sequence[str] = (),
        limits: ReplayLimits = DEFAULT_LIMITS,
    ) -> None:
        """Take a sandbox, which the caller closes.

        Args:
            sandbox: None where no code is to run.
            disabled_reason: why that is, as users will read it; empty where no reason is given.
            repeat_share: share of the traces that are replayed twice.
            packages_from_trace: names of packages that a trace may have built to be replayed in.
            limits: bounds of the code that is run.
        """
        self.sandbox = sandbox
        built = sandbox.environments if sandbox is not None and packages_from_trace else None
        self.environments = TraceEnvironments(built, packages_from_trace) if built is not None else None
        self._apis = ApiIndex(sandbox) if sandbox is not None else None
        self._no_replay = NoReplay(disabled_reason or _SWITCHED_OFF, NoReplayCause.SWITCHED_OFF)
        self._repeat_share = repeat_share
        self._limits = limits
        self._warned: set[str] = set()

    def find_weakness(self, run: Run, policies: Mapping[str, Policy]) -> str | None:
        """Return why the sandbox's wall is not the one a policy demands for this run's code; else None."""
        for policy in [policies[snippet.id] for snippet in run.snippets]:
            demanded = policy.sandbox_tier
            if demanded is None or self.sandbox is None:
                continue
            here = self._tier
            if here is not None and not here.holds(demanded):
                return (
                    f"the policy {policy.name!r} demands the sandbox's {demanded} tier, and the backend"
                    f" {self.sandbox.name!r} runs in its {here} tier here; `spanproof doctor` says what is"
                    " missing"
                )
        return None

    @cached_property
    def _tier(self) -> Tier | None:
        """The sandbox's tier; looked up once, and only where a policy demands one. None: it cannot run."""
        if self.sandbox is not None:
            return self.sandbox.availability().tier
        return None

    def run_replay(
        self, trace: Trace, run: Run, scans: Mapping[str, Scan], fixtures: FixtureBook, *, with_apis: bool
    ) -> tuple[Replay | NoReplay, Mapping[str, ApiReport]]:
        """Return the run's replay, and on request what the runtime knows of the names its code uses."""
        sandbox, apis = self.sandbox, self._apis
        if sandbox is None or apis is None:
            return self._no_replay, {}
        repeat = compute_hash_share(trace.trace_id) < self._repeat_share
        try:
            found = self._get_fixtures(trace, run, fixtures)
            if isinstance(found, NoReplay):
                return found, {}
            fixtures_of_run = found
            replay: Replay | NoReplay = _run_with_retry(
                lambda: replay_run(
                    run,
                    scans,
                    sandbox,
                    fixtures_of_run,
                    read_parameters(trace),
                    repeat=repeat,
                    limits=self._limits,
                )
            )
        except (SandboxUnavailable, BadFixture) as missing:
            self._record_warning(str(missing))
            return NoReplay(str(missing)), {}
        except SandboxBroken as failure:
            replay = NoReplay(
                f"the sandbox failed twice: {failure}", NoReplayCause.FAILED, type(failure).__name__
            )
        except Exception as failure:
            # A failure on our side is no lack of the machine: what needs the replay is errored.
            log.exception("the replay failed")
            name = type(failure).__name__
            return NoReplay(f"the replay failed: {name}: {failure}", NoReplayCause.FAILED, name), {}
        try:
            return replay, _run_with_retry(
                lambda: apis.get_reports(run, fixtures_of_run.packages)
            ) if with_apis else {}
        except SandboxUnavailable:
            return replay, {}
        except Exception as failure:
            # A failure on our side costs the verdicts on names, and is no lack of the machine.
            log.exception("names could not be looked up")
            reason = f"{type(failure).__name__}: {failure}"
            return replay, {snippet.id: ApiReport(failed=reason) for snippet in run.snippets}

    def _get_fixtures(self, trace: Trace, run: Run, fixtures: FixtureBook) -> FixtureSet | NoReplay:
        """Return the user's fixtures for the run, in its own packages where they name none.

        Raises:
            BadFixture: the run names a set that is not there.
        """
        own = fixtures.get_fixture_set(run.cohort)
        if own.packages is not None or self.environments is None:
            return own
        packages = self.environments.find_packages(trace, run)
        if isinstance(packages, NoReplay):
            return packages
        if packages is not None:
            return replace(own, packages=packages)
        return own

    def _record_warning(self, reason: str) -> None:
        """Log once what the scores of every such run will say."""
        if reason not in self._warned:
            self._warned.add(reason)
            log.warning("snippets are not run again: %s", reason)

    def run_case_tests(
        self, run: Run, tests: CaseTests, replay: Replay | NoReplay, fixtures: FixtureBook
    ) -> TestReport:
        """Run the case's tests, where code may run at all, and return their report."""
        # Only suites have tests.
        from spanproof.evaluators.casetests import build_unrun_report, run_tests

        sandbox = self.sandbox
        if sandbox is None or isinstance(replay, NoReplay):
            reason = replay.reason if isinstance(replay, NoReplay) else _SWITCHED_OFF
            return build_unrun_report(tests, reason, UnrunCause.SANDBOX_UNAVAILABLE)
        try:
            own = fixtures.get_fixture_set(run.cohort)
            return _run_with_retry(lambda: run_tests(tests, run, sandbox, own, self._limits))
        except SandboxBroken as failure:
            # The code may have chosen so, to have no verdict.
            reason = f"the sandbox failed twice: {failure}"
            return build_unrun_report(tests, reason, UnrunCause.SANDBOX_BROKEN)
        except (SandboxUnavailable, UnsupportedLanguage, BadFixture) as trouble:
            return build_unrun_report(tests, str(trouble), UnrunCause.SANDBOX_UNAVAILABLE)


def _run_with_retry(run: Callable[[], _Found]) -> _Found:
    """Run it, and once more where the sandbox itself fails; a program's failure is not the sandbox's."""
    try:
        return run()
    except SandboxBroken:
        return run()
