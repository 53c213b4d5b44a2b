"""The groundedness layer: is what the run answered what its executions returned?

In: the evidence about one run, and the turns before it. Out: the layer's judgement on the run's span, and
beside it `facts` (the share of bound claims that agree with their source), `read` (the share of asserting
sentences that are bound as a whole), `answer_grounded` (the same share as `facts`, with the label of the
layer), `drift` (does the answer keep to the last word where outputs changed over the turns),
`context_adherence` (the share of all claims that are bound) and `chunk_attribution` (which outputs the
claims rest on). An answer of which something is not read is open, with what was checked; it is never
failed, and never passed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime

from spanproof.evaluators.layers.common import format_count
from spanproof.evaluators.layers.groundedness.explain import explain
from spanproof.evaluators.layers.groundedness.ground import ground
from spanproof.evaluators.layers.groundedness.ledger import Ledger, Sentence, SentenceVerdict
from spanproof.evaluators.layers.groundedness.model import UNSOURCED, Claim, ClaimKind, Verdict
from spanproof.evaluators.layers.groundedness.model import Cause as ClaimCause
from spanproof.evaluators.layers.groundedness.recorded import build_context, list_doings
from spanproof.evaluators.model import RunEvidence
from spanproof.evaluators.returned import Returned, collect_outputs
from spanproof.trace import (
    OPEN_VALUE,
    Cause,
    ClaimMark,
    ClaimVerdict,
    Ending,
    Errored,
    Evidence,
    Judgement,
    Label,
    Layer,
    Outcome,
    Run,
    Scored,
    SentenceMark,
    SentenceState,
    Skipped,
)

EVALUATOR = "claim-binding"
VERSION = "7"
_NUMERIC = frozenset(map(ClaimKind, ("number", "currency", "percent", "quantity", "count")))
_MAX_EVIDENCE = 40
_MAX_SENTENCES = 60
_MAX_UNREAD = 3
_LABELS = {Verdict.GROUNDED: Label.PASS, Verdict.CONTRADICTED: Label.FAIL, Verdict.UNCERTAIN: None}
_WORDS = {Verdict.GROUNDED: "grounded", Verdict.CONTRADICTED: "contradicted", Verdict.UNCERTAIN: "open"}
_BY_GRAVITY = (Verdict.CONTRADICTED, Verdict.UNCERTAIN, Verdict.GROUNDED)
_OWNS_UP = re.compile(
    r"\b(?:could not|cannot|unable|failed|error|sorry|did not work|no result|not available)\b|n['’]t\b",
    re.IGNORECASE,
)


def judge(evidence: RunEvidence) -> list[Judgement]:
    """Judge one run's answer."""
    try:
        outcomes = evaluate_outcomes(evidence)
    except RecursionError as failure:
        outcomes = {
            Layer.GROUNDEDNESS.value: Errored(type(failure).__name__, "the outputs are nested too deeply")
        }
    return [
        Judgement(Layer.GROUNDEDNESS, name, evidence.run.span_id, outcome, EVALUATOR, VERSION)
        for name, outcome in outcomes.items()
    ]


def evaluate_outcomes(evidence: RunEvidence) -> dict[str, Outcome]:
    """Return the outcome of each score of a run."""
    run = evidence.run
    layer = Layer.GROUNDEDNESS.value
    if run.answer is None or not run.answer.text.strip():
        return {layer: _skip_without_answer(evidence)}
    returned = collect_outputs(evidence)
    without = "there are no outputs to compare the answer with"
    if run.hidden and not returned.outputs:
        return {layer: Skipped(f"content is hidden by the producer: {without}", Cause.CONTENT_HIDDEN)}
    if run.truncated and not returned.outputs:
        return {layer: Skipped(f"content is cut on the trace: {without}", Cause.CONTENT_CUT)}
    if not returned.outputs:
        if (answering := _find_answering(evidence)) is not None:
            sentence = f"the answer is that of {answering.name}, and is judged there"
            return {layer: Skipped(sentence, Cause.ANSWER_OF_ANOTHER_RUN, answering.name)}
        if not (returned.failures and evidence.account.records_all):
            return {layer: _leave_open("no output on the trace to compare the answer with", Cause.NO_OUTPUT)}
        return {layer: _evaluate_without_outputs(evidence)}
    ledger = _build_ledger(evidence, returned)
    scores: dict[str, Outcome] = {layer: _evaluate_layer(ledger, returned)}
    if ledger.claims:
        scores |= {
            "facts": _evaluate_facts(ledger),
            "read": _evaluate_read(ledger),
            "answer_grounded": _evaluate_answer_grounded(ledger),
            "drift": _evaluate_drift(ledger, returned),
            "context_adherence": _evaluate_adherence(ledger),
            "chunk_attribution": _evaluate_attribution(ledger, returned),
        }
    return scores


