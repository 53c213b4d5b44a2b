"""The benchmark of blamed steps: what rules name, and a judge beside them, against a real endpoint."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import pytest

BENCH = Path(__file__).parents[2] / "bench" / "trajectory.py"
HISTORY = [
    {"name": "planner", "content": "Count the rows of sales.csv."},
    {"name": "coder", "content": "```python\nprint(len(rows))\n```"},
    {"name": "terminal", "content": "exitcode: 1 (execution failed)\nNameError: name 'rows' is not defined"},
    {"name": "coder", "content": "There are 12 rows."},
]
LOG = {"log": {"history": HISTORY, "mistake_step": "1"}}


@pytest.fixture(scope="module")
def bench():
    spec = importlib.util.spec_from_file_location("bench_trajectory", BENCH)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_rules_blame_the_code_that_failed_and_that_nothing_mended(bench):
    found = bench.measure_mistakes([LOG], None)["ways"]
    assert found["first_mistake"] == {"named": 1, "exact": 1.0, "within_one": 1.0}
    assert found["naive: always the first step"]["exact"] == 0.0
    assert found["naive: random"]["exact"] == 0.25


def test_a_judge_is_called_step_by_step_until_it_calls_one_a_mistake(bench, endpoint):
    endpoint.answers = [
        json.dumps({"reasoning": "so it reads", "quotes": [], "score": score}) for score in (1, 1, 0)
    ]
    judge = bench.judge_for("gpt-4.1-mini-2025-04-14")
    found = bench.measure_mistakes([LOG], judge)["ways"]["judge, step by step"]
    assert found == {"named": 1, "exact": 0.0, "within_one": 1.0}
    assert len(endpoint.requests) == 3


def test_a_recorded_judge_blames_the_same_step_without_being_called_again(bench, endpoint, tmp_path):
    endpoint.answers = [
        json.dumps({"reasoning": "so it reads", "quotes": [], "score": score}) for score in (1, 0)
    ]
    way = "judge, step by step"
    called = bench.measure_mistakes([LOG], bench.judge_for("gpt-4.1-mini-2025-04-14", tmp_path))["ways"][way]
    endpoint.answers = [500]
    again = bench.measure_mistakes([LOG], bench.judge_for("gpt-4.1-mini-2025-04-14", tmp_path))["ways"][way]
    assert called == again == {"named": 1, "exact": 1.0, "within_one": 1.0}
    assert len(endpoint.requests) == 2


def test_a_judge_that_cannot_be_called_is_reported_and_none_is_called_for_by_default(bench, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    assert bench.judge_for("") is None
    with pytest.raises(SystemExit, match="OPENAI_API_KEY"):
        bench.judge_for("gpt-4.1-mini-2025-04-14")


def test_auc_is_the_chance_that_the_better_run_has_the_higher_value(bench):
    assert bench.auc([0.1, 0.5, 0.9], [False, True, True]) == 1.0
    assert bench.auc([0.5, 0.5], [False, True]) == 0.5
