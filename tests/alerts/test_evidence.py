"""A rule fires on evidence, ends on evidence, and pages seldom."""

from __future__ import annotations

from itertools import pairwise

import pytest

from spanproof.alerts import AlertRule
from spanproof.alerts.evidence import Standing, compute_quantile
from spanproof.alerts.messages import format_utc
from spanproof.alerts.rules import read_rule
from spanproof.alerts.simulation import run_rule_simulation
from spanproof.store import Store

from .test_engine import NOW

HOUR = 3600
QUICK = {"lower_bound": False, "for_s": 0, "resolve_after_s": 0, "min_count": 4}


@pytest.fixture
def store(emptied: Store) -> Store:
    return emptied


def plain_rule(receiver=None, **changes: object) -> AlertRule:
    """Return a rule with the defaults that a person gets who sets a threshold."""
    settings = {"name": "misquotes", "layer": "groundedness", "window_s": HOUR, "threshold": 0.1, **changes}
    if receiver is not None:
        settings["notify"] = [{"url": receiver.url}]
    return AlertRule.model_validate(settings)


def write_rate(judged, fails: int, passes: int, at_s: float) -> None:
    judged("fail " * fails + "pass " * passes, at_ns=NOW + int(at_s * 1e9))


@pytest.mark.parametrize(
    ("fails", "passes", "standing"),
    [
        (40, 160, Standing.ABOVE),
        (24, 176, Standing.HIGH),  # 12 %: it may be chance
        (16, 184, Standing.LOW),
        (4, 196, Standing.BELOW),
        (3, 1, Standing.HIGH),  # above the interval, and four verdicts are too few
        (0, 1, Standing.LOW),
    ],
)
def test_the_interval_says_where_a_rate_is(store, judged, fails, passes, standing):
    write_rate(judged, fails, passes, -1)
    (reading,) = read_rule(plain_rule(), store, NOW)
    assert reading.standing is standing
    assert reading.low < reading.value < reading.high or 0 in (fails, passes)


def test_a_rate_around_its_threshold_neither_starts_nor_ends_an_alert(judged, receiver, engines):
    engine = engines.open(plain_rule(receiver))
    for hour, fails in enumerate((22, 18, 24, 19)):
        write_rate(judged, fails, 200 - fails, hour * HOUR)
        engines.tick(engine, hour * HOUR + 1)
    assert receiver.said == []
    write_rate(judged, 60, 140, 10 * HOUR)
    for second in (1, 299):
        engines.tick(engine, 10 * HOUR + second)
    assert receiver.said == []  # it waits for a twelfth of the window
    engines.tick(engine, 10 * HOUR + 301)
    assert receiver.said == ["firing"]
    for hour, fails in enumerate((22, 18, 24, 19), 12):
        write_rate(judged, fails, 200 - fails, hour * HOUR)
        for second in (1, 1000, 2000):
            engines.tick(engine, hour * HOUR + second)
    assert receiver.said == ["firing"]
    write_rate(judged, 2, 198, 17 * HOUR)
    for second in (1, 899):
        engines.tick(engine, 17 * HOUR + second)
    assert receiver.said == ["firing"]  # a quarter of the window
    engines.tick(engine, 17 * HOUR + 901)
    assert receiver.said == ["firing", "resolved"]


def test_an_alert_with_few_verdicts_ends_when_its_rate_was_low_for_long(judged, receiver, engines):
    engine = engines.open(plain_rule(receiver))
    write_rate(judged, 20, 2, 0)
    engines.tick(engine, 1)
    engines.tick(engine, 301)
    assert receiver.said == ["firing"]
    # Of 10 verdicts an interval never excludes 10 %.
    for half_hour in range(2, 15):
        write_rate(judged, 0, 10, half_hour * HOUR / 2)
        engines.tick(engine, half_hour * HOUR / 2 + 2)
    assert receiver.said == ["firing", "resolved"]
    assert (receiver.bodies[1]["at_ns"] - receiver.bodies[0]["at_ns"]) / 1e9 >= 5 * HOUR


def test_an_alert_that_comes_and_goes_pauses_longer_each_time(judged, receiver, engines):
    engine = engines.open(plain_rule(receiver, window_s=600, **QUICK))
    for number in range(40):
        at_s = number * HOUR / 2
        write_rate(judged, 4 * (1 - number % 2), 40 * (number % 2), at_s)
        engines.tick(engine, at_s + 1)
    fired = [(body["at_ns"] - NOW) / 1e9 / HOUR for body in receiver.bodies if body["status"] == "firing"]
    assert len(fired) <= 6
    pauses = [round(later - earlier) for earlier, later in pairwise(fired)]
    assert pauses == sorted(pauses)
    assert pauses[-1] >= 3 * pauses[0]


