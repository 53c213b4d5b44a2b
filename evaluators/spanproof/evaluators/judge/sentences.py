"""The sentences of an answer as a judge is queried about them, and what it rules.

In: the outcome of the groundedness layer, whose evidence marks the sentences of the answer and their claims.
Out: the open sentences with what they were bound to, and, once a judge has ruled, the outcome with its
rulings. A sentence that a judge calls false fails the answer and names the judge; an answer of which every
open sentence is called true passes; else it stays open.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from spanproof.trace import (
    OPEN_VALUE,
    ClaimMark,
    ClaimVerdict,
    Evidence,
    Label,
    Outcome,
    Ruling,
    Scored,
    SentenceMark,
    SentenceState,
)

_SHOWN: Final = 200
_STATES: Final[Mapping[Ruling, SentenceState]] = {
    Ruling.TRUE: SentenceState.CHECKED,
    Ruling.FALSE: SentenceState.CONTRADICTED,
    Ruling.UNKNOWN: SentenceState.OPEN,
}
_AGREEMENT: Final[Mapping[ClaimVerdict, str]] = {
    ClaimVerdict.GROUNDED: "agrees with",
    ClaimVerdict.CONTRADICTED: "differs from",
    ClaimVerdict.UNCERTAIN: "may be",
}


@dataclass(frozen=True, slots=True)
class AnswerSentence:
    """A sentence of an answer; its characters are `answer[start:end]`.

    Attributes:
        bindings: what its claims were bound to, one line a claim.
    """

    text: str
    start: int
    end: int
    bindings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SentenceRuling:
    """What a judge says of one sentence.

    Attributes:
        reason: in one sentence.
        quotes: words of the material that decide.
    """

    ruling: Ruling
    reason: str
    quotes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class JudgeName:
    """Who rules: the evaluator's name as scores have it, and its title in sentences for people."""

    id: str
    title: str


def list_open_sentences(answer: str, outcome: Scored) -> tuple[AnswerSentence, ...]:
    """Return the sentences that a judge has to rule on to settle the outcome.

    These are the open ones. Where the verdict rests on something else, such as a value that only code holds,
    no sentence is open, and each one that asserts something is returned.
    """
    marks = _list_marks(outcome)
    left_open = [mark for mark in marks if mark.verdict is SentenceState.OPEN]
    rest = _list_unmarked_rest(answer, marks)
    if not left_open and not rest:
        return list_asserting_sentences(answer, outcome)
    return (*_build_sentences(answer, outcome, left_open), *rest)


def list_asserting_sentences(answer: str, outcome: Scored) -> tuple[AnswerSentence, ...]:
    """Return the sentences that assert something; the whole answer where no sentence is marked."""
    marks = _list_marks(outcome)
    if not marks:
        start = len(answer) - len(answer.lstrip())
        end = len(answer.rstrip())
        if start < end:
            return (AnswerSentence(answer[start:end], start, end),)
        return ()
    asserting = [mark for mark in marks if mark.verdict is not SentenceState.NO_ASSERTION]
    return (*_build_sentences(answer, outcome, asserting), *_list_unmarked_rest(answer, marks))


def _list_unmarked_rest(answer: str, marks: Sequence[SentenceMark]) -> tuple[AnswerSentence, ...]:
    """Return what follows the last mark, as one sentence: an answer may be longer than its evidence."""
    if not marks:
        return ()
    start = max(mark.end for mark in marks)
    rest = answer[start:]
    if not any(character.isalnum() for character in rest):
        return ()
    start += len(rest) - len(rest.lstrip())
    return (AnswerSentence(rest.strip(), start, start + len(rest.strip())),)


def _list_marks(outcome: Scored) -> list[SentenceMark]:
    marks = [fact.sentence for fact in outcome.evidence if fact.sentence is not None]
    return sorted(marks, key=lambda mark: mark.start)


def _build_sentences(
    answer: str, outcome: Scored, marks: Sequence[SentenceMark]
) -> tuple[AnswerSentence, ...]:
    claims = [fact.claim for fact in outcome.evidence if fact.claim is not None]
    return tuple(
        AnswerSentence(
            answer[mark.start : mark.end],
            mark.start,
            mark.end,
            tuple(
                _format_binding(answer, claim)
                for claim in claims
                if mark.start <= claim.start and claim.end <= mark.end
            ),
        )
        for mark in marks
    )


def _format_binding(answer: str, claim: ClaimMark) -> str:
    words = answer[claim.start : claim.end]
    if claim.found is None:
        return f"{words!r}: found in no output"
    return f"{words!r} {_AGREEMENT[claim.verdict]} {claim.found[:_SHOWN]!r}"


