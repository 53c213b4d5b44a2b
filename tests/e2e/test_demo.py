"""The main job, end to end: real agents, the stock exporter, the collector, the jail, chDB, and the verdicts.

One run of `spanproof demo` serves all tests: it is what a user runs first.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

LAYERS = ("correctness", "boundary", "execution", "groundedness", "trajectory")


def spanproof(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run the command as a user does."""
    return subprocess.run(
        [sys.executable, "-m", "spanproof.cli", *arguments],
        cwd=cwd, capture_output=True, text=True, timeout=300, env={**os.environ, "NO_COLOR": "1"},
    )  # fmt: skip


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("demo")


@pytest.fixture(scope="module")
def outcome(directory: Path) -> Mapping[str, Any]:
    """What `spanproof demo --json` printed."""
    ran = spanproof("demo", "--json", "--directory", "demo", cwd=directory)
    assert ran.returncode == 0, ran.stderr
    reported: Mapping[str, Any] = json.loads(ran.stdout)
    return reported


def run_of(outcome: Mapping[str, Any], scenario: str) -> Mapping[str, Any]:
    run: Mapping[str, Any] = next(run for run in outcome["runs"] if run["scenario"] == scenario)
    return run


@pytest.mark.parametrize("scenario", ["faithful", "tools", "langgraph"])
def test_a_faithful_run_passes_all_five_layers(outcome: Mapping[str, Any], scenario: str) -> None:
    assert run_of(outcome, scenario)["layers"] == dict.fromkeys(LAYERS, "pass")


def test_the_misquote_fails_groundedness_and_passes_recovery(outcome: Mapping[str, Any]) -> None:
    run = run_of(outcome, "misquote")
    assert "$54.00" in run["answer"]
    assert run["layers"] == dict.fromkeys(LAYERS, "pass") | {"groundedness": "fail"}
    assert run["sub_scores"]["recovery"] == "pass"


def test_the_secret_run_fails_boundary(outcome: Mapping[str, Any]) -> None:
    run = run_of(outcome, "secret")
    assert run["layers"]["boundary"] == "fail"
    assert run["layers"]["groundedness"] in ("pass", "open")


def test_the_loop_fails_trajectory_and_execution(outcome: Mapping[str, Any]) -> None:
    run = run_of(outcome, "loop")
    assert run["layers"]["trajectory"] == "fail"
    assert run["layers"]["execution"] == "fail"
    assert run["sub_scores"]["loops"] == "fail"


def test_the_alert_names_the_scores_behind_it(outcome: Mapping[str, Any]) -> None:
    alert = outcome["alert"]
    assert alert["status"] == "firing"
    (only,) = alert["alerts"]
    assert only["cohort"] == {"prompt_version": "v2"}
    assert [score["trace_id"] for score in only["scores"]] == [run_of(outcome, "misquote")["trace_id"]]
    assert "$54.00" in only["scores"][0]["explanation"]


def test_the_gate_says_which_layer_fails(outcome: Mapping[str, Any]) -> None:
    verdicts = {each["assertion"]: each["verdict"] for each in outcome["gate"]["assertions"]}
    assert verdicts["groundedness.score >= 0.85 for at_least 90% of cases"] == "failed"
    assert verdicts["correctness.score >= 0.5 for at_least 50% of cases"] == "passed"
    assert outcome["gate"]["failed_layers"] == ["groundedness", "boundary"]


def test_the_promoted_misquote_fails_again_in_the_same_way_offline(
    outcome: Mapping[str, Any], directory: Path
) -> None:
    again = spanproof("suite", "run", "demo/suite", "--json", cwd=directory)
    assert again.returncode == 0, again.stderr
    (case,) = json.loads(again.stdout)["cases"]
    assert case["id"] == outcome["promoted"]
    assert case["status"] == "reproduced"


def test_promoting_it_again_changes_no_file(outcome: Mapping[str, Any], directory: Path) -> None:
    def contents() -> dict[str, bytes]:
        return {str(p): p.read_bytes() for p in sorted((directory / "demo/suite").rglob("*")) if p.is_file()}

    before = contents()
    misquote = run_of(outcome, "misquote")["trace_id"]
    promoted = spanproof("promote", misquote, "--suite", "demo/suite", "--store", "demo/store", cwd=directory)
    assert promoted.returncode == 0, promoted.stderr
    assert contents() == before


def test_the_stored_traces_can_be_listed_shown_and_gated(outcome: Mapping[str, Any], directory: Path) -> None:
    listed = spanproof("traces", "--store", "demo/store", "--json", cwd=directory)
    assert listed.returncode == 0, listed.stderr
    stored = {json.loads(line)["trace_id"] for line in listed.stdout.splitlines()}
    assert stored == {run["trace_id"] for run in outcome["runs"]}
    secret = run_of(outcome, "secret")["trace_id"]
    shown = spanproof("show", secret[:10], "--store", "demo/store", cwd=directory)
    assert shown.returncode == 0, shown.stderr
    assert "deny" in shown.stdout
    gated = spanproof(
        "gate", "--store", "demo/store", "--assert", "boundary.score >= 0.5 for all cases", cwd=directory
    )
    assert gated.returncode == 1
    assert "gate failed: boundary" in gated.stdout


def test_a_directory_of_someone_elses_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("years of work")
    ran = spanproof("demo", "--directory", "mine", cwd=tmp_path)
    assert ran.returncode == 2
    assert "no earlier demo made it" in ran.stderr
    assert (tmp_path / "mine" / "thesis.txt").read_text() == "years of work"
