"""Rivals: values that the words name instead of the one a number was found to be.

In: an `Asked` and the fact of its value. Out: the facts of another value that the words name, none where the
name stands there for something else: for another number, for a whole of which this is a part, or farther off
than the own row.
"""

from __future__ import annotations

import re

from spanproof.evaluators.layers.groundedness.language.answer import Stated
from spanproof.evaluators.layers.groundedness.language.quantities import Quantity
from spanproof.evaluators.layers.groundedness.language.units import Dimension
from spanproof.evaluators.layers.groundedness.language.words import content_words, words_of
from spanproof.evaluators.layers.groundedness.outputs.facts import Fact
from spanproof.evaluators.layers.groundedness.rules.asked import Asked
from spanproof.evaluators.layers.groundedness.rules.matching import binds, comparable
from spanproof.evaluators.layers.groundedness.rules.naming import named_instead, noun_told, told_instead
from spanproof.evaluators.layers.groundedness.rules.nearness import (
    is_a_row_name,
    is_an_argument,
    is_of_what_is_told,
    is_told_in_words,
    own_row_is_nearer,
)

_NAME = re.compile(r"\b[A-ZÀ-Þ][\w'’-]+")
_INDEX = ("index",)
"""How a table's own row names are headed: "25%" there is a name."""


def rivals_of(asked: Asked, fact: Fact) -> list[Fact]:
    """Facts that the words name instead of this one, and whose value is another."""
    if not fact.words or asked.quantity.text in fact.scope:
        return []
    if is_an_argument(asked) or is_a_row_name(asked, fact):
        return []
    found = [
        rival
        for rival in asked.binding.numbers
        if rival is not fact
        and rival.key != _INDEX
        and (fact.unit is None or rival.unit is not None or asked.quantity.unit is None)
        and not (rival.dimension is Dimension.FRACTION and fact.dimension is asked.quantity.dimension is None)
        and _is_named_instead(asked, rival, fact)
        and comparable(asked.quantity, rival)
        and binds(asked.quantity, rival, coarse=asked.coarse) is None
    ]
    found = [rival for rival in found if not _is_void(asked, rival, fact)]
    return found or _bearing_the_noun(asked, fact)


def _is_void(asked: Asked, rival: Fact, fact: Fact) -> bool:
    """Whether the rival's name stands there for another number, or farther off than the fact's own row."""
    return (
        _is_a_part_of(asked, fact, rival)
        or _told_beside(asked, rival, fact)
        or is_told_in_words(asked, rival)
        or is_of_what_is_told(asked, fact, rival)
        or own_row_is_nearer(asked, fact, rival)
    )


def _is_a_part_of(asked: Asked, fact: Fact, rival: Fact) -> bool:
    """Whether the value counts what became of some of the rival's: 2 `cancelled` of 14 `departures`."""
    became = fact.label.rpartition(".")[2].endswith("ed") and not rival.label.endswith("ed")
    alike = fact.scope == rival.scope and fact.row == rival.row and fact.unit is rival.unit is None
    became = became and asked.quantity.unit is None
    return became and alike and not fact.weak and 0 < (fact.number or 0.0) < (rival.number or 0.0)


def _bearing_the_noun(asked: Asked, fact: Fact) -> list[Fact]:
    """The one value beside this one that is called what stands right behind the number: "six replicas"."""
    behind = asked.stated.noun[1:2] if asked.stated.noun[:1] == ("to",) else asked.stated.noun[:1]
    noun = next(iter(content_words(behind)), "")
    if (
        not noun
        or asked.quantity.scaled
        or noun in fact.key
        or (fact.weak and noun_told(fact)[:1] in ((), (noun,)))
    ):
        return []
    called = [
        other
        for other in asked.binding.numbers
        if other.weak == fact.weak
        and (
            noun_told(other)[:1] == (noun,) and other.line == fact.line if fact.weak else other.key == (noun,)
        )
    ]
    if (
        len(called) != 1
        or called[0] is fact
        or binds(asked.quantity, called[0], coarse=asked.coarse) is not None
    ):
        return []
    if _is_a_label(called[0], noun, asked) or _is_a_part_of(asked, fact, called[0]):
        return []
    return called if comparable(asked.quantity, called[0]) and called[0].scope == fact.scope else []


