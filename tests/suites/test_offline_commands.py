"""Offline commands work together in processes of their own, and load no part of the collector."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from spanproof.suites import promote

RUN_ID = "a" * 16
TRACE = Path(__file__).parents[1] / "golden" / "dialects" / "langfuse.json"
COLLECTOR = ("spanproof.collector", "spanproof.alerts")
PROGRAM = """
import json, sys
from spanproof.cli.app import run
code = run(json.loads(sys.argv[1]))
print(json.dumps(sorted(sys.modules)), file=sys.stderr)
sys.exit(code)
"""


@pytest.fixture
def config(tmp_path: Path) -> Path:
    path = tmp_path / "spanproof.yaml"
    path.write_text("evaluation: {replay: false}\nalerts: [{name: a, layer: groundedness}]\n")
    return path


def run(*arguments: str, stdin: str = "") -> tuple[int, str, list[str]]:
    """The exit code, what is on stdout, and the modules that were loaded."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, json.dumps(arguments)],
        input=stdin,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    lines = done.stderr.splitlines()
    assert lines, "the process died"
    return done.returncode, done.stdout, json.loads(lines[-1])


def test_a_suite_and_the_gate_are_piped_together_without_the_collector(evaluation, suite, config):
    promote(evaluation, RUN_ID, suite)
    _, report, of_suite = run("suite", "run", str(suite), "--json", "--config", str(config))
    assertion = "groundedness.score == fail for all"
    code, printed, of_gate = run("gate", "--scores", "-", "--assert", assertion, "--json", stdin=report)
    assert code == 0
    (checked,) = json.loads(printed)["assertions"]
    assert (checked["judged"], checked["satisfied"]) == (1, 1)
    for name, modules in (("suite run", of_suite), ("gate", of_gate)):
        loaded = [each for each in modules if each.startswith(COLLECTOR)]
        assert not loaded, f"{name} loads {loaded}"


def test_an_evaluation_and_the_gate_are_piped_together_without_the_collector(config):
    code, scores, modules = run("eval", str(TRACE), "--json", "--config", str(config))
    assert code == 0
    loaded = [each for each in modules if each.startswith(COLLECTOR)]
    assert not loaded, f"eval loads {loaded}"
    raw = {
        f"{score['layer']}.{score['name']}": (score["raw"], score["unit"])
        for run_row in json.loads(scores.splitlines()[0])["runs"]
        for score in run_row["scores"]
        if score["raw"] is not None
    }
    assert "execution.wall_s" in raw
    assert raw["execution.wall_s"][1] == "s"
    code, _, _ = run("gate", "--scores", "-", "--assert", "max(execution.wall_s) <= 24h", stdin=scores)
    assert code == 0
