"""Which facts a stated quantity may be bound to, and what speaks against each.

A fact of the right value is no candidate where the words name another fact instead, where they ask for a
total or an extreme and it is merely one value of several, or where a later output says otherwise.
"""

from __future__ import annotations

import re
from dataclasses import replace

from spanproof.evaluators.layers.groundedness.language.answer import Stated
from spanproof.evaluators.layers.groundedness.language.quantities import Quantity
from spanproof.evaluators.layers.groundedness.language.units import Dimension
from spanproof.evaluators.layers.groundedness.language.words import (
    STOP_WORDS,
    canonical_set,
    content_words,
    words_of,
)
from spanproof.evaluators.layers.groundedness.model import Claim, Verdict
from spanproof.evaluators.layers.groundedness.outputs.facts import Fact
from spanproof.evaluators.layers.groundedness.outputs.order import before_after, is_later, is_now
from spanproof.evaluators.layers.groundedness.rules.asked import (
    Asked,
)
from spanproof.evaluators.layers.groundedness.rules.binding import evidence_of
from spanproof.evaluators.layers.groundedness.rules.derive import Derived
from spanproof.evaluators.layers.groundedness.rules.derive.cues import SPENDING
from spanproof.evaluators.layers.groundedness.rules.matching import binds, comparable
from spanproof.evaluators.layers.groundedness.rules.naming import (
    named_instead,
    noun_told,
    told_instead,
)
from spanproof.evaluators.layers.groundedness.rules.nearness import (
    is_a_row_name,
    is_an_argument,
    is_of_what_is_told,
    is_told_in_words,
    own_row_is_nearer,
)
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

_NAME = re.compile(r"\b[A-ZÀ-Þ][\w'’-]+")
_ISO = re.compile(r"\d{4}-\d\d-\d\d")
_INDEX = ("index",)
"""How a table's own row names are headed: "25%" there is a name."""

_MEDIANS = frozenset(("p50", "0.50", "0.5", "50%", "50"))

_AGGREGATES = canonical_set("total mean median max min")

_BEFORE = re.compile(r"\b(?:before|previously|earlier|initially|originally|at first|until)\b", re.IGNORECASE)
_NOW = re.compile(r"\bnow\b", re.IGNORECASE)
_PAST = re.compile(
    r"\b(?:was|were|had|from|previously|before|initially|originally|earlier|at first|used to|started)\b",
    re.IGNORECASE,
)


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
