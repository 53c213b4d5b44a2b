"""What a run took: steps, tokens and dollars, as numbers between 0 and 1 that fall; advisory.

In: the evidence about one run, with the user's prices. Out: an outcome for each, with the number in its
explanation. A price that is not known is a reason to skip, never a guess.
"""

from __future__ import annotations

from spanproof.evaluators.layers.trajectory.weights import DOLLARS_AT_HALF, STEPS_AT_HALF, TOKENS_AT_HALF
from spanproof.evaluators.model import RunEvidence
from spanproof.evaluators.prices import price_of
from spanproof.trace import Outcome, Scored, Skipped


def spent(evidence: RunEvidence) -> dict[str, Outcome]:
    """Steps, tokens and cost; each 0.5 at what an ordinary run takes."""
    run = evidence.run
    found: dict[str, Outcome] = {}
    if run.steps:
        count = len(run.steps)
        found["steps"] = Scored(STEPS_AT_HALF / (STEPS_AT_HALF + count), None, f"{count} steps")
    tokens = run.usage.input_tokens + run.usage.output_tokens
    if tokens:
        found["tokens"] = Scored(TOKENS_AT_HALF / (TOKENS_AT_HALF + tokens), None, _tokens(evidence))
        found["cost"] = _cost(evidence)
    return found


def _cost(evidence: RunEvidence) -> Outcome:
    usage, model = evidence.run.usage, evidence.run.cohort.model
    if not model:
        return Skipped("the trace does not say which model the tokens are of")
    price = price_of(model, evidence.told.prices)
    if price is None:
        return Skipped(f"the price of {model!r} is not known; add it to judge.prices")
    dollars = price.of(usage.input_tokens, usage.output_tokens)
    told = f"${dollars:.4f}: {_tokens(evidence)} of {model}"
    return Scored(DOLLARS_AT_HALF / (DOLLARS_AT_HALF + dollars), None, told)


def _tokens(evidence: RunEvidence) -> str:
    usage = evidence.run.usage
    return f"{usage.input_tokens} tokens in, {usage.output_tokens} out"
