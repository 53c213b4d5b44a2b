"""The tutorial's right figure is checked, and each other figure in its place is contradicted."""

from __future__ import annotations

import pytest

from spanproof.evaluators.layers.groundedness import Verdict, build_ledger

TASK = "What is the total refund in dollars for order A-17?"
OUTPUTS = ["[{'item': 'lamp', 'cents': 3000}, {'item': 'bulb', 'cents': 1500}]", "45.0"]
CODE = [
    "lines = refund_lines(order_id='A-17')\nprint(lines)",
    "print(sum(line['cents'] for line in lines) / 100)",
]
OTHERS = ("54.00", "15.00", "30.00", "75.00", "60", "3", "0.33", "77.31", "4500", "17", "-45.00", "45.01")


def test_the_right_figure_is_checked():
    ledger = build_ledger(OUTPUTS, "The refund of order A-17 is $45.00.", TASK, code=CODE)
    assert ledger.verdict is Verdict.GROUNDED


@pytest.mark.parametrize("figure", OTHERS)
def test_each_other_figure_is_contradicted(figure):
    ledger = build_ledger(OUTPUTS, f"The refund of order A-17 is ${figure}.", TASK, code=CODE)
    assert ledger.verdict is Verdict.CONTRADICTED


def test_words_that_no_output_bears_out_leave_the_right_figure_open():
    ledger = build_ledger(
        OUTPUTS, "The refund of order A-17 is $45.00. The lamp was damaged.", TASK, code=CODE
    )
    assert ledger.verdict is Verdict.UNCERTAIN


@pytest.mark.parametrize(
    ("answer", "verdict"),
    [
        ("A box of tea costs $45.00.", Verdict.GROUNDED),
        ("A box of tea costs $54.00.", Verdict.CONTRADICTED),
        ("A box of tea costs $4,500.00.", Verdict.CONTRADICTED),
    ],
)
def test_a_bare_print_is_in_the_unit_of_the_printed_name(answer, verdict):
    code = ["cents = price_of('tea')\nprint(cents)"]
    ledger = build_ledger(["4500\n"], answer, "What does a box of tea cost, in dollars?", code=code)
    assert ledger.verdict is verdict
