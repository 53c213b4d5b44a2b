"""Values of a broader query, or of one for something else, that an answer gives as those of the narrow one.

In: the queries and calls of a run with their outcomes and results, its task and its answer. Out: an `Origin`
per number that only a query without the task's condition gave, or a call for something else than the task
names, after the one with it had failed or found nothing. An answer that says so states no such thing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from spanproof.evaluators.outcomes.calls import MadeCall
from spanproof.evaluators.outcomes.literals import is_specific
from spanproof.evaluators.outcomes.model import BROUGHT_NOTHING, Account, Origin, OriginKind, State
from spanproof.reading.numerals import gives_number, iter_numbers, list_numbers
from spanproof.reading.sql_queries import list_dropped_values

_SAYS_SO = re.compile(
    r"\b(?:no|not|none|nothing|without|instead|overall|all|any|every|couldn.t|cannot|unable|failed)\b",
    re.IGNORECASE,
)
_SHORTEST = 2
_WORDS = re.compile(r"[^\W_]+(?:[-.][^\W_]+)*|[\W_]")
_MONTH = re.compile(r"(?P<year>\d{4})-(?P<month>\d\d)(?:-\d\d)?\Z")
_MONTHS = tuple("jan feb mar apr may jun jul aug sep oct nov dec".split())  # noqa: SIM905
_LONGEST_ARGUMENT = 80
# Likeness from which a value is another spelling of the same.
_ALIKE = 0.6


@dataclass(frozen=True, slots=True)
class Query:
    """One query that ran."""

    step: int
    span_id: str
    source: str
    state: State
    result: str


def iter_broader_numbers(
    queries: Sequence[Query], task: str, answer: str, others: Sequence[str]
) -> Iterator[Origin]:
    """Yield the numbers of an answer that a broader query gave in place of the one that the task wants.

    Args:
        queries: of one run, in order.
        task: what it was to do.
        answer: what it answered.
        others: texts of its other sources.
    """
    if _SAYS_SO.search(answer):
        return
    for at, narrow in enumerate(queries):
        if narrow.state not in BROUGHT_NOTHING:
            continue
        later = queries[at + 1 :]
        worked = [query for query in later if query.state is State.OK]
        if not all(list_dropped_values(narrow.source, query.source) for query in worked):
            continue  # the condition may have been met another way
        for broad in later:
            dropped = list_dropped_values(narrow.source, broad.source)
            values = [value for value in dropped if _names(task, value)]
            if not values or any(_is_in(value, broad.result) for value in values):
                continue
            elsewhere = [query.result for query in queries if query is not broad] + [task, *others]
            number = _find_own_number(answer, broad.result, elsewhere)
            if number is not None:
                left_out = f"{broad.source[:120]} leaves out {values[0]}"
                yield _build_origin(number, broad, f"more than the task is about ({left_out})")
                return


def iter_swapped_numbers(
    calls: Sequence[MadeCall], account: Account, task: str, answer: str
) -> Iterator[Origin]:
    """Yield the numbers of an answer that a call for something else gave in place of what the task names.

    Args:
        calls: of one run, in order, without those that hand over an answer.
        account: how each of them ended.
        task: what it was to do.
        answer: what it answered.
    """
    if _SAYS_SO.search(answer):
        return
    for at, wanted in enumerate(calls):
        if account.calls[wanted.key].state not in BROUGHT_NOTHING:
            continue
        same = [call for call in calls[at + 1 :] if call.call.tool == wanted.call.tool]
        later = [call for call in same if account.calls[call.key].state is State.OK]
        seen = "\n".join((task, answer, *(call.result for call in calls[: at + 1])))
        for other in later:
            swapped = _find_swapped_argument(wanted, other, task, seen)
            if swapped is None or any(swapped[0] in call.arguments.values() for call in later):
                continue
            elsewhere = [call.result for call in calls if call is not other] + [task]
            number = _find_own_number(answer, other.result, elsewhere)
            if number is not None:
                source = f"{swapped[1]}, where the task is about {swapped[0]}"
                yield _build_origin(number, other, source)
                return


def _build_origin(number: str, cause: Query | MadeCall, source: str) -> Origin:
    return Origin(
        number, OriginKind.BROADER, fabricated=True, step=cause.step, span_id=cause.span_id, source=source
    )


def _find_own_number(answer: str, result: str, elsewhere: Sequence[str]) -> str | None:
    """Return the first number of an answer that only this result gave, as the answer writes it."""
    stated = {number: written for written, number in iter_numbers(answer) if is_specific(float(number))}
    for number, written in stated.items():
        if gives_number(result, number) and not any(number in list_numbers(text) for text in elsewhere):
            return written
    return None


def _find_swapped_argument(wanted: MadeCall, other: MadeCall, task: str, seen: str) -> tuple[str, str] | None:
    """Return the argument that the task names and the one in its place that nothing names, else None.

    Args:
        wanted: the call with what the task names.
        other: a later call of the same tool.
        task: what the run was to do.
        seen: the task, the answer, and what the run had been given up to the first call.
    """
    for name, wanted_value in wanted.arguments.items():
        other_value = other.arguments.get(name)
        if not isinstance(wanted_value, str) or not isinstance(other_value, str):
            continue
        if wanted_value == other_value or max(len(wanted_value), len(other_value)) > _LONGEST_ARGUMENT:
            continue
        value, replacement = _without_common_ends(wanted_value, other_value)
        if not _is_spelling(value, replacement) and _names(task, value) and not _names(seen, replacement):
            return value, replacement
    return None


def _is_spelling(value: str, other: str) -> bool:
    """Whether two arguments may be spellings of one: alike, and with the same digits."""
    if re.findall(r"\d", value) != re.findall(r"\d", other):
        return False
    one, two = value.casefold(), other.casefold()
    return one in two or two in one or SequenceMatcher(None, one, two).ratio() >= _ALIKE


def _without_common_ends(first: str, second: str) -> tuple[str, str]:
    """Return two arguments without the words at their ends that are alike: `F7` and `F2` of two paths."""
    one, other = _WORDS.findall(first), _WORDS.findall(second)
    while one and other and one[0] == other[0]:
        one, other = one[1:], other[1:]
    while one and other and one[-1] == other[-1]:
        one, other = one[:-1], other[:-1]
    if one and other:
        return ("".join(one), "".join(other))
    return (first, second)


def _names(text: str, value: str) -> bool:
    """Whether a text names a value: as it is, or a month by its name."""
    if _is_in(value, text):
        return True
    month = _MONTH.match(value)
    if month is None or not 1 <= int(month["month"]) <= len(_MONTHS) or month["year"] not in text:
        return False
    return re.search(rf"\b{_MONTHS[int(month['month']) - 1]}", text, re.IGNORECASE) is not None


def _is_in(value: str, text: str) -> bool:
    return (
        len(value) >= _SHORTEST and re.search(rf"(?<!\w){re.escape(value)}", text, re.IGNORECASE) is not None
    )
