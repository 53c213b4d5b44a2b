"""The rule for stated times of day: "at 3 pm", "23:06 UTC".

In: a `TimeMention` with its words, and the `Binding`. Out: one claim. A zone that both sides write is
reckoned with; where the outputs tell theirs and the answer does not, it may speak of the user's own: then a
time that is off by whole hours is left open.
"""

from __future__ import annotations

import re

from spanproof.evaluators.layers.groundedness.language.answer import Stated
from spanproof.evaluators.layers.groundedness.language.clock import TimeMention
from spanproof.evaluators.layers.groundedness.language.words import canonical_set
from spanproof.evaluators.layers.groundedness.model import Claim, ClaimEvidence, ClaimKind, Verdict
from spanproof.evaluators.layers.groundedness.outputs.facts import Fact
from spanproof.evaluators.layers.groundedness.rules.binding import Binding, claim, evidence_of
from spanproof.evaluators.layers.groundedness.rules.naming import named_instead, spoken_of, told_instead

_UNTIL = re.compile(r"\b(?:until|till)\s+$", re.IGNORECASE)
_ENDS = canonical_set("closes close closing end ends until till to finish finishes expires checkout deadline")
_RATE = re.compile(r"\s+(?:per|an?|each|every)\s+", re.IGNORECASE)
"""What makes a duration of it: "4:47 per kilometre"."""
_DAY = 86_400
_MAX_TIMED = 40
_WEST, _EAST = -8 * 3600, 9 * 3600
"""Offsets from UTC at which most people live, in seconds."""


def time_claim(stated: Stated, binding: Binding) -> Claim | None:
    """The claim of one stated time of day."""
    mention = stated.what
    assert isinstance(mention, TimeMention)

    def verdict(outcome: Verdict, reason: str, evidence: ClaimEvidence | None = None) -> Claim:
        return claim(binding, mention.start, mention.end, ClaimKind.TIME, outcome, reason, evidence)

    timed = [fact for fact in binding.facts.facts if fact.clock is not None]
    words = binding.words_at(stated)
    rival: Fact | None = None
    matches = [fact for fact in timed if is_time(mention, fact)]
    others = [fact for fact in timed if not is_time(mention, fact)]
    until = _UNTIL.search(binding.answer.text[max(0, mention.start - 8) : mention.start]) is not None
    for fact in matches:
        if until and not _ENDS.isdisjoint(fact.words):
            return verdict(Verdict.GROUNDED, "an output says so", evidence_of(fact))
        named = (other for other in others if _named(other, fact, words))
        rival = next(named, None)
        if rival is None:
            return verdict(Verdict.GROUNDED, "an output says so", evidence_of(fact))
    if rival is not None:
        reason = f"that is the time of `{matches[-1].text}`; the words name `{rival.text}`"
        return verdict(Verdict.UNCERTAIN, reason, evidence_of(rival))
    lasting = _time_between(mention, timed)
    if lasting is not None:
        first, second = lasting
        told = f"{second.text} less {first.text}"
        return verdict(Verdict.GROUNDED, "it follows from the outputs", evidence_of(first, told))
    if mention.text.lower() in binding.task.lower():
        return verdict(Verdict.GROUNDED, "the task gives it", ClaimEvidence(None, mention.text))
    if not timed:
        return verdict(Verdict.UNCERTAIN, "the outputs hold no times of day to compare it with")
    if binding.facts.cut:
        return verdict(Verdict.UNCERTAIN, "not found in the part of the outputs that was read")
    if mention.offset is None and any(_in_another_zone(mention, fact) for fact in timed):
        return verdict(Verdict.UNCERTAIN, "it may be told in the user's zone, which nothing names")
    spoken = spoken_of(timed, words)
    if not spoken and (_RATE.match(binding.answer.text, mention.end) or not _is_near(mention, timed)):
        return verdict(Verdict.UNCERTAIN, "no output gives this time, or names what it times")
    nearest = (spoken or timed)[0]
    reason = f"no output gives this time; `{nearest.text}` is what they say"
    return verdict(Verdict.CONTRADICTED, reason, evidence_of(nearest))


def _is_near(mention: TimeMention, timed: list[Fact]) -> bool:
    """Whether it shares its hour or its minutes with a time there is, or there is only one."""
    if len({fact.clock for fact in timed}) == 1:
        return True
    own = mention.seconds
    return any(
        fact.clock is not None and (fact.clock // 3600 == own // 3600 or fact.clock % 3600 == own % 3600)
        for fact in timed
    )


def _named(rival: Fact, fact: Fact, words: frozenset[str]) -> bool:
    return told_instead(rival, fact, words) if fact.weak else named_instead(rival, fact, words)


def is_time(mention: TimeMention, fact: Fact) -> bool:
    """Whether the mention tells this time, as far as it is written."""
    return fact.clock is not None and mention.is_at(fact.clock, fact.offset)


def _time_between(mention: TimeMention, timed: list[Fact]) -> tuple[Fact, Fact] | None:
    """The two times that are as far apart as is told, where "1:42:45" may tell how long something took."""
    if not mention.second:
        return None
    few = [(fact.clock, fact) for fact in timed[:_MAX_TIMED] if fact.clock is not None]
    pairs = ((one, other) for start, one in few for end, other in few if end - start == mention.seconds)
    return next(pairs, None)


def _in_another_zone(mention: TimeMention, fact: Fact) -> bool:
    """Whether the mention could be this time, told where the user lives."""
    if fact.offset is None or fact.clock is None:
        return False
    apart = (mention.seconds - fact.clock + fact.offset * 60 + _DAY // 2) % _DAY - _DAY // 2
    return apart % 3600 == 0 and apart != 0 and _WEST <= apart <= _EAST