def _build_ledger(evidence: RunEvidence, returned: Returned) -> Ledger:
    run = evidence.run
    assert run.answer is not None
    context = build_context(evidence)
    return ground(
        [output.text for output in returned.outputs],
        run.answer.text,
        context.task,
        evidence.hints.synonyms,
        datetime.fromtimestamp(run.start_ns / 1e9, UTC) if run.start_ns else None,
        system=context.system,
        arguments=context.arguments,
        errors=context.errors,
        code=context.code,
        earlier=context.earlier,
        without_rules=evidence.hints.without_rules,
        doings=list_doings(evidence, returned),
    )


def _skip_without_answer(evidence: RunEvidence) -> Skipped:
    run = evidence.run
    if run.hidden:
        return Skipped(
            "content is hidden by the producer: the answer is not on the trace", Cause.CONTENT_HIDDEN
        )
    if run.ending is Ending.MAX_STEPS:
        return Skipped("the run ended at its step limit without an answer", Cause.NO_ANSWER)
    return Skipped(
        "no answer on the trace: the run gave none, or its instrumentor does not record it", Cause.NO_ANSWER
    )


def _find_answering(evidence: RunEvidence) -> Run | None:
    """Return the run whose answer this one passes on, as an orchestrator does with that of its agent."""
    assert evidence.run.answer is not None
    answer = evidence.run.answer.text.split()
    same = (run for run in evidence.called if run.answer is not None and run.answer.text.split() == answer)
    return next(same, None)


def _leave_open(sentence: str, cause: Cause, detail: str = "", evidence: Sequence[Evidence] = ()) -> Scored:
    """Return an open verdict; `sentence` says what could not be settled."""
    return Scored(OPEN_VALUE, None, sentence, tuple(evidence), cause=cause, detail=detail)


def _evaluate_without_outputs(evidence: RunEvidence) -> Outcome:
    """Judge an answer where every execution failed: its numbers come from nowhere.

    The task's own numbers are taken as given only where the answer owns up to having failed.
    """
    run = evidence.run
    assert run.answer is not None
    task = run.task if _OWNS_UP.search(run.answer.text) else None
    errors = build_context(evidence).errors
    ledger = ground([], run.answer.text, task, errors=errors)
    reported = ground(
        [], run.answer.text, run.task, errors=errors, doings=list_doings(evidence, Returned((), 0))
    )
    if reported.asserting and all(
        sentence.verdict is SentenceVerdict.CHECKED for sentence in reported.asserting
    ):
        return Scored(1.0, Label.PASS, "the answer says that nothing was returned, and nothing was")
    stated = [
        claim for claim in ledger.claims if claim.kind in _NUMERIC and claim.cause is ClaimCause.NOT_FOUND
    ]
    if not stated:
        return _leave_open(
            "no execution returned anything to compare the answer with, and it states no numbers",
            Cause.NO_OUTPUT,
        )
    texts = ", ".join(claim.text for claim in stated[:5])
    return Scored(
        0.0,
        Label.FAIL,
        f"the answer states {texts}, but no execution returned anything",
        tuple(Evidence(f"{claim.text} is in no output", run.span_id) for claim in stated[:_MAX_EVIDENCE]),
    )


def _evaluate_layer(ledger: Ledger, returned: Returned) -> Scored:
    evidence = _list_evidence(ledger, returned)
    wrong = _select_claims(ledger, Verdict.CONTRADICTED)
    right = _select_claims(ledger, Verdict.GROUNDED)
    checked = _describe_checked(ledger)
    if wrong:
        explanation = _describe_claim(wrong[0], returned)
        if len(wrong) > 1:
            explanation += f" (and {len(wrong) - 1} more)"
        return Scored(0.0, Label.FAIL, f"{explanation}; {checked}" if right else explanation, evidence)
    if ledger.verdict is Verdict.GROUNDED:
        return Scored(1.0, Label.PASS, f"{checked}: {_describe_claim(right[0], returned)}", evidence)
    return _evaluate_open_answer(ledger, returned, checked, evidence)


