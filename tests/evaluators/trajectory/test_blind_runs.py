"""Runs that were labelled before anything was run on them, held to what is reached today."""

from __future__ import annotations

from pathlib import Path

import pytest
from golden_yaml import load_golden

from spanproof.cli.commands.score import evaluate_trajectory
from spanproof.sandbox.scanners.pipeline import Pipeline

GOLDEN = Path(__file__).parents[2] / "golden" / "trajectory"
FIELDS = {
    "recovered": "recovered",
    "loop": "loop",
    "wasted": "steps_wasted",
    "failures": "execution_failures",
}


@pytest.mark.parametrize(
    ("name", "runs", "open_to"),
    [
        ("first", 61, set()),
        ("second", 31, {("recovered", "an empty file is written and counted")}),
        ("third", 20, set()),
        ("fourth", 61, set()),
        (
            "fifth",
            20,
            {("recovered", "only the first rows are read after the failure, and given as the total")},
        ),
    ],
)
def test_the_blind_runs_are_judged_as_they_were_labelled(name, runs, open_to):
    pipeline = Pipeline()
    labelled = load_golden(GOLDEN / f"blind-{name}.yaml")
    assert len(labelled) == runs
    wrong = set()
    for run in labelled:
        row = {"id": 1, "task": run["task"], "steps": run["steps"], "final_answer": run["answer"]}
        found = evaluate_trajectory(row, pipeline)
        wrong |= {(field, run["about"]) for field, key in FIELDS.items() if found[key] != run[field]}
    assert wrong == open_to
