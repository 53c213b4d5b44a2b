"""Values of another time or row: overtaken by a later output, or taken where the words name another.

In: an `Asked` with the facts, or the derivation, of its value. Out: the claim that a later output says
otherwise, and whether a derivation is of another row.
"""

from __future__ import annotations

import re

from spanproof.evaluators.layers.groundedness.language.quantities import Quantity
from spanproof.evaluators.layers.groundedness.model import Claim, Verdict
from spanproof.evaluators.layers.groundedness.outputs.facts import Fact
from spanproof.evaluators.layers.groundedness.outputs.order import before_after, is_later, is_now
from spanproof.evaluators.layers.groundedness.rules.asked import Asked
from spanproof.evaluators.layers.groundedness.rules.binding import evidence_of
from spanproof.evaluators.layers.groundedness.rules.derive import Derived
from spanproof.evaluators.layers.groundedness.rules.matching import binds

_BEFORE = re.compile(r"\b(?:before|previously|earlier|initially|originally|at first|until)\b", re.IGNORECASE)
_NOW = re.compile(r"\bnow\b", re.IGNORECASE)
_PAST = re.compile(
    r"\b(?:was|were|had|from|previously|before|initially|originally|earlier|at first|used to|started)\b",
    re.IGNORECASE,
)


def is_elsewhere(asked: Asked, derived: Derived) -> bool:
    """Whether a derivation takes its values from another row, or another time, than the words name."""
    used = [fact for fact in derived.operands if not fact.weak and fact.key]
    return bool(used) and all(_another_is_named(asked, fact, used) for fact in used)


def _another_is_named(asked: Asked, fact: Fact, used: list[Fact]) -> bool:
    """Whether the words name a like value of another row, or of the row at another time, and not this one."""
    if not asked.words.isdisjoint(fact.scope) and not asked.words.isdisjoint(fact.key):
        return False
    for other in asked.binding.numbers:
        if other.weak or any(other is each for each in used):
            continue
        if other.key == fact.key and other.scope != fact.scope:
            ours, theirs = fact.scope - other.scope, other.scope - fact.scope
        elif other.scope == fact.scope and _are_told_alike(other, fact):
            ours, theirs = frozenset(fact.key) - set(other.key), frozenset(other.key) - set(fact.key)
        else:
            continue
        if not theirs.isdisjoint(asked.words) and ours.isdisjoint(asked.words):
            return True
    return False


def _are_told_alike(one: Fact, other: Fact) -> bool:
    """Whether two values are of one thing at two times, or two parts of it: `votes_yes` and `votes_no`."""
    if before_after(one, other) is not None:
        return True
    ours, theirs = set(one.key), set(other.key)
    return len(ours - theirs) == len(theirs - ours) == 1 and bool(ours & theirs) and one.unit == other.unit


def _labelled(fact: Fact, asked: Asked) -> list[Fact]:
    """What the outputs hold under the label of a fact, be it a number or none: seat `14C`, then `22A`."""
    return [other for other in asked.binding.facts.facts if other.label == fact.label and not other.weak]


def overtaken_claim(asked: Asked, named: list[tuple[Fact, str]]) -> Claim | None:
    """The claim where every fact it could mean has been overtaken by a later output that says otherwise."""
    if not named or len(asked.binding.facts.texts) < 2:
        return None
    sentence = asked.binding.answer.sentences[asked.stated.sentence]
    now = _NOW.search(sentence.text) is not None
    overtaking: list[Fact] = []
    for fact, _ in named:
        alike = asked.binding.by_label.get(fact.label, ()) if not now else _labelled(fact, asked)
        later = [
            other
            for other in alike
            if (is_now if now else is_later)(other, fact)
            and (other.number is None or binds(asked.quantity, other, coarse=asked.coarse) is None)
        ]
        if not later:
            return None
        overtaking.append(later[-1])
    told_as_past = (
        _PAST.search(asked.binding.answer.text, sentence.start, asked.quantity.start) is not None
        or _BEFORE.search(asked.binding.answer.text, asked.quantity.end, sentence.end) is not None
    )
    last = overtaking[0]
    tells_both = any(
        isinstance(other.what, Quantity) and other is not asked.stated and binds(other.what, last) is not None
        for other in asked.binding.answer.stated
        if last.number is not None
    ) or bool(last.string and last.string.lower() in asked.binding.answer.text.lower())
    if told_as_past or tells_both:
        return None
    return asked.claim(Verdict.CONTRADICTED, f"a later output says `{last.text}`", evidence_of(last))
