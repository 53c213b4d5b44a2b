"""Counts of the rows that answer to a condition: "four columns have more than 100", "two are overdue".

In: an `Asked` that may be such a count. Out: its claim, where the outputs are one whole list and the sentence
says by which column and value its rows are counted; None everywhere else. What is counted must be the rows:
"of them" of all of them, or a noun by which the list or its rows go.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from spanproof.evaluators.layers.groundedness.language.quantity import Quantity
from spanproof.evaluators.layers.groundedness.language.words import canonical_set, content_words, words_of
from spanproof.evaluators.layers.groundedness.model import Claim, ClaimEvidence, Verdict
from spanproof.evaluators.layers.groundedness.outputs.facts import Fact, Records
from spanproof.evaluators.layers.groundedness.rules.asked import ABOUT, OVER, UNDER, Asked, in_unit
from spanproof.evaluators.layers.groundedness.rules.matching import comparable
from spanproof.evaluators.layers.groundedness.rules.polar import NEGATED

_OF_THEM = re.compile(r"\s+of\s+(?:them|these|those|which)\b|\s+of\s+the(?:\s+\w+){1,2}", re.IGNORECASE)
_OF_ALL = re.compile(r"\b(?:of|all|the|these|those|other|another)\s+$", re.IGNORECASE)
"""What stands before the number of all, of which a part is counted: "two of the three students"."""
_THAN = re.compile(
    r"\b(?:(?P<over>(?:more|greater|higher|larger|longer)\s+than|over|above|exceed(?:s|ing)?)"
    r"|(?P<under>(?:fewer|less|lower|smaller|shorter)\s+than|under|below)"
    r"|(?P<least>at\s+least)|(?P<most>at\s+most))\s+(?:the\s+)?$",
    re.IGNORECASE,
)
_HALF_DAY = re.compile(r"\bin\s+the\s+(?P<half>morning|afternoon)\b", re.IGNORECASE)
_NOON, _EVENING = 12 * 3600, 18 * 3600
_PART = re.compile(r"\.{3}|…|\[\d+ rows x|\b(?:truncated|page|next|limit|showing|more)\b", re.IGNORECASE)
"""What tells that an output shows a part of a list only."""
_ROWS = canonical_set("item row record entry column field feature variable one listed result")
_LEAST_ROWS, _MOST_ROWS = 2, 500
_MOST_VALUES = 12
_TRUE, _FALSE = frozenset(("yes", "true", "y")), frozenset(("no", "false", "n"))
_Holds = Callable[[Fact], bool]


def tally_claim(asked: Asked) -> Claim | None:
    """The claim of a number of rows that answer to the condition behind it."""
    quantity = asked.quantity
    if quantity.unit is not None or not quantity.value.is_integer() or quantity.decimals:
        return None
    if any(told.search(asked.before) for told in (_OF_ALL, ABOUT, OVER, UNDER)):
        return None
    table = _whole_list(asked)
    if table is None or not _are_its_rows(asked, table):
        return None
    found = _compared(asked, table) or _in_half_a_day(asked, table) or _of_a_value(asked, table)
    if found is None:
        return None
    column, holds, told = found
    number = sum(map(holds, column))
    right = number == quantity.value
    evidence = ClaimEvidence(table.output, table.label or "the list", f"rows {told} = {number}")
    reason = "the outputs count to it" if right else f"the outputs hold {number} (rows {told})"
    return asked.claim(Verdict.GROUNDED if right else Verdict.CONTRADICTED, reason, evidence)


def _whole_list(asked: Asked) -> Records | None:
    """The only list of the outputs, where they show all of it."""
    records = [each for each in asked.binding.facts.records if each.columns]
    if len(records) != 1 or not _LEAST_ROWS <= _length(records[0]) <= _MOST_ROWS:
        return None
    return None if _PART.search(asked.binding.facts.texts[records[0].output]) else records[0]


def _length(records: Records) -> int:
    return records.rows if records.rows >= 0 else max(map(len, records.columns.values()))


def _are_its_rows(asked: Asked, table: Records) -> bool:
    """Whether the number counts rows, and "of them" speaks of all of them."""
    text = asked.binding.answer.text
    if _OF_THEM.match(text, asked.quantity.end) is not None:
        return all(other.value == _length(table) for other in _counted_before(asked))
    if _HALF_DAY.match(text, asked.quantity.end + 1):
        return True  # "three in the morning": what they are has been said
    noun = set(content_words(asked.stated.noun[:2]))
    if table.rows >= 0:
        names = {word for name, column in table.columns.items() if _names(column) for word in words_of(name)}
        return not noun.isdisjoint(names.union(table.words, _ROWS - {"column", "field"}))
    return not noun.isdisjoint(_ROWS)


def _names(column: list[Fact]) -> bool:
    """Whether the values of a column are all different names."""
    strings = {fact.string for fact in column if fact.string and fact.number is None}
    return len(strings) == len(column)


def _counted_before(asked: Asked) -> list[Quantity]:
    """The whole numbers told shortly before, of which "them" may speak."""
    here = asked.stated.sentence
    return [
        other.what
        for other in asked.binding.answer.stated
        if here - 1 <= other.sentence <= here
        and isinstance(other.what, Quantity)
        and other.what.start < asked.quantity.start
        and other.what.unit is None
    ]


def _behind(asked: Asked) -> tuple[int, int]:
    """Where the condition stands: up to the next number that counts, or the end of the clause."""
    sentence = asked.binding.answer.sentences[asked.stated.sentence]
    _, end = sentence.clause_at(asked.quantity.start)
    stop = re.compile(r"[,;(]|:\s|\band\b").search(asked.binding.answer.text, asked.quantity.end, end)
    return asked.quantity.end, stop.start() if stop else end


def _compared(asked: Asked, table: Records) -> tuple[list[Fact], _Holds, str] | None:
    """Rows with more or less than a number told behind."""
    start, end = _behind(asked)
    text = asked.binding.answer.text
    for other in asked.binding.answer.stated:
        bound = other.what
        if not isinstance(bound, Quantity) or not start <= bound.start < end:
            continue
        sign = _THAN.search(text[start : bound.start])
        if sign is None:
            continue
        columns = [
            column
            for column in table.columns.values()
            if all(fact.number is not None and fact.day is None for fact in column)
            and comparable(bound, column[0])
        ]
        said = set(words_of(text[start:end]))
        named = [column for column in columns if not said.isdisjoint(column[0].key)] or columns
        if len(named) != 1:
            return None
        asked.binding.measures.add(bound.start)
        return named[0], _on_that_side(sign, bound), f"{sign.group().strip()} {bound.text}"
    return None


def _on_that_side(sign: re.Match[str], bound: Quantity) -> _Holds:
    def holds(fact: Fact) -> bool:
        value = in_unit(bound, fact)
        if value == bound.value:
            return sign["least"] is not None or sign["most"] is not None
        return (value > bound.value) == bool(sign["over"] or sign["least"])

    return holds


def _in_half_a_day(asked: Asked, table: Records) -> tuple[list[Fact], _Holds, str] | None:
    """Rows before or after noon."""
    match = _HALF_DAY.search(asked.binding.answer.text, *_behind(asked))
    timed = [column for column in table.columns.values() if all(fact.clock is not None for fact in column)]
    if match is None or len(timed) != 1:
        return None
    first, last = (0, _NOON) if match["half"].lower() == "morning" else (_NOON, _EVENING)
    return timed[0], lambda fact: first <= (fact.clock or 0) < last, match.group()


def _of_a_value(asked: Asked, table: Records) -> tuple[list[Fact], _Holds, str] | None:
    """Rows with the one state, or the one flag, that the words behind name."""
    text = asked.binding.answer.text
    start, end = _behind(asked)
    if NEGATED.search(text, start, end):
        return None
    said = set(content_words(words_of(text[start:end])))
    found: list[tuple[list[Fact], _Holds, str]] = []
    for column in table.columns.values():
        own = set(column[0].key)
        values = {_value(fact) for fact in column}
        if values <= _TRUE | _FALSE:
            if own and own <= said:
                found.append((column, lambda fact: _value(fact) in _TRUE, text[start:end].strip()))
        elif len(values) < min(len(column), _MOST_VALUES) and "" not in values:
            named = [value for value in values if (words := set(words_of(value))) and words <= said]
            found += [(column, _is_value(value), value) for value in named]
    return found[0] if len(found) == 1 else None


def _is_value(value: str) -> _Holds:
    return lambda fact: _value(fact) == value


def _value(fact: Fact) -> str:
    if fact.flag is not None:
        return "true" if fact.flag else "false"
    return (fact.string or "").lower()
