"""Relative dates are held against the day the outputs call today, else against the run's clock."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone

import pytest

from spanproof.evaluators.layers.groundedness import Verdict, ground
from spanproof.evaluators.layers.groundedness.language.relative import relatives_in, todays

NOON = datetime(2026, 3, 18, 12, tzinfo=UTC)
DUE = '{"due": "2026-03-21"}'


@pytest.mark.parametrize(
    ("words", "day"),
    [
        ("yesterday", "2026-03-17"),
        ("in three days", "2026-03-21"),
        ("a week ago", "2026-03-11"),
        ("in two weeks", "2026-03-31"),
        ("last Friday", "2026-03-13"),
        ("next Wednesday", "2026-03-25"),
        ("this month", "2026-03-02"),
        ("last month", "2026-02-27"),
        ("in two months", "2026-05-20"),
        ("next year", "2027-01-05"),
        ("a week from Friday", "2026-03-27"),
        ("10 days from now", "2026-03-28"),
    ],
)
def test_the_words_reach_the_day(words, day):
    ((_, _, relative),) = relatives_in(words)
    assert relative.reaches(date.fromisoformat(day), NOON.date())


@pytest.mark.parametrize(
    ("words", "day"),
    [
        ("yesterday", "2026-03-16"),
        ("in three days", "2026-03-22"),
        ("in two weeks", "2026-04-08"),
        ("last Friday", "2026-03-20"),
        ("next month", "2026-05-01"),
    ],
)
def test_and_no_other(words, day):
    ((_, _, relative),) = relatives_in(words)
    assert not relative.reaches(date.fromisoformat(day), NOON.date())


def test_the_runs_clock_settles_it():
    assert ground([DUE], "It is due in three days.", now=NOON).verdict is Verdict.GROUNDED
    assert ground([DUE], "It is due tomorrow.", now=NOON).verdict is Verdict.CONTRADICTED
    assert ground([DUE], "It is due tomorrow.").verdict is Verdict.UNCERTAIN


def test_what_the_outputs_call_today_comes_before_the_clock():
    output = '{"today": "2026-03-20", "due": "2026-03-21"}'
    assert ground([output], "It is due tomorrow.", now=NOON).verdict is Verdict.GROUNDED


def test_near_midnight_a_day_that_is_over_somewhere_is_not_held_against_the_answer():
    late = NOON.replace(hour=22)
    assert ground([DUE], "It is due in two days.", now=late).verdict is Verdict.GROUNDED
    assert ground([DUE], "It is due in two days.", now=NOON).verdict is Verdict.CONTRADICTED
    zoned = late.astimezone(timezone(timedelta(hours=1)))
    assert ground([DUE], "It is due in two days.", now=zoned).verdict is Verdict.CONTRADICTED


@pytest.mark.parametrize(("hour", "days"), [(3, [18, 17]), (12, [18]), (20, [18, 19])])
def test_the_days_it_may_be(hour, days):
    assert [day.day for day in todays(hour, NOON.date())] == days


def test_today_as_a_manner_of_speaking_is_no_claim():
    claims = ground(['{"visitors": 40}'], "Here is today's figure: 40 visitors.", now=NOON).claims
    assert [claim.text for claim in claims] == ["40"]


def test_a_duration_is_not_taken_for_a_distance_from_today():
    output = '{"ordered": "2026-03-02", "delivered": "2026-03-05"}'
    assert ground([output], "It was delivered in 3 days.", now=NOON).verdict is not Verdict.CONTRADICTED


def test_a_day_without_a_year_is_the_closest_one():
    output = "The office is closed on Thursday 19 March."
    assert ground([output], "The office is closed tomorrow.", now=NOON).verdict is Verdict.GROUNDED
    assert ground([output], "The office is closed on March 20.").verdict is Verdict.CONTRADICTED
    assert ground([output], "The office is closed on March 19, 2026.").verdict is Verdict.GROUNDED


def test_the_relative_words_name_the_row_of_their_day():
    rows = '[{"date": "2026-03-18", "rain_pct": 20}, {"date": "2026-03-19", "rain_pct": 80}]'
    assert ground([rows], "Tomorrow the chance of rain is 80%.", now=NOON).verdict is Verdict.GROUNDED
    assert ground([rows], "Tomorrow the chance of rain is 20%.", now=NOON).verdict is Verdict.UNCERTAIN
