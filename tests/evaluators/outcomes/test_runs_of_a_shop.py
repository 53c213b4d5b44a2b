"""Golden runs: agents of three frameworks over one shop, and the verdict of every layer on each."""

from __future__ import annotations

import pytest
from agents_of_a_shop import traced
from golden_runs import is_as_labelled, is_kept, iter_golden_runs

from spanproof.evaluators.engine import Engine
from spanproof.sandbox.scanners.pipeline import Pipeline
from spanproof.trace import Layer, Scored


@pytest.fixture(scope="module")
def run_agent():
    with traced() as run:
        yield run


@pytest.mark.parametrize("golden", [pytest.param(each, id=each.name) for each in iter_golden_runs("shop")])
def test_every_layer_gives_the_verdict_of_the_golden_run(run_agent, jail, golden):
    trace = run_agent(golden.framework, golden.task, golden.turns)
    evaluation = Engine(pipeline=Pipeline(), sandbox=jail).evaluate(trace)
    outcomes = {score.name: score.outcome for score in evaluation.scores if score.name == score.layer.value}
    labels = {name: each.label if isinstance(each, Scored) else None for name, each in outcomes.items()}
    for layer, expected in golden.labels.items():
        assert is_kept(expected, labels[layer]), (layer, outcomes[layer])
    if golden.is_right is not None:
        assert is_as_labelled(labels[Layer.GROUNDEDNESS.value], is_right=golden.is_right)
