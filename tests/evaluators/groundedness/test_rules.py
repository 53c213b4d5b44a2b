"""Rules: each has an id, a line with an example in the documentation, and a switch that takes it out."""

from __future__ import annotations

from pathlib import Path

import pytest

from spanproof.evaluators.groundedness_rules import GroundednessRule as Rule
from spanproof.evaluators.layers.groundedness import Verdict, ground

PAGE = Path(__file__).parents[3] / "docs/layers/groundedness.md"
TASK = "Book a table at 19:45."
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
    Rule.SLIP: (["4500"], "The refund is $54.00.", Verdict.CONTRADICTED),
    Rule.LATER_WORD: (['{"open_tickets": 18}', '{"open_tickets": 11}'], "There are 18 open tickets.", Verdict.CONTRADICTED),  # noqa: E501
    Rule.ONLY_VALUE: (['{"temperature": 21.5}'], "The temperature is 7.25 degrees.", Verdict.CONTRADICTED),
    Rule.UNKNOWN_IDENTIFIER: (['[{"flight": "HAT083"}, {"flight": "HAT136"}]'], "I booked HAT683.", Verdict.CONTRADICTED),  # noqa: E501
    Rule.KNOWN_IDENTIFIER: (['[{"flight": "HAT083"}, {"flight": "HAT136"}]'], "I booked HAT083.", Verdict.GROUNDED),  # noqa: E501
    Rule.GIVEN_VALUE: (["ok"], "The table is booked for 19:45.", Verdict.GROUNDED),
    Rule.LONE_RECORD: (["4500"], "The refund is $45.00.", Verdict.GROUNDED),
    Rule.PRINTED_RESULT: (["Lamp"], "The Lamp", Verdict.GROUNDED),
    Rule.OTHER_RECORD: ([ROOMS], "Room 102 costs 138.75.", Verdict.CONTRADICTED),
    Rule.KNOWN_STATE: (['{"order": "A-17", "status": "shipped"}'], "Order A-17 is shipped.", Verdict.GROUNDED),  # noqa: E501
    Rule.FLAG: (['{"code": "PX4", "online": false}'], "PX4 is online.", Verdict.CONTRADICTED),
    Rule.OTHER_SCALE: (['{"size_bytes": 53018624}'], "The file has about 53 GB.", Verdict.CONTRADICTED),
    Rule.OWN_RESULT: (["22.8 24.0"], "22.8 of 24 hours were billable, which is 92 %.", Verdict.CONTRADICTED),
    Rule.OTHER_FIELD: (['{"flight": "HAT083", "prices": {"economy": 130, "business": 282}}'], "HAT083: Business $130.", Verdict.CONTRADICTED),  # noqa: E501
    Rule.DIRECTION: (['{"may": 120, "june": 90}'], "Sales rose from 120 to 90.", Verdict.CONTRADICTED),
    Rule.SUPERLATIVE: ([PRODUCTS], "The cheapest product is the Lamp.", Verdict.CONTRADICTED),
    Rule.COMPARISON: ([PRODUCTS], "The Lamp is cheaper than the Bulb.", Verdict.CONTRADICTED),
    Rule.QUANTIFIER: ([PRODUCTS], "All products are available.", Verdict.CONTRADICTED),
}  # fmt: skip


def test_each_rule_has_an_example_and_a_line_in_the_documentation():
    page = PAGE.read_text(encoding="utf-8")
    missing = [rule.value for rule in Rule if f"| `{rule.value}` |" not in page]
    assert not missing, f"document in {PAGE.name}: {missing}"
    assert EXAMPLES.keys() == set(Rule)


@pytest.mark.parametrize("rule", list(Rule), ids=str)
def test_a_rule_decides_its_example(rule):
    outputs, answer, verdict = EXAMPLES[rule]
    decided = [claim for claim in ground(outputs, answer, TASK).claims if claim.verdict is verdict]
    assert decided, f"no claim of {answer!r} is {verdict}"
    without = ground(outputs, answer, TASK, without_rules=[rule])
    assert all(claim.rule is not rule for claim in without.claims)


@pytest.mark.parametrize(
    ("output", "task", "answer"),
    [
        ("0.044270833333333336", "Which share of the wells failed?", "6.4 % of the wells failed."),
        ("1539.15", "What do all rooms bring?", "All rooms bring 1,847.15."),
    ],
)
def test_another_value_than_the_one_printed_last_is_contradicted(output, task, answer):
    (claim,) = ground(["well,state\nA1,ok", output], answer, task).claims
    assert (claim.verdict, claim.rule) == (Verdict.CONTRADICTED, Rule.ONLY_VALUE)


@pytest.mark.parametrize(
    ("output", "task", "answer"),
    [
        ("0.9731", "How good is the model?", "The error rate is 2.69%."),
        ("1539.15", "I have a budget of 2000. What is left?", "You have $460.85 left."),
        ("273.15", "How warm is it?", "It is 0 degrees Celsius."),
        ("12", "What do they cost?", "They cost $451.20."),
    ],
)
def test_what_a_printed_value_may_have_become_is_not(output, task, answer):
    assert ground([output], answer, task).verdict is not Verdict.CONTRADICTED
