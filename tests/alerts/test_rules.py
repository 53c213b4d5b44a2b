from __future__ import annotations

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from pydantic import ValidationError

from spanproof.alerts import AlertRule, Reading, Webhook, read_rule
from spanproof.alerts.messages import format_summary
from spanproof.alerts.model import Status
from spanproof.alerts.rules import Details, fetch_details
from spanproof.store import Store
from spanproof.trace import Cause

from .test_engine import NOW, SECOND, rule

DAY = 86_400 * SECOND


@pytest.fixture
def store(emptied: Store) -> Store:
    return emptied


def only(watched: AlertRule, store: Store, now_ns: int = NOW) -> Reading:
    (reading,) = read_rule(watched, store, now_ns)
    return reading


def behind(reading: Reading, store: Store) -> Details:
    (found,) = fetch_details([reading], store)
    return found


def by_group(watched: AlertRule, store: Store, now_ns: int = NOW) -> dict[str, bool]:
    return {reading.group["agent"]: reading.firing for reading in read_rule(watched, store, now_ns)}


def test_a_rule_fires_at_its_threshold_exactly(store, judged):
    judged("fail fail pass pass")
    assert only(rule(), store).firing
    judged("pass")
    assert not only(rule(), store).firing


@pytest.mark.parametrize(
    ("failed", "judged_in_all", "threshold"), [(3, 30, 0.1), (7, 100, 0.07), (29, 100, 0.29)]
)
def test_no_rounding_decides_at_the_threshold(store, judged, failed, judged_in_all, threshold):
    judged("fail " * failed + "pass " * (judged_in_all - failed))
    assert only(rule(threshold=threshold), store).firing
    judged("pass")
    assert not only(rule(threshold=threshold), store).firing


def test_what_was_not_judged_counts_neither_for_the_rate_nor_for_the_volume(store, judged):
    judged("fail fail pass skipped skipped errored errored open")
    found = only(rule(), store)
    assert not found.firing  # three verdicts are too few, eight scores or not
    rate = found.verdicts
    assert (rate.failed, rate.judged, rate.skipped, rate.errored, rate.open) == (2, 3, 2, 2, 1)
    assert "fails 2 of 3, 1 open, 2 errored (66.7 %)" in format_summary(found, Status.FIRING, NOW, NOW)


def test_a_rule_watches_its_cohort_and_its_window_alone(store, judged):
    judged("fail fail fail fail", agent="other")
    judged("fail fail fail fail", at_ns=NOW - 601 * SECOND)
    judged("pass pass pass pass")
    assert not only(rule(), store).firing
    assert only(rule(cohort={"agent": "other"}), store).firing
    assert only(rule(window_s=602), store).firing


def test_a_rule_that_groups_reads_each_value_that_occurs(store, judged):
    judged("fail fail fail pass", agent="buyer")
    judged("pass pass pass fail", agent="clerk")
    assert by_group(rule(cohort={}, group_by=["agent"]), store) == {"buyer": True, "clerk": False}


def carry(store: Store, first: int, count: int, **attributes: str) -> None:
    """Store spans of `judged` runs with attributes; the resource has the tenant, the span the rest."""
    request = ExportTraceServiceRequest()
    sent = request.resource_spans.add()
    sent.resource.attributes.add(key="tenant.id").value.string_value = attributes.pop("tenant")
    scope = sent.scope_spans.add()
    for number in range(first, first + count):
        span = scope.spans.add(
            trace_id=bytes.fromhex(f"{number:032x}"), span_id=bytes.fromhex("a" * 16), name="run",
            start_time_unix_nano=NOW - SECOND, end_time_unix_nano=NOW,
        )  # fmt: skip
        for key, value in attributes.items():
            span.attributes.add(key=f"{key}.id").value.string_value = value
    store.write_spans([request])


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"burn_rate": {"budget": 0.2, "windows": [{"long_s": 600, "short_s": 60, "factor": 2}]}},
        {"measure": "consecutive_failures", "min_count": 2},
        {"measure": "mean", "fires_when": "< 0.5"},
        {"fails_when": "< 0.5"},
    ],
)
def test_a_rule_watches_and_groups_by_what_spans_carry(store, judged, changes):
    judged("pass pass pass pass fail fail fail fail")
    carry(store, 1, 4, tenant="acme", session="s1")
    carry(store, 5, 4, tenant="globex", session="s2")
    watched = rule(**{"cohort": {}, "group_by": ["attribute:tenant.id"], **changes})
    found = {reading.group["attribute:tenant.id"]: reading for reading in read_rule(watched, store, NOW)}
    assert {tenant: reading.firing for tenant, reading in found.items()} == {"acme": False, "globex": True}
    assert {score.trace_id[-1] for score in behind(found["globex"], store).scores} >= set("5678")
    assert "of attribute:tenant.id globex: " in format_summary(found["globex"], Status.FIRING, NOW, NOW)
    narrow = {**changes, "group_by": [], "cohort": {"session": "s1", "attribute:tenant.id": "acme"}}
    assert not only(rule(**narrow), store).firing
    assert only(rule(**{**narrow, "cohort": {"session": "s2"}}), store).firing