def test_a_rule_pages_so_often_a_day_and_sends_the_rest_at_once(judged, receiver, engines):
    day = 86_400
    settings = {**QUICK, "group_by": ["agent"], "window_s": 2 * day}
    engine = engines.open(plain_rule(receiver, pages_per_day=2, **settings))
    for number in range(5):
        at_s = number * HOUR
        judged("fail fail fail fail", agent=f"agent {number}", at_ns=NOW + at_s * 10**9)
        engines.tick(engine, at_s + 1)
        if number < 2:  # two incidents that end
            judged("pass " * 50, agent=f"agent {number}", at_ns=NOW + at_s * 10**9)
            engines.tick(engine, at_s + 2)
    assert receiver.said == ["firing", "resolved", "firing", "resolved"]
    engines.tick(engine, day + 2)
    assert [alert["group"]["agent"] for alert in receiver.bodies[-1]["alerts"]] == [
        "agent 2",
        "agent 3",
        "agent 4",
    ]


def test_a_restart_forgets_no_page_of_the_day(judged, receiver, engines):
    watched = plain_rule(receiver, pages_per_day=1, group_by=["agent"], **QUICK)
    for second, agent in enumerate(("buyer", "clerk")):
        judged("fail fail fail fail", agent=agent, at_ns=NOW + second * 10**9)
        engine = engines.open(watched)
        engines.tick(engine, second + 0.1)
        judged("pass " * 50, agent=agent, at_ns=NOW + second * 10**9)
        engines.tick(engine, second + 0.2)
    assert receiver.said == ["firing", "resolved"]


def test_a_firing_alert_says_what_is_now_and_keeps_what_it_said_first(store, judged, receiver, engines):
    judged("fail fail fail fail")
    engine = engines.open(plain_rule(receiver, lower_bound=False, for_s=0, min_count=4))
    engines.tick(engine)
    judged("fail open " * 6, at_ns=NOW + 100 * 10**9)
    engines.tick(engine, 120)
    (event,) = store.alerts.states()
    (alert,) = engine.firing
    assert "fails 10 of 10, 6 open (100 %)" in alert.summary
    assert "fails 4 of 4 (100 %)" in alert.first_summary
    assert alert.at_ns == NOW + 120 * 10**9
    assert len(alert.scores) == 10
    assert alert.first_summary in event.document
    assert receiver.said == ["firing"]


def test_an_alert_within_its_bound_says_until_when_it_waits(judged, receiver, engines):
    judged("fail fail fail fail")
    watched = plain_rule(receiver, lower_bound=False, for_s=0, min_count=4, resolve_after_s=300)
    engine = engines.open(watched)
    engines.tick(engine)
    assert "Within its bound" not in engine.firing[0].summary
    judged("pass " * 60, at_ns=NOW + 100 * 10**9)
    engines.tick(engine, 120)
    waits = f" Within its bound now: ends at {format_utc(NOW + 420 * 10**9)} if it stays so."
    assert engine.firing[0].summary.endswith(waits)
    assert "Within its bound" not in engine.firing[0].first_summary
    engines.tick(engine, 400)
    assert engine.firing[0].summary.endswith(waits)
    engines.tick(engine, 420)
    assert receiver.said == ["firing", "resolved"]


def test_an_update_of_its_incident_does_not_prolong_an_alert(judged, receiver, engines):
    judged("fail fail fail fail", agent="buyer")
    watched = plain_rule(
        receiver, lower_bound=False, for_s=0, min_count=4, resolve_after_s=600, group_by=["agent"], cohort={}
    )
    engine = engines.open(watched)
    engines.tick(engine)
    judged("pass " * 60, agent="buyer", at_ns=NOW + 100 * 10**9)
    judged("fail fail fail fail", agent="clerk", at_ns=NOW + 100 * 10**9)
    engines.tick(engine, 120)
    (update,) = engines.tick(engine, 310)
    waits = f"ends at {format_utc(NOW + 720 * 10**9)} if it stays so."
    assert [alert.summary.endswith(waits) for alert in update.alerts] == [False, True]
    engines.tick(engine, 720)
    assert [alert.group for alert in engine.firing] == [{"agent": "clerk"}]


def test_a_short_window_needs_more_evidence():
    quantiles = [compute_quantile(window_s) for window_s in (60, 600, HOUR, 86_400)]
    assert quantiles == sorted(quantiles, reverse=True)
    assert quantiles[-1] == pytest.approx(1.96, abs=0.01)


def test_a_steady_rate_at_the_threshold_pages_once_a_week_at_most_and_a_doubling_is_detected():
    found = run_rule_simulation(plain_rule(), 200, weeks=3, steps=8, looks_per_window=12)
    ours, prometheus, burn_rate = found
    at_half, below, at_threshold, _ = ours.pages_a_week
    assert at_half == 0
    assert below < 1
    assert at_threshold <= 1
    assert ours.detected_within_window >= 0.75
    assert min(prometheus.pages_a_week[2], burn_rate.pages_a_week[2]) > 20
