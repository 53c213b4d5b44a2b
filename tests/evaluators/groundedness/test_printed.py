"""Answers in words alone: what was printed last, or the row that a question for the most means."""

from __future__ import annotations

import pytest

from spanproof.evaluators.layers.groundedness import ClaimKind, Verdict, build_ledger


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
    ledger = build_ledger(["3 rows read", output], answer, task)

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
    assert build_ledger([output], answer, task).verdict is Verdict.UNCERTAIN
