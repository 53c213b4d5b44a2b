"""Golden runs: agents of three frameworks over one shop, and the verdict of every layer on each."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from agents_of_a_shop import traced

from spanproof.evaluators.engine import Engine
from spanproof.sandbox.scanners.pipeline import Pipeline
from spanproof.trace import Scored

CASES = list(
    yaml.safe_load_all((Path(__file__).parents[2] / "golden/outcomes/shop.yaml").read_text(encoding="utf-8"))
)
LAYERS = ("correctness", "boundary", "execution", "groundedness", "trajectory")


@pytest.fixture(scope="module")
def run_agent():
    with traced() as run:
        yield run


@pytest.mark.parametrize("case", [pytest.param(case, id=case["case"]) for case in CASES])
def test_every_layer_gives_the_verdict_of_the_golden_run(run_agent, jail, case):
    trace = run_agent(case["framework"], case["task"], case["turns"])
    evaluation = Engine(pipeline=Pipeline(), sandbox=jail).evaluate(trace)
    of_layer = {score.name: score.outcome for score in evaluation.scores if score.name == score.layer.value}
    for layer, expected in zip(LAYERS, case["labels"].split(), strict=True):
        outcome = of_layer[layer]
        label = outcome.label.value if isinstance(outcome, Scored) and outcome.label is not None else "-"
        assert expected in (label, "*"), (layer, outcome)
