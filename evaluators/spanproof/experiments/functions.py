"""`evaluate`: a function on rows, scored by functions, in this process.

from spanproof.experiments import evaluate

def is_right(output, expected):
    return output == expected

evaluate([{"input": "2 + 2", "expected": 4}], task=calculate, scorers=[is_right], trials=3)

Nothing is traced, replayed or judged by a layer: `run` does that for agents and suites. A task that raises
has failed, and scores 0. A scorer that raises has errored: that counts as neither, and is listed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from math import fsum
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from spanproof.evaluators.intervals import Interval, compute_clustered_interval
from spanproof.evaluators.plain_functions import (
    FunctionScore,
    describe_missing_argument,
    get_scorer_name,
    run_scorer,
    run_with_row,
)
from spanproof.experiments.errors import ExperimentError, check_count
from spanproof.experiments.statistics import PairedDifference, compare_pairs
from spanproof.suites import Case, SuiteError, iter_dataset, load_suite
from spanproof.suites.requirements import AnswerRequirement
from spanproof.trace.html_tables import format_html_table

if TYPE_CHECKING:
    import pandas as pd

Row: TypeAlias = Mapping[str, Any]
# Conditions of a case's answer that name a value.
_EXPECTED_KEYS: Final = ("equals", "number", "contains")

_EXPECTED_FORM: Final = "rows: a list of dicts, a suite's folder, a dataset's file, cases, a data frame"


@dataclass(frozen=True, slots=True)
class RowTrial:
    """One call of the task.

    Attributes:
        row: the number of the row, from 0.
        number: of the trial of this row, from 1.
        error: what the task raised, empty where it did not.
        scores: by the name of the scorer.
    """

    row: int
    number: int
    output: Any
    error: str = ""
    scores: Mapping[str, FunctionScore] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ScoreSummary:
    """One scorer over all rows.

    Attributes:
        mean: of all values; None where there is none.
        interval: 95 %, by row: trials of one row depend on each other. None of values beyond 0 to 1.
        scored, errored: how many outputs have a value, and on how many the scorer raised.
    """

    mean: float | None
    interval: Interval | None
    scored: int
    errored: int


@dataclass(frozen=True)
class FunctionEvaluation:
    """The trials of a task on all rows, with their scores."""

    rows: tuple[Row, ...]
    trials: tuple[RowTrial, ...]
    scorers: tuple[str, ...]

    @property
    def scores(self) -> dict[str, ScoreSummary]:
        """Each scorer over all rows."""
        return {name: self._compute_summary(name) for name in self.scorers}

    def compute_row_means(self, scorer: str) -> dict[int, float]:
        """Return the mean of a scorer's values by the number of the row; rows without a value have none."""
        values = self._group_values(scorer)
        return {row: fsum(found) / len(found) for row, found in values.items() if found}

    def compare(self, before: FunctionEvaluation) -> dict[str, PairedDifference]:
        """Compare each scorer with an earlier evaluation of the same rows, by a test over rows.

        Raises:
            ExperimentError: the rows are others.
        """
        if len(self.rows) != len(before.rows):
            raise ExperimentError(
                f"an evaluation of {len(self.rows)} rows cannot be compared with one of {len(before.rows)}"
            )
        found = {}
        for name in self.scorers:
            now, then = self.compute_row_means(name), before.compute_row_means(name)
            both = sorted(now.keys() & then.keys())
            if both and all(0 <= mean <= 1 for means in (now, then) for mean in means.values()):
                found[name] = compare_pairs([then[row] for row in both], [now[row] for row in both])
        return found

    def to_pandas(self) -> pd.DataFrame:
        """Return a table with a row per trial."""
        import pandas as pd

        return pd.DataFrame(
            {
                "row": trial.row,
                "trial": trial.number,
                "output": trial.output,
                "error": trial.error,
                **{name: trial.scores[name].value for name in self.scorers},
            }
            for trial in self.trials
        )

    def _repr_html_(self) -> str:
        rows = [
            (
                name,
                "–" if score.mean is None else f"{score.mean:.3f}",
                score.interval or "–",
                score.scored,
                score.errored,
            )
            for name, score in self.scores.items()
        ]
        caption = f"{len(self.rows)} rows, {len(self.trials)} trials"
        return format_html_table(caption, ("scorer", "mean", "", "scored", "errored"), rows)

    def _group_values(self, scorer: str) -> dict[int, list[float]]:
        values: dict[int, list[float]] = {number: [] for number in range(len(self.rows))}
        for trial in self.trials:
            value = trial.scores[scorer].value
            if value is not None:
                values[trial.row].append(value)
        return values

    def _compute_summary(self, scorer: str) -> ScoreSummary:
        by_row = self._group_values(scorer)
        values = [value for found in by_row.values() for value in found]
        is_share = all(0 <= value <= 1 for value in values)
        parts = [(fsum(found), len(found)) for found in by_row.values()]
        return ScoreSummary(
            fsum(values) / len(values) if values else None,
            compute_clustered_interval(parts) if is_share else None,
            len(values),
            sum(bool(trial.scores[scorer].error) for trial in self.trials),
        )