def test_a_comparison_of_raw_values_takes_the_place_of_the_verdict(store, judged_cost):
    judged_cost(0.01, 0.02, 0.031, 0.08, None)
    costly = {"layer": "trajectory", "score": "cost_usd", "fails_when": "> $0.03", "min_count": 4}
    found = only(rule(**costly), store)
    rate = found.verdicts
    assert (rate.failed, rate.passed, rate.open, rate.advice) == (2, 2, 0, 1)
    assert found.firing
    assert {score.outcome.raw for score in behind(found, store).scores} == {0.031, 0.08}
    normalised = {**costly, "score": "cost_usd_score", "fails_when": "< 0.6"}
    assert only(rule(**normalised), store).verdicts.failed == 1


@pytest.mark.parametrize(
    ("measure", "fires_when", "value", "fires"),
    [
        ("mean", "> $0.03", 0.035, True),
        ("mean", "> $0.04", 0.035, False),
        ("p95", ">= $0.08", 0.08, True),
        ("p50", "< $0.03", 0.03, False),
    ],
)
def test_a_mean_or_percentile_of_amounts_is_compared(store, judged_cost, measure, fires_when, value, fires):
    judged_cost(0.01, 0.02, 0.03, 0.08)
    cost = {"layer": "trajectory", "score": "cost_usd", "measure": measure, "fires_when": fires_when}
    found = only(rule(**cost), store)
    assert (round(found.value, 4), found.whole, found.firing) == (value, 4, fires)
    assert not only(rule(**cost, min_count=5), store).firing
    worst = behind(found, store).scores[0].outcome.raw
    assert worst == (0.01 if fires_when.startswith("<") else 0.08)
    assert f"{value:.4g} USD of 4" in format_summary(found, Status.FIRING, NOW, NOW)


def test_blocks_of_a_guardrail_alert_by_task(store, judged_blocks):
    judged_blocks("refund", 0, 2, 1, 0)
    judged_blocks("quote", 0, 0, 0, 0)
    blocked = rule(
        layer="boundary",
        score="blocks",
        measure="mean",
        fires_when="> 0.2 blocks",
        cohort={},
        group_by=["task"],
    )
    found = {reading.group["task"]: reading for reading in read_rule(blocked, store, NOW)}
    assert {task: reading.firing for task, reading in found.items()} == {"refund": True, "quote": False}
    assert "0.75 blocks of 4" in format_summary(found["refund"], Status.FIRING, NOW, NOW)


def test_one_of_two_fires_nothing_by_the_lower_end_of_its_interval(store, judged):
    judged("fail pass")
    few = {"min_count": 1, "threshold": 0.3}
    assert only(rule(**few), store).firing
    assert not only(rule(**few, lower_bound=True), store).firing
    judged("fail pass " * 60)
    assert only(rule(**few, lower_bound=True), store).firing


def test_the_share_that_is_open_is_watched_with_its_causes(store, judged):
    judged("open open open uncertain pass fail skipped errored")
    found = only(rule(measure="open_rate", threshold=0.6, min_count=6), store)
    assert (found.part, found.whole, found.firing) == (4, 6, True)
    seen = behind(found, store)
    assert [(cause.cause, cause.count) for cause in seen.causes] == [
        (Cause.VALUE_NOT_FOUND, 3),
        (Cause.VALUE_NOT_CERTAIN, 1),
    ]
    assert len(seen.scores) == 4
    assert format_summary(found, Status.FIRING, NOW, NOW, seen.causes) == (
        "groundedness.score of agent pricer: 4 of 6 answers are open (66.7 %) over the last 10 min: 3 answers"
        " hold a value that no source has, 1 answer holds a value whose source is not certain;"
        " threshold 60 %."
    )
    assert not only(rule(measure="open_rate", threshold=0.6, min_count=7), store).firing


def test_the_open_share_is_compared_with_the_week_before_and_by_group(store, judged):
    judged("open pass pass pass", at_ns=NOW - 7 * DAY - SECOND)
    judged("open open pass pass")
    rise = rule(measure="open_rate", baseline={"ago_s": 604_800}, threshold=0.2)
    found = only(rise, store)
    assert (found.firing, found.before, found.value) == (True, 0.25, 0.5)
    judged("open open open open", agent="buyer")
    grouped = rule(measure="open_rate", threshold=0.9, cohort={}, group_by=["agent"])
    assert by_group(grouped, store) == {"pricer": False, "buyer": True}


