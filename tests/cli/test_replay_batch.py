"""`spanproof replay --jsonl` by its documented interface: golden lines."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

GOLDEN = Path(__file__).parents[1] / "golden" / "replay" / "batch.jsonl"
LINES = [json.loads(line) for line in GOLDEN.read_text().splitlines()]


@pytest.fixture(scope="module")
def answers():
    """The answers of the command to all runs of the golden file, by their id."""
    text = "".join(json.dumps(line["run"]) + "\n" for line in LINES)
    command = [sys.executable, "-m", "spanproof.cli", "replay", "--jsonl", "--workers", "2"]
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=True)
    return {answer["id"]: answer["steps"] for answer in map(json.loads, done.stdout.splitlines())}


@pytest.mark.parametrize("line", LINES, ids=lambda line: line["run"]["id"])
def test_each_run_is_answered_as_the_golden_file_says(answers, line):
    assert answers[line["run"]["id"]] == line["answer"]


def test_each_step_is_answered_with_the_documented_fields_alone(answers):
    fields = {"failure_class", "stdout", "result", "exception", "divergences"}
    assert all(step.keys() == fields for steps in answers.values() for step in steps)