def evaluate(
    data: Any,
    task: Callable[..., Any],
    scorers: Sequence[Callable[..., Any]],
    trials: int = 1,
    *,
    jobs: int = 4,
) -> FunctionEvaluation:
    """Run a task on every row, and score what it returns.

    Args:
        data: dicts, other values, `Case`s, or anything that yields them; a data frame; the folder of a
            suite, or the file of a dataset (JSON, JSON lines, CSV). A value that is no dict is the row's
            `input`.
        task: a function, sync or async. Parameters that are keys of the row are filled from it; one that is
            not gets the row's `input`, or the whole row where it has none.
        scorers: functions as `evaluator` describes them.
        trials: calls of the task for each row.
        jobs: rows at once, in threads.

    Raises:
        ExperimentError: an argument is none of these; says what was expected.
    """
    rows = _read_rows(data)
    named = _build_scorers(scorers)
    if not callable(task):
        raise ExperimentError(f"task must be a function of a row, got {type(task).__name__}")
    check_count("trials", trials)
    check_count("jobs", jobs)
    _check_arguments("task", task, rows, {})
    for name, scorer in named.items():
        _check_arguments(f"scorer {name}", scorer, rows, {"output": None, "row": None})

    def try_row(row: int, number: int) -> RowTrial:
        try:
            output = run_with_row(task, rows[row], {})
        except Exception as problem:  # noqa: BLE001 - whatever the task raises is its failure
            error = f"{type(problem).__name__}: {problem}"
            failed = dict.fromkeys(named, FunctionScore(0.0, f"the task raised {error}"))
            return RowTrial(row, number, None, error, failed)
        arguments = {"output": output, "row": rows[row]}
        return RowTrial(
            row,
            number,
            output,
            "",
            {name: run_scorer(scorer, rows[row], arguments) for name, scorer in named.items()},
        )

    wanted = [(row, number) for row in range(len(rows)) for number in range(1, trials + 1)]
    with ThreadPoolExecutor(jobs) as pool:
        found = tuple(pool.map(lambda task: try_row(*task), wanted))
    return FunctionEvaluation(rows, found, tuple(named))


def _read_rows(data: Any) -> tuple[Row, ...]:
    if hasattr(data, "to_dict") and hasattr(data, "columns"):
        data = data.to_dict("records")
    if isinstance(data, str | Path):
        data = _load_cases(Path(data))
    if isinstance(data, bytes | Mapping) or not isinstance(data, Iterable):
        raise ExperimentError(f"data must be {_EXPECTED_FORM}; got {type(data).__name__}")
    rows = tuple(_read_row(row) for row in data)
    if not rows:
        raise ExperimentError("data holds no rows")
    return rows


def _load_cases(path: Path) -> Sequence[Case]:
    """Return the cases of a suite's folder or a dataset's file."""
    if not path.exists():
        raise ExperimentError(f"data must be {_EXPECTED_FORM}; there is no folder or file {str(path)!r:.60}")
    try:
        return list(load_suite(path) if path.is_dir() else iter_dataset(path))
    except (SuiteError, OSError) as problem:
        raise ExperimentError(f"data cannot be read: {problem}") from problem


def _read_row(row: Any) -> Row:
    if isinstance(row, Case):
        expected = _get_expected_answer(row)
        return MappingProxyType({"id": row.id, "input": row.task, "expected": expected, **row.inputs})
    if isinstance(row, Mapping):
        return MappingProxyType(dict(row))
    return MappingProxyType({"input": row})


def _get_expected_answer(case: Case) -> Any:
    """Return what the first requirement of an answer compares with; None where the case states none."""
    for requirement in case.requirements:
        if (
            not isinstance(requirement, AnswerRequirement)
            or requirement.negated
            or not isinstance(requirement.entry, dict)
        ):
            continue
        condition = requirement.entry["answer"]
        if isinstance(condition, dict) and (key := next((k for k in _EXPECTED_KEYS if k in condition), None)):
            return condition[key]
    return None


def _check_arguments(
    name: str, function: Callable[..., Any], rows: Sequence[Row], more: Mapping[str, Any]
) -> None:
    """Refuse a function that no row can be given to: a mistake in the call is no failure of the task."""
    missing = [describe_missing_argument(function, row, more) for row in rows]
    if all(missing):
        keys = ", ".join((*rows[0], *more))
        raise ExperimentError(f"{name} cannot be called with {keys}: {missing[0]}")


def _build_scorers(scorers: Any) -> dict[str, Callable[..., Any]]:
    if not isinstance(scorers, Sequence) or not scorers or not all(map(callable, scorers)):
        raise ExperimentError(
            f"scorers must be a list of functions, got {scorers!r:.60}: write scorers=[is_right]"
        )
    named: dict[str, Callable[..., Any]] = {}
    for scorer in scorers:
        name = get_scorer_name(scorer)
        if name in named:
            raise ExperimentError(f"two scorers are called {name!r}: name one by @evaluator(name=…)")
        named[name] = scorer
    return named
