"""The rule for stated numbers: bound to a fact, derived, counted, given by the task, or contradicted.

In: a stated quantity and the `Binding`. Out: one claim, or None where the digits are part of a name. Among
facts of the right value the one that is named counts: where the words name another fact instead, whose value
differs, the answer has put a right number in the wrong place.
"""

from __future__ import annotations

import re
from dataclasses import replace

from spanproof.evaluators.layers.groundedness.language.answer import Stated
from spanproof.evaluators.layers.groundedness.language.quantities import Quantity
from spanproof.evaluators.layers.groundedness.language.units import Dimension
from spanproof.evaluators.layers.groundedness.model import Claim, ClaimEvidence, Verdict
from spanproof.evaluators.layers.groundedness.outputs.facts import Fact
from spanproof.evaluators.layers.groundedness.rules.absences import all_empty
from spanproof.evaluators.layers.groundedness.rules.asked import (
    ABOUT,
    OVER,
    UNDER,
    Asked,
    same_value,
    subject_of,
)
from spanproof.evaluators.layers.groundedness.rules.binding import Binding, evidence_of
from spanproof.evaluators.layers.groundedness.rules.bounds import bound_claim
from spanproof.evaluators.layers.groundedness.rules.candidates import (
    aggregate_asked,
    matches_of,
    of_another_day,
    overtaken_claim,
    rivals_of,
)
from spanproof.evaluators.layers.groundedness.rules.compound import whole_of
from spanproof.evaluators.layers.groundedness.rules.counting import Count, counted
from spanproof.evaluators.layers.groundedness.rules.deriving import derived_value, further_value, is_open_sum
from spanproof.evaluators.layers.groundedness.rules.naming import coverage
from spanproof.evaluators.layers.groundedness.rules.nearest import nearest_to
from spanproof.evaluators.layers.groundedness.rules.ratios import is_ratio_word
from spanproof.evaluators.layers.groundedness.rules.results import result_at, result_claim
from spanproof.evaluators.layers.groundedness.rules.years import is_part_of_a_name, is_year, year_claim

_EXISTS = re.compile(
    r"\b(?:there (?:are|were|is)|found|returned|contains?|lists?|listed)\s+(?:a total of\s+)?$", re.IGNORECASE
)


_SIDE = re.compile(r"\b(?:below|above)\s+$", re.IGNORECASE)
_LEVELS: dict[Dimension | None, tuple[float, ...]] = {
    Dimension.FRACTION: (0.1, 1.0, 5.0, 10.0, 90.0, 95.0, 99.0),
    None: (0.001, 0.01, 0.05, 0.1, 0.9, 0.95, 0.99),
}
"""Levels of significance and confidence that nobody needs to be told."""
_TESTED = re.compile(r"\b(?:significan\w*|confidence|alpha|CI)\b|α|\bp\s*[<>]\s*", re.IGNORECASE)
_OF_SOME = re.compile(
    r"\s+[\w-]+(?:\s+[\w-]+)?\s+(?:are|is|were|was|have|has|had)\s+(?!listed|found|returned)\w", re.I
)
_STRETCH = re.compile(
    r"\b(?:over|across|during|in|for|of|throughout)\s+(?:the|these|those|all|past|last)\s+(?:last\s+|past\s+)?$",
    re.IGNORECASE,
)
"""What a stretch of time is told with that only says what the outputs cover."""
_ALL_OF = re.compile(r"\b(?:of|all)\s+(?:the\s+|our\s+|your\s+|these\s+|those\s+)?$", re.IGNORECASE)
_PART = re.compile(r"\s+(?:out\s+)?of\s+(?:the|all|these|those|its|their|your|our|\d+)\b", re.IGNORECASE)
_SAID = re.compile(r"(?:\b(?:is|was|are|were|of|at|=)|[:=])\s*$", re.IGNORECASE)


def number_claim(stated: Stated, binding: Binding) -> Claim | None:
    """The claim of one stated quantity."""
    quantity = stated.what
    assert isinstance(quantity, Quantity)
    if is_part_of_a_name(quantity, binding) or _says_no_value(quantity, binding):
        return None
    before = binding.answer.text[max(0, quantity.start - 40) : quantity.start]
    result = result_at(quantity, binding)
    if result is not None:
        return result_claim(result, quantity, binding)
    coarse = any(pattern.search(before) for pattern in (ABOUT, OVER, UNDER))
    asked = Asked(stated, quantity, binding, binding.words_at(stated), before, coarse)
    if is_year(quantity, before):
        return year_claim(asked)
    found = _bound(asked)
    if found is not None and found.verdict is not Verdict.GROUNDED:
        whole = whole_of(quantity, binding)
        again = _bound(replace(asked, quantity=whole)) if whole is not None else None
        if again is not None and again.verdict is Verdict.GROUNDED:
            return replace(again, text=quantity.text, start=quantity.start, end=quantity.end)
    return found if found is None or not _only_by_chance(asked) else _bound_whole(asked, found)


