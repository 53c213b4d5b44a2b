from __future__ import annotations

import subprocess
from dataclasses import replace

import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families
from prometheus_client.samples import Sample

from spanproof.collector.telemetry import Telemetry
from spanproof.evaluators.model import NoReplay, RunEvaluation, TraceEvaluation
from spanproof.trace import (
    Cohort,
    Errored,
    Event,
    Label,
    Layer,
    Outcome,
    Run,
    Score,
    Scored,
    Skipped,
    Span,
    SpanKind,
    trace_of,
)

OPEN_METRICS = "application/openmetrics-text; version=1.0.0"
PASS, FAIL = Scored(1.0, Label.PASS, ""), Scored(0.0, Label.FAIL, "")
SHOWN = ("pass", "fail", "open", "skipped", "errored")


def evaluation(
    outcome: Outcome, cohort: Cohort, layer: Layer = Layer.GROUNDEDNESS, name: str = "groundedness"
) -> TraceEvaluation:
    span = Span("a" * 32, "b" * 16, None, "a", SpanKind.AGENT, 1, 2)
    run = Run("a" * 32, "b" * 16, "a", None, None, (), cohort=cohort, start_ns=1, end_ns=2)
    score = Score(
        "s", "a" * 32, "b" * 16, "b" * 16, None, layer, name, "e", "1", outcome,
        cohort=cohort, span_time_ns=1, input_digest="",
    )  # fmt: skip
    return TraceEvaluation(trace_of([span]), (RunEvaluation(run, {}, NoReplay("off"), (score,)),), ())


def samples(telemetry: Telemetry) -> list[Sample]:
    text, content_type = telemetry.encode_metrics(OPEN_METRICS)
    assert content_type.startswith("application/openmetrics-text")
    families = text_string_to_metric_families(text.decode())
    return [each for family in families for each in family.samples]


def verdicts(telemetry: Telemetry) -> dict[tuple[str, str, str], float]:
    return {
        (each.labels["score"], each.labels["label"], each.labels["agent"]): each.value
        for each in samples(telemetry)
        if each.name == "spanproof_evaluation_verdicts_total"
    }


def test_each_kind_of_outcome_is_a_label():
    telemetry = Telemetry()
    outcomes = (PASS, FAIL, Scored(0.5, None, ""), Skipped("hidden"), Errored("E", "gone"), FAIL)
    for outcome in outcomes:
        telemetry.verdicts.add_evaluation(evaluation(outcome, Cohort(agent="clerk")))
    expected = {("groundedness.score", label, "clerk"): 1.0 for label in SHOWN}
    assert verdicts(telemetry) == {**expected, ("groundedness.score", "fail", "clerk"): 2.0}


def test_scores_that_only_advise_are_left_out():
    telemetry = Telemetry()
    steps = Scored(0.1, None, "", raw=7.0, unit="steps")
    telemetry.verdicts.add_evaluation(evaluation(steps, Cohort(), Layer.TRAJECTORY, "steps"))
    telemetry.verdicts.add_evaluation(evaluation(PASS, Cohort(), Layer.TRAJECTORY, "recovery"))
    telemetry.verdicts.add_evaluation(
        evaluation(Scored(0.5, None, ""), Cohort(), Layer.TRAJECTORY, "of_ones_own")
    )
    assert verdicts(telemetry) == {("trajectory.recovery", "pass", ""): 1.0}


def test_what_budgets_and_scans_stopped_is_counted_by_cause():
    telemetry = Telemetry()
    found = evaluation(PASS, Cohort(agent="clerk"))
    agent = found.trace.spans[0]
    above = replace(agent, span_id="c" * 16, kind=SpanKind.CHAIN, events=blocks("prompt.injection"))
    agent = replace(agent, parent_id=above.span_id)
    stopped = [("budget.steps",), ("budget.tool",), ("py.exec", "py.process.spawn"), ("sql.drop",), ()]
    steps = [
        replace(
            agent,
            span_id=f"{n:016x}",
            parent_id=agent.span_id,
            kind=SpanKind.TOOL,
            events=blocks(*rules),
        )
        for n, rules in enumerate(stopped, 1)
    ]
    telemetry.verdicts.add_evaluation(replace(found, trace=trace_of([above, agent, *steps])))
    counted = {
        (each.labels["cause"], each.labels["agent"]): each.value
        for each in samples(telemetry)
        if each.name == "spanproof_guard_blocks_total"
    }
    causes = {"budget.steps": 1.0, "budget.tool": 1.0, "scan": 3.0}
    assert counted == {(cause, "clerk"): count for cause, count in causes.items()}


def test_what_a_guard_would_have_stopped_is_not_counted():
    telemetry = Telemetry()
    found = evaluation(PASS, Cohort(agent="clerk"))
    observed = replace(found.trace.spans[0], events=blocks("sql.drop", blocked=False))
    telemetry.verdicts.add_evaluation(replace(found, trace=trace_of([observed])))
    assert not [each for each in samples(telemetry) if each.name == "spanproof_guard_blocks_total"]


def blocks(*rules: str, blocked: bool = True) -> tuple[Event, ...]:
    """Return the events of a guard that found these rules broken."""
    return tuple(
        Event(
            "spanproof.guard.finding", 0, {"spanproof.guard.blocked": blocked, "spanproof.guard.rule": rule}
        )
        for rule in rules
    )


def test_cohorts_beyond_the_bound_are_counted_together_and_rates_stay_whole():
    telemetry = Telemetry(max_cohorts=2)
    for number in range(50):
        for outcome in (PASS, FAIL):
            telemetry.verdicts.add_evaluation(evaluation(outcome, Cohort(agent=f"agent-{number}")))
    telemetry.verdicts.add_evaluation(evaluation(Errored("E", ""), Cohort(agent="agent-1")))
    found = verdicts(telemetry)
    assert {agent for _, _, agent in found} == {"agent-0", "agent-1", "(other)"}
    assert (
        found["groundedness.score", "fail", "(other)"] == found["groundedness.score", "pass", "(other)"] == 48
    )
    assert found["groundedness.score", "errored", "agent-1"] == 1
    folded = [
        each for each in samples(telemetry) if each.name == "spanproof_evaluation_verdicts_folded_total"
    ]
    assert [each.value for each in folded] == [96]


@pytest.mark.peers
def test_what_a_trace_calls_itself_cannot_break_the_page():
    telemetry = Telemetry()
    hostile = 'a"b\\c\nd{e}\ud800\x00' + "x" * 1000
    telemetry.verdicts.add_evaluation(evaluation(FAIL, Cohort(agent=hostile, model=hostile)))
    ((_, _, agent),) = verdicts(telemetry)
    assert agent.startswith('a"b\\c\nd{e}?')
    assert len(agent) == 200
    text, _ = telemetry.encode_metrics()
    done = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True)
    assert b"error" not in done.stderr, done.stderr


def test_no_series_says_when_another_began():
    telemetry = Telemetry()
    telemetry.spans_received.inc()
    telemetry.requests.labels("http", "accepted").inc()
    telemetry.evaluation_seconds.observe(1)
    for accept in ("", OPEN_METRICS):
        assert b"_created" not in telemetry.encode_metrics(accept)[0]
    assert b"spanproof_receive_spans_total 1.0" in telemetry.encode_metrics()[0]
