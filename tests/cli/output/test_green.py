"""A result in which everything passes takes three lines at most; what did not pass is listed as ever."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from rich.console import Console

from spanproof.cli.app import run
from spanproof.cli.commands import suite as suite_commands
from spanproof.cli.output.experiment import write_experiment
from spanproof.cli.output.runs_table import RunLine, is_green, write_green_runs
from spanproof.experiments import Experiment, Trial, TrialVerdict
from spanproof.gate import OpenPolicy
from spanproof.suites import Case, CaseStatus
from spanproof.trace import Layer, Scored, State

PASSES = {layer: Scored(0.9, "pass", "fine") for layer in Layer}


def count_lines(text: str) -> int:
    return len(text.splitlines())


def test_a_gate_with_no_case_against_it_is_a_line_for_each_assertion_and_one(tmp_path, capfd):
    score = {"layer": "boundary", "name": "boundary", "span_id": "r", "outcome": "scored", "label": "pass"}
    score |= {"value": 1.0, "explanation": "fine", "reason": None}
    rows = [
        {"trace_id": f"trace-{number}", "runs": [{"span_id": "r", "name": "pricer", "scores": [score]}]}
        for number in range(20)
    ]
    scores = tmp_path / "scores.jsonl"
    scores.write_text("".join(json.dumps(row) + "\n" for row in rows))
    gate = ["gate", "--scores", str(scores), "--assert", "boundary.score == pass for all"]
    assert run([*gate, "--assert", "avg(boundary.score) >= 0.5"]) == 0
    shown = capfd.readouterr().out
    assert count_lines(shown) == 3
    assert "20 of 20" in shown
    assert shown.endswith("gate passed\n")


def test_a_scan_without_findings_is_one_line_and_a_finding_lists_every_file(tmp_path: Path, capfd):
    files = [tmp_path / f"good-{number}.py" for number in range(5)]
    for file in files:
        file.write_text("print(1)\n", encoding="utf-8")
    assert run(["scan", *map(str, files)]) == 0
    assert capfd.readouterr().out == "allow  5 programs, no finding\n"
    bad = tmp_path / "bad.py"
    bad.write_text("import os\nos.remove('/etc/x')\n", encoding="utf-8")
    assert run(["scan", *map(str, files), str(bad)]) == 1
    shown = capfd.readouterr().out
    assert all(file.name in shown for file in (*files, bad))


def test_runs_that_all_pass_are_three_lines():
    lines = [RunLine(f"agent {number}", "a" * 32, 0, PASSES) for number in range(40)]
    out = io.StringIO()
    write_green_runs(Console(file=out, width=80), lines)
    assert count_lines(out.getvalue()) == 3
    assert "40 runs: 40 pass" in out.getvalue()
    assert "groundedness 0.90" in out.getvalue()


@pytest.mark.parametrize(
    "change",
    [
        {"layers": {**PASSES, Layer.BOUNDARY: Scored(0.0, "fail", "tried a host")}},
        {"layers": {**PASSES, Layer.BOUNDARY: Scored(0.5, None, "open")}},
        {"feedback": "thumbs down"},
    ],
)
def test_a_run_with_news_is_not_green(change):
    line = RunLine("agent", "a" * 32, 0, PASSES)
    assert is_green(line)
    assert not is_green(replace(line, **change))


def build_experiment(*verdicts: TrialVerdict) -> Experiment:
    trials = tuple(
        Trial(f"case-{number}", 1, verdict, "", None, (), {"groundedness": State.PASS})
        for number, verdict in enumerate(verdicts)
    )
    cases = tuple(Case(f"case-{number}") for number in range(len(verdicts)))
    return Experiment("refunds", "agent", cases, trials, 1)


def test_an_experiment_in_which_every_case_passed_is_three_lines(capfd):
    write_experiment(build_experiment(*[TrialVerdict.PASSED] * 9))
    green = capfd.readouterr().out
    assert count_lines(green) == 3
    assert "9 of 9 cases passed in every trial" in green
    write_experiment(build_experiment(*[TrialVerdict.PASSED] * 8, TrialVerdict.FAILED))
    red = capfd.readouterr().out
    assert all(f"case-{number}" in red for number in range(9))


def test_frozen_cases_that_are_all_as_they_were_are_one_line(capfd):
    def build_report(*statuses: CaseStatus) -> SimpleNamespace:
        reports = [
            SimpleNamespace(
                status=each,
                passed=True,
                differences=(),
                case=SimpleNamespace(id=f"case-{number}", expectations=()),
            )
            for number, each in enumerate(statuses)
        ]
        return SimpleNamespace(
            cases=reports,
            unfrozen=(),
            open=0,
            open_policy=OpenPolicy.NOT_PASSED,
            count=lambda status: statuses.count(status),
        )

    suite_commands.write_report(build_report(*[CaseStatus.REPRODUCED] * 5))
    assert capfd.readouterr().out == "5 cases: 5 reproduced\n"
    suite_commands.write_report(build_report(*[CaseStatus.REPRODUCED] * 4, CaseStatus.FIXED))
    assert "case-0" in capfd.readouterr().out
