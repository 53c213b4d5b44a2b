"""`evaluate`: a function on rows, scored by functions, in this process.

from spanproof.experiments import evaluate

def is_right(output, expected):
    return output == expected

evaluate([{"input": "2 + 2", "expected": 4}], task=calculate, scorers=[is_right], trials=3)

Nothing is traced, replayed or judged by a layer: `run` does that for agents and suites. A task that raises
has failed, and scores 0. A scorer that raises has errored: that counts as neither, and is listed.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from math import fsum, isfinite
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeVar

from spanproof.evaluators.intervals import Interval, compute_clustered_interval
from spanproof.experiments.errors import ExperimentError
from spanproof.experiments.html_tables import format_html_table
from spanproof.experiments.statistics import PairedDifference, compare_pairs
from spanproof.suites import Case
from spanproof.trace import Scored

if TYPE_CHECKING:
    import pandas as pd

Row: TypeAlias = Mapping[str, Any]
Scorer = TypeVar("Scorer", bound=Callable[..., Any])

# Where `evaluator` keeps the name that it gives to a function.
_NAME: Final = "__spanproof_name__"


@dataclass(frozen=True, slots=True)
class FunctionScore:
    """What a scorer gave to one output.

    Attributes:
        value: the number; None where the scorer gave none or raised.
        error: what it raised, empty where it did not.
    """

    value: float | None
    explanation: str = ""
    error: str = ""


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
        return {name: self._summarise(name) for name in self.scorers}

    def compute_row_means(self, scorer: str) -> dict[int, float]:
        """Return the mean of a scorer's values by the number of the row; rows without a value have none."""
        values = self._collect_values(scorer)
        return {row: fsum(found) / len(found) for row, found in values.items() if found}

    def compare(self, before: FunctionEvaluation) -> dict[str, PairedDifference]:
        """Return each scorer beside an earlier evaluation of the same rows, with a test over rows.

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
                "–" if each.mean is None else f"{each.mean:.3f}",
                each.interval or "–",
                each.scored,
                each.errored,
            )
            for name, each in self.scores.items()
        ]
        caption = f"{len(self.rows)} rows, {len(self.trials)} trials"
        return format_html_table(caption, ("scorer", "mean", "", "scored", "errored"), rows)

    def _collect_values(self, scorer: str) -> dict[int, list[float]]:
        values: dict[int, list[float]] = {number: [] for number in range(len(self.rows))}
        for trial in self.trials:
            value = trial.scores[scorer].value
            if value is not None:
                values[trial.row].append(value)
        return values

    def _summarise(self, scorer: str) -> ScoreSummary:
        by_row = self._collect_values(scorer)
        values = [value for found in by_row.values() for value in found]
        is_share = all(0 <= value <= 1 for value in values)
        parts = [(fsum(found), len(found)) for found in by_row.values()]
        return ScoreSummary(
            fsum(values) / len(values) if values else None,
            compute_clustered_interval(parts) if is_share else None,
            len(values),
            sum(bool(trial.scores[scorer].error) for trial in self.trials),
        )


def evaluator(function: Scorer | None = None, *, name: str = "") -> Any:
    """Mark a function as a scorer, under a name of its own: `@evaluator` or `@evaluator(name="right")`.

    The function stays as it is. What it takes by name: `input`, `output`, `expected`, `row`, and any key of
    the row. It returns a bool, a number, `{"score": …, "explanation": …}`, a `Scored`, or None for no score;
    it may be async.
    """
    if function is None:
        return partial(evaluator, name=name)
    setattr(function, _NAME, name or function.__name__)
    return function


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
        data: dicts, other values, `Case`s, or anything that yields them: a list, a suite, a dataset; a
            data frame. A value that is no dict is the row's `input`.
        task: a function, sync or async. Parameters that are keys of the row are filled from it; one that is
            not gets the row's `input`, or the whole row where it has none.
        scorers: functions as `evaluator` describes them.
        trials: calls of the task for each row.
        jobs: rows at once, in threads.

    Raises:
        ExperimentError: an argument is none of these; says what was expected.
    """
    rows = _read_rows(data)
    named = _name_scorers(scorers)
    if not callable(task):
        raise ExperimentError(f"task must be a function of a row, got {type(task).__name__}")
    if isinstance(trials, bool) or not isinstance(trials, int) or trials < 1:
        raise ExperimentError(f"trials must be a number from 1, got {trials!r}")

    def try_row(row: int, number: int) -> RowTrial:
        try:
            output = _call(task, rows[row], {})
        except Exception as problem:  # noqa: BLE001 - whatever the task raises is its failure
            error = f"{type(problem).__name__}: {problem}"
            failed = dict.fromkeys(named, FunctionScore(0.0, f"the task raised {error}"))
            return RowTrial(row, number, None, error, failed)
        given = {"output": output, "row": rows[row]}
        return RowTrial(
            row,
            number,
            output,
            "",
            {name: _run_scorer(each, rows[row], given) for name, each in named.items()},
        )

    wanted = [(row, number) for row in range(len(rows)) for number in range(1, trials + 1)]
    with ThreadPoolExecutor(jobs) as pool:
        found = tuple(pool.map(lambda each: try_row(*each), wanted))
    return FunctionEvaluation(rows, found, tuple(named))


