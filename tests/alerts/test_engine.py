from __future__ import annotations

import logging

import pytest
from pydantic import ValidationError

from spanproof.alerts import AlertEngine, AlertRule, NotDelivered, Status, Webhook, notifier_for, read
from spanproof.alerts.notify import Notification

NOW = 1_790_000_000 * 10**9
SECOND = 10**9


def rule(**changes: object) -> AlertRule:
    return AlertRule.model_validate(
        {
            "name": "misquotes",
            "layer": "groundedness",
            "cohort": {"agent": "pricer"},
            "window_s": 600,
            "min_count": 4,
            "threshold": 0.5,
            "cooldown_s": 60,
            **changes,
        }
    )


def test_a_rule_fires_at_its_threshold_exactly(store, judged):
    judged("fail fail pass pass")
    assert read(rule(), store, NOW).firing
    judged("pass")
    assert not read(rule(), store, NOW).firing


@pytest.mark.parametrize(
    ("failed", "judged_in_all", "threshold"), [(3, 30, 0.1), (7, 100, 0.07), (29, 100, 0.29)]
)
def test_no_rounding_decides_at_the_threshold(store, judged, failed, judged_in_all, threshold):
    judged("fail " * failed + "pass " * (judged_in_all - failed))
    assert read(rule(threshold=threshold), store, NOW).firing
    judged("pass")
    assert not read(rule(threshold=threshold), store, NOW).firing


def test_what_was_not_judged_counts_neither_for_the_rate_nor_for_the_volume(store, judged):
    judged("fail fail pass skipped skipped errored errored open")
    found = read(rule(), store, NOW)
    assert not found.firing  # three verdicts are too few, eight scores or not
    rate = found.fail_rate
    assert (rate.failed, rate.judged, rate.skipped, rate.errored, rate.undecided) == (2, 3, 2, 2, 1)


def test_a_rule_watches_its_cohort_and_its_window_alone(store, judged):
    judged("fail fail fail fail", agent="other")
    judged("fail fail fail fail", at_ns=NOW - 601 * SECOND)
    judged("pass pass pass pass")
    assert not read(rule(), store, NOW).firing
    assert read(rule(cohort={"agent": "other"}), store, NOW).firing
    assert read(rule(window_s=602), store, NOW).firing


def test_a_comparison_of_raw_values_takes_the_place_of_the_verdict(store, judged_cost, receiver):
    judged_cost(0.01, 0.02, 0.031, 0.08, None)
    costly = {"layer": "trajectory", "score": "cost_usd", "fails_when": "> $0.03", "min_count": 4}
    found = read(rule(**costly), store, NOW)
    rate = found.fail_rate
    assert (rate.failed, rate.passed, rate.undecided, found.firing) == (2, 2, 1, True)
    assert {score.outcome.raw for score in rate.failing} == {0.031, 0.08}
    AlertEngine([rule(**costly, notify=[{"url": receiver.url}])], store).tick(NOW)
    (body,) = receiver.bodies
    assert (body["metric"], body["fails_when"]) == ("trajectory.cost_usd", "> $0.03")
    assert {(score["raw"], score["unit"]) for score in body["scores"]} == {(0.031, "USD"), (0.08, "USD")}
    normalised = {**costly, "score": "cost_usd_score", "fails_when": "< 0.6"}
    assert read(rule(**normalised), store, NOW).fail_rate.failed == 1


def test_a_firing_rule_tells_the_scores_behind_it(store, judged, receiver):
    judged("fail fail pass")
    engine = AlertEngine([rule(min_count=3, notify=[{"url": receiver.url}])], store)
    (told,) = engine.tick(NOW)
    assert told.status is Status.FIRING
    (body,) = receiver.bodies
    assert body["rule"] == "misquotes"
    assert body["status"] == "firing"
    assert body["metric"] == "groundedness.score"
    assert (body["failed"], body["passed"], round(body["fail_rate"], 3)) == (2, 1, 0.667)
    assert body["summary"] == (
        "misquotes: firing: groundedness.score of agent pricer: 67% fail (2 of 3), threshold 50%"
    )
    assert {score["trace_id"] for score in body["scores"]} == {f"{1:032x}", f"{2:032x}"}
    assert {score["explanation"] for score in body["scores"]} == {"$54.00 is said, 4500 cents were returned"}


def test_a_firing_rule_is_told_once_per_cooldown_and_its_end_once(store, judged, receiver):
    judged("fail fail fail fail")
    engine = AlertEngine([rule(notify=[{"url": receiver.url}])], store)
    for seconds in (0, 10, 59, 60, 70):
        engine.tick(NOW + seconds * SECOND)
    assert [body["status"] for body in receiver.bodies] == ["firing", "firing"]
    assert {body["since_unix_ns"] for body in receiver.bodies} == {NOW}
    for seconds in (700, 701, 800):  # the window has passed them
        engine.tick(NOW + seconds * SECOND)
    assert [body["status"] for body in receiver.bodies] == ["firing", "firing", "resolved"]
    assert receiver.bodies[-1]["fail_rate"] is None


