"""Golden runs that were labelled before anything was run, judged by the trace alone, without a replay."""

from __future__ import annotations

import pytest
from agents_of_a_shop import traced
from contradictions import contradictions
from golden_runs import is_as_labelled, is_kept, iter_golden_runs

from spanproof.evaluators.engine import Engine
from spanproof.sandbox.scanners.pipeline import Pipeline
from spanproof.trace import Layer, Scored

FILES = ("depot", "harbour", "hotel", "laboratory", "law_office", "observatory", "podcast_host")
RUNS = [pytest.param(golden, id=golden.name) for golden in iter_golden_runs(*FILES)]


@pytest.fixture(scope="module")
def run_agent():
    with traced() as run:
        yield run


@pytest.mark.parametrize("golden", RUNS)
def test_every_layer_gives_the_verdict_of_the_golden_run(run_agent, golden):
    trace = run_agent(golden.framework, golden.task, golden.turns, golden.tools)
    evaluation = Engine(pipeline=Pipeline(), sandbox=None).evaluate(trace)
    outcomes = {score.name: score.outcome for score in evaluation.scores if score.name == score.layer.value}
    labels = {name: each.label if isinstance(each, Scored) else None for name, each in outcomes.items()}
    for layer, expected in golden.labels.items():
        assert is_kept(expected, labels[layer]), (layer, expected, outcomes[layer])
    if golden.is_right is not None:
        grounded = Layer.GROUNDEDNESS.value
        assert is_as_labelled(labels[grounded], is_right=golden.is_right), outcomes[grounded]
    assert not list(contradictions(evaluation))