def _only_by_chance(asked: Asked) -> bool:
    """Whether a part of an amount in two units was found under a key that tells no unit: "changes: 2"."""
    bound = asked.binding.bound.get(asked.quantity.start, ())
    return bool(bound) and asked.quantity.unit is not None and all(fact.unit is None for fact in bound)


def _bound_whole(asked: Asked, found: Claim) -> Claim:
    """The claim of the whole amount, where the quantity is a part of one."""
    quantity = asked.quantity
    whole = whole_of(quantity, asked.binding)
    again = _bound(replace(asked, quantity=whole)) if whole is not None else None
    if again is None or again.verdict is Verdict.GROUNDED:
        return found
    return replace(again, text=quantity.text, start=quantity.start, end=quantity.end)


def _says_no_value(quantity: Quantity, binding: Binding) -> bool:
    """Whether the number is a manner of speaking: "9 below zero", "three times as many", "the 5 % level"."""
    text = binding.answer.text
    if quantity.spelled:
        below_zero = quantity.value == 0 and _SIDE.search(text[max(0, quantity.start - 8) : quantity.start])
        return bool(below_zero) or is_ratio_word(quantity.start, quantity.end, binding)
    level = quantity.value in _LEVELS.get(quantity.dimension, ())
    return level and _TESTED.search(text, max(0, quantity.start - 60), quantity.end + 40) is not None


def _bound(asked: Asked) -> Claim | None:
    compared = bound_claim(asked)
    if compared is not None:
        return compared
    matches = matches_of(asked)
    named = [
        (fact, how)
        for fact, how in matches
        if not rivals_of(asked, fact) and not aggregate_asked(asked, fact) and not of_another_day(asked, fact)
    ]
    stale = overtaken_claim(asked, named)
    if stale is not None:
        return stale
    count = counted(asked.stated, asked.binding) if asked.quantity.unit is None else None
    if count is not None and count.agrees:
        return asked.claim(Verdict.GROUNDED, "the outputs count to it", count.evidence)
    if named and not _miscounted(asked, named, count):
        fact, how = max(
            named, key=lambda pair: (not pair[0].weak, len(pair[0].words & asked.words), pair[0].output)
        )
        asked.binding.bound[asked.quantity.start] = tuple(each for each, _ in named)
        return asked.claim(Verdict.GROUNDED, "an output says so", evidence_of(fact, how))
    derived = derived_value(asked)
    if derived is not None:
        asked.binding.derived[asked.quantity.start] = derived
        output = derived.operands[0].output if derived.operands else None
        text = "; ".join(fact.text for fact in derived.operands[:4])
        return asked.claim(
            Verdict.GROUNDED, "it follows from the outputs", ClaimEvidence(output, text, derived.text)
        )
    if count is not None and asked.quantity.value < count.number and _OF_SOME.match(_behind(asked)):
        return asked.claim(Verdict.UNCERTAIN, "of how many that holds, nothing in the outputs tells")
    if count is not None:
        return asked.claim(Verdict.CONTRADICTED, f"the outputs hold {count.what}", count.evidence)
    if matches:
        return _misplaced(asked, matches[0][0])
    return _unsupported(asked)


def _behind(asked: Asked) -> str:
    return asked.binding.answer.text[asked.quantity.end : asked.quantity.end + 60]


def _misplaced(asked: Asked, fact: Fact) -> Claim:
    """A right number in the wrong place."""
    rivals = rivals_of(asked, fact)
    if rivals:
        rival = rivals[0]
        return asked.claim(
            Verdict.CONTRADICTED,
            f"that is the value of `{fact.text}`; the words name `{rival.text}`",
            evidence_of(rival),
        )
    return asked.claim(
        Verdict.CONTRADICTED,
        f"`{fact.text}` is one value of several, and not what is asked of them",
        evidence_of(fact),
    )


