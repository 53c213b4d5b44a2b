"""Values of a broader query that an answer gives as the narrow one's.

In: the queries of a run with their outcomes and results, its task and its answer. Out: an `Origin` per number
that only a query without the task's condition gave, after the one with it had failed or found nothing. An
answer that says so states no such thing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from spanproof.evaluators.outcomes.known import numbers_in, rounds_to
from spanproof.evaluators.outcomes.literals import is_specific
from spanproof.evaluators.outcomes.model import FAILING, Origin, OriginKind, State
from spanproof.evaluators.outcomes.queries import dropped

_SAYS_SO = re.compile(
    r"\b(?:no|not|none|nothing|without|instead|overall|all|any|every|couldn.t|cannot|unable|failed)\b",
    re.IGNORECASE,
)
_SHORTEST = 2


@dataclass(frozen=True, slots=True)
class Query:
    """One query that ran."""

    step: int
    span_id: str
    source: str
    state: State
    result: str


def given_as_narrow(
    queries: Sequence[Query], task: str, answer: str, others: Sequence[str]
) -> Iterator[Origin]:
    """The numbers of an answer that a broader query gave in place of the one that the task wants.

    Args:
        queries: of one run, in order.
        task: what it was to do.
        answer: what it answered.
        others: texts of its other sources.
    """
    if _SAYS_SO.search(answer):
        return
    stated = [number for number in sorted(numbers_in(answer)) if is_specific(float(number))]
    for at, narrow in enumerate(queries):
        if narrow.state not in {State.EMPTY, *FAILING}:
            continue
        later = queries[at + 1 :]
        if any(each.state is State.OK and not dropped(narrow.source, each.source) for each in later):
            continue  # the condition may have been met another way
        for broad in later:
            values = [value for value in dropped(narrow.source, broad.source) if _is_in(value, task)]
            if not values or any(_is_in(value, broad.result) for value in values):
                continue
            for number in stated:
                gave = any(rounds_to(each, number) for each in numbers_in(broad.result))
                elsewhere = [each.result for each in queries if each is not broad] + [task, *others]
                if gave and not any(number in numbers_in(text) for text in elsewhere):
                    source = f"{broad.source[:120]} leaves out {values[0]}"
                    yield Origin(
                        number,
                        OriginKind.BROADER,
                        fabricated=True,
                        step=broad.step,
                        span_id=broad.span_id,
                        source=source,
                    )
                    return


def _is_in(value: str, text: str) -> bool:
    return (
        len(value) >= _SHORTEST and re.search(rf"(?<!\w){re.escape(value)}", text, re.IGNORECASE) is not None
    )