def _describe_checked(ledger: Ledger) -> str:
    """Return how much of an answer agrees with the outputs."""
    agreeing = len(_select_claims(ledger, Verdict.GROUNDED))
    agree = "agrees" if agreeing == 1 or len(ledger.claims) == 1 else "agree"
    total = len(ledger.claims)
    if agreeing == total:
        return f"{format_count(total, 'fact')} {agree} with the outputs"
    return f"{agreeing} of {format_count(total, 'fact')} {agree} with the outputs"


def _evaluate_open_answer(
    ledger: Ledger, returned: Returned, checked: str, evidence: Sequence[Evidence]
) -> Scored:
    """Return the open verdict on an answer: what was checked, then what was not read or not found."""
    unsettled = _select_claims(ledger, Verdict.UNCERTAIN)
    unread = [part.text for sentence in ledger.asserting for part in sentence.unread]
    if not ledger.claims and not unread:
        return _leave_open(
            "the answer states nothing that can be compared with an output",
            Cause.NO_CHECKABLE_CLAIM,
            evidence=evidence,
        )
    parts = [checked] if ledger.claims else []
    if unread:
        more = f" and {len(unread) - _MAX_UNREAD} more" if len(unread) > _MAX_UNREAD else ""
        parts.append(f"not read: {', '.join(f'*{text}*' for text in unread[:_MAX_UNREAD])}{more}")
    if unsettled:
        explanation = _describe_claim(unsettled[0], returned)
        parts.append(explanation[0].lower() + explanation[1:])
    if not unread and not unsettled:
        parts.append("a sentence names things, and states nothing of them that an output holds")
    has_unknown = any(claim.cause in UNSOURCED for claim in unsettled)
    cause = Cause.VALUE_NOT_FOUND if has_unknown else Cause.VALUE_NOT_CERTAIN
    detail = next(iter((*(claim.text for claim in unsettled), *unread)), "")
    return _leave_open("; ".join(parts), cause, detail, evidence)


def _evaluate_facts(ledger: Ledger) -> Outcome:
    agreeing, bound = ledger.facts
    if not bound:
        return Skipped("no claim of the answer is bound to a source", Cause.NOTHING_OF_THE_KIND)
    label = Label.PASS if agreeing == bound else Label.FAIL
    return Scored(agreeing / bound, label, f"{agreeing} of {bound} bound claims agree with their source")


def _evaluate_read(ledger: Ledger) -> Outcome:
    bound, asserting = ledger.read
    if not asserting:
        return Skipped("no sentence of the answer states anything", Cause.NOTHING_OF_THE_KIND)
    return Scored(bound / asserting, None, f"{bound} of {asserting} asserting sentences are bound as a whole")


def _evaluate_answer_grounded(ledger: Ledger) -> Outcome:
    grounded, settled = ledger.facts
    if not settled:
        return Skipped("no claim of the answer is settled", Cause.NOTHING_OF_THE_KIND)
    label = _LABELS[ledger.verdict]
    cause = Cause.VALUE_NOT_CERTAIN if label is None else None
    sentence = f"{grounded} of {settled} settled claims are grounded"
    return Scored(grounded / settled, label, sentence, cause=cause)


def _evaluate_adherence(ledger: Ledger) -> Scored:
    bound = len(_select_claims(ledger, Verdict.GROUNDED))
    total = len(ledger.claims)
    return Scored(bound / total, None, f"{bound} of {total} claims are bound to an output")


