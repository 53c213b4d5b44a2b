"""The rule for directions: "increased by 25 %", "fell from A to B", "is down".

In: the `Binding` after its numbers are bound. Out: a claim for each word of direction. What it is compared
with, strongest first: the two ends the sentence itself states, the pair a change was derived from, a fact
that is a signed change, a pair of facts whose names have an order in time. Without any of these it stays
uncertain.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

from spanproof.evaluators.layers.groundedness.language.answer import MAX_CLAIMS
from spanproof.evaluators.layers.groundedness.language.direction_words import (
    ATTRIBUTE,
    DIRECTION,
    DIRECTION_CUES,
    RELATIVE,
    THAN_BEFORE,
    goes_up,
    is_idiom,
)
from spanproof.evaluators.layers.groundedness.language.segments import Sentence
from spanproof.evaluators.layers.groundedness.language.words import words_of
from spanproof.evaluators.layers.groundedness.model import Claim, ClaimEvidence, ClaimKind, Verdict
from spanproof.evaluators.layers.groundedness.outputs.facts import Fact
from spanproof.evaluators.layers.groundedness.rules.binding import Binding, claim
from spanproof.evaluators.layers.groundedness.rules.changes import (
    CHANGE_KEYS,
    from_correlation,
    from_derived,
    from_named,
    from_prose,
    from_signed,
    from_step,
    quantities_of,
)
from spanproof.evaluators.layers.groundedness.rules.ends import now_and_then, order_of_ends, stated_ends
from spanproof.evaluators.layers.groundedness.rules.matching import number_text
from spanproof.evaluators.layers.groundedness.rules.periods import from_period
from spanproof.evaluators.layers.groundedness.rules.qualities import side_of
from spanproof.evaluators.layers.groundedness.rules.said import Said

_OBJECT = re.compile(r"\s+[\d,.]+\s+[a-z]", re.IGNORECASE)
"""What was dropped or gained: "dropped 37 duplicates" tells no change of a value."""
_PASSIVE = re.compile(r"\b(?:was|were|been|being|is|are)\s+(?:\w+\s+)?$", re.IGNORECASE)
"""Something done to a thing: "was first climbed in 1899" tells no change of a value."""
_PRICED = frozenset(("dearer", "pricier", "costlier", "expensive"))
_NOT = re.compile(r"(?:\b(?:not|never|no|without)|n['’]t)\s+(?:\w+\s+)?$", re.IGNORECASE)


def direction_claims(binding: Binding) -> list[Claim]:
    """Every direction the answer states."""
    told = not DIRECTION_CUES.isdisjoint(binding.answer.said)
    claims: list[Claim] = []
    for sentence in (
        binding.answer.sentences[:MAX_CLAIMS]
        if told or binding.derived or "than" in binding.answer.said
        else ()
    ):
        claims.extend(_told(sentence, binding) if told else ())
        claims.extend(_relative(sentence, binding) if binding.derived else ())
        claims.extend(_than_before(sentence, binding) if "than" in binding.answer.said else ())
    return claims


def _told(sentence: Sentence, binding: Binding) -> Iterator[Claim]:
    """The directions that a sentence tells in words."""
    text = binding.answer.text
    related = from_correlation(sentence, binding)
    if related is not None:
        yield related
        return
    for match in islice(DIRECTION.finditer(text, sentence.start, sentence.end), MAX_CLAIMS):
        if _is_a_name(match, binding) or is_idiom(match, text):
            continue
        if ATTRIBUTE.search(text[max(0, match.start() - 6) : match.start()]):
            continue
        found = _settle(match, sentence, binding)
        if found is not None:
            yield found


def _relative(sentence: Sentence, binding: Binding) -> Iterator[Claim]:
    """The directions of differences that are told without their other end."""
    for quantity in quantities_of(sentence, binding):
        match = RELATIVE.match(binding.answer.text, quantity.end, sentence.end)
        if match is not None and quantity.start in binding.derived:
            found = from_derived([quantity], binding, Said(match, binding, match["up"] is not None))
            if found is not None:
                yield found


def _than_before(sentence: Sentence, binding: Binding) -> Iterator[Claim]:
    """The directions of values set beside the one before them: "1,846 finished, fewer than last year"."""
    for match in islice(THAN_BEFORE.finditer(binding.answer.text, sentence.start, sentence.end), MAX_CLAIMS):
        before = [each for each in quantities_of(sentence, binding) if each.end <= match.start()]
        found = from_prose(before[-1:], binding, Said(match, binding, match["up"] is not None))
        if found is not None:
            yield found


def _turns_up(match: re.Match[str], sentence: Sentence, binding: Binding) -> bool | None:
    """Whether "slower" or "dearer" says that what is told grew; None where that is no time, no price."""
    told = match["turned"].lower().split()
    facts: list[Fact] = []
    for quantity in quantities_of(sentence, binding):
        derived = binding.derived.get(quantity.start)
        facts += (*binding.bound.get(quantity.start, ()), *(derived.operands if derived else ()))
    named = facts or [
        fact for fact in binding.numbers if not fact.weak and not fact.words.isdisjoint(sentence.words)
    ]
    sides = {side_of(told[-1], fact, less=told[0] == "less") for fact in named}
    if sides == {0} and told[-1] in _PRICED and facts:
        sides = {side_of(told[-1], replace(facts[0], money=True), less=told[0] == "less")}
    return sides == {1} if sides in ({1}, {-1}) else None


def _is_a_name(match: re.Match[str], binding: Binding) -> bool:
    """Whether the word is a key's name: in "the increase is 5" the value tells, not the word."""
    words, said = set(words_of(match.group())), match.group().lower()
    if said in binding.by_label:
        return True  # "one has declined" of `declined: 1`
    return bool(words & binding.vocabulary) and not CHANGE_KEYS & words


