"""The golden pairs: outputs with answers that they bear out, contradict or leave open, as specification."""

from __future__ import annotations

import collections
from pathlib import Path

import pytest
import yaml

from spanproof.evaluators.layers.groundedness import Grounding, ground

GOLDEN = Path(__file__).parents[2] / "golden" / "groundedness"


def pairs() -> list[tuple[str, str, dict, str]]:
    found = []
    for file in sorted(GOLDEN.glob("*.yaml")):
        for scenario in yaml.safe_load(file.read_text(encoding="utf-8")):
            found += [("grounded", "faithful", scenario, answer) for answer in scenario.get("grounded", ())]
            found += [("uncertain", "open", scenario, answer) for answer in scenario.get("uncertain", ())]
            for kind, answers in scenario.get("contradicted", {}).items():
                found += [("contradicted", kind, scenario, answer) for answer in answers]
    return found


def grounding_of(scenario: dict, answer: str) -> Grounding:
    return ground(scenario["outputs"], answer, scenario.get("task"), now=scenario.get("now"))


@pytest.mark.parametrize(
    ("verdict", "kind", "scenario", "answer"),
    [pytest.param(*pair, id=f"{pair[2]['about']}-{pair[1]}-{pair[3][:40]}") for pair in pairs()],
)
def test_the_verdict_is_the_golden_one(verdict, kind, scenario, answer):
    grounding = grounding_of(scenario, answer)
    # A rival that only the words name leaves the answer open: on answers of real models that reason accuses
    # clean answers more often than corrupted ones.
    allowed = {verdict, "uncertain"} if verdict == "contradicted" else {verdict}
    assert grounding.verdict in allowed, [(c.text, c.verdict.value, c.reason) for c in grounding.claims]


def test_there_are_enough_kinds_of_corruption():
    kinds = collections.Counter(kind for verdict, kind, *_ in pairs() if verdict == "contradicted")
    assert len(kinds) >= 12
    assert len(pairs()) >= 500


def test_every_claim_quotes_the_answer_and_gives_a_reason():
    for _, _, scenario, answer in pairs():
        for claim in grounding_of(scenario, answer).claims:
            assert claim.text == answer[claim.start : claim.end]
            assert claim.reason
            if claim.evidence is not None and claim.evidence.output is not None:
                assert 0 <= claim.evidence.output < len(scenario["outputs"])
