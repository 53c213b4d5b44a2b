"""Rates, multiples and spans of time are derived; what takes a further step is left open."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from spanproof.evaluators.layers.groundedness import Verdict, ground

FLAT = "Flat, rent 1,150 € per month, utilities 180 € per month."
PLAN = '{"plan": "Pro", "monthly_price": 29, "currency": "USD"}'
FLIGHT = '{"flight": "SK 1422", "dep": "07:25", "arr": "09:40"}'
ERRORS = '{"window": "1h", "requests": 184220, "errors": 921}'
TEST = '{"A": {"n": 120, "converted": 18}, "B": {"n": 118, "converted": 27}}'


@pytest.mark.parametrize(
    ("output", "answer", "verdict"),
    [
        (FLAT, "The rent is €13,800 a year.", Verdict.GROUNDED),
        (FLAT, "The rent is €12,800 a year.", Verdict.CONTRADICTED),
        (FLAT, "Rent and utilities come to €1,330 per month.", Verdict.GROUNDED),
        (FLAT, "With utilities you pay €15,960 per year.", Verdict.GROUNDED),
        (PLAN, "That is $348 a year.", Verdict.GROUNDED),
        (PLAN, "That is $384 a year.", Verdict.CONTRADICTED),
        ("The trail is 12 km long.", "The round trip is 24 km.", Verdict.GROUNDED),
        ("300 g flour, 150 g sugar", "Double everything: 600 g flour and 300 g sugar.", Verdict.GROUNDED),
        (FLIGHT, "The flight takes 2 hours and 15 minutes.", Verdict.GROUNDED),
        (FLIGHT, "The flight takes 3 hours and 15 minutes.", Verdict.CONTRADICTED),
        (ERRORS, "That is about 51 requests per second.", Verdict.GROUNDED),
        (ERRORS, "That is about 510 requests per second.", Verdict.CONTRADICTED),
        (ERRORS, "99.5% of the requests succeeded.", Verdict.UNCERTAIN),
        (TEST, "B's rate is 7.9 percentage points higher than A's.", Verdict.UNCERTAIN),
        (TEST, "In all, 238 users took part.", Verdict.GROUNDED),
        ('{"nightly_rate": 96.0, "nights": 3}', "Three nights come to €288.", Verdict.GROUNDED),
        ('{"start": "09:00", "end": "10:30"}', "It lasts 90 minutes.", Verdict.GROUNDED),
    ],
)
def test_what_follows(output, answer, verdict):
    grounding = ground([output], answer)
    assert grounding.verdict is verdict, [(claim.text, claim.reason) for claim in grounding.claims]


def test_the_answer_may_go_on_reckoning_with_what_it_derived():
    output = "The plan costs $29 per month, or $276 per year."
    answer = "Twelve months at $29 make $348 a year; the annual plan at $276 saves you $72."
    assert ground([output], answer).verdict is Verdict.GROUNDED


def test_days_left_are_counted_from_the_runs_clock():
    now = datetime(2026, 5, 2, 12, tzinfo=UTC)
    assert (
        ground(['{"expires": "2026-05-16"}'], "It is valid for 14 more days.", now=now).verdict
        is Verdict.GROUNDED
    )


def test_a_fact_named_in_full_is_not_excused_by_a_further_step():
    output = '{"city": "Bergen", "temp_c": 20, "humidity_pct": 61}'
    assert ground([output], "Humidity is 67%.").verdict is Verdict.CONTRADICTED


def test_a_difference_of_amounts_is_no_percentage():
    output = "month,kwh\n2026-07,412.5\n2026-08,455.2\n"
    assert ground([output], "It rose by 43% from July to August.").verdict is Verdict.CONTRADICTED


def test_units_of_one_kind_are_reckoned_in_one():
    output = "Mem: total=31GiB available=19GiB\n"
    assert ground([output], "12 TB are in use.").verdict is not Verdict.GROUNDED


FERRY = "Crossing time 75 min. Car 17.50 €, passenger 4.20 €, bicycle 3.10 €. Departures 07:00, 10:30."
PLANS = "plan,members_2024,members_2025\nBasic,840,912\nFamily,125,171\n"


@pytest.mark.parametrize(
    ("output", "answer", "verdict"),
    [
        (FERRY, "The crossing takes an hour and 15 minutes.", Verdict.GROUNDED),
        (FERRY, "The crossing takes an hour and 45 minutes.", Verdict.CONTRADICTED),
        (FERRY, "A car with two passengers costs €25.90.", Verdict.UNCERTAIN),
        (FERRY, "A passenger pays €4.80.", Verdict.CONTRADICTED),
        (PLANS, "Family shows growth at 36.8%, from 125 to 171.", Verdict.GROUNDED),
        (PLANS, "Family shows growth at 46.8%, from 125 to 171.", Verdict.CONTRADICTED),
        (PLANS, "One of the two plans is called Family.", Verdict.GROUNDED),
    ],
)
def test_what_is_reckoned_of_several_values(output, answer, verdict):
    grounding = ground([output], answer)
    assert grounding.verdict is verdict, [(claim.text, claim.reason) for claim in grounding.claims]
