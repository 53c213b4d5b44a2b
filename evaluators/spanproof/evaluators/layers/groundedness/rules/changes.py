"""What the outputs say of a change: the ways a direction is held to them, each a step of its own.

In: the quantities of a sentence and the direction that is `Said` there. Out: a settled claim, or None where
this evidence is not there.
"""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import islice

from spanproof.evaluators.layers.groundedness.language.answer import MAX_CLAIMS
from spanproof.evaluators.layers.groundedness.language.direction_words import DIRECTION
from spanproof.evaluators.layers.groundedness.language.quantities import Quantity
from spanproof.evaluators.layers.groundedness.language.segments import Sentence
from spanproof.evaluators.layers.groundedness.language.words import canonical_set
from spanproof.evaluators.layers.groundedness.model import Claim, ClaimEvidence, Verdict
from spanproof.evaluators.layers.groundedness.outputs.facts import Fact
from spanproof.evaluators.layers.groundedness.outputs.order import before_after, differ_in_time, is_later
from spanproof.evaluators.layers.groundedness.rules.binding import Binding, evidence_of
from spanproof.evaluators.layers.groundedness.rules.derive import scaled_value
from spanproof.evaluators.layers.groundedness.rules.matching import fits
from spanproof.evaluators.layers.groundedness.rules.naming import best_named
from spanproof.evaluators.layers.groundedness.rules.said import Said
from spanproof.evaluators.layers.groundedness.rules.told_changes import told_change

_WITH = re.compile(r"\s*(?:\w+\s+)?(?:with|as|when)\b", re.IGNORECASE)
_BY = re.compile(r"\s+(?:by\s+)?(?:about\s+|only\s+|just\s+|exactly\s+)?", re.IGNORECASE)
CHANGE_KEYS = canonical_set(
    "change changed growth delta diff difference increase decrease decline drop trend return gain"
    " loss pct_change yoy mom qoq"
)
_FALLING_KEYS = canonical_set("decrease decline drop loss reduction")


def quantities_of(sentence: Sentence, binding: Binding) -> list[Quantity]:
    """Those that the sentence states, in its order."""
    return [
        stated.what
        for stated in binding.answer.stated
        if isinstance(stated.what, Quantity) and sentence.start <= stated.what.start < sentence.end
    ]


def from_correlation(sentence: Sentence, binding: Binding) -> Claim | None:
    """Of "rises with", "falls as it gets warmer" the sign of the correlation that is told."""
    if "correlation" not in sentence.words:
        return None
    words = list(islice(DIRECTION.finditer(binding.answer.text, sentence.start, sentence.end), MAX_CLAIMS))
    if not words or _WITH.match(binding.answer.text, words[0].end(), sentence.end) is None:
        return None
    upward = sum(each["down"] is not None for each in words) % 2 == 0
    for quantity in quantities_of(sentence, binding):
        for fact in binding.bound.get(quantity.start, ()):
            if "correlation" in fact.words and fact.number:
                said = Said(words[0], binding, upward)
                return said.claim(fact.number, f"`{fact.text}`", evidence_of(fact))
    return None


def from_step(quantities: list[Quantity], binding: Binding, said: Said) -> Claim | None:
    """By how much it went, as the only value that a later output changes by so much went."""
    for quantity in quantities:
        between = binding.answer.text[said.match.end() : quantity.start]
        if quantity.start < said.match.end() or _BY.fullmatch(between) is None:
            continue
        steps = [
            (facts[-2], facts[-1])
            for facts in binding.by_label.values()
            if len(facts) > 1
            and is_later(facts[-1], facts[-2])
            and fits(quantity, abs(scaled_value(facts[-1]) - scaled_value(facts[-2])))
        ]
        if len(steps) == 1:
            first, last = steps[0]
            evidence = ClaimEvidence(last.output, f"{first.text}; {last.text}")
            return said.claim(said.grown(first, last), f"`{first.text}` to `{last.text}`", evidence)
    return None


def from_derived(quantities: list[Quantity], binding: Binding, said: Said) -> Claim | None:
    """The change that one of them was derived as."""
    for quantity in quantities:
        derived = binding.derived.get(quantity.start)
        if derived is None or len(derived.operands) != 2:
            continue
        first, last = derived.operands
        order = before_after(first, last)
        if order is None:
            continue
        change = (scaled_value(last) - scaled_value(first)) * order
        return said.claim(
            change,
            "the change the outputs give",
            ClaimEvidence(first.output, f"{first.text}; {last.text}", derived.text),
        )
    return None


def from_signed(quantities: list[Quantity], binding: Binding, said: Said) -> Claim | None:
    """The sign of a fact that is a change by its name."""
    for quantity in quantities:
        for fact in binding.bound.get(quantity.start, ()):
            if fact.weak or CHANGE_KEYS.isdisjoint(fact.key) or _is_measured_again(fact, binding):
                continue
            falling = not _FALLING_KEYS.isdisjoint(fact.key)
            change = -abs(fact.number or 0.0) if falling else (fact.number or 0.0)
            return said.claim(change, f"`{fact.text}`", evidence_of(fact))
    return None


def from_named(sentence: Sentence, binding: Binding, said: Said) -> Claim | None:
    """The first and the last in time of the facts that the sentence names."""
    family = ordered_family(sentence, binding)
    if family is None:
        return None
    first, last = family
    return said.claim(
        said.grown(first, last),
        f"`{first.text}` to `{last.text}`",
        ClaimEvidence(last.output, f"{first.text}; {last.text}"),
    )


def from_prose(quantities: list[Quantity], binding: Binding, said: Said) -> Claim | None:
    """What the output's own sentence says of the value that is told."""
    for quantity in quantities:
        derived = binding.derived.get(quantity.start)
        for fact in (*binding.bound.get(quantity.start, ()), *(derived.operands if derived else ())):
            change = told_change(fact) if fact.weak else None
            if change is not None:
                found = said.claim(change, f"`{fact.text}` is what the outputs say", evidence_of(fact))
                right = found.verdict is Verdict.GROUNDED
                return found if right else replace(found, verdict=Verdict.UNCERTAIN)
    return None


def ordered_family(sentence: Sentence, binding: Binding) -> tuple[Fact, Fact] | None:
    """First and last in time of the facts that the sentence names."""
    usable = [fact for fact in binding.numbers if not fact.weak]
    named = best_named(usable, frozenset(sentence.words)) or best_named(usable, binding.task_words)
    if not named:
        named = usable if len(usable) == 2 else []
    if len(named) == 1:
        pair = [fact for fact in usable if differ_in_time(fact, named[0])]
        stem = set(named[0].key)
        named = [named[0], *pair] if len(pair) == 1 else [fact for fact in usable if stem & set(fact.key)]
    if not 2 <= len(named) <= 60:
        return None
    first = last = named[0]
    for fact in named[1:]:
        if before_after(fact, first) is None and before_after(first, last) is None and fact is not first:
            return None
        if (before_after(fact, first) or 0) > 0:
            first = fact
        if (before_after(last, fact) or 0) > 0:
            last = fact
    return (first, last) if first is not last else None


def _is_measured_again(fact: Fact, binding: Binding) -> bool:
    """Whether a "loss" is a measure taken several times, as in training, and no change by itself."""
    return ("loss" in fact.key and fact.records >= 0) or len(binding.by_label.get(fact.label, ())) > 1