def test_open_verdicts_make_no_volume_for_a_fail_rate(store, judged):
    judged("fail fail fail " + "open " * 40)
    found = only(rule(min_count=4, threshold=0.1), store)
    assert (found.firing, found.value) == (False, 1.0)
    assert "fails 3 of 3, 40 open (100 %)" in format_summary(found, Status.FIRING, NOW, NOW)


def test_where_all_is_open_there_is_no_fail_rate(store, judged):
    judged("open open open open")
    found = only(rule(min_count=1), store)
    assert (found.firing, found.value) == (False, None)
    assert "none judged, 4 open over the last" in format_summary(found, Status.FIRING, NOW, NOW)
    assert only(rule(min_count=1, measure="open_rate"), store).value == 1.0


def test_errors_of_an_evaluator_have_a_rate_of_their_own(store, judged):
    judged("errored errored pass fail skipped skipped skipped")
    found = only(rule(measure="error_rate"), store)
    assert (found.part, found.whole, found.firing) == (2, 4, True)
    seen = behind(found, store)
    assert seen.failures == (("SandboxBroken: gone", 2),)
    assert len(seen.scores) == 2


def test_an_evaluator_that_has_gone_silent_is_found_by_the_runs_of_others(store, judged, judged_cost):
    judged_cost(0.01, 0.02, 0.03, 0.04, 0.05)
    silent = rule(measure="absence_rate", threshold=1)
    assert only(silent, store).firing
    judged("pass", at_ns=NOW - 2 * SECOND)
    found = only(silent, store)
    assert (found.part, found.whole, found.firing) == (4, 5, False)


def test_failures_in_a_row_are_the_newest_ones(store, judged):
    in_a_row = rule(measure="consecutive_failures", min_count=3)
    for second, words in enumerate(("pass", "fail", "fail skipped")):
        judged(words, at_ns=NOW - (9 - second) * SECOND)
    assert not only(in_a_row, store).firing
    judged("fail errored", at_ns=NOW - 2 * SECOND)
    assert only(in_a_row, store).firing
    judged("pass", at_ns=NOW - SECOND)
    assert not only(in_a_row, store).firing


def test_errors_in_a_row_by_group(store, judged):
    judged("errored errored", agent="buyer")
    judged("errored pass", agent="clerk")
    judged("errored", agent="temp")
    in_a_row = rule(measure="consecutive_errors", min_count=2, cohort={}, group_by=["agent"])
    assert by_group(in_a_row, store) == {"buyer": True, "clerk": False, "temp": False}


BURN = {
    "budget": 0.05,
    "windows": [
        {"long_s": 3600, "short_s": 300, "factor": 10},
        {"long_s": 21600, "short_s": 1800, "factor": 4},
    ],
}


def test_a_budget_burns_when_both_windows_of_a_pair_do(store, judged):
    burning = rule(burn_rate=BURN)
    judged("fail fail pass pass", at_ns=NOW - 3000 * SECOND)
    assert not only(burning, store).firing  # over already: the short windows have nothing
    judged("pass pass", at_ns=NOW - SECOND)
    assert not only(burning, store).firing
    judged("fail fail", at_ns=NOW - SECOND)
    found = only(burning, store)
    assert found.firing
    assert found.end_ns - found.start_ns == 3600 * SECOND + 1


def test_the_longer_pair_finds_a_slow_burn(store, judged):
    judged("fail pass pass pass", at_ns=NOW - 20_000 * SECOND)
    judged("fail pass pass", at_ns=NOW - 1000 * SECOND)
    found = only(rule(burn_rate=BURN), store)
    assert found.firing
    assert found.end_ns - found.start_ns == 21_600 * SECOND + 1
    assert format_summary(found, Status.FIRING, NOW, NOW).endswith(
        " over the last 6 h; threshold 20 % over 6 h and 30 min (4 × the budget of 5 %)."
    )


def test_a_rate_is_compared_with_the_same_hour_last_week(store, judged):
    rise = rule(baseline={"ago_s": 604_800}, threshold=0.2)
    judged("fail fail pass pass")
    assert not only(rise, store).firing  # there is nothing to compare with
    judged("fail pass pass pass", at_ns=NOW - 7 * DAY - SECOND)
    found = only(rise, store)
    assert (found.firing, found.before, found.value) == (True, 0.25, 0.5)
    assert "the same window before had 25 %" in format_summary(found, Status.FIRING, NOW, NOW)
    assert not only(rule(baseline={"ago_s": 604_800}, threshold=0.3), store).firing
    sure = rule(baseline={"ago_s": 604_800}, threshold=0.2, lower_bound=True)
    assert not only(sure, store).firing


