"""The golden pairs: outputs with answers that they bear out, contradict or leave open.

The pairs state truths. An answer that is open for this engine is no failure; the opposite verdict is, so the
shares of opposite verdicts have bounds, and those of right ones floors. An answer is grounded only where each of
its words is bound, so that most right answers in free words are open.
"""  # noqa: E501

from __future__ import annotations

from collections import Counter
from datetime import datetime
from pathlib import Path

import pytest
from golden_yaml import load_golden

from spanproof.evaluators.layers.groundedness import Verdict, build_ledger, describe_claim

GOLDEN = Path(__file__).parents[2] / "golden" / "groundedness"
SETS = {"own": "*.yaml", "blind": "blind/*.yaml"}


def pairs(pattern):
    for file in sorted(GOLDEN.glob(pattern)):
        for scenario in load_golden(file):
            yield from (("grounded", scenario, answer) for answer in scenario.get("grounded", ()))
            yield from (("uncertain", scenario, answer) for answer in scenario.get("uncertain", ()))
            for answers in scenario.get("contradicted", {}).values():
                yield from (("contradicted", scenario, answer) for answer in answers)


def clock(scenario):
    now = scenario.get("now")
    return datetime.fromisoformat(now) if isinstance(now, str) else now


@pytest.fixture(scope="module", params=SETS.values(), ids=SETS.keys())
def judged(request):
    found = []
    for label, scenario, answer in pairs(request.param):
        grounding = build_ledger(scenario["outputs"], answer, scenario.get("task"), now=clock(scenario))
        found.append((label, scenario, answer, grounding))
    return found


def shares(judged, label):
    counted = Counter(grounding.verdict for expected, _, _, grounding in judged if expected == label)
    return {verdict: counted[verdict] / counted.total() for verdict in Verdict}


def test_faithful_answers_are_seldom_accused(judged):
    assert shares(judged, "grounded")[Verdict.CONTRADICTED] <= 0.02


def test_faithful_answers_are_accepted(judged):
    assert shares(judged, "grounded")[Verdict.GROUNDED] >= 0.05


def test_wrong_answers_are_seldom_accepted(judged):
    assert shares(judged, "contradicted")[Verdict.GROUNDED] <= 0.05


def test_wrong_answers_are_rejected(judged):
    assert shares(judged, "contradicted")[Verdict.CONTRADICTED] >= 0.08


def test_every_claim_quotes_the_answer_and_its_cell(judged):
    for _, scenario, answer, grounding in judged:
        for claim in grounding.claims:
            assert claim.text == answer[claim.start : claim.end]
            assert describe_claim(claim)
            bound = claim.evidence
            if bound is not None and bound.output is not None:
                assert scenario["outputs"][bound.output][bound.start : bound.end] == bound.value
