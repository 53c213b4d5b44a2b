"""Code that breaks the sandbox it runs in is judged for it; a machine that runs nothing is not its fault."""

from __future__ import annotations

from dataclasses import replace

import pytest

from spanproof.evaluators.layers import boundary, correctness
from spanproof.evaluators.model import NoReplay, NoReplayCause, Replay, ReplayBreak, TestReport, UnrunCause
from spanproof.evaluators.replay import replay_run
from spanproof.sandbox import Sandbox, SandboxBroken, SandboxSilent, Session
from spanproof.sandbox.scanners.model import Verdict
from spanproof.trace import Errored, Label, Language, Payload, RecordedCall

BREAKS = "'breaks'"
HUNG = "'hangs'"


class Fragile(Sandbox):
    """The real sandbox, but for steps and programs that break it: `times` each, or whatever they are."""

    def __init__(self, real, *, times=100, everything=False):
        self.real, self.times, self.everything = real, times, everything
        self.name, self.languages = real.name, real.languages

    def availability(self):
        return self.real.availability()

    def check(self, source):
        if self.everything:
            raise SandboxBroken("nothing runs here")
        if self.times and (BREAKS in source or HUNG in source):
            self.times -= 1
            raise (SandboxBroken if BREAKS in source else SandboxSilent)("a supervisor is gone")

    def run(self, program):
        self.check(program.source)
        return self.real.run(program)

    def session(self, spec, answer):
        return FragileSession(self, self.real.session(spec, answer))

    def close(self):
        return None


class FragileSession(Session):
    def __init__(self, sandbox, real):
        self.sandbox, self.real = sandbox, real

    def execute(self, source):
        self.sandbox.check(source)
        return self.real.execute(source)

    def close(self):
        self.real.close()


@pytest.fixture
def replayed(build, jail):
    def replay(*snippets, **sandbox):
        run = build.run(list(snippets))
        scans = {snippet.id: build.scan(Verdict.ALLOW) for snippet in snippets}
        return run, replay_run(run, scans, Fragile(jail, **sandbox))

    return replay


def boundary_of(build, run, replay, **scans):
    judgements = boundary.evaluate_boundary(replace(build.evidence(run, **scans), replay=replay))
    return next(each.outcome for each in judgements if each.name == "boundary")


@pytest.mark.parametrize("language", [Language.PYTHON, Language.BASH])
@pytest.mark.parametrize(
    ("source", "how", "label"),
    [(BREAKS, ReplayBreak.ENDED_SANDBOX, Label.FAIL), (HUNG, ReplayBreak.SILENCED_SANDBOX, None)],
)
def test_code_that_breaks_the_sandbox_twice_is_never_passed(build, replayed, language, source, how, label):
    text = f"echo {source}" if language is Language.BASH else source
    before, breaks = build.snippet("x = 1"), build.snippet(text, language=language)
    after = build.snippet("print(2)")
    run, replay = replayed(before, breaks, after)
    assert replay.breaks == {breaks.id: how}
    assert [step.snippet.id for step in replay.steps] == [before.id, after.id]
    outcome = boundary_of(build, run, replay)
    assert (outcome.label, outcome.value) == (label, 0.0 if label else 0.5)
    attempts = [j.outcome for j in boundary.evaluate_boundary(replace(build.evidence(run), replay=replay))]
    assert [each.label for each in attempts if "did not come to an end" in str(each)] == [label] * 2


def test_code_in_which_the_sandbox_broke_once_is_replayed_with_its_calls_answered_again(build, replayed):
    call = RecordedCall("look", args=("a",), result=Payload("found", "found"))
    snippet = build.snippet(f"x = {BREAKS}; look('a')", tape=(call,))
    _run, replay = replayed(snippet, times=1)
    assert not replay.breaks
    assert [step.execution.result for step in replay.steps] == ["found"]


def test_a_machine_that_runs_nothing_is_reported_and_blamed_on_no_code(build, replayed):
    with pytest.raises(SandboxBroken):
        replayed(build.snippet(BREAKS), everything=True)


def test_a_replay_that_failed_by_our_fault_passes_no_code_that_ran(build):
    failed = NoReplay("the sandbox failed twice", NoReplayCause.FAILED, "SandboxBroken")
    ran, proposed = build.run([build.snippet("1")]), build.run([build.snippet("1", executed=False)])
    assert isinstance(boundary_of(build, ran, failed), Errored)
    assert boundary_of(build, proposed, failed).label is Label.PASS
    denied = build.run([build.snippet("import os")])
    scans = {denied.snippets[0].id: build.scan(Verdict.DENY)}
    assert boundary_of(build, denied, failed, scans=scans).label is Label.FAIL


@pytest.mark.parametrize("how", [ReplayBreak.NOT_REBUILT, ReplayBreak.SPENT_TIME])
def test_code_that_left_no_time_or_no_state_for_a_replay_stays_open(build, how):
    snippet = build.snippet("1")
    run = build.run([snippet])
    replay = Replay(run.span_id, "jail", (), {snippet.id: "a reason"}, {snippet.id: how})
    assert boundary_of(build, run, replay).label is None


@pytest.mark.parametrize("cause", sorted(set(UnrunCause) - {UnrunCause.WORK_MISSING}))
def test_tests_that_could_not_be_run_leave_the_case_without_a_pass(build, cause):
    snippet = build.snippet("1")
    run = build.run([snippet])
    evidence = build.evidence(run, replayed=[build.step(snippet, agrees=True)])
    unrun = replace(evidence, tests=TestReport(unrun="a reason", unrun_cause=cause))
    of_layer, of_tests = correctness.evaluate_correctness(unrun)[:2]
    assert of_layer.outcome == of_tests.outcome
    assert of_tests.outcome == Errored(cause.value, "the case's tests could not be run: a reason")


def test_tests_without_code_to_test_fail_the_case(build):
    tests = TestReport(unrun="the run has no Python to test", unrun_cause=UnrunCause.WORK_MISSING)
    for snippets in ([], [build.snippet("1")]):
        evidence = replace(build.evidence(build.run(snippets)), tests=tests)
        of_layer, of_tests = correctness.evaluate_correctness(evidence)[:2]
        assert (of_layer.name, of_tests.name) == ("correctness", "tests_pass")
        assert (of_layer.outcome.label, of_tests.outcome.label) == (Label.FAIL, Label.FAIL)
        assert of_tests.outcome.value == 0
        assert "could not be run: the run has no Python to test." in of_layer.outcome.explanation