def _read_rows(data: Any) -> tuple[Row, ...]:
    if hasattr(data, "to_dict") and hasattr(data, "columns"):
        data = data.to_dict("records")
    if isinstance(data, str | bytes | Mapping) or not isinstance(data, Iterable):
        raise ExperimentError(
            "data must be rows (a list of dicts, a suite, a dataset, a data frame),"
            f" got {type(data).__name__}"
        )
    rows = tuple(_read_row(each) for each in data)
    if not rows:
        raise ExperimentError("data holds no rows")
    return rows


def _read_row(row: Any) -> Row:
    if isinstance(row, Case):
        return MappingProxyType({"id": row.id, "input": row.task, **row.inputs})
    if isinstance(row, Mapping):
        return MappingProxyType(dict(row))
    return MappingProxyType({"input": row})


def _name_scorers(scorers: Any) -> dict[str, Callable[..., Any]]:
    if not isinstance(scorers, Sequence) or not scorers or not all(map(callable, scorers)):
        raise ExperimentError(
            f"scorers must be a list of functions, got {scorers!r:.60}: write scorers=[is_right]"
        )
    named: dict[str, Callable[..., Any]] = {}
    for each in scorers:
        name = str(getattr(each, _NAME, "") or getattr(each, "__name__", type(each).__name__))
        if name in named:
            raise ExperimentError(f"two scorers are called {name!r}: name one by @evaluator(name=…)")
        named[name] = each
    return named


def _call(function: Callable[..., Any], row: Row, more: Mapping[str, Any]) -> Any:
    """Return what a function returns for a row; a coroutine is run to its end."""
    known = {**row, **more}
    parameters = inspect.signature(function).parameters.values()
    given: dict[str, Any] = {}
    positional: list[Any] = []
    for each in parameters:
        if each.kind is each.VAR_KEYWORD:
            given.update({key: value for key, value in known.items() if key not in given})
        elif each.kind is each.VAR_POSITIONAL:
            continue
        elif each.kind is not each.POSITIONAL_ONLY and each.name in known:
            given[each.name] = known[each.name]
        elif each.default is each.empty and not more and not positional and not given:
            positional.append(row.get("input", row))
        elif each.default is each.empty and each.name == "expected":
            given["expected"] = None
    result = function(*positional, **given)
    return asyncio.run(_finish(result)) if inspect.isawaitable(result) else result


async def _finish(result: Any) -> Any:
    return await result


def _run_scorer(scorer: Callable[..., Any], row: Row, given: Mapping[str, Any]) -> FunctionScore:
    try:
        return _read_score(_call(scorer, row, given))
    except Exception as problem:  # noqa: BLE001 - a scorer of the user's may raise anything
        return FunctionScore(None, error=f"{type(problem).__name__}: {problem}")


def _read_score(returned: Any) -> FunctionScore:
    explanation = ""
    if isinstance(returned, Mapping):
        explanation, returned = str(returned.get("explanation") or ""), returned.get("score")
    elif isinstance(returned, Scored):
        explanation, returned = returned.explanation, returned.value
    if returned is None:
        return FunctionScore(None, explanation)
    if not isinstance(returned, int | float) or not isfinite(returned):
        raise TypeError(
            f"a scorer returns a bool, a number, a dict with score, or None; got {returned!r:.60}"
        )
    return FunctionScore(float(returned), explanation)
