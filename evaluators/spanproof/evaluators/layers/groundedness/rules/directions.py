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
    FROM_TO,
    NOW,
    RELATIVE,
    THAN_BEFORE,
    THEN,
    goes_up,
    is_idiom,
)
from spanproof.evaluators.layers.groundedness.language.quantities import Quantity
from spanproof.evaluators.layers.groundedness.language.segments import Sentence
from spanproof.evaluators.layers.groundedness.language.words import canonical_set, words_of
from spanproof.evaluators.layers.groundedness.model import Claim, ClaimEvidence, ClaimKind, Verdict
from spanproof.evaluators.layers.groundedness.outputs.facts import Fact
from spanproof.evaluators.layers.groundedness.outputs.order import before_after, differ_in_time, is_later
from spanproof.evaluators.layers.groundedness.rules.binding import Binding, claim, evidence_of
from spanproof.evaluators.layers.groundedness.rules.derive import scaled_value
from spanproof.evaluators.layers.groundedness.rules.matching import fits, number_text
from spanproof.evaluators.layers.groundedness.rules.naming import best_named
from spanproof.evaluators.layers.groundedness.rules.periods import from_period
from spanproof.evaluators.layers.groundedness.rules.qualities import side_of
from spanproof.evaluators.layers.groundedness.rules.said import Said
from spanproof.evaluators.layers.groundedness.rules.told_changes import told_change, told_order

_OBJECT = re.compile(r"\s+[\d,.]+\s+[a-z]", re.IGNORECASE)
"""What was dropped or gained: "dropped 37 duplicates" tells no change of a value."""
_PASSIVE = re.compile(r"\b(?:was|were|been|being|is|are)\s+(?:\w+\s+)?$", re.IGNORECASE)
"""Something done to a thing: "was first climbed in 1899" tells no change of a value."""
_WITH = re.compile(r"\s*(?:\w+\s+)?(?:with|as|when)\b", re.IGNORECASE)
_BY = re.compile(r"\s+(?:by\s+)?(?:about\s+|only\s+|just\s+|exactly\s+)?", re.IGNORECASE)
_PRICED = frozenset(("dearer", "pricier", "costlier", "expensive"))
_NOT = re.compile(r"(?:\b(?:not|never|no|without)|n['’]t)\s+(?:\w+\s+)?$", re.IGNORECASE)
_CHANGE_KEYS = canonical_set(
    "change changed growth delta diff difference increase decrease decline drop trend return gain"
    " loss pct_change yoy mom qoq"
)
_FALLING_KEYS = canonical_set("decrease decline drop loss reduction")


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
    related = _from_correlation(sentence, binding)
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
    for quantity in _quantities(sentence, binding):
        match = RELATIVE.match(binding.answer.text, quantity.end, sentence.end)
        if match is not None and quantity.start in binding.derived:
            found = _from_derived([quantity], binding, Said(match, binding, match["up"] is not None))
            if found is not None:
                yield found


def _than_before(sentence: Sentence, binding: Binding) -> Iterator[Claim]:
    """The directions of values set beside the one before them: "1,846 finished, fewer than last year"."""
    for match in islice(THAN_BEFORE.finditer(binding.answer.text, sentence.start, sentence.end), MAX_CLAIMS):
        before = [each for each in _quantities(sentence, binding) if each.end <= match.start()]
        found = _from_prose(before[-1:], binding, Said(match, binding, match["up"] is not None))
        if found is not None:
            yield found


def _turns_up(match: re.Match[str], sentence: Sentence, binding: Binding) -> bool | None:
    """Whether "slower" or "dearer" says that what is told grew; None where that is no time, no price."""
    told = match["turned"].lower().split()
    facts: list[Fact] = []
    for quantity in _quantities(sentence, binding):
        derived = binding.derived.get(quantity.start)
        facts += (*binding.bound.get(quantity.start, ()), *(derived.operands if derived else ()))
    named = facts or [
        fact for fact in binding.numbers if not fact.weak and not fact.words.isdisjoint(sentence.words)
    ]
    sides = {side_of(told[-1], fact, less=told[0] == "less") for fact in named}
    if sides == {0} and told[-1] in _PRICED and facts:
        sides = {side_of(told[-1], replace(facts[0], money=True), less=told[0] == "less")}
    return sides == {1} if sides in ({1}, {-1}) else None


