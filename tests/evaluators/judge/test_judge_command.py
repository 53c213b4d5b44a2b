"""`spanproof judge` as a user calls it."""

from __future__ import annotations

import io
import json
import re
import sys

import pytest
from tests.evaluators.judge.conftest import Endpoint, endpoint

from spanproof.cli.app import run

__all__ = ["Endpoint", "endpoint"]

MODEL = ("--set", "judge.model=gpt-4.1-mini-2025-04-14")


@pytest.fixture
def labels(tmp_path):
    file = tmp_path / "labels.jsonl"
    rows = [
        {"id": at, "rubric": "CodeCorrectness", "material": {"answer": f"{label} {at}"}, "label": label}
        for at, label in enumerate(["pass", "fail"] * 50)
    ]
    file.write_text("\n".join(map(json.dumps, rows)))
    return file


def judged(request):
    score = 0.9 if "pass" in request["messages"][1]["content"] else 0.2
    return json.dumps({"reasoning": "", "quotes": [], "score": score})


def test_calibrate_reports_kappa_with_its_interval_and_gates_on_its_lower_end(endpoint, labels, capsys):
    endpoint.next = judged
    assert run(["judge", "calibrate", str(labels), *MODEL, "--at-least", "0.75"]) == 0
    reported = capsys.readouterr().out
    low = float(re.search(r"κ = 1\.00 \((0\.\d\d) to 1\.00, 95 %\)", reported)[1])
    assert 0.75 < low < 0.95
    assert "people: fail" in reported
    endpoint.next = lambda request: '{"reasoning": "", "quotes": [], "score": 0.9}'
    assert run(["judge", "calibrate", str(labels), *MODEL, "--at-least", "0.75", "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["kappa"] == 0.0


@pytest.mark.parametrize(
    ("arguments", "reported"),
    [
        (["judge", "calibrate", "{labels}"], "no judge is configured"),
        (["judge", "calibrate", "{labels}", *MODEL, "--set", "judge.rubrics=/nowhere"], "no such directory"),
        (
            ["judge", "calibrate", "{labels}", "--set", "judge.model=m-2026-01-01", "--set",
             "judge.dollars_per_hour=1"],
            "judge.prices",
        ),
        (["judge", "prefer", *MODEL], "JSON Lines"),
    ],
)  # fmt: skip
def test_misuse_is_reported_with_the_remedy(labels, capsys, arguments, reported):
    assert run([argument.format(labels=labels) for argument in arguments]) == 2
    assert reported in capsys.readouterr().err


def test_a_model_without_a_date_is_warned_about(endpoint, labels, capsys):
    endpoint.next = judged
    assert run(["judge", "calibrate", str(labels), "--set", "judge.model=gpt-4o"]) == 0
    assert "no dated snapshot" in capsys.readouterr().err


def test_rubrics_are_listed_and_copied_to_edit(tmp_path, capsys):
    assert run(["judge", "rubrics", "--write", str(tmp_path / "mine")]) == 0
    assert "Groundedness" in capsys.readouterr().out
    assert len(list((tmp_path / "mine").glob("*.md"))) == 4
    assert run(["judge", "rubrics", "--write", str(tmp_path / "mine")]) == 2


def test_prefer_answers_line_by_line(endpoint, capfdbinary, monkeypatch):
    endpoint.answers = [
        '{"reasoning": "r", "quotes": [], "score": 1}',
        '{"reasoning": "r", "quotes": [], "score": 0}',
    ]
    line = json.dumps({"id": 1, "task": "t", "first": "a", "second": "b"}).encode() + b"\n{}\n"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(line)))
    assert run(["judge", "prefer", "--jsonl", *MODEL]) == 0
    good, bad = (json.loads(line) for line in capfdbinary.readouterr().out.splitlines())
    assert good == {"id": 1, "preference": "first", "consistent": True, "reasoning": "r"}
    assert "task" in bad["error"]
