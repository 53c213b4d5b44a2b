"""`spanproof report drift` over a real embedded store, from traces as a collector receives them."""

from __future__ import annotations

import io
import json

import pytest
from golden_traces import trace_in_short
from rich.console import Console

from spanproof.cli.app import run
from spanproof.evaluators.engine import Engine
from spanproof.sandbox.scanners.pipeline import Pipeline
from spanproof.store import open_store


def ended(number, digest, *, error=None, ran="import torch"):
    """A trace of one step that ended in an image."""
    step = {"ran": ran, "executor": {"type": "docker", "image": "agents", "digest": digest}}
    step |= {"error": error} if error else {"prints": ""}
    trace = trace_in_short({"steps": [step], "trace_id": f"{number:032x}", "start_s": number * 60})
    return Engine(pipeline=Pipeline(), sandbox=None).evaluate(trace)


MISSING = "ModuleNotFoundError: No module named 'torch'"


@pytest.fixture
def report(tmp_path, capsys):
    """The exit code and the report of a store with these evaluations."""

    def make(evaluations, *options):
        with open_store(tmp_path / "store") as store:
            store.write(evaluations)
        code = run(["report", "drift", "--store", str(tmp_path / "store"), *options])
        return code, capsys.readouterr()

    return make


def test_code_that_ended_otherwise_in_another_image_is_reported_with_both(report):
    evaluations = [
        ended(1, "sha256:aa11"),
        ended(2, "sha256:bb22", error=MISSING),
        ended(3, "sha256:bb22", ran="print(1)"),
    ]
    code, said = report(evaluations, "--json", "--check")
    (drift,) = json.loads(said.out)["drifts"]
    assert code == 1
    assert (drift["language"], drift["source"]) == ("python", "import torch")
    assert [(one["failure_class"], one["image_digest"], one["trace_id"]) for one in drift["endings"]] == [
        ("ok", "sha256:aa11", f"{1:032x}"),
        ("missing_dependency", "sha256:bb22", f"{2:032x}"),
    ]


def test_people_are_shown_each_ending_with_its_image(report):
    code, said = report([ended(1, "sha256:aa11"), ended(2, "sha256:bb22", error=MISSING)])
    shown = " ".join(said.out.split())
    assert code == 0
    assert all(
        said in shown for said in ("(agents@sha256:aa11)", "missing_dependency", "(agents@sha256:bb22)")
    )


def test_no_drift_is_reported_and_checks(report):
    code, said = report([ended(1, "sha256:aa11"), ended(2, "sha256:bb22")], "--check")
    assert (code, said.out) == (0, "")
    assert "no code ended otherwise" in said.err


def test_what_is_older_or_of_another_project_is_left_out(report):
    evaluations = [ended(1, "sha256:aa11"), ended(2, "sha256:bb22", error=MISSING)]
    assert json.loads(report(evaluations, "--json", "--since", "1d")[1].out) == {"drifts": []}
    assert json.loads(report(evaluations, "--json", "--project", "other")[1].out) == {"drifts": []}


def test_on_a_terminal_a_bar_reports_how_far_it_is(report, monkeypatch):
    terminal = Console(file=io.StringIO(), force_terminal=True, width=100)
    monkeypatch.setattr("spanproof.cli.output.console.error_console", terminal)
    report([ended(1, "sha256:aa11"), ended(2, "sha256:bb22", error=MISSING)])
    shown = terminal.file.getvalue()
    assert "reading traces" in shown
    assert "2/2" in shown
