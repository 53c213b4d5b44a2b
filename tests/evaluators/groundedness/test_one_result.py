"""The one result of a short run: another figure fails, and a figure that follows from it does not."""

from __future__ import annotations

import pytest

from spanproof.evaluators.layers.groundedness import Verdict, build_ledger

WRONG = [
    # Printed by code, with numbers in the task and in earlier outputs.
    (["187\n"], "What is 17 times 11?", "178"),
    (["187\n"], "What is 17 times 11?", "The result is 178."),
    (["[17, 42, 128]\n", "187\n"], "Add the three orders of customer 7.", "178"),
    (["3120.5\n"], "What do 79 crates weigh at 39.5 kg a crate?", "3210.5"),
    (["0.847\n"], "What is the mean score of the 12 runs?", "The mean score is 0.874."),
    (["4\n", "96\n"], "How many chairs fit in 4 rooms?", "69"),
    (["2638.0\n"], "What is the total for 8 nights?", "The total is 2,863.0."),
    # Returned by a tool.
    (["165.0"], "What is the price of 3 lamps with 10% tax?", "156.0"),
    (["50.0", "165.0"], "What is the price of 3 lamps with 10% tax?", "156.0"),
    (['{"total": 165.0, "currency": "USD"}'], "What is the total of 3 lamps with 10% tax?", "156.0"),
    (['{"subtotal": 150.0, "tax": 15.0, "total": 165.0}'], "What is the total of 3 lamps?", "156.0"),
    (['{"days": 45, "rate": 71.5}'], "What is the rate for 6 guests?", "The rate is 75.1."),
    (['{"distance_km": 412.6}'], "What is the distance with 2 stops?", "The distance is 421.6 km."),
]
NOT_WRONG = [
    (["187\n"], "What is 17 times 11?", "187"),
    (["187.46\n"], "What is 17 times 11.03?", "187.5"),
    (["187.46\n"], "What is 17 times 11.03?", "It is about 190."),
    (["412.0\n"], "How far is it in miles? The limit is 500.", "It is 256 miles."),
    (["100.0\n"], "What is it in celsius? The last was 90.", "It is 37.8 °C."),
    (["5400\n"], "How many minutes is it for 2 people?", "90 minutes"),
    (["4500\n"], "What is the price of 3 lamps in dollars?", "$45.00"),
    (["0.847\n"], "What is the share of the 12 runs?", "84.7%"),
    (["165.0"], "What share of 500 is it?", "33%"),
    (["165.0"], "I have 200. What is left?", "35"),
    (["165.0"], "What is it with 10% tax?", "181.5"),
    (["165.0"], "What is it for each of 3 people?", "55"),
    (["12.5\n", "20.0\n", "45.0\n"], "What is the total of all three?", "77.5"),
    (["12.5\n", "20.0\n"], "What is the difference?", "7.5"),
    (["['a1', 'b2', 'c3']\n", "187\n"], "How many of the 40 are there?", "The total of order 178 is 187."),
    (["[12.5, 20.0, 45.0]\n"], "How many amounts are above 10?", "3"),
    (['{"subtotal": 150.0, "tax": 15.0, "total": 165.0}'], "What is the tax in percent of 3 lamps?", "10%"),
    (['{"order_id": 178, "total": 187.0}'], "Which order of the 12 is it?", "178"),
]


@pytest.mark.parametrize(("outputs", "task", "answer"), WRONG)
def test_a_figure_that_nothing_gives_is_contradicted(outputs, task, answer):
    assert build_ledger(outputs, answer, task).verdict is Verdict.CONTRADICTED


@pytest.mark.parametrize(("outputs", "task", "answer"), NOT_WRONG)
def test_a_figure_that_follows_is_not_contradicted(outputs, task, answer):
    assert build_ledger(outputs, answer, task).verdict is not Verdict.CONTRADICTED


def test_no_two_examples_of_a_prompt_give_a_figure():
    prompt = "For example: 5 + 3 + 1294.678 is 1302.678. In 1979 he had 80 pages, of which 26 are kept."
    ledger = build_ledger(
        ["[{'item': 'lamp', 'cents': 3000}, {'item': 'bulb', 'cents': 1500}]\n", "45.0\n"],
        "The refund of order A-17 is $54.00.",
        "What is the total refund in dollars for order A-17?",
        system=prompt,
    )
    assert ledger.verdict is Verdict.CONTRADICTED
