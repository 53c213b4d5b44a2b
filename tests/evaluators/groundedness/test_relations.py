"""Superlatives, comparisons and quantifiers over the rows of a table or list."""

from __future__ import annotations

import pytest

from spanproof.evaluators.layers.groundedness import Cause, ClaimKind, Verdict, build_ledger

GROUNDED, CONTRADICTED, UNCERTAIN = Verdict.GROUNDED, Verdict.CONTRADICTED, Verdict.UNCERTAIN
JSON = (
    '[{"name": "Lamp", "price": 40, "stock": 3, "status": "available"},'
    ' {"name": "Bulb", "price": 5, "stock": 90, "status": "available"},'
    ' {"name": "Chair", "price": 120, "stock": 7, "status": "unavailable"}]'
)
CSV = "name,price,stock,status\nLamp,40,3,available\nBulb,5,90,available\nChair,120,7,unavailable"
CITIES = "| city | population | founded |\n|---|---|---|\n| Oslo | 709000 | 1048-01-01 |\n| Bergen | 291000 | 1070-01-01 |"  # noqa: E501


@pytest.mark.parametrize("output", [JSON, CSV], ids=["json", "csv"])
@pytest.mark.parametrize(
    ("answer", "verdict"),
    [
        ("The cheapest product is the Bulb.", GROUNDED),
        ("The cheapest product is the Lamp.", CONTRADICTED),
        ("The Chair is the most expensive.", GROUNDED),
        ("The Bulb has the most stock.", GROUNDED),
        ("The Lamp has the highest stock.", CONTRADICTED),
        ("The Lamp is cheaper than the Chair.", GROUNDED),
        ("The Lamp is cheaper than the Bulb.", CONTRADICTED),
        ("The Chair has more stock than the Bulb.", CONTRADICTED),
        ("All products are available.", CONTRADICTED),
        ("Not all products are available.", GROUNDED),
    ],
)
def test_what_a_column_decides(output, answer, verdict):
    assert build_ledger([output], answer).verdict is verdict


@pytest.mark.parametrize(
    "answer",
    [
        "The cheapest dimmable option is the Lamp.",
        "The Lamp is one of the cheapest.",
        "The Lamp is the second cheapest.",
        "Is the Lamp the cheapest?",
        "If you want the cheapest, take the Lamp.",
        "At least the Lamp has a low price.",
        "The Lamp is the best.",
        "Almost all products are available.",
        "All wooden products are available.",
    ],
)
def test_what_a_column_does_not_decide_is_no_accusation(answer):
    assert build_ledger([JSON], answer).verdict is not CONTRADICTED


def test_a_superlative_keeps_its_column_and_program_as_evidence():
    claims = build_ledger([CITIES], "Bergen has the highest population.").claims
    claim = next(claim for claim in claims if claim.kind is ClaimKind.SUPERLATIVE)
    assert claim.cause is Cause.OTHER_RESULT
    assert claim.evidence is not None
    assert claim.evidence.value == "709000"
    assert CITIES[claim.evidence.start : claim.evidence.end] == "709000"
    assert claim.evidence.derivation == "max(population of 2 rows) = 709000"


def test_earliest_goes_by_the_column_of_dates():
    assert build_ledger([CITIES], "Oslo has the earliest founded date.").verdict is GROUNDED
    assert build_ledger([CITIES], "Bergen has the earliest founded date.").verdict is CONTRADICTED
