"""Answers in words alone: what was printed last, or the row that a question for the most means."""

from __future__ import annotations

import pytest

from spanproof.evaluators.layers.groundedness import ClaimKind, Verdict, ground

SALES = "product,revenue,units\nLaptop,120500,88\nPhone,98000,240\nTablet,45000,150\n"
CITIES = '[{"name": "Oslo", "area_km2": 454}, {"name": "Bergen", "area_km2": 465}]'


@pytest.mark.parametrize(
    ("output", "task", "answer"),
    [
        ("Laptop\n", "Which product has the highest revenue?", "Laptop"),
        (
            "Laptop\n",
            "Which product has the highest revenue?",
            "The product with the highest revenue is the Laptop.",
        ),
        ("best: Laptop\n", "Which product is best?", "**Laptop**"),
        ("['Oslo', 'Bergen']", "Which cities have more than 250,000 people?", "Oslo and Bergen"),
        ('{"capital": "Oslo", "country": "Norway"}', "What is the capital of Norway?", "Oslo."),
        ("Laptop\nNone", "What sells best?", "Laptop"),
    ],
)
def test_an_answer_that_says_what_was_printed_last_is_grounded(output: str, task: str, answer: str) -> None:
    ledger = ground(["3 rows read", output], answer, task)

    assert ledger.verdict is Verdict.GROUNDED
    claim = next(claim for claim in ledger.claims if claim.kind is ClaimKind.QUOTE)
    assert claim.evidence is not None
    assert claim.evidence.output == 1


@pytest.mark.parametrize(
    ("output", "task", "answer"),
    [
        ("Laptop\n", "Which one sells best?", "Phone"),
        ("Laptop\n", "Which one sells best?", "It is not the Laptop."),
        ("Laptop\n", "Which one sells best?", "Laptop and Phone"),
        (
            "Laptop\n",
            "Which product has the highest revenue?",
            "The product with the lowest revenue is the Laptop.",
        ),
        ("['Oslo', 'Bergen']", "Which cities are meant?", "Oslo"),
        ('{"capital": "Oslo", "currency": "Krone"}', "What is the capital of Norway?", "Krone"),
        ("", "Which one sells best?", "Laptop"),
    ],
)
def test_one_that_says_more_or_less_stays_open(output: str, task: str, answer: str) -> None:
    assert ground([output], answer, task).verdict is Verdict.UNCERTAIN


@pytest.mark.parametrize(
    ("output", "task", "answer", "verdict"),
    [
        (SALES, "Which product has the highest revenue?", "Laptop", Verdict.GROUNDED),
        (SALES, "Which product has the highest revenue?", "Phone", Verdict.CONTRADICTED),
        (SALES, "Which product sold the most units?", "Phone", Verdict.GROUNDED),
        (CITIES, "Which city has the smallest area?", "Oslo", Verdict.GROUNDED),
        (CITIES, "Which city has the smallest area?", "Bergen", Verdict.CONTRADICTED),
        # What chooses among the rows, or what is worked out from two columns, is not in one column.
        (SALES, "Which wireless product has the highest revenue?", "Phone", Verdict.UNCERTAIN),
        (SALES, "Which product has the highest revenue per unit?", "Phone", Verdict.UNCERTAIN),
        (SALES, "Which product has the second highest revenue?", "Phone", Verdict.UNCERTAIN),
        (SALES, "Which product has the highest revenue?", "Not the Phone", Verdict.UNCERTAIN),
        (SALES, "Which product has the highest revenue?", "Phone or Laptop", Verdict.UNCERTAIN),
    ],
)
def test_a_name_is_held_against_the_superlative_of_the_question(
    output: str, task: str, answer: str, verdict: Verdict
) -> None:
    assert ground([output], answer, task).verdict is verdict


def test_the_rule_can_be_switched_off() -> None:
    off = [GroundednessRule.PRINTED_RESULT]

    assert ground(["Laptop"], "Laptop", "Which?", without_rules=off).verdict is Verdict.UNCERTAIN
