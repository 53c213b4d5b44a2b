"""States that no status settles: told of a line, against an unknown state, or of how many are not in one.

In: a match of a word for a state, and the `Binding`. Out: its claim, None where nothing of this kind is said.
"""

from __future__ import annotations

import re

from spanproof.evaluators.layers.groundedness.language.quantity import Quantity
from spanproof.evaluators.layers.groundedness.language.status_words import COMPATIBLE, Meanings
from spanproof.evaluators.layers.groundedness.language.words import canonical_set
from spanproof.evaluators.layers.groundedness.model import Claim, ClaimEvidence, ClaimKind, Verdict
from spanproof.evaluators.layers.groundedness.rules.binding import Binding, claim, evidence_of
from spanproof.evaluators.layers.groundedness.rules.lines import line_named
from spanproof.evaluators.layers.groundedness.rules.said_states import (
    IS,
    LONGEST,
    NONE,
    NOT,
    Status,
    piece_of,
    sentence_of,
)

_STATES = canonical_set("status state stage phase decision outcome")
"""Keys of what a thing is at."""
_LATER = re.compile(
    r"\b(?:again|now|later|then|finally|eventually|since|until|before|after)\b", re.IGNORECASE
)


def counted_without(match: re.Match[str], binding: Binding, same: list[Status]) -> Claim | None:
    """How many rows are not in a state: "two pods of four are not running"."""
    told = _told_before(match, binding)
    if told is None or not same or same[0].fact.records < 0:
        return None
    first = same[0].fact
    column = [fact for fact in binding.facts.facts if fact.records == first.records and fact.key == first.key]
    exact = [fact for fact in column if (fact.string or "").lower() == match[1].lower()]
    number = len(column) - (len(exact) or len({id(status.fact) for status in same}))
    verdict = Verdict.GROUNDED if told.value == number else Verdict.CONTRADICTED
    evidence = ClaimEvidence(first.output, first.label, f"rows not {match[1]} = {number}")
    reason = f"{number} of {len(column)} rows are not"
    return claim(binding, match.start(), match.end(), ClaimKind.STATUS, verdict, reason, evidence)


def _told_before(match: re.Match[str], binding: Binding) -> Quantity | None:
    """The whole number that the clause begins with, as how many a state is said of."""
    start, _ = piece_of(match, binding)
    for stated in binding.answer.stated:
        what = stated.what
        if start <= what.start < match.start() and isinstance(what, Quantity):
            is_first = not binding.answer.text[start : what.start].strip()
            return what if is_first and what.unit is None and not what.decimals else None
    return None


def of_an_unknown_state(match: re.Match[str], binding: Binding) -> Claim | None:
    """A state said of a thing whose own state is a word that the table does not know: `partially_shipped`."""
    held = [
        fact
        for fact in binding.facts.facts
        if fact.string
        and fact.records < 0
        and not _STATES.isdisjoint(fact.key)
        and len(fact.string) <= LONGEST
    ]
    before = binding.answer.text[max(0, match.start() - 40) : match.start()]
    if len(held) != 1 or IS.search(before) is None:
        return None
    told = (held[0].string or "").replace("_", " ").lower()
    if binding.states.meanings(told) or match[1].lower() in told or told in binding.answer.text.lower():
        return None
    reason = f"`{held[0].text}` is what the outputs say; whether that is it, nothing tells"
    place = (binding, match.start(), match.end(), ClaimKind.STATUS, Verdict.UNCERTAIN)
    return claim(*place, reason, evidence_of(held[0]))


def of_a_line(match: re.Match[str], binding: Binding, meanings: Meanings) -> Claim | None:
    """A state held against the one line of prose, or of a log, that the words before it name."""
    sentence, text = sentence_of(match, binding), binding.answer.text
    start, _ = piece_of(match, binding)
    if NOT.search(text[max(0, match.start() - 40) : match.start()]) or _LATER.search(sentence.text):
        return None
    subject = text[start : match.start()]
    line = line_named(subject, {family for family, _ in meanings}, binding)
    if line is None or NONE.search(subject):
        return None
    place, evidence = (
        (binding, match.start(), match.end(), ClaimKind.STATUS),
        ClaimEvidence(line.output, line.text),
    )
    if not set(meanings).isdisjoint(line.meanings):
        return claim(*place, Verdict.GROUNDED, "an output says so", evidence)
    if any(frozenset((one, other)) in COMPATIBLE for _, one in meanings for _, other in line.meanings):
        return None
    return claim(*place, Verdict.UNCERTAIN, f"`{line.text}` is what the outputs say", evidence)