def _from_correlation(sentence: Sentence, binding: Binding) -> Claim | None:
    """Of "rises with", "falls as it gets warmer" the sign of the correlation that is told."""
    if "correlation" not in sentence.words:
        return None
    words = list(islice(DIRECTION.finditer(binding.answer.text, sentence.start, sentence.end), MAX_CLAIMS))
    if not words or _WITH.match(binding.answer.text, words[0].end(), sentence.end) is None:
        return None
    upward = sum(each["down"] is not None for each in words) % 2 == 0
    for quantity in _quantities(sentence, binding):
        for fact in binding.bound.get(quantity.start, ()):
            if "correlation" in fact.words and fact.number:
                said = Said(words[0], binding, upward)
                return said.claim(fact.number, f"`{fact.text}`", evidence_of(fact))
    return None


def _from_step(quantities: list[Quantity], binding: Binding, said: Said) -> Claim | None:
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


def _is_a_name(match: re.Match[str], binding: Binding) -> bool:
    """Whether the word is a key's name: in "the increase is 5" the value tells, not the word."""
    words = set(words_of(match.group()))
    return bool(words & binding.vocabulary) and not _CHANGE_KEYS & words


def _settle(match: re.Match[str], sentence: Sentence, binding: Binding) -> Claim | None:
    upward = _turns_up(match, sentence, binding) if match["turned"] else goes_up(match, sentence.words)
    if upward is None:
        return _in_order(match, sentence, binding)
    if _NOT.search(binding.answer.text[max(0, match.start() - 24) : match.start()]):
        return None  # "did not increase" leaves both "fell" and "stayed": nothing to hold it to

    said = Said(match, binding, upward)
    quantities = _quantities(sentence, binding)
    nearest = sorted(quantities, key=lambda quantity: abs(quantity.start - match.end()))
    ends = _stated_ends(match, quantities, binding) or _now_and_then(quantities, binding)
    if ends is not None:
        first, last = ends
        order = _order_of_ends(first, last, binding)
        change = last.value - first.value
        if order is not None and order < 0:
            return said.claim(
                -1 if upward else 1, f"{last.text} comes before {first.text} in the outputs", None
            )
        return said.claim(change, f"{first.text} to {last.text}", _derivation(first.value, last.value))
    return (
        _from_derived(nearest, binding, said)
        or _from_signed(nearest, binding, said)
        or from_period(match, nearest, sentence, said)
        or _from_named(sentence, binding, said)
        or _from_prose(nearest, binding, said)
        or _from_step(nearest, binding, said)
        or _unsettled(match, binding)
    )


def _in_order(match: re.Match[str], sentence: Sentence, binding: Binding) -> Claim | None:
    """Of "improved from A to B" at least that A comes before B."""
    ends = _stated_ends(match, _quantities(sentence, binding), binding)
    if ends is None or (_order_of_ends(*ends, binding) or 0) >= 0:
        return None
    place = (binding, match.start(), match.end(), ClaimKind.DIRECTION, Verdict.CONTRADICTED)
    return claim(*place, f"{ends[1].text} comes before {ends[0].text} in the outputs")


def _quantities(sentence: Sentence, binding: Binding) -> list[Quantity]:
    return [
        stated.what
        for stated in binding.answer.stated
        if isinstance(stated.what, Quantity) and sentence.start <= stated.what.start < sentence.end
    ]


