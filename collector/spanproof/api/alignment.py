"""Two runs step by step: which step of one belongs beside which of the other.

Steps are paired in order, so that the code of the pairs is as alike as it can be (a global alignment after
Needleman and Wunsch over the words of the code and the names of the called tools).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from spanproof.trace import Snippet, Step

_WORD: Final = re.compile(r"\w+|[^\w\s]")
# Steps less alike than this are one removed and one added, not one that was changed.
_ALIKE: Final = 0.3
# Steps that are aligned; those behind are paired by their number.
_MOST: Final = 300


class StepChange(StrEnum):
    """How a step differs from the one beside it."""

    SAME = "same"
    OUTPUT = "output"
    CODE = "code"
    REMOVED = "removed"
    ADDED = "added"


@dataclass(frozen=True, slots=True)
class StepPair:
    """A step of each run, by number; None where the other run has none like it."""

    before: int | None
    after: int | None
    change: StepChange


def list_step_pairs(before: Sequence[Step], after: Sequence[Step]) -> list[StepPair]:
    """Return the steps of two runs in pairs, in order."""
    old, new = before[:_MOST], after[:_MOST]
    pairs = [
        _build_step_pair(old[i] if i is not None else None, new[j] if j is not None else None)
        for i, j in _list_pairs(old, new)
    ]
    rest_old, rest_new = before[_MOST:], after[_MOST:]
    for position in range(max(len(rest_old), len(rest_new))):
        left = rest_old[position] if position < len(rest_old) else None
        right = rest_new[position] if position < len(rest_new) else None
        pairs.append(_build_step_pair(left, right))
    return pairs


def _list_pairs(old: Sequence[Step], new: Sequence[Step]) -> list[tuple[int | None, int | None]]:
    words_old, words_new = [_count_words(step) for step in old], [_count_words(step) for step in new]
    alike = [[_compute_similarity(a, b) for b in words_new] for a in words_old]
    best = _compute_best(alike, len(old), len(new))
    found: list[tuple[int | None, int | None]] = []
    i = j = 0
    while i < len(old) and j < len(new):
        if alike[i][j] >= _ALIKE and best[i][j] == alike[i][j] + best[i + 1][j + 1]:
            found.append((i, j))
            i, j = i + 1, j + 1
        elif best[i][j] == best[i + 1][j]:
            found.append((i, None))
            i += 1
        else:
            found.append((None, j))
            j += 1
    found += [(position, None) for position in range(i, len(old))]
    found += [(None, position) for position in range(j, len(new))]
    return found


def _compute_best(alike: Sequence[Sequence[float]], old: int, new: int) -> list[list[float]]:
    """Return the greatest sum of similarities of pairs, for what follows each step of both runs."""
    best = [[0.0] * (new + 1) for _ in range(old + 1)]
    for i in range(old - 1, -1, -1):
        for j in range(new - 1, -1, -1):
            paired = alike[i][j] + best[i + 1][j + 1] if alike[i][j] >= _ALIKE else 0.0
            best[i][j] = max(paired, best[i + 1][j], best[i][j + 1])
    return best


def _count_words(step: Step) -> Counter[str]:
    code = " ".join(snippet.source for snippet in step.snippets)
    return Counter([*_WORD.findall(code[:20_000]), *(call.tool for call in step.calls), step.kind])


def _compute_similarity(one: Counter[str], other: Counter[str]) -> float:
    """Return the Dice coefficient of two bags of words."""
    return 2 * (one & other).total() / (one.total() + other.total())


def _build_step_pair(before: Step | None, after: Step | None) -> StepPair:
    if before is None or after is None:
        change = StepChange.ADDED if before is None else StepChange.REMOVED
    elif _list_code(before) != _list_code(after):
        change = StepChange.CODE
    elif _list_outputs(before) == _list_outputs(after):
        change = StepChange.SAME
    else:
        change = StepChange.OUTPUT
    return StepPair(before.number if before else None, after.number if after else None, change)


def _list_code(step: Step) -> list[object]:
    calls = [(call.tool, call.args, dict(call.kwargs)) for call in step.calls]
    return [
        [(snippet.language, snippet.source, snippet.executed) for snippet in step.snippets],
        calls if not step.snippets else [],
    ]


def _get_output(snippet: Snippet) -> object:
    """Return what a snippet printed, gave and raised; what the model was shown where that is all there is."""
    if snippet.logs is None and snippet.output is None:
        return snippet.observation
    value = snippet.output.text if snippet.output else None
    return (snippet.logs, value, snippet.error.message if snippet.error else None)


def _list_outputs(step: Step) -> list[object]:
    printed = [_get_output(snippet) for snippet in step.snippets]
    results = [(call.tool, call.result.text if call.result else None) for call in step.calls]
    return [printed, results]
