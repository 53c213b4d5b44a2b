"""Right answers of runs in which something failed: none is failed."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from tests.bench.answers import build_trace

from spanproof.evaluators.engine import Engine
from spanproof.sandbox.scanners.pipeline import Pipeline
from spanproof.trace import Layer, Scored, State, get_state

SITUATIONS = yaml.load(
    Path(__file__).with_name("innocent.yaml").read_text(encoding="utf-8"),
    getattr(yaml, "CSafeLoader", yaml.SafeLoader),
)


@pytest.mark.parametrize("situation", SITUATIONS, ids=lambda situation: situation["id"])
def test_no_right_answer_fails(situation):
    engine = Engine(pipeline=Pipeline(), sandbox=None, layers=(Layer.GROUNDEDNESS,))
    failed = []
    for answer in situation["answers"]:
        outcome = engine.evaluate(build_trace(situation, answer)).runs[-1].layers[Layer.GROUNDEDNESS]
        assert isinstance(outcome, Scored)
        if get_state(outcome) is State.FAIL:
            failed.append(f"{answer} | {outcome.explanation}")
    assert not failed, "\n".join(failed)
