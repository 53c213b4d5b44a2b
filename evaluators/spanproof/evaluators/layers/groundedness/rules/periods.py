"""Directions told of one period, or of every one: "revenue rose in Q3", "opex has grown every quarter".

In: a word of direction, the quantities near it, its sentence. Out: a claim where the sentence leaves no doubt
which row in time is meant: it is held against the one before, and only where the first of all also speaks
against it is it contradicted; or, of "every quarter", against each step.
"""

from __future__ import annotations

import re
from functools import cmp_to_key
from itertools import pairwise

from spanproof.evaluators.layers.groundedness.language.quantity import Quantity
from spanproof.evaluators.layers.groundedness.language.segments import Sentence
from spanproof.evaluators.layers.groundedness.language.words import words_of
from spanproof.evaluators.layers.groundedness.model import Claim, ClaimEvidence
from spanproof.evaluators.layers.groundedness.outputs.facts import Fact
from spanproof.evaluators.layers.groundedness.outputs.order import before_after
from spanproof.evaluators.layers.groundedness.rules.derive import scaled_value
from spanproof.evaluators.layers.groundedness.rules.matching import number_text
from spanproof.evaluators.layers.groundedness.rules.naming import best_named
from spanproof.evaluators.layers.groundedness.rules.said import Said

_EVERY = re.compile(
    r"\b(?:every|each)\s+(?:single\s+)?(?:quarter|month|year|week|day|epoch|time|step)\b"
    r"|\b(?:steadily|consistently|continuously|continually)\b|\b(?:quarter|month|year|week|day)"
    r" (?:after|by|over) (?:quarter|month|year|week|day)\b",
    re.IGNORECASE,
)
_MOST_FACTS = 400
_MOST_STEPS = 60


def from_period(
    match: re.Match[str], quantities: list[Quantity], sentence: Sentence, said: Said
) -> Claim | None:
    """The claim of a direction in a named period, or in every one."""
    every = _EVERY.search(sentence.text) is not None
    fact = _meant(match, quantities, sentence, said, every=every)
    family = _in_order(fact, said) if fact is not None else []
    if fact is None or len(family) < 2:
        return None
    if every:
        return _every_step(family, said)
    at = next(place for place, each in enumerate(family) if each is fact)
    if at == 0:
        return None
    change = said.grown(family[at - 1], fact)
    since_first = said.grown(family[0], fact)
    wrong = change < 0 if said.upward else change > 0
    if wrong and (since_first > 0) == said.upward and since_first:
        return None  # against the one before it is wrong, against the first right: which is meant is open
    return said.claim(change, f"`{family[at - 1].text}` to `{fact.text}`", _evidence(family[at - 1], fact))


def _meant(
    match: re.Match[str], quantities: list[Quantity], sentence: Sentence, said: Said, *, every: bool
) -> Fact | None:
    """The fact of the value that the word leads to, else the one that the words name in full."""
    for quantity in quantities:
        bound = said.binding.bound.get(quantity.start, ())
        if quantity.start > match.end() and len(bound) == 1 and not bound[0].weak:
            return bound[0]
    start, end = sentence.clause_at(match.start())
    words = frozenset(words_of(said.binding.answer.text[start:end]))
    strong = [fact for fact in said.binding.numbers if not fact.weak and fact.key][:_MOST_FACTS]
    named = best_named(strong, words)
    if every and named:
        return named[0] if len({(fact.records, fact.key) for fact in named}) == 1 else None
    return named[0] if len(named) == 1 and len(named[0].words & words) > 1 else None


def _in_order(fact: Fact, said: Said) -> list[Fact]:
    """The values of the same thing at all times, the earliest first; empty where some have no order."""
    alike = [
        other
        for other in said.binding.numbers
        if other.records == fact.records and not other.weak and other.dimension is fact.dimension
    ]
    rows = [other for other in alike if other.key == fact.key]
    family = rows if len(rows) > 1 else [other for other in alike if other.scope == fact.scope]
    if not 1 < len(family) <= _MOST_STEPS or any(
        other is not fact and before_after(fact, other) is None for other in family
    ):
        return []
    return sorted(family, key=cmp_to_key(_by_time))


def _by_time(one: Fact, other: Fact) -> int:
    return -(before_after(one, other) or 0)


def _every_step(family: list[Fact], said: Said) -> Claim:
    changes = [(said.grown(first, last), first, last) for first, last in pairwise(family)]
    against = [step for step in changes if (step[0] <= 0 if said.upward else step[0] >= 0)]
    change, first, last = (against or changes)[0]
    return said.claim(change, f"`{first.text}` to `{last.text}`", _evidence(first, last))


def _evidence(first: Fact, last: Fact) -> ClaimEvidence:
    one, other = scaled_value(first), scaled_value(last)
    sign = "<" if one < other else ">" if one > other else "="
    told = f"{number_text(one)} {sign} {number_text(other)}"
    return ClaimEvidence(last.output, f"{first.text}; {last.text}", told)
