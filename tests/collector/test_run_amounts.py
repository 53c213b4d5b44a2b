"""What runs cost and how they loop is summed by project, agent, model and task."""

from __future__ import annotations

from dataclasses import replace

from spanproof.collector.own_metrics import build_metrics_request
from spanproof.collector.telemetry import Telemetry
from spanproof.evaluators.model import TraceEvaluation
from spanproof.trace import Cohort, Layer, Scored, Skipped, SpanKind, Usage, trace_of

from .test_verdict_counts import evaluation, samples

CLERK = Cohort(project="shop", agent="clerk", model="m-2", task="refund")


def measured(
    name: str, raw: float, cohort: Cohort = CLERK, layer: Layer = Layer.TRAJECTORY
) -> TraceEvaluation:
    return evaluation(Scored(0.5, None, "", raw=raw, unit="x"), cohort, layer, name)


def sums(telemetry: Telemetry, **labels: str) -> dict[str, float]:
    return {
        sample.name.removeprefix("spanproof_run_"): sample.value
        for sample in samples(telemetry)
        if sample.name.startswith("spanproof_run_") and labels.items() <= sample.labels.items()
    }


def test_cost_tokens_steps_errors_and_blocks_are_summed_with_the_number_of_runs():
    telemetry = Telemetry()
    for dollars in (0.25, 0.5):
        telemetry.run_amounts.add_evaluation(measured("cost_usd", dollars))
    telemetry.run_amounts.add_evaluation(measured("steps", 7))
    telemetry.run_amounts.add_evaluation(measured("tokens", 1200))
    telemetry.run_amounts.add_evaluation(measured("consecutive_errors", 3))
    found = sums(telemetry, project="shop", agent="clerk", model="m-2", task="refund")
    assert found == {
        "cost_usd_sum": 0.75,
        "cost_usd_count": 2,
        "steps_sum": 7,
        "steps_count": 1,
        "tokens_sum": 1200,
        "tokens_count": 1,
        "consecutive_errors_sum": 3,
        "consecutive_errors_count": 1,
    }


def test_the_rate_of_blocks_is_known_by_task():
    telemetry = Telemetry()
    for task, blocks in (("refund", 2), ("refund", 0), ("search", 0)):
        telemetry.run_amounts.add_evaluation(
            measured("blocks", blocks, replace(CLERK, task=task), layer=Layer.BOUNDARY)
        )
    assert sums(telemetry, task="refund") == {"guard_blocks_sum": 2, "guard_blocks_count": 2}
    assert sums(telemetry, task="search") == {"guard_blocks_sum": 0, "guard_blocks_count": 1}


def test_tokens_from_a_cache_are_read_in_each_convention():
    telemetry = Telemetry()
    found = measured("steps", 1)
    agent = found.trace.spans[0]
    call = replace(agent, span_id="c" * 16, parent_id=agent.span_id, kind=SpanKind.LLM, usage=Usage(1000, 10))
    keys = (
        "gen_ai.usage.cache_read.input_tokens",
        "llm.token_count.prompt_details.cache_read",
        "ai.usage.cachedInputTokens",
    )
    calls = [
        replace(call, span_id=f"{number:016x}", attributes={key: 800}) for number, key in enumerate(keys, 1)
    ]
    # A span that repeats the sum of its children has no usage, and counts once with them.
    repeated = replace(agent, attributes={keys[0]: 2400})
    telemetry.run_amounts.add_evaluation(replace(found, trace=trace_of([repeated, *calls])))
    assert sums(telemetry, task="refund")["cached_tokens_sum"] == 2400


def test_an_amount_that_a_run_does_not_have_is_not_counted():
    telemetry = Telemetry()
    telemetry.run_amounts.add_evaluation(evaluation(Skipped("no tokens"), CLERK, Layer.TRAJECTORY, "tokens"))
    assert sums(telemetry, task="refund") == {}


def test_amounts_are_sent_as_otlp_with_sum_and_count():
    telemetry = Telemetry()
    for dollars in (0.25, 0.5):
        telemetry.run_amounts.add_evaluation(measured("cost_usd", dollars))
    request = build_metrics_request(telemetry.collect(), 5, 9)
    found = {metric.name: metric for metric in request.resource_metrics[0].scope_metrics[0].metrics}
    (point,) = found["spanproof_run_cost_usd"].histogram.data_points
    assert (point.sum, point.count, list(point.bucket_counts)) == (0.75, 2, [])
    assert "task" in {pair.key for pair in point.attributes}


def test_cohorts_beyond_the_bound_are_summed_together():
    telemetry = Telemetry(max_cohorts=2)
    for number in range(50):
        telemetry.run_amounts.add_evaluation(measured("steps", 1, replace(CLERK, task=f"task {number}")))
    tasks = {
        sample.labels["task"] for sample in samples(telemetry) if sample.name == "spanproof_run_steps_sum"
    }
    assert tasks == {"task 0", "task 1", "(other)"}
    assert sums(telemetry, task="(other)")["steps_sum"] == 48
    assert sums(telemetry)["folded_total"] == 48