def test_a_release_is_compared_with_the_one_before(store, judged):
    judged("fail fail fail fail", release="1", at_ns=NOW - 9 * DAY)
    judged("fail pass pass pass", release="2", at_ns=NOW - 3 * DAY)
    judged("fail fail fail pass", release="3")
    rise = rule(baseline={"previous_release": True}, threshold=0.5)
    found = only(rise, store)
    assert (found.firing, found.before, found.value, found.release) == (True, 0.25, 0.75, "3")
    assert found.cohort == {"agent": "pricer", "release": "3"}
    assert len(behind(found, store).scores) == 3
    grouped = rule(baseline={"previous_release": True}, cohort={}, group_by=["agent"])
    judged("fail fail fail fail", agent="new", release="1")
    assert by_group(grouped, store) == {"pricer": True}


def test_groups_are_looked_behind_at_once_and_apart(store, judged):
    for agent, words in (("buyer", "fail " * 30), ("cl'e\\rk", "fail fail"), ("temp", "pass")):
        judged(words, agent=agent)
    readings = read_rule(rule(cohort={}, group_by=["agent"], min_count=1), store, NOW)
    found = dict(zip((each.group["agent"] for each in readings), fetch_details(readings, store), strict=True))
    assert {agent: len(each.scores) for agent, each in found.items()} == {
        "buyer": 20,
        "cl'e\\rk": 2,
        "temp": 0,
    }
    assert found["buyer"].failures[0][1] == 30
    assert {score.cohort.agent for score in found["buyer"].scores} == {"buyer"}


def test_the_commonest_failures_differ_by_more_than_numbers(store, judged):
    judged("fail fail fail fail")
    (failure,) = behind(only(rule(), store), store).failures
    assert failure == ("$54.00 is said, 4500 cents were returned", 4)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"threshhold": 1}, "threshhold"),
        ({"threshold": 0}, "greater than 0"),
        ({"threshold": 1.5}, "less than or equal to 1"),
        ({"layer": "vibes"}, "groundedness"),
        ({"cohort": {"agnet": "x"}}, "unknown dimension 'agnet'; the dimensions are project"),
        ({"group_by": ["agnet"]}, "unknown dimension 'agnet'; the dimensions are project"),
        ({"group_by": ["attribute:"]}, "attribute:KEY for any attribute"),
        ({"group_by": ["user"], "cohort": {"user": "x"}}, "group_by: user has one value only"),
        ({"layer": "trajectory", "score": "steps"}, "trajectory.steps has no verdict: set fails_when"),
        (
            {"layer": "trajectory", "score": "steps", "measure": "open_rate"},
            "trajectory.steps is never open: open_rate is for scores that have a verdict",
        ),
        ({"score": "mine", "measure": "open_rate"}, "groundedness.mine is never open"),
        ({"measure": "open_rate", "fails_when": "< 0.5"}, "open_rate needs no fails_when"),
        ({"notify": [{"url": "ftp://x"}]}, "url"),
        ({"notify": [{"kind": "pigeon"}]}, "pigeon"),
        ({"notify": [{"kind": "email", "host": "h", "sender": "a@b", "to": []}]}, "to"),
        ({"group_by": ["agent"]}, "group_by: agent has one value only"),
        ({"threshold": 1, "lower_bound": True}, "it can never fire"),
        ({"burn_rate": {"budget": 0.2}}, "it can never fire: 14.4 times the budget is a rate of 288%"),
        (
            {"burn_rate": {"budget": 0.1, "windows": [{"long_s": 1, "short_s": 2, "factor": 1}]}},
            "short_s < long_s",
        ),
        ({"burn_rate": {"budget": 0.01}, "baseline": {"ago_s": 60}}, "either burn_rate or baseline"),
        ({"baseline": {}}, "give either ago_s or previous_release"),
        ({"baseline": {"previous_release": True}, "cohort": {"release": "1"}}, "leave release out"),
        ({"measure": "mean", "layer": "trajectory", "score": "steps"}, "mean needs a bound: set fires_when"),
        ({"measure": "mean", "fires_when": "> 2"}, "write"),
        ({"fires_when": "< 0.5"}, "fail_rate is no amount"),
        ({"measure": "error_rate", "fails_when": "< 0.5"}, "error_rate needs no verdict"),
        ({"measure": "consecutive_errors", "lower_bound": True}, "lower_bound is for rates"),
        ({"inhibited_by": ["misquotes"]}, "names the rule itself"),
    ],
)
def test_a_rule_that_is_none_is_refused_with_its_key(changes, words):
    with pytest.raises(ValidationError) as caught:
        rule(**changes)
    assert words in str(caught.value)


def test_a_rule_is_a_value():
    assert rule() == rule()
    with pytest.raises(ValidationError):
        rule().threshold = 1  # type: ignore[misc]
    assert Webhook(url="https://x/").retry_for_s == 86_400
