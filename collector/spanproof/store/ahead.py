"""What a walk through time measures, read with few queries.

A walk needs a window at each of its steps. `AheadMeasures` answers what it has not read yet with nothing,
and notes it; `update_answers` then reads all that was noted, with one query for each kind of question. The
walk is repeated until nothing is missing: its last turn has every answer, and queries nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
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


class AheadMeasures(Measures):
    """Measures of a store that are read ahead, many windows at once.

    Args:
        measures: of the store.
    """

    def __init__(self, measures: Measures) -> None:
        self._measures = measures
        self._answers: dict[_Kind, dict[_Question, _Answer]] = {}
        self._missing: dict[_Kind, set[_Question]] = {}

    @property
    def is_complete(self) -> bool:
        """Whether every question since the last reading had its answer."""
        return not self._missing

    def update_answers(self) -> None:
        """Read the answers that were missing.

        Raises:
            StoreError: they cannot be read.
        """
        missing, self._missing = self._missing, {}
        for kind, questions in missing.items():
            for some in _iter_batches(questions):
                self._answers.setdefault(kind, {}).update(self._fetch_answers(kind, some))

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
        """Return an answer that was read, or nothing and note the question."""
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
        answers = self._answers.get(kind, {})
        if question not in answers:
            self._missing.setdefault(kind, set()).add(question)
        return dict(answers.get(question, {}))

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


def _iter_batches(questions: Iterable[_Question]) -> Iterator[list[_Question]]:
    """Yield questions in order of time, so many together as one query takes."""
    batch: list[_Question] = []
    groups = 0
    for question in sorted(questions, key=lambda question: question.start_ns):
        is_full = len(batch) == _MOST_WINDOWS or groups + len(question.groups) > _MOST_GROUPS
        if batch and is_full:
            yield batch
            batch, groups = [], 0
        batch.append(question)
        groups += len(question.groups)
    yield batch