def test_a_rate_that_is_high_for_a_moment_only_is_not_told(store, judged, receiver):
    judged("fail fail fail fail")
    engine = AlertEngine([rule(for_s=30, notify=[{"url": receiver.url}])], store)
    assert engine.tick(NOW) == []
    assert engine.tick(NOW + 29 * SECOND) == []
    judged("pass " * 5)
    assert engine.tick(NOW + 31 * SECOND) == []
    judged("fail fail fail fail fail")
    engine.tick(NOW + 40 * SECOND)
    engine.tick(NOW + 70 * SECOND)
    assert [(body["status"], body["since_unix_ns"]) for body in receiver.bodies] == [
        ("firing", NOW + 40 * SECOND)
    ]


def test_a_rule_that_fires_again_after_its_end_is_told_again_at_once(store, judged, receiver):
    judged("fail fail fail fail")
    engine = AlertEngine([rule(cooldown_s=10_000, notify=[{"url": receiver.url}])], store)
    engine.tick(NOW)
    engine.tick(NOW + 700 * SECOND)
    judged("fail fail fail fail", at_ns=NOW + 750 * SECOND)
    engine.tick(NOW + 760 * SECOND)
    assert [body["status"] for body in receiver.bodies] == ["firing", "resolved", "firing"]


def test_the_secret_goes_in_the_header_and_nowhere_else(store, judged, receiver):
    judged("fail fail fail fail")
    target = {"url": receiver.url, "secret": "hush-hush"}
    watched = rule(notify=[target])
    AlertEngine([watched], store).tick(NOW)
    assert receiver.headers[0]["X-Spanproof-Secret"] == "hush-hush"
    assert receiver.headers[0]["Content-Type"] == "application/json"
    assert "hush" not in repr(watched)
    assert "hush" not in str(receiver.bodies)


def notification(store, url: str, **target: object) -> Notification:
    watched = rule(notify=[{"url": url, **target}])
    return Notification(Status.FIRING, read(watched, store, NOW), NOW, NOW)


def test_a_receiver_that_fails_for_now_is_tried_again(store, receiver):
    receiver.answers = [503]
    told = notification(store, receiver.url)
    notifier_for(told.rule.notify[0]).send(told)
    assert len(receiver.bodies) == 2


def test_a_receiver_that_refuses_is_not_tried_again(store, receiver):
    receiver.answers = [400, 200]
    told = notification(store, receiver.url)
    with pytest.raises(NotDelivered, match=r"alert misquotes: webhook 127\.0\.0\.1:\d+: HTTP 400"):
        notifier_for(told.rule.notify[0]).send(told)
    assert len(receiver.bodies) == 1


def test_tries_are_bounded_and_the_path_with_its_token_is_not_told(store, receiver):
    receiver.answers = [500, 500]
    told = notification(store, receiver.url, attempts=2)
    with pytest.raises(NotDelivered) as caught:
        notifier_for(told.rule.notify[0]).send(told)
    assert len(receiver.bodies) == 2
    assert "token-in-path" not in str(caught.value)


def test_an_unreachable_receiver_is_tried_again_at_the_next_tick(store, judged, receiver, caplog):
    judged("fail fail fail fail")
    receiver.answers = [400]
    engine = AlertEngine([rule(notify=[{"url": receiver.url}])], store)
    with caplog.at_level(logging.WARNING, "spanproof.alerts"):
        assert engine.tick(NOW) == []
    assert "HTTP 400" in caplog.text
    assert [told.since_ns for told in engine.tick(NOW + SECOND)] == [NOW]


def test_one_dead_receiver_does_not_keep_the_others_from_being_told(store, judged, receiver):
    judged("fail fail fail fail")
    dead = {"url": "http://127.0.0.1:9/", "attempts": 1, "timeout_s": 1}
    engine = AlertEngine([rule(notify=[dead, {"url": receiver.url}])], store)
    assert len(engine.tick(NOW)) == 1
    assert len(receiver.bodies) == 1


def test_a_rule_that_cannot_be_read_does_not_stop_the_tick(store, judged, caplog):
    engine = AlertEngine([rule()], store)
    store.close()
    with caplog.at_level(logging.WARNING, "spanproof.alerts"):
        assert engine.tick(NOW) == []
    assert "alert misquotes: not read" in caplog.text


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"threshhold": 1}, "threshhold"),
        ({"threshold": 0}, "greater than 0"),
        ({"threshold": 1.5}, "less than or equal to 1"),
        ({"layer": "vibes"}, "groundedness"),
        ({"cohort": {"agnet": "x"}}, "no dimension of a cohort is named 'agnet'; known: project"),
        ({"layer": "trajectory", "score": "steps"}, "trajectory.steps has no verdict: set fails_when"),
        ({"notify": [{"url": "ftp://x"}]}, "url"),
        ({"notify": [{"url": "http://x", "secret_header": "a b"}]}, "secret_header"),
    ],
)
def test_a_rule_that_is_none_is_refused_with_its_key(changes, words):
    with pytest.raises(ValidationError) as caught:
        rule(**changes)
    assert words in str(caught.value)


def test_two_rules_of_one_name_are_refused(store):
    with pytest.raises(ValueError, match="'misquotes' is given twice"):
        AlertEngine([rule(), rule()], store)


def test_a_rule_is_a_value():
    assert rule() == rule()
    with pytest.raises(ValidationError):
        rule().threshold = 1  # type: ignore[misc]
    assert Webhook(url="https://x/").attempts == 3
