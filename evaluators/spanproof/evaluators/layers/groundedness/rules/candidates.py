"""Which facts a stated quantity may be bound to, and what speaks against each.

A fact of the right value is no candidate where the words name another fact instead, where they ask for a
total or an extreme and it is merely one value of several, or where a later output says otherwise.
"""

from __future__ import annotations

import re
from dataclasses import replace

from spanproof.evaluators.layers.groundedness.language.units import Dimension
from spanproof.evaluators.layers.groundedness.language.words import STOP_WORDS, canonical_set
from spanproof.evaluators.layers.groundedness.outputs.facts import Fact
from spanproof.evaluators.layers.groundedness.rules.asked import Asked
from spanproof.evaluators.layers.groundedness.rules.derive.cues import SPENDING
from spanproof.evaluators.layers.groundedness.rules.matching import binds
from spanproof.evaluators.layers.groundedness.rules.superlatives import column_of, extreme_asked, is_extreme
from spanproof.evaluators.layers.groundedness.rules.told_periods import is_for_another

_MAX_MATCHES = 40
"""Facts of the right value that are looked at, the best named first."""

_LOWERING = canonical_set(
    "lose lost loss decline declined decrease decreased drop dropped fell fall fallen deficit down"
    " below negative minus"
    " lower less fewer reduced reduction short shortfall debt owe owed under overdrawn shrank shrunk"
)

_LOST = canonical_set("loss")
_MEASURES = canonical_set("degree degrees point points star stars mark marks pixel pixels ° below above out")
"""Nouns behind a number that measure and do not count, so that it may round."""

_ISO = re.compile(r"\d{4}-\d\d-\d\d")

_MEDIANS = frozenset(("p50", "0.50", "0.5", "50%", "50"))

_AGGREGATES = canonical_set("total mean median max min")


def matches_of(asked: Asked) -> list[tuple[Fact, str]]:
    """Facts of the quantity's value with how they give it, the best named first where there are many."""
    found: list[tuple[Fact, str]] = []
    for fact in asked.binding.numbers:
        how = binds(asked.quantity, fact, coarse=asked.coarse)
        if (
            how is not None
            and not asked.coarse
            and _counts(asked)
            and not (fact.number or 0.0).is_integer()
            and not _names(asked, fact)
        ):
            continue  # "32 lamps" is no rounding of a price of 31.5
        if how is not None and _only_numbers_its_row(asked, fact):
            continue
        if how is None and fact.number and (fact.number < 0) != (asked.quantity.value < 0):
            how = _with_sign_in_words(asked, fact)
        if how is not None and not is_for_another(asked, fact):
            found.append((fact, how))
    if len(found) > _MAX_MATCHES:
        found.sort(key=lambda pair: -len(pair[0].words & asked.words))
    return found[:_MAX_MATCHES]


def _only_numbers_its_row(asked: Asked, fact: Fact) -> bool:
    """Whether "four runs" meets the 4 that a column `run` numbers a row with: a name, and no count."""
    noun = asked.stated.noun[:1]
    if not noun or fact.records < 0 or noun[0] not in fact.key:
        return False
    return noun[0] in asked.binding.facts.records[fact.records].numbering()


def _counts(asked: Asked) -> bool:
    quantity = asked.quantity
    bare = quantity.unit is None and not quantity.decimals and not quantity.scaled
    noun = asked.stated.noun
    return bare and bool(noun) and noun[0] not in _MEASURES and noun[0] not in STOP_WORDS


def _names(asked: Asked, fact: Fact) -> bool:
    return not asked.words.isdisjoint(fact.key)


def _with_sign_in_words(asked: Asked, fact: Fact) -> str | None:
    """A negative fact told as a "loss of 500", or a negative change of what the key calls a decrease."""
    assert fact.number is not None
    lowering = asked.words if asked.quantity.value > 0 else frozenset(fact.key)
    if fact.dimension is not Dimension.MONEY and asked.quantity.value < 0:
        lowering -= _LOST  # a model's loss is a measure, and no less of one
    spent = lowering
    if asked.quantity.dimension is not Dimension.MONEY:
        spent = lowering - set(fact.key) if fact.money and abs(fact.number) > 1 else frozenset()
    outflow = fact.number < 0 and not spent.isdisjoint(SPENDING)
    if lowering.isdisjoint(_LOWERING) and not outflow:
        return None
    flipped = replace(asked.quantity, value=-asked.quantity.value)
    how = binds(flipped, fact, coarse=asked.coarse)
    return None if how is None else how or "the sign is told in words"


def aggregate_asked(asked: Asked, fact: Fact) -> bool:
    """Whether the words ask for a total, mean or extreme of the column, and this is merely one value."""
    wanted = _AGGREGATES & asked.words
    if "median" in wanted and not fact.words.isdisjoint(_MEDIANS):
        return False
    column = column_of(fact, asked.binding) if wanted and not wanted & fact.words else []
    if len(column) < 2 or any(not _AGGREGATES.isdisjoint(each.key) for each in column):
        return False
    common = frozenset.intersection(*(each.words for each in column))
    if not asked.words.isdisjoint(fact.words - common):
        return False  # one row is named: "total sales in Leeds"
    extreme = extreme_asked(wanted)
    if wanted <= {"max", "min"}:
        return extreme != 0 and not is_extreme(fact, column, extreme)
    return "max" not in wanted and "min" not in wanted


def of_another_day(asked: Asked, fact: Fact) -> bool:
    """Whether a value found in prose is dated there, and the answer dates it otherwise."""
    said = asked.binding.day_spoken_of(asked.stated)
    dated = {word for word in fact.clause if _ISO.fullmatch(word)} if fact.weak and said else set()
    return bool(dated) and dated.isdisjoint(said)
