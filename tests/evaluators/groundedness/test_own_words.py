"""A user's own words for states: in answers, in outputs, and for states that no one else has."""

from __future__ import annotations

from dataclasses import replace

import pytest

from spanproof.evaluators.layers import groundedness
from spanproof.evaluators.layers.groundedness import Verdict, build_ledger
from spanproof.evaluators.model import UserHints
from spanproof.trace import Payload

SHIPPED = {"shipped": ["on the truck", "ausgeliefert"]}
OWN = {"quarantined": ["in the cage"], "released": ["out of the cage"]}


@pytest.mark.parametrize(
    ("output", "answer", "synonyms", "verdict"),
    [
        ('{"status": "shipped"}', "Your order is on the truck.", SHIPPED, Verdict.GROUNDED),
        ('{"status": "AUSGELIEFERT"}', "Your order is shipped.", SHIPPED, Verdict.GROUNDED),
        ('{"status": "cancelled"}', "Your order is on the truck.", SHIPPED, Verdict.CONTRADICTED),
        ('{"status": "on_the_truck"}', "Your order is cancelled.", SHIPPED, Verdict.CONTRADICTED),
        ('{"status": "cancelled"}', "Your order is on the truck.", {}, Verdict.UNCERTAIN),
        ('{"lot": "quarantined"}', "The batch is in the cage.", OWN, Verdict.GROUNDED),
        ('{"lot": "quarantined"}', "The batch is out of the cage.", OWN, Verdict.UNCERTAIN),
    ],
)
def test_a_users_words_mean_the_state_they_are_given_for(output, answer, synonyms, verdict):
    assert build_ledger([output], answer, synonyms=synonyms).verdict is verdict


def test_the_words_reach_the_layer_with_the_evidence(build, score_of):
    snippet = build.snippet("print(status())", observation='{"status": "cancelled"}')
    said = "Your order is on the truck."
    evidence = build.evidence(build.run([snippet], answer=Payload(said, said)))
    hinted = replace(evidence, hints=UserHints(synonyms={"shipped": ("on the truck",)}))
    outcome = score_of(groundedness.evaluate_groundedness(hinted), "groundedness")
    assert "on the truck" in str(outcome)
    assert "status: cancelled" in str(outcome)
