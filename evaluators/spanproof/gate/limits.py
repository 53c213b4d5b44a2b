"""What an assertion or an alert rule may compare: refuses what can never or always hold.

Comes in: a reference to a score and what is compared. Goes out: a sentence with the remedy, None where the
comparison is useful. The gate's grammar and the alert rules of the configuration share these checks.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from math import isinf
from typing import Final

from spanproof.evaluators.scores import (
    NORMALISED_SUFFIX,
    ScoreKind,
    Unit,
    find_nearest,
    get_score_id,
    list_layer_scores,
)
from spanproof.gate.assertion import (
    AggregateAssertion,
    Comparison,
    Function,
    ScoreRef,
    TrialsAssertion,
    evaluate_range,
    format_threshold,
)


def find_score_refusal(score: ScoreRef) -> str | None:
    """Return why there is no such score; None where there is, or where a user's evaluator may give it."""
    if score.spec is not None:
        return None
    meant = find_nearest(score.layer, score.name)
    if meant is None:
        return None
    return (
        f"there is no score {get_score_id(score.layer, score.name)}; did you mean {meant}?"
        f" (a score of your own evaluator that is named like this is written in quotes:"
        f" {score.layer.value}.{json.dumps(score.name)})"
    )


def find_verdict_refusal(score: ScoreRef) -> str | None:
    """Return why a verdict of this score cannot be compared; None where it has verdicts."""
    if score.spec is None or not score.spec.advisory:
        return None
    if score.spec.is_raw:
        example = f"{score} <= {_EXAMPLES[score.unit]}"
    else:
        example = f"{score} >= 0.9"
    return f"{score} has no verdict: compare its value, as in {example}"


def find_comparison_refusal(
    name: str, comparison: Comparison, threshold: float, unit: Unit, high: float, score: ScoreRef | None
) -> str | None:
    """Return why this comparison is useless; None where it can hold and can fail.

    Args:
        name: of what is compared, as users write it.
        comparison: how.
        threshold: in `unit`.
        unit: of what is compared.
        high: the largest number there can be; the smallest is 0.
        score: the score behind it, for the remedy; None where there is none.
    """
    decided = evaluate_range(comparison, threshold, 0.0, high)
    if decided is None:
        return None
    how = "always holds" if decided else "can never hold"
    compared = f"{name} {comparison.value} {format_threshold(threshold, unit)}"
    if score is not None and score.spec is None and threshold > 1:
        return f"{compared} {how}: {_describe_own_score(score)}"
    if isinf(high):
        span = f"from 0 {unit.value}".rstrip() + " upwards"
    else:
        span = f"from 0 to {high:g}"
    return f"{compared} {how}: its values are {span}; {_describe_remedy(score, comparison, threshold, high)}"


def find_margin_refusal(assertion: AggregateAssertion | TrialsAssertion, by: float) -> str | None:
    """Return why this margin to the baseline is useless; None where it can be exceeded."""
    if by < assertion.high:
        return None
    return (
        f"no_worse_than baseline by {format_threshold(by, assertion.unit)} always holds:"
        f" the values of {assertion.subject} are from 0 to {assertion.high:g};"
        " give a smaller margin"
    )


def find_function_refusal(function: Function, score: ScoreRef) -> str | None:
    """Return why this function cannot be computed over the score; None where it can."""
    if function not in (Function.FAIL_RATE, Function.OPEN_RATE):
        return None
    if score.spec is not None and score.spec.advisory:
        never = "fails" if function is Function.FAIL_RATE else "is open"
        return f"{score} has no verdict and never {never}: compare avg({score}), p95({score}) or max({score})"
    if score.spec is None and function is Function.OPEN_RATE:
        return (
            f"{score} is a score of your own evaluator, which is never open; compare presence_rate({score})"
        )
    return None


def _describe_own_score(score: ScoreRef) -> str:
    """Return what a score that is not built in may be, and which metrics have larger values."""
    metrics = [spec.id for spec in list_layer_scores(score.layer) if spec.kind is ScoreKind.METRIC]
    if metrics:
        remark = f"; the metrics of {score.layer.value} are {', '.join(metrics)}"
    else:
        remark = ""
    return f"there is no metric of this name, and a score of your own evaluator is from 0 to 1{remark}"


def _describe_remedy(score: ScoreRef | None, comparison: Comparison, threshold: float, high: float) -> str:
    """Return what to write instead."""
    metric = _find_metric(score) if score is not None else None
    if metric is not None and threshold > 1:
        return f"to compare {metric.unit.value}, write {metric} {comparison.value} {threshold:g}"
    if high == 1.0 and 1 < threshold <= 100:
        return f"write {threshold:g}% or {threshold / 100:g}"
    if isinf(high):
        return "give a larger number"
    return "give a number between"


def _find_metric(score: ScoreRef) -> ScoreRef | None:
    """Return the metric of which the score is the value from 0 to 1, None where there is none."""
    for spec in list_layer_scores(score.layer):
        if spec.kind is ScoreKind.METRIC and score.name == f"{spec.name}{NORMALISED_SUFFIX}":
            return ScoreRef(score.layer, spec.name)
    return None


# A threshold of each unit, for messages.
_EXAMPLES: Final[Mapping[Unit, str]] = {
    Unit.STEPS: "20 steps",
    Unit.ERRORS: "2 errors",
    Unit.BLOCKS: "0.5 blocks",
    Unit.TOKENS: "50000 tokens",
    Unit.USD: "0.05 USD",
    Unit.SECONDS: "10 s",
    Unit.NONE: "0.9",
}
