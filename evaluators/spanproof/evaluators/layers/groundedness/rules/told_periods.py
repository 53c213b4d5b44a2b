"""The period a number is told for: "5,400 requests per second", "$1,432 a week".

In: a stated quantity, or a fact. Out: how long the period is in hours, None where neither says. A number told
for another period than the output's is another number.
"""

from __future__ import annotations

import re

from spanproof.evaluators.layers.groundedness.language.words import canonical
from spanproof.evaluators.layers.groundedness.outputs.facts import Fact
from spanproof.evaluators.layers.groundedness.rules.asked import Asked
from spanproof.evaluators.layers.groundedness.rules.derive.rates import HOURS

_NOUN = r"second|minute|hour|day|night|week|month|quarter|year|annum"
_ADVERB = r"hourly|daily|nightly|weekly|monthly|quarterly|yearly|annually"
_CUES = frozenset(f"{_NOUN}|{_ADVERB}".split("|"))
_BEHIND = re.compile(
    rf"\s*(?:[\w/-]+\s+){{0,3}}?(?:(?:per|an?|each|every)\s+|/\s?)(?P<noun>{_NOUN})\b"
    rf"|\s*(?:[\w-]+\s+){{0,3}}?(?P<adverb>{_ADVERB})\b",
    re.IGNORECASE,
)


def told_for(asked: Asked) -> float | None:
    """The period that stands behind the quantity."""
    if _CUES.isdisjoint(asked.binding.answer.said):
        return None
    return _behind(asked.binding.answer.text, asked.quantity.end)


def kept_for(fact: Fact) -> float | None:
    """The period of a fact: its key's, or what stands behind it in prose."""
    if fact.weak:
        number = f"{fact.number:g}" if fact.number is not None else ""
        place = fact.text.replace(",", "").find(number)
        return _behind(fact.text.replace(",", ""), place + len(number)) if place >= 0 else None
    named = {HOURS[word] for word in fact.key if word in HOURS}
    if len(named) != 1 or not ("per" in fact.key or _ADVERBS.intersection(fact.key)):
        return None
    return named.pop()


def is_for_another(asked: Asked, fact: Fact) -> bool:
    """Whether the number is told for another period than the fact's."""
    told = told_for(asked)
    kept = kept_for(fact) if told is not None else None
    return kept is not None and kept != told


def _behind(text: str, end: int) -> float | None:
    match = _BEHIND.match(text, end, end + 60)
    return HOURS[canonical((match["noun"] or match["adverb"]).lower())] if match else None


_ADVERBS = frozenset(canonical(word) for word in _ADVERB.split("|"))
