"""The operation that a claim names: what it gives, and that an operand is not accepted in its place."""

from __future__ import annotations

import pytest

from spanproof.evaluators.groundedness_rules import GroundednessRule as Rule
from spanproof.evaluators.layers.groundedness import Verdict, ground
from spanproof.evaluators.layers.groundedness.choose.features import is_operand, is_slip_of_result
from spanproof.evaluators.layers.groundedness.solve.requested import Op
from spanproof.evaluators.layers.groundedness.solve.solver import solve
from spanproof.evaluators.layers.groundedness.sources.model import Context, gather
from spanproof.reading.documents.read import read_facts

TABLE = (
    "| (in thousands) | 2019 | 2018 | 2017 |\n|---|---|---|---|\n"
    "| Freight | 846 | 620 | 500 |\n| Wages | 310 | 305 | 290 |\n| Change in stock | 12 | 30 | 9 |"
)


def derivation_of(answer, task="", output=TABLE):
    binding, derivation = solve(gather([output], Context(task)), answer).values[0]
    return binding, derivation


@pytest.mark.parametrize(
    ("answer", "op", "value"),
    [
        ("The average freight in 2018 and 2019 was 999 thousand.", Op.MEAN, 733_000),
        ("The change in freight from 2018 to 2019 was 999 thousand.", Op.DIFFERENCE, 226_000),
        ("The percentage change in freight from 2018 to 2019 was 99.9%.", Op.CHANGE, 226 / 620 * 100),
        ("The average freight from 2017 to 2019 was 999 thousand.", Op.MEAN, 1_966_000 / 3),
    ],
)
def test_what_the_named_operation_gives_refutes_the_stated_value(answer, op, value):
    _, derivation = derivation_of(answer)
    assert derivation.requested.hit is None
    assert derivation.requested.other.op is op
    assert derivation.requested.other.value == pytest.approx(value)


def test_an_operand_is_no_result():
    binding, derivation = derivation_of("The average freight in 2018 and 2019 was 846 thousand.")
    assert binding.equal
    assert is_operand(binding, derivation, read_facts([TABLE]))


def test_a_cell_that_is_named_by_the_operation_is_its_result():
    binding, derivation = derivation_of("The change in stock in 2019 was 12 thousand.")
    assert not is_operand(binding, derivation, read_facts([TABLE]))


def test_a_misprinted_result_is_known_as_such():
    binding, derivation = derivation_of("The average freight in 2018 and 2019 was 783 thousand.")
    assert is_slip_of_result(binding.frame, derivation)
    binding, derivation = derivation_of("The average freight in 2018 and 2019 was 733 thousand.")
    assert not is_slip_of_result(binding.frame, derivation)
    assert derivation.requested.hit is not None


def test_a_short_answer_is_read_with_its_question():
    _, derivation = derivation_of("733 thousand", "What was the average freight in 2018 and 2019?")
    assert derivation.requested.hit.op is Op.MEAN


def test_a_minus_that_no_program_gives_makes_another_value():
    _, derivation = derivation_of("The average freight in 2018 and 2019 was -733 thousand.")
    assert not derivation.hits


@pytest.mark.parametrize(
    ("task", "answer", "verdict"),
    [
        ("In which year was freight higher, 2018 or 2019?", "2019.", Verdict.GROUNDED),
        ("In which year was freight lower, 2018 or 2019?", "2019.", Verdict.CONTRADICTED),
        ("", "Wages were highest in 2019.", Verdict.GROUNDED),
        ("", "Wages were highest in 2017.", Verdict.CONTRADICTED),
        ("", "Something else was highest in 2017.", Verdict.UNCERTAIN),
    ],
)
def test_a_row_decides_which_of_its_years_has_the_most(task, answer, verdict):
    assert ground([TABLE], answer, task).verdict is verdict


@pytest.mark.parametrize(
    ("output", "answer", "op"),
    [
        ('{"spend_cents": 1249900, "signups": 416}', "That is €30.05 per signup.", Op.RATIO),
        ("Respondents: 1,250\nSatisfied: 68.4%", "855 of the respondents are satisfied.", Op.SHARE),
        ('{"from": "GBP", "to": "USD", "rate": 1.3142, "amount": 250}', "That is $328.55.", Op.PRODUCT),
    ],
)
def test_prices_each_shares_of_counts_and_rates_are_derived(output, answer, op):
    _, derivation = derivation_of(answer, output=output)
    assert derivation.hits
    assert derivation.hits[0].op is op


NET = "n,net\nA,100.50\nB,250.25\nC,99.75"
LISTED = "A 100.50, B 250.25, C 99.75"


@pytest.mark.parametrize(
    ("outputs", "answer", "verdict"),
    [
        (["22.8 24.0"], "22.8 of the 24 recorded hours were billable (95 %).", Verdict.GROUNDED),
        (["22.8 24.0"], "22.8 of the 24 recorded hours were billable (92 %).", Verdict.CONTRADICTED),
        (['{"may": 400, "june": 500}'], "Sales went from 400 to 500, an increase of 25%.", Verdict.GROUNDED),
        (['{"may": 400, "june": 500}'], "It went from 400 to 500, an increase of 35%.", Verdict.CONTRADICTED),
        ([NET], f"{LISTED}: 450.50 in total.", Verdict.GROUNDED),
        ([NET], f"{LISTED}: 405.50 in total.", Verdict.CONTRADICTED),
        ([NET], "The three come to 405.50 in total.", Verdict.CONTRADICTED),
    ],
)  # fmt: skip
def test_what_the_values_of_an_answer_give_bears_out_or_refutes_its_result(outputs, answer, verdict):
    assert ground(outputs, answer).verdict is verdict


@pytest.mark.parametrize(
    "answer",
    [
        "The total with delivery is 478.50; A is 100.50, B 250.25 and C 99.75.",
        "A has 100.50 of 250.25, with 80 % confidence.",
        "From 100.50 to 250.25, an increase of 50% a year.",
        "Of a total of 1,200.00 the first three are 100.50, 250.25 and 99.75.",
    ],
)
def test_another_operation_on_values_of_an_answer_refutes_nothing(answer):
    grounding = ground([NET], answer)
    assert all(claim.rule is not Rule.OWN_RESULT for claim in grounding.claims), grounding.claims