def _unsupported(asked: Asked) -> Claim | None:
    quantity, binding = asked.quantity, asked.binding
    given = _given_by_task(asked)
    if given is not None:
        return given
    if (
        quantity.spelled
        and asked.words.isdisjoint(binding.vocabulary)
        and not (binding.facts.records and _EXISTS.search(asked.before))
    ):
        return None  # "two options are open to you": a figure of speech more often than a claim
    if all_empty(binding):
        right = quantity.value == 0
        return asked.claim(
            Verdict.GROUNDED if right else Verdict.CONTRADICTED,
            "the outputs are empty",
            ClaimEvidence(0, binding.facts.texts[0][:60]),
        )
    if not binding.numbers and not binding.facts.records and not _between_days(asked):
        return asked.claim(Verdict.UNCERTAIN, "the outputs hold no numbers to compare it with")
    if binding.facts.cut:
        return asked.claim(Verdict.UNCERTAIN, "not found in the part of the outputs that was read")
    if quantity.dimension is Dimension.TIME and _STRETCH.search(asked.before):
        covered = _covers(asked)
        if covered is not None:
            return asked.claim(Verdict.GROUNDED, "the outputs cover so many", covered)
        if not any(fact.dimension is Dimension.TIME for fact in binding.numbers):
            return asked.claim(Verdict.UNCERTAIN, "how long a time the outputs cover, nothing in them tells")
    if _PART.match(binding.answer.text, quantity.end) and _could_be_a_part(asked):
        return asked.claim(Verdict.UNCERTAIN, "how many of them, nothing in the outputs tells")
    if _ALL_OF.search(asked.before) and (listed := _list_of(asked)) is not None:
        return asked.claim(Verdict.GROUNDED, "the outputs list so many", listed)
    says_a_fact = _says_a_fact(asked)
    further = None if says_a_fact else further_value(asked)
    if further is not None:
        return asked.claim(
            Verdict.UNCERTAIN,
            f"no output gives {quantity.text}, but {further.text}: whether that is meant, nothing tells",
        )
    if not says_a_fact and is_open_sum(asked):
        return asked.claim(
            Verdict.UNCERTAIN, f"no output gives {quantity.text}, and of which values it is reckoned is open"
        )
    nearest = nearest_to(asked)
    if nearest is None:
        return asked.claim(Verdict.CONTRADICTED, f"no output gives {quantity.text}")
    fact, reading = nearest
    told = f" ({reading})" if reading else ""
    return asked.claim(
        Verdict.CONTRADICTED,
        f"no output gives {quantity.text}; `{fact.text}`{told} is what they say",
        evidence_of(fact),
    )


def _covers(asked: Asked) -> ClaimEvidence | None:
    """The table with so many rows or columns of numbers: "over the three months"."""
    for records in asked.binding.facts.records:
        columns = sum(column[0].number is not None for column in records.columns.values() if column)
        if asked.quantity.value in (records.rows, columns):
            return ClaimEvidence(
                records.output, records.label or "the table", f"{asked.quantity.value:g} of them"
            )
    return None


def _list_of(asked: Asked) -> ClaimEvidence | None:
    """The list with so many entries, where the words speak of all of them."""
    for records in asked.binding.facts.records:
        if asked.quantity.unit is None and asked.quantity.value == records.rows:
            return ClaimEvidence(records.output, records.label or "the list", f"entries = {records.rows}")
    return None


def _could_be_a_part(asked: Asked) -> bool:
    """Whether some list has more entries than are told: "two of the three flights"."""
    rows = max((records.rows for records in asked.binding.facts.records), default=0)
    return asked.quantity.unit is None and asked.quantity.value.is_integer() and asked.quantity.value <= rows


def _says_a_fact(asked: Asked) -> bool:
    """Whether the words name one fact in full, of this dimension: then its value is told, and wrong."""
    subject = subject_of(asked)
    if subject is None or subject.dimension is not asked.quantity.dimension:
        return False
    return coverage(subject, asked.words) == 1.0


def _between_days(asked: Asked) -> bool:
    """Whether the outputs hold days or times and the quantity could be the time between two."""
    if asked.quantity.dimension is not Dimension.TIME:
        return False
    facts = asked.binding.facts.facts
    return max(sum(fact.day is not None for fact in facts), sum(fact.clock is not None for fact in facts)) > 1


def _miscounted(asked: Asked, named: list[tuple[Fact, str]], count: Count | None) -> bool:
    """Whether the noun names what was counted to another number, and no bound fact bears the noun."""
    if count is None or not count.specific:
        return False
    return all(not fact.weak and set(fact.key).isdisjoint(asked.stated.noun) for fact, _ in named)


def _given_by_task(asked: Asked) -> Claim | None:
    for quantity in asked.binding.task_quantities:
        if same_value(asked, quantity):
            subject = subject_of(asked) if _SAID.search(asked.before) else None
            if subject is not None and not asked.coarse and coverage(subject, asked.words) == 1.0:
                return None  # the words name a fact of the outputs, and its value is another
            return asked.claim(Verdict.GROUNDED, "the task gives it", ClaimEvidence(None, quantity.text))
    return None
