"""The rule for numbers that no output gives: given by the task, told another way, reckoned, wrong, or open.

In: an `Asked` that is bound to nothing and follows from nothing. Out: its claim, None for a figure of speech.
What is contradicted rests on `evidence`; everything else is left open, with the reason.
"""

from __future__ import annotations

import re
from itertools import pairwise

from spanproof.evaluators.layers.groundedness.language.key_units import WINDOWS
from spanproof.evaluators.layers.groundedness.language.quantities import Quantity
from spanproof.evaluators.layers.groundedness.language.units import BY_NAME, Dimension
from spanproof.evaluators.layers.groundedness.language.words import canonical
from spanproof.evaluators.layers.groundedness.model import Claim, ClaimEvidence, Verdict
from spanproof.evaluators.layers.groundedness.rules.absences import all_empty
from spanproof.evaluators.layers.groundedness.rules.asked import EXISTS, Asked, same_value, subject_of
from spanproof.evaluators.layers.groundedness.rules.binding import evidence_of
from spanproof.evaluators.layers.groundedness.rules.deriving import further_value
from spanproof.evaluators.layers.groundedness.rules.evidence import misstated
from spanproof.evaluators.layers.groundedness.rules.matching import fits, temperature
from spanproof.evaluators.layers.groundedness.rules.meant import counts_what_is_averaged, told_count
from spanproof.evaluators.layers.groundedness.rules.naming import coverage
from spanproof.evaluators.layers.groundedness.rules.norms import names_a_norm

_STRETCH = re.compile(
    r"\b(?:over|across|during|in|for|of|throughout)\s+(?:the|these|those|all|past|last)\s+(?:last\s+|past\s+)?$",
    re.IGNORECASE,
)
"""What a stretch of time is told with that only says what the outputs cover."""
_LASTS = {canonical(name): factor for name, factor in WINDOWS.items()}
"""Seconds of what a key calls a stretch of time."""
OF_ALL = re.compile(r"\b(?:of|all)\s+(?:the\s+|our\s+|your\s+|these\s+|those\s+)?$", re.IGNORECASE)
_PART = re.compile(r"\s+(?:out\s+)?of\s+(?:the|all|these|those|its|their|your|our|\d+)\b", re.IGNORECASE)
_SAID = re.compile(r"(?:\b(?:is|was|are|were|of|at|=)|[:=])\s*$", re.IGNORECASE)


def unsupported_claim(asked: Asked) -> Claim | None:
    """The claim of a number that is bound to nothing."""
    given = _given_by_task(asked)
    if given is not None:
        return given
    if names_a_norm(asked):
        reason = f"neither the outputs nor the task tell of a norm of {asked.quantity.text}"
        return asked.claim(Verdict.CONTRADICTED, reason)
    if _is_a_figure_of_speech(asked):
        return None
    return (
        _beside_no_values(asked)
        or _of_a_stretch_of_time(asked)
        or _of_all_or_some(asked)
        or _told_in_another_unit(asked)
        or _open_or_wrong(asked)
    )


def _is_a_figure_of_speech(asked: Asked) -> bool:
    """Whether it is one more often than a claim: "two options are open to you"."""
    return (
        asked.quantity.spelled
        and not _PART.match(asked.binding.answer.text, asked.quantity.end)
        and asked.words.isdisjoint(asked.binding.vocabulary)
        and not (asked.binding.facts.records and EXISTS.search(asked.before))
        and told_count(asked) is None
    )


def _beside_no_values(asked: Asked) -> Claim | None:
    """Where there is nothing to compare it with, or not all was read."""
    facts = asked.binding.facts
    if all_empty(asked.binding):
        verdict = Verdict.GROUNDED if asked.quantity.value == 0 else Verdict.CONTRADICTED
        return asked.claim(verdict, "the outputs are empty", ClaimEvidence(0, facts.texts[0][:60]))
    if not asked.binding.numbers and not facts.records and not _between_days(asked):
        return asked.claim(Verdict.UNCERTAIN, "the outputs hold no numbers to compare it with")
    if facts.cut:
        return asked.claim(Verdict.UNCERTAIN, "not found in the part of the outputs that was read")
    return None


def _of_a_stretch_of_time(asked: Asked) -> Claim | None:
    """A time that only says what the outputs cover: "over the last 30 days"."""
    if asked.quantity.dimension is not Dimension.TIME:
        return None
    gathered = _gathered_over(asked)
    if gathered is not None:
        return asked.claim(Verdict.GROUNDED, "a key says so", gathered)
    if not _STRETCH.search(asked.before):
        return None
    covered = _covers(asked)
    if covered is not None:
        return asked.claim(Verdict.GROUNDED, "the outputs cover so many", covered)
    if any(fact.dimension is Dimension.TIME for fact in asked.binding.numbers):
        return None
    return asked.claim(Verdict.UNCERTAIN, "how long a time the outputs cover, nothing in them tells")


