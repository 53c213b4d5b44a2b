"""What the origins of an answer's values say of its groundedness.

In: the account of a run and the judgements of the groundedness layer. Out: the same, settled where the
account is sure: a fabricated value fails the layer and names the line that wrote it down; an answer with a
value that only code of the run holds is open. The account grounds no answer: that takes each sentence of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from spanproof.evaluators.outcomes.model import Account, Origin, OriginKind
from spanproof.reading.numerals import list_numbers
from spanproof.trace import OPEN_VALUE, Cause, Evidence, Judgement, Label, Layer, Scored

_VERBS = {
    OriginKind.DEFAULT: "puts {} in place of what failed",
    OriginKind.CHANCE: "draws {} at random",
    OriginKind.CLOCK: "takes {} from the clock",
}

_CLAIMS = frozenset({OriginKind.ABSENCE, OriginKind.UNDONE})


def list_settled_judgements(account: Account, judgements: Sequence[Judgement]) -> list[Judgement]:
    """Return the judgements with the layer's own one settled by the account, where it is sure."""
    settled = _find_fabrication(account)
    return [
        _build_settled_judgement(account, settled, judgement) if _is_own(judgement) else judgement
        for judgement in judgements
    ]


def _is_own(judgement: Judgement) -> bool:
    return judgement.layer is Layer.GROUNDEDNESS and judgement.name == Layer.GROUNDEDNESS.value


def _build_settled_judgement(account: Account, settled: Scored | None, judgement: Judgement) -> Judgement:
    if settled is not None:
        return replace(judgement, outcome=settled)
    outcome = judgement.outcome
    if not (isinstance(outcome, Scored) and outcome.label is Label.PASS):
        return judgement
    if account.unsettled:
        # What code prints of its own literals supports nothing.
        origin = account.unsettled[0]
        sentence = f"{describe_origin(origin)}, and no source holds it"
        return _build_open_judgement(judgement, outcome, sentence, Cause.VALUE_FROM_CODE, origin.value)
    if account.nothing_worked and not account.reports_failure:
        if account.all_failed:
            what = "all that the run did failed"
        else:
            what = "no step of the run gave anything"
        sentence = f"{what}, and the answer does not say so"
        return _build_open_judgement(judgement, outcome, sentence, Cause.NOTHING_SUCCEEDED)
    return judgement


def _build_open_judgement(
    judgement: Judgement, outcome: Scored, sentence: str, cause: Cause, detail: str = ""
) -> Judgement:
    """Return a judgement as open; the claims and the evidence of its outcome stay."""
    left_open = replace(
        outcome, value=OPEN_VALUE, label=None, explanation=sentence, cause=cause, detail=detail
    )
    return replace(judgement, outcome=left_open)


def _find_fabrication(account: Account) -> Scored | None:
    made_up = account.fabricated
    if not made_up:
        return None
    facts = tuple(Evidence(describe_origin(origin), origin.span_id) for origin in made_up[:10])
    return Scored(0.0, Label.FAIL, f"{describe_origin(made_up[0])}.", facts)


def describe_origin(origin: Origin) -> str:
    """Return a clause with the value and the line it comes from.

    `The answer says 54.00; line 2 of step 3 writes it down`
    """
    if origin.kind is OriginKind.PARTIAL:
        stopped = f"step {origin.step} that printed it was stopped before its end"
        return f"The answer says {origin.value}, and {stopped}"
    if origin.kind in _CLAIMS:
        return f"The answer says {origin.value!r}; {origin.source}"
    if origin.kind is OriginKind.BROADER:
        return f"The answer says {origin.value}; step {origin.step} gave it for {origin.source}"
    if origin.kind is OriginKind.NOTHING and origin.step is not None:
        return f"The answer says {origin.value}; no source holds it, and step {origin.step} gave nothing"
    if origin.line is None:
        return f"The answer says {origin.value}; no source holds it, and nothing the run did succeeded"
    verb = _VERBS.get(origin.kind, "writes {} down")
    line = f"line {origin.line} of step {origin.step}"
    if list_numbers(origin.value) & list_numbers(origin.source) or origin.value in origin.source:
        return f"The answer says {origin.value}; {line} {verb.format('it')} (`{origin.source}`)"
    rests = f"it rests on what {line} {verb.format('').replace('  ', ' ')}"
    return f"The answer says {origin.value}; {rests} (`{origin.source}`)"