def _evaluate_attribution(ledger: Ledger, returned: Returned) -> Outcome:
    """Score the share of the run's own outputs that some claim rests on, each one's claims as evidence."""
    if not returned.own:
        return Skipped(
            "the run has no output of its own: the answer rests on earlier turns", Cause.NOTHING_OF_THE_KIND
        )
    rests: dict[int, list[str]] = {}
    for claim in _select_claims(ledger, Verdict.GROUNDED):
        bound = claim.evidence
        for output in (bound.output, *bound.others) if bound is not None else ():
            if output is not None:
                rests.setdefault(output, []).append(f"'{claim.text}'")
    evidence = tuple(
        Evidence(f"step {output.step} bears out {', '.join(rests[index][:5])}", output.span_id)
        for index, output in enumerate(returned.outputs)
        if index in rests and output.turn == returned.turn
    )
    stated_share = f"{len(evidence)} of {len(returned.own)} outputs bear out a claim"
    if len(evidence) < len(returned.own):
        stated_share += "; the answer states nothing that the others hold"
    return Scored(len(evidence) / len(returned.own), None, stated_share, evidence[:_MAX_EVIDENCE])


def _evaluate_drift(ledger: Ledger, returned: Returned) -> Outcome:
    if len({(output.turn, output.step) for output in returned.outputs}) < 2:
        return Skipped(
            "the run has one turn with output: nothing to drift between", Cause.NOTHING_OF_THE_KIND
        )
    stale = [
        claim for claim in _select_claims(ledger, Verdict.CONTRADICTED) if claim.cause is ClaimCause.OVERTAKEN
    ]
    unsettled = _select_claims(ledger, Verdict.UNCERTAIN)
    if not stale and unsettled:
        sentence = f"whether '{unsettled[0].text}' is the last word of the outputs is not certain"
        return _leave_open(sentence, Cause.VALUE_NOT_CERTAIN, unsettled[0].text)
    if not stale:
        return Scored(1.0, Label.PASS, "the answer keeps to the last word of the outputs")
    return Scored(0.0, Label.FAIL, _describe_claim(stale[0], returned), _list_evidence(ledger, returned))


def _select_claims(ledger: Ledger, verdict: Verdict) -> list[Claim]:
    return [claim for claim in ledger.claims if claim.verdict is verdict]


def _list_evidence(ledger: Ledger, returned: Returned) -> tuple[Evidence, ...]:
    """Return the claims, the wrong ones first, then each sentence, then where the replay differs."""
    claims = sorted(ledger.claims, key=lambda claim: _BY_GRAVITY.index(claim.verdict))
    found = [_build_claim_evidence(claim, returned) for claim in claims[:_MAX_EVIDENCE]]
    found += [_build_sentence_evidence(sentence) for sentence in ledger.sentences[:_MAX_SENTENCES]]
    found += [
        Evidence("the replay returned something else than the record", span_id, replayed=difference)
        for span_id, difference in returned.differences
    ]
    return tuple(found)


def _build_sentence_evidence(sentence: Sentence) -> Evidence:
    unread = ", ".join(part.text for part in sentence.unread)
    what = f"{sentence.verdict.value}: not read: {unread}" if unread else sentence.verdict.value
    mark = SentenceMark(sentence.start, sentence.end, SentenceState(sentence.verdict.value))
    return Evidence(what, sentence=mark)


def _build_claim_evidence(claim: Claim, returned: Returned) -> Evidence:
    bound = claim.evidence
    what = f"{_WORDS[claim.verdict]}: {_describe_claim(claim, returned)}"
    found = bound.text if bound is not None else None
    span = (bound.start, bound.end) if bound is not None and bound.output is not None else None
    mark = ClaimMark(claim.start, claim.end, ClaimVerdict(claim.verdict.value), found, claim.kind.value, span)
    if bound is None:
        return Evidence(what, claim=mark)
    text = f"{bound.text} ({bound.derivation})" if bound.derivation else bound.text
    if bound.output is None or bound.output >= len(returned.outputs):
        return Evidence(what, recorded=text, claim=mark)
    source = returned.outputs[bound.output]
    if source.replayed:
        return Evidence(what, source.span_id, replayed=text, claim=mark)
    return Evidence(what, source.span_id, recorded=text, claim=mark)


def _describe_claim(claim: Claim, returned: Returned) -> str:
    """Return why a claim has its verdict, with the step its evidence came from."""
    bound = claim.evidence
    if bound is None or bound.output is None or bound.output >= len(returned.outputs):
        return explain(claim)
    source = returned.outputs[bound.output]
    turn = f"turn {source.turn}, " if returned.turn > 1 else ""
    return explain(claim, f"{turn}step {source.step}", printed=source.printed)
