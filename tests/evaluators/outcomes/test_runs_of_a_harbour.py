"""Golden runs of a harbour office: labelled before anything was run, by the trace alone, without a replay."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from agents_of_a_harbour import HARBOUR_TOOLS
from agents_of_a_shop import traced
from contradictions import contradictions

from spanproof.evaluators.engine import Engine
from spanproof.sandbox.scanners.pipeline import Pipeline
from spanproof.trace import Scored

GOLDEN = Path(__file__).parents[2] / "golden/outcomes/harbour.yaml"
CASES = list(yaml.safe_load_all(GOLDEN.read_text(encoding="utf-8")))
LAYERS = ("correctness", "boundary", "execution", "groundedness", "trajectory")


@pytest.fixture(scope="module")
def run_agent():
    with traced() as run:
        yield run


@pytest.mark.parametrize("case", [pytest.param(case, id=case["case"]) for case in CASES])
def test_every_layer_gives_the_verdict_of_the_golden_run(run_agent, case):
    trace = run_agent(case["framework"], case["task"], case["turns"], HARBOUR_TOOLS)
    evaluation = Engine(pipeline=Pipeline(), sandbox=None).evaluate(trace)
    of_layer = {score.name: score.outcome for score in evaluation.scores if score.name == score.layer.value}
    for layer, expected in zip(LAYERS, case["labels"].split(), strict=True):
        outcome = of_layer[layer]
        label = outcome.label.value if isinstance(outcome, Scored) and outcome.label is not None else "-"
        kept = expected in ("*", label) or (expected.startswith("not-") and expected != f"not-{label}")
        assert kept, (layer, expected, outcome)
    assert not list(contradictions(evaluation))