def with_rulings(
    outcome: Scored,
    sentences: Sequence[AnswerSentence],
    rulings: Sequence[SentenceRuling],
    judge: JudgeName,
    *,
    may_fail: bool = True,
) -> Scored:
    """Return the outcome with what a judge said of some of its sentences.

    Args:
        outcome: of the layer, open or passed.
        sentences: the ones that the judge was queried about.
        rulings: one for each of them, in order.
        judge: who ruled.
        may_fail: whether a sentence that it calls false fails the answer; else such a ruling is kept, and
            settles nothing.
    """
    ruled = list(zip(sentences, rulings, strict=True))
    false = [(sentence, ruling) for sentence, ruling in ruled if ruling.ruling is Ruling.FALSE]
    deciding = _select_deciding(outcome, ruled)
    is_settled = all(ruling.ruling is Ruling.TRUE for _, ruling in deciding)
    evidence = _list_ruled_evidence(outcome.evidence, ruled, judge, may_fail=may_fail)
    if false and may_fail:
        sentence, ruling = false[0]
        more = f" (and {len(false) - 1} more)" if len(false) > 1 else ""
        reason = ruling.reason or "no reason given"
        words = f"{judge.title} calls {_format_short(sentence.text)!r} false: {reason}{more}"
        return Scored(0.0, Label.FAIL, words, evidence)
    if outcome.label is Label.PASS:
        return replace(outcome, evidence=evidence)
    if is_settled:
        if len(deciding) == 1:
            count = "the open sentence"
        else:
            count = f"all {len(deciding)} open sentences"
        words = f"{judge.title} calls {count} true: {deciding[0][1].reason or 'no reason given'}"
        return Scored(1.0, Label.PASS, words, evidence)
    return replace(
        outcome,
        value=OPEN_VALUE,
        label=None,
        explanation=f"{outcome.explanation.rstrip('.')}; {_describe_open(deciding, judge)}",
        evidence=evidence,
    )


def _select_deciding(
    outcome: Scored, ruled: Sequence[tuple[AnswerSentence, SentenceRuling]]
) -> list[tuple[AnswerSentence, SentenceRuling]]:
    """Return the sentences that the sources did not check, with a false one among the others; else all."""
    checked = {
        (mark.start, mark.end) for mark in _list_marks(outcome) if mark.verdict is SentenceState.CHECKED
    }
    found = [
        pair
        for pair in ruled
        if (pair[0].start, pair[0].end) not in checked or pair[1].ruling is Ruling.FALSE
    ]
    if any((pair[0].start, pair[0].end) not in checked for pair in ruled):
        return found
    return list(ruled)


def _describe_open(ruled: Sequence[tuple[AnswerSentence, SentenceRuling]], judge: JudgeName) -> str:
    """Return why a verdict stays open that a judge was queried about."""
    sentence, ruling = next(pair for pair in ruled if pair[1].ruling is not Ruling.TRUE)
    if ruling.ruling is Ruling.FALSE:
        return f"{judge.title} calls {_format_short(sentence.text)!r} false, and is below its bound"
    reason = ruling.reason or "no reason given"
    return f"{judge.title} does not decide {_format_short(sentence.text)!r}: {reason}"


def _list_ruled_evidence(
    evidence: Sequence[Evidence],
    ruled: Sequence[tuple[AnswerSentence, SentenceRuling]],
    judge: JudgeName,
    *,
    may_fail: bool,
) -> tuple[Evidence, ...]:
    """Return the evidence with the rulings, those on false sentences first."""
    by_place = {(sentence.start, sentence.end): ruling for sentence, ruling in ruled}
    span_ids = {
        (fact.sentence.start, fact.sentence.end): fact.span_id
        for fact in evidence
        if fact.sentence is not None
    }
    before = {
        (fact.sentence.start, fact.sentence.end): fact.sentence.verdict
        for fact in evidence
        if fact.sentence is not None
    }
    marked = []
    for key, ruling in by_place.items():
        state = _STATES[ruling.ruling]
        if ruling.ruling is not Ruling.TRUE and (ruling.ruling is Ruling.UNKNOWN or not may_fail):
            state = before.get(key, SentenceState.OPEN)
        mark = SentenceMark(*key, state, judge.id, ruling.ruling)
        words = f"{judge.title}: {ruling.reason or ruling.ruling.value}"
        quoted = "; ".join(ruling.quotes) or None
        marked.append(Evidence(words, span_ids.get(key), recorded=quoted, sentence=mark))
    marked.sort(key=lambda fact: fact.sentence is not None and fact.sentence.ruling is not Ruling.FALSE)
    others = [
        fact
        for fact in evidence
        if fact.sentence is None or (fact.sentence.start, fact.sentence.end) not in by_place
    ]
    return (*marked, *others)


def find_ruling(outcome: Outcome, judge: str) -> Ruling | None:
    """Return what a judge says of an answer as a whole; None where it was not queried.

    It is false where one sentence is, true where all are that it was queried about, else unknown.
    """
    if not isinstance(outcome, Scored):
        return None
    rulings = {
        fact.sentence.ruling
        for fact in outcome.evidence
        if fact.sentence is not None and fact.sentence.judge == judge and fact.sentence.ruling is not None
    }
    if not rulings:
        return None
    if Ruling.FALSE in rulings:
        return Ruling.FALSE
    if rulings == {Ruling.TRUE}:
        return Ruling.TRUE
    return Ruling.UNKNOWN


def list_judges(outcome: Outcome) -> frozenset[str]:
    """Return the judges that ruled on a sentence of an answer."""
    facts = outcome.evidence if isinstance(outcome, Scored) else ()
    return frozenset(
        fact.sentence.judge for fact in facts if fact.sentence is not None and fact.sentence.judge
    )


def _format_short(text: str) -> str:
    flat = " ".join(text.split())
    if len(flat) <= _SHOWN:
        return flat
    return f"{flat[: _SHOWN - 1]}…"