def _is_a_label(fact: Fact, noun: str, asked: Asked) -> bool:
    """Whether the answer calls something by the value: "ticket 5521"."""
    text = asked.binding.answer.text
    return any(
        words_of(text[max(0, each.what.start - 20) : each.what.start])[-1:] == [noun]
        for each in asked.binding.answer.stated
        if isinstance(each.what, Quantity) and binds(each.what, fact) is not None
    )


def _is_named_instead(asked: Asked, rival: Fact, fact: Fact) -> bool:
    if not fact.weak:
        if rival.records == fact.records and asked.binding.is_matrix(fact.records):
            said = frozenset(asked.binding.answer.sentences[asked.stated.sentence].words)
            return rival.words <= said and len(rival.words) > 1 and not fact.words <= said
        return not rival.weak and named_instead(rival, fact, asked.words)
    if rival.weak:
        alike = rival.dimension is fact.dimension and not asked.binding.is_another(asked.stated)
        counted = _is_counted(asked, fact), _is_counted(asked, rival)
        if counted == (True, False) and not _is_a_name(asked, rival, fact):
            return False
        if alike and counted == (False, True) and _is_counted_instead(asked, rival, fact):
            return True
        if fact.clause <= rival.clause and not fact.clause.isdisjoint(asked.stated.noun):
            return False  # its clause lies within the other's: only what is counted can name it, and does
        words = asked.words - set(asked.stated.noun[:1]) if _is_a_name(asked, rival, fact) else asked.words
        return alike and told_instead(rival, fact, words)
    return _bears_noun(asked, rival, fact)


def _is_counted(asked: Asked, fact: Fact) -> bool:
    """Whether the noun behind the number is the one behind the fact's."""
    noun = asked.stated.noun[:1]
    return asked.quantity.unit is None and bool(content_words(noun)) and noun[0] in noun_told(fact)


def _is_counted_instead(asked: Asked, rival: Fact, fact: Fact) -> bool:
    """Whether what is counted stands behind the rival in the output, and another noun behind this one."""
    told_alike = rival.line == fact.line and noun_told(rival)[:1] == asked.stated.noun[:1]
    return told_alike and bool(noun_told(fact)) and (fact.clause - rival.clause).isdisjoint(asked.words)


def _told_beside(asked: Asked, rival: Fact, fact: Fact) -> bool:
    """Whether another number of the same segment is the rival's: then its name stands there for that one."""
    place = (asked.stated.sentence, asked.stated.segment)
    return any(
        isinstance(other.what, Quantity) and binds(other.what, rival) is not None
        for other in asked.binding.answer.stated
        if other is not asked.stated
        and (other.sentence, other.segment) == place
        and not _rounds_to_a_whole(other.what, rival)
        and not _counts_the_other(other, rival, fact)
    )


def _counts_the_other(other: Stated, rival: Fact, fact: Fact) -> bool:
    """Whether what the other number counts is this fact's noun, and not the rival's: the two are swapped."""
    noun = set(content_words(other.noun[:2]))
    ours, theirs = (set(noun_told(each) if each.weak else each.key) for each in (fact, rival))
    return bool(noun & ours) and not noun & theirs


def _rounds_to_a_whole(what: object, fact: Fact) -> bool:
    """Whether a bare whole number would round the fact away: the 1 of "class 1" tells no recall of 0.62."""
    whole = isinstance(what, Quantity) and what.unit is None and not what.decimals and not what.scaled
    return whole and not (fact.number or 0.0).is_integer()


def _is_a_name(asked: Asked, rival: Fact, fact: Fact) -> bool:
    """Whether what sets the rival apart, and the words say, is a name: then the noun behind tells nothing."""
    said = (rival.clause - fact.clause) & asked.words
    return bool(said) and not said.isdisjoint(words_of(" ".join(_NAME.findall(rival.text))))


def _bears_noun(asked: Asked, rival: Fact, fact: Fact) -> bool:
    """Whether what is counted is the rival's name, and nothing near the value found in prose."""
    nouns = set(content_words(asked.stated.noun[:2]))
    return bool(nouns & set(rival.key)) and nouns.isdisjoint(fact.key)
