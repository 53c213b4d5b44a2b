"""Golden runs that were labelled before anything was run, judged by the trace alone, without a replay."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from agents_of_a_depot import DEPOT_TOOLS
from agents_of_a_harbour import HARBOUR_TOOLS
from agents_of_a_hotel import HOTEL_TOOLS
from agents_of_a_laboratory import LABORATORY_TOOLS
from agents_of_a_law_office import LAW_OFFICE_TOOLS
from agents_of_a_podcast_host import PODCAST_HOST_TOOLS
from agents_of_a_shop import traced
from agents_of_an_observatory import OBSERVATORY_TOOLS
from contradictions import contradictions

from spanproof.evaluators.engine import Engine
from spanproof.sandbox.scanners.pipeline import Pipeline
from spanproof.trace import Scored

GOLDEN = Path(__file__).parents[2] / "golden/outcomes"
TOOLS = {
    "depot": DEPOT_TOOLS,
    "harbour": HARBOUR_TOOLS,
    "hotel": HOTEL_TOOLS,
    "laboratory": LABORATORY_TOOLS,
    "law_office": LAW_OFFICE_TOOLS,
    "observatory": OBSERVATORY_TOOLS,
    "podcast_host": PODCAST_HOST_TOOLS,
}
CASES = [
    pytest.param(tools, case, id=f"{place}-{case['case']}")
    for place, tools in TOOLS.items()
    for case in yaml.safe_load_all((GOLDEN / f"{place}.yaml").read_text(encoding="utf-8"))
]
LAYERS = ("correctness", "boundary", "execution", "groundedness", "trajectory")


@pytest.fixture(scope="module")
def run_agent():
    with traced() as run:
        yield run


@pytest.mark.parametrize(("tools", "case"), CASES)
def test_every_layer_gives_the_verdict_of_the_golden_run(run_agent, tools, case):
    trace = run_agent(case["framework"], case["task"], case["turns"], tools)
    evaluation = Engine(pipeline=Pipeline(), sandbox=None).evaluate(trace)
    of_layer = {score.name: score.outcome for score in evaluation.scores if score.name == score.layer.value}
    for layer, expected in zip(LAYERS, case["labels"].split(), strict=True):
        outcome = of_layer[layer]
        label = outcome.label.value if isinstance(outcome, Scored) and outcome.label is not None else "-"
        kept = expected in ("*", label) or (expected.startswith("not-") and expected != f"not-{label}")
        assert kept, (layer, expected, outcome)
    assert not list(contradictions(evaluation))
