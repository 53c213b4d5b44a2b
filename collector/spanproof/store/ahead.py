"""What a walk through time measures, read with few queries and kept within a bound.

A walk needs a window at each of its steps. `AheadMeasures` answers a question that it does not expect with
nothing, and notes it; `update_plan` makes it one that the next turn of the walk expects. An expected
question is read together with those of its kind that follow in time, with one query. Answers that were read
longest ago are dropped once there are too many, and read again where another turn needs them.

The scores of groups and why they failed do not change where a walk goes. Its last turn is the one after the
turn that missed nothing else.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from spanproof.store.filters import Filter
from spanproof.store.measures import Amount, Groups, Measures, Share, Values
from spanproof.store.values import CauseCount, FailRate, FailsWhen
from spanproof.store.windows import Windows
from spanproof.trace import Layer, Score

# A parameter has at most 128 kB on a server by default: a time has 20 bytes, a group with its names some 100.
_MOST_WINDOWS: Final = 2_048
_MOST_GROUPS: Final = 1_000

# The groups of a kind are not known before the first query for them, and may become more.
_FIRST_GROUPED_WINDOWS: Final = 64
_MOST_GROUPED_WINDOWS: Final = 512
_ROWS_OF_QUERY: Final = _FIRST_GROUPED_WINDOWS * _MOST_GROUPS

# A counted row takes some 250 bytes, a score with its evidence some 5 kB: about 250 MB at most.
_MOST_ROWS: Final = 1_000_000
_ROWS_OF_SCORE: Final = 20

_Answer = Mapping[Values, Any]


@dataclass(frozen=True, slots=True)
class _Kind:
    """What questions have in common that one query answers: all but where the window begins, and the groups.

    Attributes:
        measure: the method of `Measures`.
        looks_into: whether the method takes groups in place of dimensions.
        arguments, options: that follow, by place and by name.
    """

    measure: Callable[..., _Answer]
    layer: Layer | None
    name: str | None
    cohort: tuple[tuple[str, str], ...]
    length_ns: int
    by: tuple[str, ...]
    looks_into: bool
    arguments: tuple[Any, ...]
    options: tuple[tuple[str, Any], ...]


@dataclass(frozen=True, slots=True)
class _Question:
    """One question of a kind: where its window begins, and the groups that it looks into."""

    start_ns: int
    groups: tuple[Values, ...] = ()


@dataclass(frozen=True, slots=True)
class _Batch:
    """The questions that one query answered, and how much of their answers is kept."""

    kind: _Kind
    questions: Sequence[_Question]
    rows: int


class AheadMeasures(Measures):
    """Measures of a store that are read ahead, many windows at once.

    Args:
        measures: of the store.
    """

    def __init__(self, measures: Measures) -> None:
        self._measures = measures
        self._answers: dict[_Kind, dict[_Question, _Answer]] = {}
        self._batches: deque[_Batch] = deque()
        self._rows = 0
        self._groups: dict[_Kind, int] = {}
        self._missing: dict[_Kind, set[_Question]] = {}
        self._planned: dict[_Kind, list[_Question]] = {}
        self._is_last_turn = False

    @property
    def is_last_turn(self) -> bool:
        """Whether the next turn has every answer."""
        return self._is_last_turn

    def update_plan(self) -> None:
        """Expect in the next turn what was missing in this one."""
        missing, self._missing = self._missing, {}
        counts = {kind: questions for kind, questions in missing.items() if not kind.looks_into}
        self._is_last_turn = not counts
        # Without all counts a walk looks into the wrong groups.
        for kind, questions in (counts or missing).items():
            self._planned[kind] = sorted(questions.union(self._planned.get(kind, ())), key=_get_start_ns)

    def _find_answer(self, kind: _Kind, question: _Question) -> _Answer | None:
        """Return an answer, read with those of the expected questions that follow; None of an unexpected one.

        Raises:
            StoreError: it cannot be read.
        """
        kept = self._answers.setdefault(kind, {})
        if question in kept:
            return kept[question]
        planned = self._planned.get(kind, [])
        later = planned[bisect_left(planned, question.start_ns, key=_get_start_ns) :]
        if question not in later and not self._is_last_turn:
            return None
        others = (one for one in later if one not in kept and one != question)
        some = _select_batch([question, *others], self._count_most_windows(kind))
        found = self._fetch_answers(kind, some)
        kept.update(found)
        self._groups[kind] = max(map(len, found.values()))
        self._add_batch(_Batch(kind, some, _count_rows(kind, found)))
        return found[question]

    def _count_most_windows(self, kind: _Kind) -> int:
        """Return how many windows one query of a kind may read."""
        if kind.looks_into or not kind.by:
            return _MOST_WINDOWS
        groups = self._groups.get(kind)
        if groups is None:
            return _FIRST_GROUPED_WINDOWS
        return min(_ROWS_OF_QUERY // max(groups, 1), _MOST_GROUPED_WINDOWS)

    def _add_batch(self, batch: _Batch) -> None:
        """Keep the answers of a batch, and drop the oldest ones where they are too many."""
        self._batches.append(batch)
        self._rows += batch.rows
        while self._rows > _MOST_ROWS and len(self._batches) > 1:
            oldest = self._batches.popleft()
            self._rows -= oldest.rows
            for question in oldest.questions:
                del self._answers[oldest.kind][question]

    def _fetch_answers(self, kind: _Kind, questions: Sequence[_Question]) -> dict[_Question, _Answer]:
        """Return the answer to each question of a kind, from one query."""
        windows = Windows(sorted({question.start_ns for question in questions}), kind.length_ns)
        numbers = {start_ns: str(number) for number, start_ns in enumerate(windows.starts_ns)}
        chosen = Filter(kind.layer, kind.name, dict(kind.cohort), None, windows.start_ns, windows.end_ns)
        grouping: Groups | tuple[str, ...] = kind.by
        if kind.looks_into:
            wanted = (
                (numbers[question.start_ns], *values) for question in questions for values in question.groups
            )
            grouping = Groups(kind.by, sorted(set(wanted)))
        of_all = kind.measure(
            self._measures.with_windows(windows), chosen, grouping, *kind.arguments, **dict(kind.options)
        )
        by_number: dict[str, dict[Values, Any]] = {}
        for (number, *values), answer in of_all.items():
            by_number.setdefault(number, {})[tuple(values)] = answer
        found: dict[_Question, _Answer] = {}
        for question in questions:
            answers = by_number.get(numbers[question.start_ns], {})
            if kind.looks_into:
                answers = {values: answers[values] for values in question.groups if values in answers}
            found[question] = answers
        return found

    def _get_answer(
        self,
        measure: Callable[..., _Answer],
        chosen: Filter,
        grouping: Groups | Sequence[str],
        *arguments: Any,
        **options: Any,
    ) -> dict[Values, Any]:
        """Return an answer, or nothing and note a question that is not expected."""
        assert chosen.start_ns is not None, "a rule reads windows"
        assert chosen.end_ns is not None, "a rule reads windows"
        looks_into = isinstance(grouping, Groups)
        by, groups = (grouping.by, grouping.values) if isinstance(grouping, Groups) else (grouping, ())
        kind = _Kind(
            measure,
            chosen.layer,
            chosen.name,
            tuple(chosen.cohort.items()),
            chosen.end_ns - chosen.start_ns,
            tuple(by),
            looks_into,
            arguments,
            tuple(options.items()),
        )
        question = _Question(chosen.start_ns, tuple(groups))
        answer = self._find_answer(kind, question)
        if answer is None:
            self._missing.setdefault(kind, set()).add(question)
        return dict(answer or {})

    def count_verdicts(
        self, chosen: Filter, by: Sequence[str], fails_when: FailsWhen | None
    ) -> dict[Values, FailRate]:
        """Return the verdicts of a score, counted."""
        return self._get_answer(Measures.count_verdicts, chosen, by, fails_when)

    def compute_amounts(
        self, chosen: Filter, by: Sequence[str], aggregate: str, *, raw: bool
    ) -> dict[Values, Amount]:
        """Return a mean or percentile."""
        return self._get_answer(Measures.compute_amounts, chosen, by, aggregate, raw=raw)

    def count_absences(self, chosen: Filter, by: Sequence[str]) -> dict[Values, Share]:
        """Return the runs without a judgement."""
        return self._get_answer(Measures.count_absences, chosen, by)

    def count_streaks(
        self, chosen: Filter, by: Sequence[str], length: int, fails_when: FailsWhen | None, *, errors: bool
    ) -> dict[Values, Share]:
        """Return how many of the newest judgements are bad."""
        return self._get_answer(Measures.count_streaks, chosen, by, length, fails_when, errors=errors)

    def group_releases(self, chosen: Filter, by: Sequence[str]) -> dict[Values, list[str]]:
        """Return the releases of each group."""
        return self._get_answer(Measures.group_releases, chosen, by)

    def count_failures(
        self, chosen: Filter, groups: Groups, fails_when: FailsWhen | None, limit: int
    ) -> dict[Values, list[tuple[str, int]]]:
        """Return the commonest explanations of fails."""
        return self._get_answer(Measures.count_failures, chosen, groups, fails_when, limit)

    def count_errors(self, chosen: Filter, groups: Groups, limit: int) -> dict[Values, list[tuple[str, int]]]:
        """Return the commonest errors of an evaluator."""
        return self._get_answer(Measures.count_errors, chosen, groups, limit)

    def group_errored_scores(self, chosen: Filter, groups: Groups, limit: int) -> dict[Values, list[Score]]:
        """Return the newest scores that errored."""
        return self._get_answer(Measures.group_errored_scores, chosen, groups, limit)

    def group_failing_scores(
        self, chosen: Filter, groups: Groups, fails_when: FailsWhen | None, limit: int
    ) -> dict[Values, list[Score]]:
        """Return the newest scores that fail."""
        return self._get_answer(Measures.group_failing_scores, chosen, groups, fails_when, limit)

    def group_open_scores(self, chosen: Filter, groups: Groups, limit: int) -> dict[Values, list[Score]]:
        """Return the newest scores that are open."""
        return self._get_answer(Measures.group_open_scores, chosen, groups, limit)

    def group_open_causes(self, chosen: Filter, groups: Groups) -> dict[Values, list[CauseCount]]:
        """Return why scores are open."""
        return self._get_answer(Measures.group_open_causes, chosen, groups)

    def group_extreme_scores(
        self, chosen: Filter, groups: Groups, limit: int, *, raw: bool, highest: bool
    ) -> dict[Values, list[Score]]:
        """Return the scores with the highest or the lowest amounts."""
        return self._get_answer(
            Measures.group_extreme_scores, chosen, groups, limit, raw=raw, highest=highest
        )


def _get_start_ns(question: _Question) -> int:
    return question.start_ns


def _select_batch(questions: Iterable[_Question], most_windows: int) -> list[_Question]:
    """Return the first of these questions, so many as one query takes: at least one."""
    batch: list[_Question] = []
    groups = 0
    for question in questions:
        groups += len(question.groups)
        if batch and (len(batch) == most_windows or groups > _MOST_GROUPS):
            break
        batch.append(question)
    return batch


def _count_rows(kind: _Kind, found: Mapping[_Question, _Answer]) -> int:
    """Return how much is kept of answers, in counted rows; an empty answer is one."""
    if not kind.looks_into:
        return sum(max(len(answer), 1) for answer in found.values())
    items = sum(len(listed) for answer in found.values() for listed in answer.values())
    return items * _ROWS_OF_SCORE + len(found)
