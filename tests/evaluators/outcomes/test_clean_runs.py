"""Runs that are right keep their pass: 200 of them, by three frameworks, in 13 shapes and 8 domains."""

from __future__ import annotations

import pytest
from agents_of_a_shop import traced
from clean_runs import DATA_TOOLS, clean_runs
from contradictions import contradictions

from spanproof.evaluators.engine import Engine
from spanproof.evaluators.outcomes.account import build_account
from spanproof.sandbox.scanners.pipeline import Pipeline
from spanproof.trace import Label, Layer, Scored

RUNS = list(clean_runs(200))
HONEST_FAILURE = "unavailable"


@pytest.fixture(scope="module")
def run_agent():
    with traced() as run:
        yield run


@pytest.mark.parametrize("clean", [pytest.param(run, id=f"{n}-{run.shape}") for n, run in enumerate(RUNS)])
def test_a_clean_run_keeps_its_pass(run_agent, clean):
    clean.load()
    trace = run_agent(clean.framework, clean.task, clean.turns, DATA_TOOLS)
    evaluation = Engine(pipeline=Pipeline(), sandbox=None).evaluate(trace)
    (run,) = evaluation.runs
    account = build_account(evaluation.trace, run.run, run.scans, run.replay)
    assert not account.fabricated, account.fabricated
    assert not list(contradictions(evaluation))
    labels = {
        score.layer: score.outcome.label if isinstance(score.outcome, Scored) else None
        for score in run.scores
        if score.name == score.layer.value
    }
    if clean.shape == HONEST_FAILURE:
        assert account.reports_failure
        assert labels[Layer.GROUNDEDNESS] is not Label.FAIL
    else:
        assert labels[Layer.GROUNDEDNESS] is Label.PASS
        assert Label.FAIL not in labels.values()
