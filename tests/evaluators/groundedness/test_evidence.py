"""What a contradiction rests on: without it a number that no output gives is left open."""

from __future__ import annotations

import json

import pytest

from spanproof.evaluators.layers.groundedness import Verdict, ground

STOCK = json.dumps({"bolts": 1840, "nuts": 960, "washers": 2215})
TEAMS = json.dumps([{"team": "Red", "points": 31, "goals": 44}, {"team": "Blue", "points": 27, "goals": 39}])


def judged(output: str, answer: str, task: str | None = None) -> Verdict:
    return ground([output], answer, task).verdict


@pytest.mark.parametrize(
    "answer",
    [
        "About 370 boxes are needed for the bolts.",
        "The shelf holds 55 kg of bolts.",
        "At this pace the nuts last 17 weeks.",
        "62% of the shelf is taken.",
    ],
)
def test_what_may_be_reckoned_in_a_way_no_rule_knows_is_open(answer):
    verdict = judged(json.dumps({"bolts": 1840, "nuts": 960, "kg": 71, "weeks": 3, "shelf": 400}), answer)
    assert verdict is Verdict.UNCERTAIN


@pytest.mark.parametrize(
    ("answer", "how"),
    [
        ("There are 1,480 bolts.", "its digits in another order"),
        ("There are 2,275 washers.", "another digit"),
        ("There are 9,600 nuts.", "a power of ten off"),
    ],
)
def test_a_slip_of_a_value_is_contradicted_and_told(answer, how):
    grounding = ground([STOCK], answer)
    assert grounding.verdict is Verdict.CONTRADICTED
    assert how in grounding.claims[0].reason


@pytest.mark.parametrize(
    ("output", "answer", "how"),
    [
        ('{"uptime_s": 1209600, "restarts": 3}', "It has been up for 14 hours.", "another unit"),
        ('{"requests_per_minute": 5400}', "It handles 5,400 requests per second.", "another period"),
    ],
)
def test_a_value_told_in_another_unit_or_for_another_period_is_another_value(output, answer, how):
    grounding = ground([output], answer)
    assert grounding.verdict is Verdict.CONTRADICTED
    assert how in grounding.claims[0].reason


def test_among_many_values_a_slip_is_chance():
    readings = json.dumps({"readings": list(range(100, 400, 3))})
    assert judged(readings, "The model settled at 272 in the end.") is Verdict.UNCERTAIN


def test_a_named_value_leaves_another_number_open():
    grounding = ground([TEAMS], "Blue have 12 points.")
    assert grounding.verdict is Verdict.UNCERTAIN
    assert "[1].points: 27" in grounding.claims[-1].reason


def test_a_total_of_the_only_column_that_can_be_meant_is_settled():
    assert judged(TEAMS, "In total they have 58 points.") is Verdict.GROUNDED
    assert judged(TEAMS, "In total they have 85 points.") is Verdict.CONTRADICTED


def test_a_share_of_two_values_the_sentence_tells_is_settled():
    assert judged(STOCK, "Of 1,840 bolts and 960 nuts, the nuts make 52%.") is not Verdict.CONTRADICTED
    assert judged('{"seats": 25, "taken": 18}', "18 of the 25 seats (72%) are taken.") is Verdict.GROUNDED
    assert judged('{"seats": 25, "taken": 18}', "18 of the 25 seats (91%) are taken.") is Verdict.CONTRADICTED


def test_what_no_two_values_can_give_is_made_up():
    assert judged('{"city": "Lund", "inhabitants": 94393}', "Lund covers 27 km².") is Verdict.CONTRADICTED


def test_a_derivation_from_another_row_bears_nothing_out():
    rows = json.dumps(
        [{"variant": "A", "visits": 800, "sales": 40}, {"variant": "B", "visits": 900, "sales": 63}]
    )
    assert judged(rows, "B converted 7% of its visits.") is Verdict.GROUNDED
    assert judged(rows, "A converted 7% of its visits.") is not Verdict.GROUNDED


