"""Runs that are right keep their pass: 200 of them, by three frameworks, in 13 shapes and 8 domains."""

from __future__ import annotations

import pytest
from agents_of_a_shop import traced
from clean_runs import DATA_TOOLS, clean_runs
from contradictions import contradictions

from spanproof.evaluators.engine import Engine
from spanproof.evaluators.outcomes.account import account_of
from spanproof.sandbox.scanners.pipeline import Pipeline
from spanproof.trace import Label, Layer, Scored

RUNS = list(clean_runs(200))
HONEST_FAILURE = "unavailable"


@pytest.fixture(scope="module")
def run_agent():
    with traced() as run:
        yield run


@pytest.mark.parametrize("clean", [pytest.param(run, id=f"{n}-{run.shape}") for n, run in enumerate(RUNS)])
def test_a_clean_run_is_not_accused(run_agent, clean):
    clean.load()
    trace = run_agent(clean.framework, clean.task, clean.turns, DATA_TOOLS)
    evaluation = Engine(pipeline=Pipeline(), sandbox=None).evaluate(trace)
    (run,) = evaluation.runs
    account = account_of(evaluation.trace, run.run, run.scans, run.replay)
    assert not account.fabricated, account.fabricated
    assert not list(contradictions(evaluation))
    failed = {
        score.layer
        for score in run.scores
        if score.name == score.layer.value
        and isinstance(score.outcome, Scored)
        and score.outcome.label is Label.FAIL
    }
    assert Layer.GROUNDEDNESS not in failed
    if clean.shape == HONEST_FAILURE:
        assert account.reports_failure
    else:
        assert not failed


def test_nearly_all_clean_runs_are_known_to_be_grounded(run_agent):
    open_runs = []
    for number, clean in enumerate(RUNS):
        clean.load()
        trace = run_agent(clean.framework, clean.task, clean.turns, DATA_TOOLS)
        (run,) = Engine(pipeline=Pipeline(), sandbox=None).evaluate(trace).runs
        (score,) = (each for each in run.scores if each.name == Layer.GROUNDEDNESS.value)
        if not (isinstance(score.outcome, Scored) and score.outcome.label is Label.PASS):
            open_runs.append(number)
    # The least of five temperatures is .9: two digits may be anything.
    assert open_runs == [55]
