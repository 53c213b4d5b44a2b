"""Rules: each has an id, a line with an example in the documentation, and a switch that takes it out."""

from __future__ import annotations

from pathlib import Path

import pytest

from spanproof.evaluators.groundedness_rules import GroundednessRule as Rule
from spanproof.evaluators.layers.groundedness import Doing, Verdict, build_ledger

PAGE = Path(__file__).parents[3] / "docs/layers/groundedness.md"
PRODUCTS = (
    '[{"name": "Lamp", "price": 40, "stock": 3, "status": "available"},'
    ' {"name": "Bulb", "price": 5, "stock": 90, "status": "available"},'
    ' {"name": "Chair", "price": 120, "stock": 7, "status": "unavailable"}]'
)
ROOMS = (
    '[{"room": "102", "rate": 131.00, "nights": 2, "guest": "Okafor"},'
    ' {"room": "204", "rate": 138.75, "nights": 5, "guest": "Lindqvist"}]'
)
EXAMPLES = {
    Rule.MISQUOTE: ([PRODUCTS], "The Chair has a price of 417.35."),
    Rule.PRINTED_RESULT: (["45.0"], "The refund is $77.31."),
    Rule.OTHER_RECORD: ([ROOMS], "Okafor has a rate of 138.75."),
    Rule.OVERTAKEN: (['{"open_tickets": 18}', '{"open_tickets": 11}'], "There are 18 open tickets."),
    Rule.UNKNOWN_IDENTIFIER: (
        ['[{"flight": "HAT083"}, {"flight": "HAT136"}]'],
        "The flight is HAT083 or HAT126.",
    ),
    Rule.KNOWN_STATE: (['{"order": "A-17", "status": "failed"}'], "Order A-17 is completed."),
    Rule.FLAG: (['{"code": "PX4", "online": false}'], "PX4 is online."),
    Rule.SUPERLATIVE: ([PRODUCTS], "The cheapest product is the Lamp."),
    Rule.DIRECTION: (['{"may": 120, "june": 90}'], "Sales rose from 120 to 90."),
    Rule.QUANTIFIER: ([PRODUCTS], "All products are available."),
    Rule.DOING: (["ok"], "I emailed the supplier."),
}
CALLS = [Doing("get_refund", "{}", succeeded=True, output=0, result="ok")]
TASK = "What is the refund?"


def test_each_rule_has_an_example_and_a_line_in_the_documentation():
    page = PAGE.read_text(encoding="utf-8")
    missing = [rule.value for rule in Rule if f"| `{rule.value}` |" not in page]
    assert not missing, f"document in {PAGE.name}: {missing}"
    assert EXAMPLES.keys() == set(Rule)


@pytest.mark.parametrize("rule", list(Rule), ids=str)
def test_a_rule_contradicts_its_example(rule):
    outputs, answer = EXAMPLES[rule]
    calls = CALLS if rule is Rule.DOING else []
    ledger = build_ledger(outputs, answer, TASK, doings=calls)
    assert rule in {claim.rule for claim in ledger.claims}
    assert ledger.verdict is Verdict.CONTRADICTED
    without = build_ledger(outputs, answer, TASK, doings=calls, without_rules=[rule])
    assert all(claim.rule is not rule for claim in without.claims)


@pytest.mark.parametrize(
    "amount", ["54.00", "77.31", "15.00", "30.00", "75.00", "60.00", "3.00", "0.33", "450"]
)
def test_another_figure_than_the_one_printed_last_is_contradicted(amount):
    outputs = ['[{"item": "lamp", "cents": 3000}, {"item": "bulb", "cents": 1500}]', "45.0"]
    task = "What is the total refund in dollars for order A-17?"
    assert (
        build_ledger(outputs, f"The refund of order A-17 is ${amount}.", task).verdict is Verdict.CONTRADICTED
    )
    assert build_ledger(outputs, "The refund of order A-17 is $45.00.", task).verdict is Verdict.GROUNDED


@pytest.mark.parametrize(
    ("output", "task", "answer"),
    [
        ("0.9731", "How good is the model?", "The error rate is 2.69%."),
        ("1539.15", "I have a budget of 2000. What is left?", "You have $460.85 left."),
        ("273.15", "How warm is it?", "It is 0 degrees Celsius."),
        ("12", "What do they cost?", "They cost $451.20 with shipping."),
    ],
)
def test_what_a_printed_value_may_have_become_is_not(output, task, answer):
    assert build_ledger([output], answer, task).verdict is not Verdict.CONTRADICTED