def _settle(match: re.Match[str], sentence: Sentence, binding: Binding) -> Claim | None:
    upward = _turns_up(match, sentence, binding) if match["turned"] else goes_up(match, sentence.words)
    if upward is None:
        return _in_order(match, sentence, binding)
    if _NOT.search(binding.answer.text[max(0, match.start() - 24) : match.start()]):
        return None  # "did not increase" leaves both "fell" and "stayed": nothing to hold it to

    said = Said(match, binding, upward)
    quantities = quantities_of(sentence, binding)
    nearest = sorted(quantities, key=lambda quantity: abs(quantity.start - match.end()))
    ends = stated_ends(match, quantities, binding) or now_and_then(quantities, binding)
    if ends is not None:
        first, last = ends
        order = order_of_ends(first, last, binding)
        change = last.value - first.value
        if order is not None and order < 0:
            return said.claim(
                -1 if upward else 1, f"{last.text} comes before {first.text} in the outputs", None
            )
        return said.claim(change, f"{first.text} to {last.text}", _derivation(first.value, last.value))
    return (
        from_derived(nearest, binding, said)
        or from_signed(nearest, binding, said)
        or from_period(match, nearest, sentence, said)
        or from_named(sentence, binding, said)
        or from_prose(nearest, binding, said)
        or from_step(nearest, binding, said)
        or _unsettled(match, binding)
    )


def _in_order(match: re.Match[str], sentence: Sentence, binding: Binding) -> Claim | None:
    """Of "improved from A to B" at least that A comes before B."""
    ends = stated_ends(match, quantities_of(sentence, binding), binding)
    if ends is None or (order_of_ends(*ends, binding) or 0) >= 0:
        return None
    place = (binding, match.start(), match.end(), ClaimKind.DIRECTION, Verdict.CONTRADICTED)
    return claim(*place, f"{ends[1].text} comes before {ends[0].text} in the outputs")


def _derivation(first: float, last: float) -> ClaimEvidence:
    sign = "<" if first < last else ">" if first > last else "="
    return ClaimEvidence(
        None, "the two ends the answer states", f"{number_text(first)} {sign} {number_text(last)}"
    )


def _unsettled(match: re.Match[str], binding: Binding) -> Claim | None:
    if _PASSIVE.search(binding.answer.text[max(0, match.start() - 24) : match.start()]):
        return None
    if not binding.numbers or _OBJECT.match(binding.answer.text, match.end()):
        return None
    return claim(
        binding,
        match.start(),
        match.end(),
        ClaimKind.DIRECTION,
        Verdict.UNCERTAIN,
        "the outputs give no order in time",
    )
