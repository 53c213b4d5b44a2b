"""`evaluate`: a function on rows of any form, scored by plain functions."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from spanproof.experiments import ExperimentError, evaluate, evaluator
from spanproof.experiments.statistics import Change
from spanproof.suites import Case
from spanproof.trace import Scored

ROWS = [{"input": str(number), "expected": 2 * number} for number in range(8)]


def double(text: str) -> int:
    return 2 * int(text)


def is_right(output: int, expected: int) -> bool:
    return output == expected


@evaluator(name="distance")
async def measure(output: int, expected: int, row: Any) -> dict[str, Any]:
    await asyncio.sleep(0)
    return {"score": abs(output - expected), "explanation": f"row {row['input']}"}


async def double_later(input: str) -> int:
    await asyncio.sleep(0)
    return 2 * int(input)


@pytest.mark.parametrize("build", [list, tuple, iter, pd.DataFrame])
@pytest.mark.parametrize("task", [double, double_later, lambda input: 2 * int(input)])
def test_rows_of_every_form_are_scored(build: Any, task: Any) -> None:
    found = evaluate(build(ROWS), task, [is_right, measure])
    assert {name: each.mean for name, each in found.scores.items()} == {"is_right": 1.0, "distance": 0.0}
    assert found.trials[3].output == 6
    assert found.trials[3].scores["distance"].explanation == "row 3"


def test_values_and_cases_are_rows() -> None:
    found = evaluate(["a", "b"], str.upper, [lambda output: output in "AB"])
    assert [trial.output for trial in found.trials] == ["A", "B"]
    case = Case(id="one", task="Convert.", inputs={"currency": "EUR"})
    found = evaluate([case], lambda input, currency: f"{input} {currency}", [lambda id: id == "one"])
    assert (found.trials[0].output, found.scores["<lambda>"].mean) == ("Convert. EUR", 1.0)


def test_a_suite_and_a_dataset_are_read_by_their_place(tmp_path: Path) -> None:
    dataset = tmp_path / "items.jsonl"
    dataset.write_text('{"input": "3", "expected": 6}\n{"input": "4", "expected": 9}\n')
    case = tmp_path / "suite" / "cases" / "one"
    case.mkdir(parents=True)
    (tmp_path / "suite" / "suite.yaml").write_text("format: 1\nname: suite\n")
    (case / "case.yaml").write_text("format: 1\ntask: '5'\nmust:\n- answer: {number: 10}\n")
    for place, share in [(dataset, 0.5), (str(dataset), 0.5), (tmp_path / "suite", 1.0)]:
        assert evaluate(place, double, [is_right]).scores["is_right"].mean == share


def test_trials_of_one_row_do_not_narrow_the_interval() -> None:
    rows = [{"input": number} for number in range(10)]
    once = evaluate(rows, lambda input: input < 5, [lambda output: output])
    often = evaluate(rows, lambda input: input < 5, [lambda output: output], trials=20)
    assert len(often.trials) == 200
    assert often.scores["<lambda>"].interval == once.scores["<lambda>"].interval


def test_a_task_that_raises_scores_nothing_and_a_scorer_that_raises_is_listed() -> None:
    def score(output: int) -> float:
        return 1 / output

    found = evaluate([{"input": "0"}, {"input": "1"}, {"input": "x"}], double, [score])
    assert [trial.error[:10] for trial in found.trials] == ["", "", "ValueError"]
    summary = found.scores["score"]
    assert (summary.mean, summary.scored, summary.errored) == (0.25, 2, 1)
    assert "ZeroDivisionError" in found.trials[0].scores["score"].error


@pytest.mark.parametrize(
    ("returned", "value"),
    [
        (True, 1.0),
        (0.5, 0.5),
        ({"score": 0.2}, 0.2),
        (Scored(0.3, None, "so"), 0.3),
        (None, None),
        ("1", None),
    ],
)
def test_what_a_scorer_may_return(returned: Any, value: float | None) -> None:
    found = evaluate([1], lambda input: input, [lambda output: returned])
    score = found.trials[0].scores["<lambda>"]
    assert score.value == value
    assert bool(score.error) == (returned == "1")


def test_two_evaluations_are_compared_by_a_test_over_rows() -> None:
    better = evaluate(ROWS, double, [is_right])
    worse = evaluate(ROWS, lambda input: 0, [is_right])
    found = better.compare(worse)["is_right"]
    assert (found.mean, found.change) == (7 / 8, Change.BETTER)
    few = evaluate(ROWS[:3], double, [is_right]).compare(evaluate(ROWS[:3], lambda input: 0, [is_right]))
    assert few["is_right"].change is Change.NONE_SHOWN


def test_tables_are_shown_in_a_notebook() -> None:
    found = evaluate(ROWS, double, [is_right], trials=2)
    assert list(found.to_pandas().columns) == ["row", "trial", "output", "error", "is_right"]
    page = found._repr_html_()
    assert "8 rows, 16 trials" in page
    assert "<td>is_right</td><td>1.000</td>" in page


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("text", double, [is_right]), "data must be rows: .*; there is no folder or file 'text'"),
        ((7, double, [is_right]), "data must be rows: .*; got int"),
        (([], double, [is_right]), "data holds no rows"),
        ((ROWS, "double", [is_right]), "task must be a function of a row, got str"),
        ((ROWS, double, is_right), "scorers must be a list of functions"),
        ((ROWS, double, []), "scorers must be a list of functions"),
        ((ROWS, double, [is_right, is_right]), "two scorers are called 'is_right'"),
        ((ROWS, double, [is_right], 0), "trials must be a number from 1, got 0"),
    ],
)
def test_a_wrong_argument_is_named(arguments: Any, message: str) -> None:
    with pytest.raises(ExperimentError, match=message):
        evaluate(*arguments)


@pytest.mark.parametrize(
    ("task", "scorer", "sentence"),
    [
        (lambda x, y: x, is_right, "task cannot be called with input, expected: missing a required argument"),
        (double, lambda output, weather: 1, "scorer <lambda> cannot be called with input, expected, output"),
    ],
)
def test_a_function_that_wants_what_no_row_has_is_refused(task: Any, scorer: Any, sentence: str) -> None:
    with pytest.raises(ExperimentError, match=sentence):
        evaluate(ROWS, task, [scorer])


def test_scalars_of_numpy_are_scores_and_types_are_tasks() -> None:
    found = evaluate(["1", "2"], int, [evaluator(lambda output: np.isclose(output, 1), name="one")])
    assert found.compute_row_means("one") == {0: 1.0, 1: 0.0}