def _stated_ends(
    match: re.Match[str], quantities: list[Quantity], binding: Binding
) -> tuple[Quantity, Quantity] | None:
    """The quantities behind "from" and "to" of this word; "then rose to C" begins at the last end."""
    text = binding.answer.text
    sentence = next(each for each in binding.answer.sentences if each.start <= match.start() < each.end)
    others = [each.start() for each in DIRECTION.finditer(text, sentence.start, sentence.end)]
    stop = next((start for start in others if start > match.start()), sentence.end)
    ends: dict[str, Quantity] = {}
    reached: Quantity | None = None
    for quantity in quantities:
        found = FROM_TO.search(text[max(0, quantity.start - 8) : quantity.start])
        if found is None:
            continue
        side = found[1].lower()
        if len(others) == 1 or match.end() <= quantity.start < stop:
            ends.setdefault(side, quantity)
        if side == "to" and quantity.start < match.start():
            reached = quantity
    if "from" not in ends and "to" in ends and reached is not None and ends["to"] is not reached:
        ends["from"] = reached
    if len(ends) == 2 and (
        ends["from"].dimension is ends["to"].dimension or None in (ends["from"].unit, ends["to"].unit)
    ):
        return ends["from"], ends["to"]
    return None


def _now_and_then(quantities: list[Quantity], binding: Binding) -> tuple[Quantity, Quantity] | None:
    """The value told of before and the one of today: "448 kB now, it was 412 kB before"."""
    now, then = (
        [each for each in quantities if _is_told(each, patterns, binding)] for patterns in (NOW, THEN)
    )
    if len(now) != 1 or len(then) != 1 or now == then or now[0].dimension is not then[0].dimension:
        return None
    return then[0], now[0]


def _is_told(quantity: Quantity, patterns: tuple[re.Pattern[str], re.Pattern[str]], binding: Binding) -> bool:
    text = binding.answer.text
    before, behind = (
        text[max(0, quantity.start - 24) : quantity.start],
        text[quantity.end : quantity.end + 24],
    )
    return patterns[0].search(before) is not None or patterns[1].match(behind) is not None


def _order_of_ends(first: Quantity, last: Quantity, binding: Binding) -> int | None:
    before, after = binding.bound.get(first.start), binding.bound.get(last.start)
    if not before or not after or len(before) != 1 or len(after) != 1:
        return None
    told = told_order(before[0], after[0])
    return before_after(before[0], after[0]) if told is None else told


def _derivation(first: float, last: float) -> ClaimEvidence:
    sign = "<" if first < last else ">" if first > last else "="
    return ClaimEvidence(
        None, "the two ends the answer states", f"{number_text(first)} {sign} {number_text(last)}"
    )


def _from_derived(quantities: list[Quantity], binding: Binding, said: Said) -> Claim | None:
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


def _from_signed(quantities: list[Quantity], binding: Binding, said: Said) -> Claim | None:
    for quantity in quantities:
        for fact in binding.bound.get(quantity.start, ()):
            if fact.weak or _CHANGE_KEYS.isdisjoint(fact.key) or _is_measured_again(fact, binding):
                continue
            falling = not _FALLING_KEYS.isdisjoint(fact.key)
            change = -abs(fact.number or 0.0) if falling else (fact.number or 0.0)
            return said.claim(change, f"`{fact.text}`", evidence_of(fact))
    return None


def _is_measured_again(fact: Fact, binding: Binding) -> bool:
    """Whether a "loss" is a measure taken several times, as in training, and no change by itself."""
    return ("loss" in fact.key and fact.records >= 0) or len(binding.by_label.get(fact.label, ())) > 1


def _from_named(sentence: Sentence, binding: Binding, said: Said) -> Claim | None:
    family = ordered_family(sentence, binding)
    if family is None:
        return None
    first, last = family
    return said.claim(
        said.grown(first, last),
        f"`{first.text}` to `{last.text}`",
        ClaimEvidence(last.output, f"{first.text}; {last.text}"),
    )


def _from_prose(quantities: list[Quantity], binding: Binding, said: Said) -> Claim | None:
    """What the output's own sentence says of the value that is told."""
    for quantity in quantities:
        derived = binding.derived.get(quantity.start)
        for fact in (*binding.bound.get(quantity.start, ()), *(derived.operands if derived else ())):
            change = told_change(fact) if fact.weak else None
            if change is not None:
                return said.claim(change, f"`{fact.text}` is what the outputs say", evidence_of(fact))
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
