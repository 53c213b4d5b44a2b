"""`spanproof report bisect` over a real embedded store, from traces as a collector receives them."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from golden_traces import trace_in_short

from spanproof.cli.app import run
from spanproof.evaluators.engine import Engine
from spanproof.sandbox.scanners.pipeline import Pipeline
from spanproof.store import open_store
from spanproof.trace import Cause, Layer, Scored


def ended(number, digest, *, error=None):
    """A trace of one step that ended in an image."""
    step = {"ran": "import torch", "executor": {"type": "docker", "image": "agents", "digest": digest}}
    step |= {"error": error} if error else {"prints": ""}
    trace = trace_in_short({"steps": [step], "trace_id": f"{number:032x}", "start_s": number * 60})
    return Engine(pipeline=Pipeline(), sandbox=None).evaluate(trace)


@pytest.fixture(scope="module")
def location(tmp_path_factory):
    """Twelve runs in one image and twelve in another that lacks torch."""
    missing = "ModuleNotFoundError: No module named 'torch'"
    evaluations = [ended(number, "sha256:aa11") for number in range(1, 13)]
    evaluations += [ended(number, "sha256:bb22", error=missing) for number in range(13, 25)]
    directory = tmp_path_factory.mktemp("stored")
    with open_store(directory) as store:
        store.write(evaluations)
    return str(directory)


@pytest.fixture
def report(location, capsys):
    """The exit code and the report."""

    def make(*options):
        code = run(["report", "bisect", "--store", location, *options])
        return code, capsys.readouterr()

    return make


def test_the_image_that_changed_at_the_drop_is_the_suspect(report):
    code, said = report("execution.score", "--json", "--check")
    found = json.loads(said.out)
    assert code == 1
    assert (found["runs"], found["suspect"]) == (24, "image")
    assert found["drop"]["time"].endswith("+00:00")
    assert (found["drop"]["before"]["share"], found["drop"]["after"]["share"]) == (1.0, 0.0)
    image, *others = found["dimensions"]
    assert (image["finding"], image["before"], image["after"]) == ("cause", "sha256:aa11", "sha256:bb22")
    assert image["contrast"]["difference"]["high"] < 0
    assert {each["finding"] for each in others} == {"not_recorded"}


def test_people_read_the_drop_its_interval_and_what_is_not_recorded(report):
    code, said = report()
    shown = " ".join(said.out.split())
    assert code == 0
    assert "execution.score falls from 100.0% (12 of 12) to 0.0% (0 of 12)" in shown
    assert "sha256:bb22" in shown
    assert "model not on the traces: the instrumentor" in shown


def test_runs_of_another_cohort_are_left_out(report):
    code, said = report("--where", "agent=other", "--check")
    assert code == 0
    assert "does not fall over 0 runs" in said.err


def test_a_score_without_a_verdict_is_misuse(report):
    code, said = report("trajectory.cost_usd")
    assert code == 2
    assert "has no verdict" in said.err


def test_runs_that_are_open_are_counted_and_in_no_rate(tmp_path, capsys):
    def settle(evaluation, outcome):
        scores = evaluation.runs[0].scores
        changed = tuple(
            replace(score, outcome=outcome) if score.name == Layer.EXECUTION.value else score
            for score in scores
        )
        return replace(evaluation, runs=(replace(evaluation.runs[0], scores=changed),))

    unsettled = Scored(0.5, None, "it is not known", cause=Cause.CODE_NOT_RUN)
    evaluations = [ended(number, "sha256:aa11") for number in range(1, 7)]
    evaluations[4:] = [settle(each, unsettled) for each in evaluations[4:]]
    with open_store(tmp_path / "store") as store:
        store.write(evaluations)
    options = ["report", "bisect", "--store", str(tmp_path / "store")]
    assert run([*options, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["runs"], found["open"]) == (4, {"total": 2, "before": None, "after": None})
    assert run(options) == 0
    assert "2 runs are open and not in these rates" in capsys.readouterr().err
