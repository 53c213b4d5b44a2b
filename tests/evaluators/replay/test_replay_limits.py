"""How long a replay may take: by step, by run."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.plugins.scripted_sandbox import ScriptedSandbox, ScriptedStep

from spanproof.evaluators.replay import replay_run
from spanproof.evaluators.replay.limits import MAX_STEP_S, ReplayLimits
from spanproof.evaluators.replay.plan import build_plan
from spanproof.evaluators.replay.prelude import build_prelude
from spanproof.evaluators.replay.session import MAX_RUN_S
from spanproof.sandbox import Execution, FailureClass, Limits
from spanproof.sandbox.scanners.model import Scan, Verdict


def test_once_a_run_has_used_its_time_the_rest_is_left_out_with_the_reason(build):
    sources = ("slow = 1", "slower = 2", "last = 3")
    snippets = [build.snippet(source, observation="x") for source in sources]
    steps = {source: ScriptedStep(Execution(FailureClass.OK, wall_s=MAX_RUN_S * 0.6)) for source in sources}
    steps[build_prelude(sources, 0)] = ScriptedStep(Execution(FailureClass.OK))
    scans = {snippet.id: Scan(Verdict.ALLOW, ()) for snippet in snippets}
    replay = replay_run(build.run(snippets), scans, ScriptedSandbox(steps=steps))
    assert [step.snippet.source for step in replay.steps] == ["slow = 1", "slower = 2"]
    assert replay.unreplayed == {snippets[2].id: "the replay's 120 s were used up by the steps before it"}


@pytest.mark.parametrize(("recorded_s", "allowed_s"), [(0.1, 10.0), (8.0, 16.0), (3_600.0, MAX_STEP_S)])
def test_a_step_gets_twice_what_it_took_on_record_within_bounds(build, recorded_s, allowed_s):
    run = build.run([build.snippet("x = 1", observation="x")])
    (step,) = run.steps
    took = replace(step, end_ns=step.start_ns + int(recorded_s * 1e9))
    assert build_plan(replace(run, steps=(took,))).spec.limits.wall_s == allowed_s


def test_configured_limits_hold_for_each_step(build):
    run = build.run([build.snippet("x = 1", observation="x")])
    limits = build_plan(run, limits=ReplayLimits(Limits(processes=200, memory_bytes=2**30))).spec.limits
    assert (limits.processes, limits.memory_bytes, limits.wall_s) == (200, 2**30, 10.0)


@pytest.mark.parametrize("step_s", [2.0, 90.0])
def test_a_configured_time_is_what_a_step_gets_whatever_it_took_on_record(build, step_s):
    run = build.run([build.snippet("x = 1", observation="x")])
    (step,) = run.steps
    run = replace(run, steps=(replace(step, end_ns=step.start_ns + 8 * 10**9),))
    limits = build_plan(run, limits=ReplayLimits(step_s=step_s)).spec.limits
    assert (limits.wall_s, limits.cpu_s) == (step_s, step_s)


def test_a_replay_that_its_limits_stopped_names_the_key_that_raises_them(build):
    snippet = build.snippet("x = 1", observation="x")
    stopped = ScriptedStep(Execution(FailureClass.OUT_OF_MEMORY))
    steps = {"x = 1": stopped, build_prelude(["x = 1"], 0): ScriptedStep(Execution(FailureClass.OK))}
    scans = {snippet.id: Scan(Verdict.ALLOW, ())}
    (step,) = replay_run(build.run([snippet]), scans, ScriptedSandbox(steps=steps)).steps
    assert step.agrees is None
    assert "raise sandbox.limits.memory_bytes" in step.difference
