"""Offline commands work together in processes of their own, and load no collector and no plug-in."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from spanproof.suites import promote_run

RUN_ID = "a" * 16
TRACE = Path(__file__).parents[1] / "golden" / "dialects" / "langfuse.json"
COLLECTOR = ("spanproof.collector", "spanproof.alerts")
PLUGINS = (
    "spanproof.benchmarks",
    "spanproof.experiments.optimise",
    "spanproof.evaluators.structure",
    "spanproof.sandbox.backends.remote",
)
# Runs commands one after another; what they print and the modules that are loaded then go to stdout.
PROGRAM = """
import contextlib, io, json, sys
from spanproof.cli.app import run
ended = []
for arguments in json.loads(sys.argv[1]):
    with contextlib.redirect_stdout(io.TextIOWrapper(io.BytesIO(), "utf-8")) as printed:
        code = run(arguments)
        printed.flush()
    ended.append([code, printed.buffer.getvalue().decode()])
print(json.dumps([ended, sorted(sys.modules)]))
"""


def run(*commands: list[str], stdin: str = "") -> list[tuple[int, str]]:
    """Return the exit code and the output of each command, which share a process without the collector."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, json.dumps(commands)],
        input=stdin,
        capture_output=True,
        text=True,
        timeout=240,
        check=True,
    )
    ended, modules = json.loads(done.stdout)
    loaded = [each for each in modules if each.startswith((*COLLECTOR, *PLUGINS))]
    assert not loaded, f"{[command[0] for command in commands]} load {loaded}"
    return [(code, printed) for code, printed in ended]


def test_a_suite_an_evaluation_and_the_gate_are_piped_together_without_the_collector(
    evaluation, suite, tmp_path
):
    promote_run(evaluation, RUN_ID, suite)
    config = tmp_path / "spanproof.yaml"
    config.write_text("evaluation: {replay: false}\nalerts: [{name: a, layer: groundedness}]\n")
    of_suite, of_trace = run(
        ["suite", "run", str(suite), "--json", "--config", str(config)],
        ["eval", str(TRACE), "--json", "--config", str(config)],
    )
    assert of_trace[0] == 0
    raw = {
        f"{score['layer']}.{score['name']}": (score["raw"], score["unit"])
        for run_row in json.loads(of_trace[1].splitlines()[0])["runs"]
        for score in run_row["scores"]
        if score["raw"] is not None
    }
    assert raw["execution.wall_s"][1] == "s"

    gate = ["gate", "--scores", "-", "--json", "--assert"]
    ((code, printed),) = run([*gate, "groundedness.score == fail for all"], stdin=of_suite[1])
    assert code == 0, printed
    (checked,) = json.loads(printed)["assertions"]
    assert (checked["judged"], checked["satisfied"]) == (1, 1)
    ((code, printed),) = run([*gate, "max(execution.wall_s) <= 24h"], stdin=of_trace[1])
    assert code == 0, printed
