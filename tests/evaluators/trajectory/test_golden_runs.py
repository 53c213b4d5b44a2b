"""The golden runs: steps with what the layer must say of them, as specification."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from golden_yaml import load_golden

from spanproof.evaluators.actions import make_call_action
from spanproof.evaluators.layers.trajectory.ending import Completion
from spanproof.evaluators.layers.trajectory.metrics import compute_metrics
from spanproof.evaluators.layers.trajectory.steps import build_actions
from spanproof.trace import Cause, Label, Scored, Skipped

GOLDEN = Path(__file__).parents[2] / "golden" / "trajectory" / "runs.yaml"
RUNS = load_golden(GOLDEN)
INDEX = GOLDEN.parent / "README.md"
KINDS = {
    "mended": "Failures that were mended",
    "lost": "Failures that were lost",
    "open": "Failures of which it cannot be told",
    "none": "Runs without a failure",
}
LABELS = {"mended": Label.PASS, "open": None, "lost": Label.FAIL}


def outcomes(run):
    found = []
    for number, step in enumerate(run["steps"], 1):
        if "tool" in step:
            called = make_call_action(
                number,
                str(number),
                step["tool"],
                step["arguments"],
                error=step.get("error"),
                result=step.get("result"),
            )
            found.append(called)
        else:
            found += build_actions([{}] * (number - 1) + [step], [None] * number)[-1:]
    return compute_metrics(
        found, Completion(run.get("answered", True)), run.get("answer", ""), run.get("task", "")
    )


@pytest.mark.parametrize("run", [pytest.param(run, id=run["about"]) for run in RUNS])
def test_the_scores_are_the_golden_ones(run):
    found = outcomes(run)
    recovery = found["recovery"]
    if run["recovery"] == "none":
        assert recovery == Skipped("no step failed", Cause.NOTHING_OF_THE_KIND)
    else:
        assert recovery.label is LABELS[run["recovery"]], recovery
    if "loop" in run:
        assert (found["loops"].value == 0.0) is run["loop"]
    first = found["first_mistake"]
    assert (first.evidence[0].what.split(":")[0] if first.evidence else "none") == (
        "none" if run["blamed"] == "none" else f"step {run['blamed']}"
    ), first
    composite = found["trajectory"]
    assert composite.label is (Label.FAIL if "failed" in run else Label.PASS), composite
    if "failed" in run:
        assert composite.explanation.startswith(f"{run['failed']}: ")
    for name, value in run.get("scores", {}).items():
        assert isinstance(found[name], Scored)
        assert found[name].value == pytest.approx(value, abs=1e-4), found[name]


def test_the_index_lists_every_run():
    text = index()
    if os.environ.get("UPDATE_GOLDEN"):
        INDEX.write_text(text, encoding="utf-8")
    assert INDEX.read_text(encoding="utf-8") == text, f"{INDEX.name} differs; UPDATE_GOLDEN=1 writes it anew"


def index():
    parts = [f"# Golden runs\n\nWhat [runs.yaml]({GOLDEN.name}) specifies, by what became of failures.\n"]
    for kind, title in KINDS.items():
        runs = [run for run in RUNS if run["recovery"] == kind]
        parts.append(f"\n## {title}: {len(runs)}\n\n")
        parts += [f"- {run['about']}{_rendered(run)}\n" for run in runs]
    return "".join(parts)


def _rendered(run):
    """What else the run is there for."""
    if run.get("failed") not in (None, "recovery"):
        return f" (fails by `{run['failed']}`)"
    return f" ({', '.join(f'`{name}`' for name in run['scores'])})" if "scores" in run else ""
