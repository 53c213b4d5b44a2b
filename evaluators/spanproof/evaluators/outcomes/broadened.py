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
from spanproof.evaluators.outcomes.model import NOT_DONE, Account, Origin, OriginKind, State
from spanproof.reading.numerals import find_numbers, iter_numbers, rounds_to
from spanproof.reading.sql_queries import find_dropped_values

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


def find_broader_numbers(
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
    stated = _select_specific_numbers(answer)
    for at, narrow in enumerate(queries):
        if narrow.state not in {State.EMPTY, *NOT_DONE}:
            continue
        later = queries[at + 1 :]
        if any(
            each.state is State.OK and not find_dropped_values(narrow.source, each.source) for each in later
        ):
            continue  # the condition may have been met another way
        for broad in later:
            values = [
                value for value in find_dropped_values(narrow.source, broad.source) if _names(task, value)
            ]
            if not values or any(_is_in(value, broad.result) for value in values):
                continue
            for number, written in stated.items():
                gave = any(rounds_to(each, number) for each in find_numbers(broad.result))
                elsewhere = [each.result for each in queries if each is not broad] + [task, *others]
                if gave and not any(number in find_numbers(text) for text in elsewhere):
                    left_out = f"{broad.source[:120]} leaves out {values[0]}"
                    source = f"more than the task is about ({left_out})"
                    yield Origin(
                        written,
                        OriginKind.BROADER,
                        fabricated=True,
                        step=broad.step,
                        span_id=broad.span_id,
                        source=source,
                    )
                    return


def find_swapped_numbers(
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
    stated = _select_specific_numbers(answer)
    states = [account.calls[call.step, call.position].state for call in calls]
    for at, wanted in enumerate(calls):
        if states[at] not in {State.EMPTY, *NOT_DONE}:
            continue
        rest = zip(calls[at + 1 :], states[at + 1 :], strict=True)
        later = [call for call, state in rest if call.call.tool == wanted.call.tool and state is State.OK]
        known = "\n".join((task, answer, *(call.result for call in calls[: at + 1])))
        for other in later:
            swapped = _find_swapped_argument(wanted, other, task, known)
            if swapped is None or any(swapped[0] in call.arguments.values() for call in later):
                continue
            elsewhere = [call.result for call in calls if call is not other] + [task]
            for number, written in stated.items():
                gave = any(rounds_to(each, number) for each in find_numbers(other.result))
                if gave and not any(number in find_numbers(text) for text in elsewhere):
                    source = f"{swapped[1]}, where the task is about {swapped[0]}"
                    kind = OriginKind.BROADER
                    yield Origin(
                        written, kind, fabricated=True, step=other.step, span_id=other.span_id, source=source
                    )
                    return


def _select_specific_numbers(answer: str) -> dict[str, str]:
    """Return the numbers of an answer that say something, as written there, by their plain form."""
    return {number: written for written, number in iter_numbers(answer) if is_specific(float(number))}


def _find_swapped_argument(
    wanted: MadeCall, other: MadeCall, task: str, known: str
) -> tuple[str, str] | None:
    """Return the argument that the task names and the one in its place that nothing names, else None."""
    given_texts = {name: item for name, item in other.arguments.items() if isinstance(item, str)}
    for name, value in wanted.arguments.items():
        given = given_texts.get(name)
        if (
            not isinstance(value, str)
            or given is None
            or given == value
            or max(len(value), len(given)) > _LONGEST_ARGUMENT
        ):
            continue
        value, given = _strip_common_ends(value, given)
        inner = value.casefold() in given.casefold() or given.casefold() in value.casefold()
        alike = SequenceMatcher(None, value.casefold(), given.casefold()).ratio() >= _ALIKE
        is_other = re.findall(r"\d", value) != re.findall(r"\d", given) or not (inner or alike)
        if is_other and _names(task, value) and not _names(known, given):
            return value, given
    return None


def _strip_common_ends(value: str, given: str) -> tuple[str, str]:
    """Return two arguments without the words at their ends that are alike: `F7` and `F2` of two paths."""
    one, other = _WORDS.findall(value), _WORDS.findall(given)
    while one and other and one[0] == other[0]:
        one, other = one[1:], other[1:]
    while one and other and one[-1] == other[-1]:
        one, other = one[:-1], other[:-1]
    return ("".join(one), "".join(other)) if one and other else (value, given)


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