def _of_all_or_some(asked: Asked) -> Claim | None:
    """How many of something there are in all, or how many of them are meant."""
    if _PART.match(asked.binding.answer.text, asked.quantity.end) and _could_be_a_part(asked):
        return asked.claim(Verdict.UNCERTAIN, "how many of them, nothing in the outputs tells")
    of_all = OF_ALL.search(asked.before) or counts_what_is_averaged(asked)
    listed = list_of(asked) if of_all else None
    return None if listed is None else asked.claim(Verdict.GROUNDED, "the outputs list so many", listed)


def _told_in_another_unit(asked: Asked) -> Claim | None:
    retold = _retold(asked)
    if retold is None:
        return None
    return asked.claim(Verdict.GROUNDED, "the answer says the same in another unit", retold)


def _open_or_wrong(asked: Asked) -> Claim:
    """Wrong where something tells what it was made of; else open."""
    further = None if says_a_fact(asked) else further_value(asked)
    if further is not None:
        told = f"no output gives {asked.quantity.text}, but {further.text}"
        return asked.claim(Verdict.UNCERTAIN, f"{told}: whether that is meant, nothing tells")
    found = misstated(asked)
    if found is not None:
        return asked.claim(found.verdict, found.reason, found.evidence)
    reason = f"no output gives {asked.quantity.text}, and whether it is reckoned of them is open"
    return asked.claim(Verdict.UNCERTAIN, reason)


def _retold(asked: Asked) -> ClaimEvidence | None:
    """What the sentence has said of it in another unit: "120 seconds (2 minutes)"."""
    mine = asked.quantity
    for other in asked.binding.answer.stated:
        told = other.what
        if not isinstance(told, Quantity) or told.unit is None or mine.unit is None or told.unit == mine.unit:
            continue
        value = told.value * told.unit.factor / mine.unit.factor
        if mine.dimension is Dimension.TEMPERATURE:
            value = temperature(told.value, told.unit.name, mine.unit.name)
        alike = told.dimension is mine.dimension and other.sentence == asked.stated.sentence
        if alike and told.start in asked.binding.bound and fits(mine, value, coarse=asked.coarse):
            return evidence_of(asked.binding.bound[told.start][0], f"{told.text} = {mine.text}")
    return None


def _gathered_over(asked: Asked) -> ClaimEvidence | None:
    """The value whose key says that it was gathered over such a time: `error_rate_30d`."""
    assert asked.quantity.unit is not None
    seconds = asked.quantity.value * asked.quantity.unit.factor
    for fact in asked.binding.numbers:
        for number, unit in pairwise(fact.key):
            if number.isdigit() and unit in _LASTS and int(number) * _LASTS[unit] == seconds:
                return evidence_of(fact)
    return None


def _covers(asked: Asked) -> ClaimEvidence | None:
    """The table with so many rows or columns of numbers: "over the three months"."""
    years = sorted(int(word) for word in asked.binding.vocabulary if len(word) == 4 and word.isdigit())
    in_years = asked.quantity.unit is not None and asked.quantity.unit.factor == BY_NAME["years"].factor
    if in_years and len(years) > 1 and asked.quantity.value == years[-1] - years[0]:
        return ClaimEvidence(0, f"{years[0]} to {years[-1]}", f"{years[-1]} - {years[0]}")
    for records in asked.binding.facts.records:
        columns = sum(column[0].number is not None for column in records.columns.values() if column)
        if asked.quantity.value in (records.rows, columns):
            return ClaimEvidence(
                records.output, records.label or "the table", f"{asked.quantity.value:g} of them"
            )
    return None


def list_of(asked: Asked) -> ClaimEvidence | None:
    """The list with so many entries, where the words speak of all of them."""
    for records in asked.binding.facts.records:
        if asked.quantity.unit is None and asked.quantity.value == records.rows:
            return ClaimEvidence(records.output, records.label or "the list", f"entries = {records.rows}")
    return None


def _could_be_a_part(asked: Asked) -> bool:
    """Whether some list has more entries than are told: "two of the three flights"."""
    rows = max((records.rows for records in asked.binding.facts.records), default=0)
    return asked.quantity.unit is None and asked.quantity.value.is_integer() and asked.quantity.value <= rows


def says_a_fact(asked: Asked) -> bool:
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


def _given_by_task(asked: Asked) -> Claim | None:
    for quantity in asked.binding.task_quantities:
        if same_value(asked, quantity):
            subject = subject_of(asked) if _SAID.search(asked.before) else None
            if subject is not None and not asked.coarse and coverage(subject, asked.words) == 1.0:
                return None  # the words name a fact of the outputs, and its value is another
            return asked.claim(Verdict.GROUNDED, "the task gives it", ClaimEvidence(None, quantity.text))
    return None
