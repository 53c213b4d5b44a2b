"""Judges measured on people's labels: precision and recall of each judge on each layer, by week and in all.

In: people's verdicts on layers of runs, and the scores of those runs. Out: for each judge how many of its
fails people fail as well, and how many of people's fails it found, with 95 % Wilson intervals. A judge counts
only on runs that it ruled on.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from spanproof.evaluators.intervals import Interval, compute_wilson_interval
from spanproof.evaluators.judge.sentences import find_ruling, list_judges
from spanproof.evaluators.judge_bounds import JUDGE_PREFIXES, MeasuredFails
from spanproof.trace import Layer, Ruling, Score, State, get_state

_LAYERS: Final = tuple(Layer)


@dataclass(frozen=True, slots=True)
class PersonLabel:
    """A person's verdict on a layer of a run."""

    trace_id: str
    run_span_id: str
    layer: Layer
    passes: bool


@dataclass(frozen=True, slots=True)
class Share:
    """A share with its interval; `value` and `interval` are None where it is of nothing."""

    part: int
    whole: int

    @property
    def value(self) -> float | None:
        """The share itself."""
        return self.part / self.whole if self.whole else None

    @property
    def interval(self) -> Interval | None:
        """Its 95 % Wilson interval."""
        return compute_wilson_interval(self.part, self.whole)


@dataclass(frozen=True, slots=True)
class JudgeMeasurement:
    """One judge on one layer.

    Attributes:
        week: of the runs, as `2026-W48`; empty for all weeks together.
        labels: runs that both a person and the judge gave a verdict on.
        undecided: labelled runs that the judge was queried about and did not decide.
        precision: of the judge's fails, those that people fail.
        recall: of people's fails, those that the judge fails.
    """

    judge: str
    layer: Layer
    week: str
    labels: int
    undecided: int
    precision: Share
    recall: Share

    @property
    def fails(self) -> MeasuredFails:
        """What a bound is about."""
        return MeasuredFails(self.judge, self.layer, self.precision.whole, self.precision.part)


@dataclass(frozen=True, slots=True)
class _Pair:
    """A label beside a ruling."""

    week: str
    passes: bool
    ruling: Ruling


def list_judge_measurements(labels: Iterable[PersonLabel], scores: Iterable[Score]) -> list[JudgeMeasurement]:
    """Return each judge on each layer, all weeks together first, then each week."""
    by_place = {(label.trace_id, label.run_span_id, label.layer): label.passes for label in labels}
    pairs: dict[tuple[str, Layer], list[_Pair]] = {}
    for score in scores:
        passes = by_place.get((score.trace_id, score.run_span_id, score.layer))
        if passes is None or score.name != score.layer.value:
            continue
        for judge, ruling in iter_rulings(score):
            pair = _Pair(_format_week(score.span_time_ns), passes, ruling)
            pairs.setdefault((judge, score.layer), []).append(pair)
    found: list[JudgeMeasurement] = []
    for judge, layer in sorted(pairs, key=lambda pair: (_LAYERS.index(pair[1]), pair[0])):
        own = pairs[judge, layer]
        by_week: dict[str, list[_Pair]] = {"": own}
        for pair in sorted(own, key=lambda pair: pair.week):
            by_week.setdefault(pair.week, []).append(pair)
        found += [_compute_measurement(judge, layer, week, of_week) for week, of_week in by_week.items()]
    return found


def iter_rulings(score: Score) -> Iterator[tuple[str, Ruling]]:
    """Yield each judge that ruled on what a score is about, with what it said."""
    judges = list_judges(score.outcome)
    for judge in sorted(judges):
        ruling = find_ruling(score.outcome, judge)
        assert ruling is not None, "the judge is one of those that ruled"
        yield judge, ruling
    if score.evaluator in judges or not score.evaluator.startswith(JUDGE_PREFIXES):
        return
    state = get_state(score.outcome)
    if state in (State.PASS, State.FAIL, State.OPEN):
        rulings = {State.PASS: Ruling.TRUE, State.FAIL: Ruling.FALSE}
        yield score.evaluator, rulings.get(state, Ruling.UNKNOWN)


def _compute_measurement(judge: str, layer: Layer, week: str, pairs: list[_Pair]) -> JudgeMeasurement:
    decided = [pair for pair in pairs if pair.ruling is not Ruling.UNKNOWN]
    fails = [pair for pair in decided if pair.ruling is Ruling.FALSE]
    wrong = [pair for pair in pairs if not pair.passes]
    right_fails = sum(not pair.passes for pair in fails)
    return JudgeMeasurement(
        judge,
        layer,
        week,
        len(decided),
        len(pairs) - len(decided),
        Share(right_fails, len(fails)),
        Share(right_fails, len(wrong)),
    )


def _format_week(time_ns: int) -> str:
    year, week, _ = datetime.fromtimestamp(time_ns / 1e9, UTC).isocalendar()
    return f"{year}-W{week:02}"