def test_a_state_of_another_row_bears_nothing_out():
    rows = json.dumps([{"item": "Rug", "status": "in transit"}, {"item": "Shelf", "status": "backordered"}])
    assert judged(rows, "The rug is in transit.") is Verdict.GROUNDED
    assert judged(rows, "The shelf is in transit.") is not Verdict.GROUNDED
    assert judged(rows, "The rug has been delivered.") is Verdict.UNCERTAIN


ROTA = json.dumps([{"name": name, "shift": shift} for name, shift in zip("ABCDE", "NNDDD", strict=True)])
PLANS = json.dumps([{"plan": "basic", "price": 10}, {"plan": "pro", "price": 25}])
WINDOW = '{"from": "2025-05-05", "to": "2025-05-16"}'


@pytest.mark.parametrize(
    ("output", "answer", "how"),
    [
        ('{"guests": 52, "rooms": 17, "floors": 4}', "There are 25 guests.", "its digits in another order"),
        ('{"guests": 52, "rooms": 17, "floors": 4}', "About 5,200 came.", "a power of ten off"),
        ('{"warranty_months": 24, "weight_kg": 3.5}', "The warranty is 26 months.", "another digit"),
        ('{"seats": 16, "price": 48.5}', "Each one is $16.", "another unit"),
        (json.dumps({"unit": "in thousands", "sales_k": 5310}), "Sales were $5.13 million.", "another order"),
    ],
)
def test_a_slip_of_few_digits_is_told_where_few_values_are_about(output, answer, how):
    grounding = ground([output], answer)
    assert grounding.verdict is Verdict.CONTRADICTED
    assert any(how in claim.reason for claim in grounding.claims)


def test_two_digits_turned_round_are_chance_among_many_values():
    many = json.dumps({f"sensor {place}": value for place, value in enumerate(range(11, 99, 3))})
    assert judged(many, "It went on for 37 rounds more.") is not Verdict.CONTRADICTED
    assert judged(many, "The limit of 51 was kept.") is not Verdict.CONTRADICTED


@pytest.mark.parametrize(
    ("output", "answer"),
    [
        ('["red", "blue", "green"]', "There are five colours."),
        (ROTA, "4 people work shift N."),
        (PLANS, "Pro is $20 more expensive."),
        (WINDOW, "It runs from May 5 to June 16, 2025."),
    ],
)
def test_what_leaves_no_other_value_is_contradicted(output, answer):
    assert judged(output, answer) is Verdict.CONTRADICTED


@pytest.mark.parametrize(
    ("output", "answer"),
    [
        ('["red", "blue", "green"]', "There are two that she likes: red and blue."),
        (ROTA, "The 5 people work shifts N and D."),
        (ROTA, "Of 5 people two work shift N."),
        (PLANS, "Pro is $180 more expensive over a year."),
        ('{"passed": 171, "failed": 9, "total": 180}', "20% of the failed ones were slow."),
        ('{"passed": 171, "failed": 9, "total": 180}', "40% failed on Mondays."),
        ('{"passed": 90, "failed": 10, "skipped": 5, "total": 105}', "90% passed."),
        ('{"yes": 16, "no": 19}', "61 voted yes or did not vote."),
    ],
)
def test_what_may_be_a_part_or_for_another_period_is_not(output, answer):
    assert judged(output, answer) is not Verdict.CONTRADICTED


def test_of_rows_that_a_number_s_words_name_those_of_the_first_word_are_told():
    lines = '[{"product": "Tent", "qty": 1}, {"product": "Peg set", "qty": 4}]'
    grounding = ground([f'{{"order": {{"lines": {lines}}}}}'], "They ordered 1 Peg set.")
    assert [claim.evidence.derivation for claim in grounding.claims] == ["rows of order.lines named peg = 1"]


def test_a_slip_of_a_result_points_to_the_output_that_gives_it():
    outputs = ["lamp 3000 refunded\nbulb 1500 refunded", "4500"]
    task = "What is the total refund in dollars for order A-17?"
    claim = ground(outputs, "The refund of order A-17 is $54.00.", task).claims[-1]
    assert claim.verdict is Verdict.CONTRADICTED
    assert claim.evidence is not None
    assert (claim.evidence.output, claim.evidence.text) == (1, "4500")
