"""A misquote of the amount that the code printed last fails, whatever is printed around it."""

from __future__ import annotations

import pytest

from spanproof.evaluators.layers.groundedness import Verdict, build_ledger

TASK = "What do fees cost in euros?"


@pytest.mark.parametrize(
    ("outputs", "task", "answer", "verdict"),
    [
        # The amount in two units.
        (["[2150, 1900]", "4050 40.5\n"], TASK, "Fees cost 45.00.", Verdict.CONTRADICTED),
        (["[2150, 1900]", "4050 40.5\n"], TASK, "Fees cost 405.00.", Verdict.CONTRADICTED),
        (["[2150, 1900]", "4050 40.5\n"], TASK, "Fees cost 40.50.", Verdict.GROUNDED),
        # The answer names the unit of a number that was printed without one.
        (["52.8", "190.07999\n"], "How much is it in megajoules?", "It is 190.08 MJ.", Verdict.UNCERTAIN),
        # The task names the unit of the only number.
        (["412\n"], "How many kilometres did it drive?", "It drove 412 km.", Verdict.GROUNDED),
        (["412\n"], "How many kilometres did it drive?", "It drove 412 miles.", Verdict.UNCERTAIN),
        (["4500\n"], "How many cents is it?", "It is 4500 cents.", Verdict.GROUNDED),
        (["4500\n"], "How much is it?", "It is 4500 cents.", Verdict.UNCERTAIN),
        # Two amounts that have nothing to do with each other: which one is meant is not certain.
        (["4050 41.2\n"], TASK, "Fees cost 45.00.", Verdict.UNCERTAIN),
        # A number that the task gives as a name is no amount.
        (
            ["[(7,)]", "{'order_id': 7, 'fee_eur': 40.5}"],
            "What is the fee of order 7?",
            "The fee is 45.00.",
            Verdict.CONTRADICTED,
        ),
    ],
)  # fmt: skip
def test_another_figure_than_the_printed_one_fails(outputs, task, answer, verdict) -> None:
    assert build_ledger(outputs, answer, task).verdict is verdict


def test_an_error_that_speaks_of_zero_gives_no_figure() -> None:
    """Division by zero in an earlier step does not excuse a misquote."""
    error = "ZeroDivisionError: division by zero"
    assert build_ledger(["4050\n"], "Fees cost 45.10.", TASK, errors=[error]).verdict is Verdict.CONTRADICTED


LINES = "lamp 3000 refunded\nbulb 1500 refunded\n"
REFUND_TASK = "What is the total refund in dollars for order A-17?"


@pytest.mark.parametrize("printed", ["45.0\n", "4500 45.0\n"])
def test_the_amount_that_was_printed_last_is_what_the_task_requested(printed: str) -> None:
    assert (
        build_ledger([LINES, printed], "The refund of order A-17 is $45.00.", REFUND_TASK).verdict
        is Verdict.GROUNDED
    )


@pytest.mark.parametrize(
    ("printed", "answer"),
    [
        ("4500 45.0\n", "The refund of order A-17 is $4,500."),
        ("4500 45.0\n", "The refund of order B-17 is $45.00."),
        ("4500 45.0\n", "The refund of order A-17 is $45.00, without the lamp."),
    ],
)
def test_another_amount_or_more_than_the_amount_is_not_grounded(printed: str, answer: str) -> None:
    assert build_ledger([LINES, printed], answer, REFUND_TASK).verdict is not Verdict.GROUNDED


def test_to_add_up_is_no_direction() -> None:
    printed = "total cents: 4500\ntotal dollars: 45.0\n"
    answer = "The refunds of order A-17 add up to $45.00."
    assert (
        build_ledger([printed], answer, "What is the total refund of order A-17 in dollars?").verdict
        is Verdict.GROUNDED
    )


def test_the_number_of_an_order_is_no_second_amount() -> None:
    answer = "The total of order 12 is $54.00."
    task = "What is the total of order 12?"
    assert build_ledger(["total: $45.00\n"], answer, task).verdict is Verdict.CONTRADICTED
    assert (
        build_ledger(["total: $45.00\n"], "The total of order 12 is $45.00.", task).verdict
        is Verdict.GROUNDED
    )


def test_an_amount_is_bound_where_it_was_printed_last() -> None:
    """Among values of several kinds, too: their order is that of the outputs."""
    outputs = ["18750 187.5\n", "Your total: $187.50\n"]
    (claim,) = build_ledger(outputs, "The goods cost $187.50.", "What do the goods cost?").claims
    assert claim.evidence is not None
    assert claim.evidence.output == 1
