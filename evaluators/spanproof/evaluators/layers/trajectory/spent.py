"""What a run took: steps, errors in a row, tokens and US dollars, raw and as a value from 0 to 1 that falls.

In: the evidence about one run, with the user's prices. Out: an advisory outcome for each. A price that is not
known is a reason to skip, never a guess.
"""

from __future__ import annotations

from collections.abc import Sequence

from spanproof.evaluators.actions import Action, select_allowed
from spanproof.evaluators.layers.common import format_count
from spanproof.evaluators.layers.trajectory.weights import (
    DOLLARS_AT_HALF,
    ERRORS_AT_HALF,
    STEPS_AT_HALF,
    TOKENS_AT_HALF,
)
from spanproof.evaluators.model import RunEvidence
from spanproof.evaluators.prices import find_price
from spanproof.evaluators.scores import Unit
from spanproof.trace import Cause, Outcome, Scored, Skipped


def compute_run_usage(evidence: RunEvidence) -> dict[str, Outcome]:
    """Return steps, errors in a row, tokens and cost; each 0.5 at what an ordinary run takes."""
    run = evidence.run
    found: dict[str, Outcome] = {}
    if run.steps:
        count = len(run.steps)
        found["steps"] = _evaluate_amount(count, STEPS_AT_HALF, Unit.STEPS, format_count(count, "step"))
    if evidence.account.actions:
        found["consecutive_errors"] = _compute_consecutive_errors(select_allowed(evidence.account.actions))
    tokens = run.usage.input_tokens + run.usage.output_tokens
    if tokens:
        found["tokens"] = _evaluate_amount(tokens, TOKENS_AT_HALF, Unit.TOKENS, _format_tokens(evidence))
        found["cost_usd"] = _compute_cost(evidence)
    return found


def _compute_consecutive_errors(actions: Sequence[Action]) -> Scored:
    """Return the most actions in a row that ended in an error, with the first and the last of them."""
    longest: list[Action] = []
    current: list[Action] = []
    for action in actions:
        current = [] if action.error is None else [*current, action]
        longest = max(longest, current, key=len)
    count = len(longest)
    sentence = "no action ended in an error"
    if count:
        if count == 1:
            where = f"step {longest[0].step}"
        else:
            where = f"steps {longest[0].step} to {longest[-1].step}"
        sentence = f"{format_count(count, 'error')} in a row: {where}"
    return _evaluate_amount(count, ERRORS_AT_HALF, Unit.ERRORS, sentence)


def _compute_cost(evidence: RunEvidence) -> Outcome:
    usage, model = evidence.run.usage, evidence.run.cohort.model
    if not model:
        return Skipped("the trace does not say which model the tokens are of", Cause.NOT_RECORDED)
    price = find_price(model, evidence.hints.prices)
    if price is None:
        return Skipped(
            f"the price of {model!r} is not known; add it to judge.prices", Cause.NOT_CONFIGURED, model
        )
    dollars = price.compute_dollars(usage.input_tokens, usage.output_tokens)
    sentence = f"${dollars:.4f}: {_format_tokens(evidence)} of {model}"
    return _evaluate_amount(dollars, DOLLARS_AT_HALF, Unit.USD, sentence)


def _evaluate_amount(amount: float, half: float, unit: Unit, explanation: str) -> Scored:
    """Return a metric whose value is 0.5 at the amount `half`."""
    return Scored(half / (half + amount), None, explanation, raw=float(amount), unit=unit)


def _format_tokens(evidence: RunEvidence) -> str:
    usage = evidence.run.usage
    return f"{usage.input_tokens} tokens in, {usage.output_tokens} out"
