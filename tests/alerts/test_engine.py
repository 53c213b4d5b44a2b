from __future__ import annotations

import logging

import pytest
from waiting import wait_until

from spanproof.alerts import AlertEngine, AlertRule, Status
from spanproof.store import Acknowledgement, AlertLog, Delivery, MadeRule, Silence, Store, open_store

from .conftest import receiving

NOW = 1_790_000_000 * 10**9
SECOND = 10**9


@pytest.fixture
def store(emptied: Store) -> Store:
    return emptied


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
            # Few verdicts decide here, and at once; evidence, delays and pauses have tests of their own.
            "lower_bound": False,
            "for_s": 0,
            "resolve_after_s": 0,
            **changes,
        }
    )


def to(receiver, **changes: object) -> AlertRule:
    return rule(notify=[{"url": receiver.url}], **changes)


def grouped(receiver, **changes: object) -> AlertRule:
    return to(receiver, cohort={}, group_by=["agent"], **changes)


def test_a_notification_has_the_scores_behind_it(judged, receiver, engines):
    judged("fail fail pass")
    engine = engines.open(to(receiver, min_count=3), console_url="https://spanproof.example/")
    (made,) = engines.tick(engine)
    assert made.status is Status.FIRING
    (body,) = receiver.bodies
    assert (body["version"], body["rule"], body["status"], body["repeated"]) == (
        2,
        "misquotes",
        "firing",
        False,
    )
    assert body["summary"] == (
        "groundedness.score of agent pricer: fails 2 of 3 (66.7 %) over the last 10 min; threshold 50 %."
    )
    (alert,) = body["alerts"]
    assert alert["metric"] == "groundedness.score"
    assert (alert["part"], alert["whole"], round(alert["value"], 3)) == (2, 3, 0.667)
    assert alert["cohort"] == {"agent": "pricer"}
    assert {score["trace_id"] for score in alert["scores"]} == {f"{1:032x}", f"{2:032x}"}
    assert alert["scores"][0]["url"] == f"https://spanproof.example/traces/{alert['scores'][0]['trace_id']}"
    assert alert["failures"] == [{"text": "$54.00 is said, 4500 cents were returned", "count": 2}]
    assert alert["url"] == (
        "https://spanproof.example/traces?q=label%3Afail%20layer%3Agroundedness%20agent%3Apricer%20since%3A1h"
    )


def test_a_firing_rule_is_notified_once_per_cooldown_and_its_end_once(judged, receiver, engines):
    judged("fail fail fail fail")
    engine = engines.open(to(receiver))
    for seconds in (0, 10, 59, 60, 70):
        engines.tick(engine, seconds)
    assert receiver.said == ["firing", "firing"]
    assert [body["repeated"] for body in receiver.bodies] == [False, True]
    assert {body["alerts"][0]["since_ns"] for body in receiver.bodies} == {NOW}
    for seconds in (700, 701, 800):  # the window has passed them
        engines.tick(engine, seconds)
    assert receiver.said == ["firing", "firing", "resolved"]
    last = receiver.bodies[-1]["alerts"][0]
    assert last["value"] is None
    assert last["id"] == receiver.bodies[0]["alerts"][0]["id"]
    assert "is within its bound again after 11.7 min" in last["summary"]


def test_a_rate_that_is_high_for_a_moment_only_is_not_notified(judged, receiver, engines):
    judged("fail fail fail fail")
    engine = engines.open(to(receiver, for_s=30))
    assert engines.tick(engine) == []
    assert engines.tick(engine, 29) == []
    judged("pass " * 5)
    assert engines.tick(engine, 31) == []
    judged("fail fail fail fail fail")
    engines.tick(engine, 40)
    engines.tick(engine, 70)
    assert [(body["status"], body["alerts"][0]["since_ns"]) for body in receiver.bodies] == [
        ("firing", NOW + 40 * SECOND)
    ]


def test_an_end_waits_for_the_resolve_delay(judged, receiver, engines):
    judged("fail fail fail fail")
    engine = engines.open(to(receiver, resolve_after_s=100, cooldown_s=10_000))
    engines.tick(engine)
    engines.tick(engine, 601)
    judged("fail fail fail fail", at_ns=NOW + 650 * SECOND)
    engines.tick(engine, 660)  # it came back before the delay was over
    engines.tick(engine, 701)
    assert receiver.said == ["firing"]
    engines.tick(engine, 1300)
    engines.tick(engine, 1399)
    assert receiver.said == ["firing"]
    engines.tick(engine, 1400)
    assert receiver.said == ["firing", "resolved"]


def test_a_rule_that_fires_again_after_its_end_is_a_new_episode(judged, receiver, engines):
    judged("fail fail fail fail")
    engine = engines.open(to(receiver, cooldown_s=10_000))
    engines.tick(engine)
    engines.tick(engine, 700)
    judged("fail fail fail fail", at_ns=NOW + 750 * SECOND)
    engines.tick(engine, 760)
    assert receiver.said == ["firing", "resolved", "firing"]
    assert len({body["alerts"][0]["id"] for body in receiver.bodies}) == 2


def test_each_value_of_a_dimension_has_an_alert_and_all_are_one_incident(judged, receiver, engines):
    judged("fail fail fail fail", agent="buyer")
    judged("fail fail fail fail", agent="pricer")
    judged("pass pass pass pass", agent="clerk")
    engine = engines.open(grouped(receiver, cooldown_s=10_000))
    engines.tick(engine)
    (body,) = receiver.bodies
    assert [alert["group"] for alert in body["alerts"]] == [{"agent": "buyer"}, {"agent": "pricer"}]
    assert body["summary"] == (
        "misquotes: $54.00 is said, 4500 cents were returned, in 2 of 2 alerts. Together 8 of 8 over the last"
        " 10 min; threshold 50 %. The worst: agent buyer (100 %); agent pricer (100 %)."
    )
    judged("pass " * 9, agent="buyer")
    engines.tick(engine, 10)
    engines.tick(engine, 299)
    assert len(receiver.bodies) == 1  # updates wait for 5 min
    engines.tick(engine, 300)
    update = receiver.bodies[1]
    assert (update["status"], update["incident"]["is_update"]) == ("firing", True)
    assert {alert["group"]["agent"]: alert["status"] for alert in update["alerts"]} == {
        "pricer": "firing",
        "buyer": "resolved",
    }
    # A group that the window has nothing of ends too; the end of all is sent at once.
    engines.tick(engine, 700)
    assert receiver.said == ["firing", "firing", "resolved"]
    assert len({body["incident"]["id"] for body in receiver.bodies}) == 1


def test_an_end_that_waits_for_an_update_is_reported_after_a_restart(judged, receiver, engines):
    judged("fail fail fail fail", agent="buyer")
    judged("fail fail fail fail", agent="pricer")
    watched = grouped(receiver, cooldown_s=10_000)
    engine = engines.open(watched)
    engines.tick(engine)
    engines.tick(engine, 1)
    judged("pass " * 9, agent="buyer")
    judged("fail fail fail fail", agent="clerk")
    engines.tick(engine, 10)
    assert engine.close(60)
    engine = engines.open(watched)
    engines.tick(engine, 300)
    update = receiver.bodies[-1]
    assert update["incident"]["id"] == receiver.bodies[0]["incident"]["id"]
    assert {alert["group"]["agent"]: alert["status"] for alert in update["alerts"]} == {
        "clerk": "firing",
        "pricer": "firing",
        "buyer": "resolved",
    }


@pytest.mark.parametrize(("no_data", "said"), [("resolve", ["firing", "resolved"]), ("keep", ["firing"])])
def test_an_alert_without_data_ends_or_stays(judged, receiver, engines, no_data, said):
    judged("fail fail fail fail")
    engine = engines.open(to(receiver, no_data=no_data, cooldown_s=10_000))
    engines.tick(engine)
    engines.tick(engine, 700)
    assert receiver.said == said


def test_silence_itself_may_fire(judged, receiver, engines):
    judged("pass pass pass pass", agent="buyer")
    engine = engines.open(grouped(receiver, no_data="fire", cooldown_s=10_000))
    engines.tick(engine)
    assert receiver.bodies == []
    engines.tick(engine, 700)
    assert receiver.said == ["firing"]
    assert receiver.bodies[0]["alerts"][0]["group"] == {"agent": "buyer"}
    assert "nothing to measure" in receiver.bodies[0]["summary"]
    judged("pass pass pass pass", agent="buyer", at_ns=NOW + 750 * SECOND)
    engines.tick(engine, 760)
    assert receiver.said == ["firing", "resolved"]


def test_a_rule_made_by_a_person_is_watched_until_it_is_removed(store, judged, receiver, engines):
    judged("fail fail fail fail")
    configured = to(receiver, name="of nobody", cohort={"agent": "nobody"})
    engine = engines.open(configured)
    text = (
        "{name: made, layer: groundedness, window_s: 600, min_count: 4, threshold: 0.5, lower_bound: false,"
        f" for_s: 0, notify: ['{configured.notify[0].id}']}}"
    )
    made = MadeRule("made", text, "ann", 1)
    store.alerts.save_rule(made)
    store.alerts.save_rule(MadeRule("broken", "{name: broken, notify: [gone]}", "ann", 1))
    engines.tick(engine)
    assert receiver.said == ["firing"]
    store.alerts.remove_rule(made)
    engines.tick(engine, 1)
    assert receiver.said == ["firing", "resolved"]
    assert engine.firing == []


def test_a_silence_keeps_an_alert_from_notifying_until_it_ends(store, judged, receiver, engines):
    judged("fail fail fail fail")
    silence = Silence("s", {"agent": "pri*", "layer": "groundedness"}, NOW, NOW + 30 * SECOND, "me", "known")
    store.alerts.write_silence(silence)
    engine = engines.open(to(receiver))
    engines.tick(engine)
    engines.tick(engine, 29)
    assert receiver.said == []
    assert [alert.rule for alert in engine.firing] == ["misquotes"]
    engines.tick(engine, 30)
    assert receiver.said == ["firing"]


def test_a_silence_that_fits_another_label_mutes_nothing(store, judged, receiver, engines):
    judged("fail fail fail fail")
    store.alerts.write_silence(Silence("s", {"agent": "buyer"}, NOW, NOW + 30 * SECOND, "me", ""))
    store.alerts.write_silence(Silence("t", {"severity": "critical"}, NOW, NOW + 30 * SECOND, "me", ""))
    engines.tick(engines.open(to(receiver)))
    assert receiver.said == ["firing"]


def test_an_end_is_sent_through_a_silence_to_those_who_know_the_beginning(store, judged, receiver, engines):
    judged("fail fail fail fail")
    engine = engines.open(to(receiver))
    engines.tick(engine)
    store.alerts.write_silence(Silence("s", {"agent": "*"}, NOW, NOW + 10_000 * SECOND, "me", ""))
    engines.tick(engine, 700)
    judged("fail fail fail fail", at_ns=NOW + 750 * SECOND)
    engines.tick(engine, 760)
    engines.tick(engine, 1500)
    assert receiver.said == ["firing", "resolved"]


def test_an_acknowledged_alert_is_not_repeated_and_its_end_is_sent(store, judged, receiver, engines):
    judged("fail fail fail fail")
    engine = engines.open(to(receiver))
    engines.tick(engine)
    (event,) = store.alerts.states()
    store.alerts.acknowledge(Acknowledgement(event.rule, event.fingerprint, event.episode_ns, "me", "", NOW))
    engines.tick(engine, 100)
    assert receiver.said == ["firing"]
    engines.tick(engine, 700)
    judged("fail fail fail fail", at_ns=NOW + 750 * SECOND)
    engines.tick(engine, 760)  # the next episode is another matter
    assert receiver.said == ["firing", "resolved", "firing"]


def test_an_alert_inhibits_those_of_other_rules_for_the_same_cohort(judged, receiver, engines):
    judged("fail fail fail fail", agent="buyer")
    judged("fail fail fail fail", agent="pricer")
    source = rule(name="down", cohort={"agent": "buyer"}, severity="critical")
    engine = engines.open(grouped(receiver, inhibited_by=["down"], cooldown_s=10_000), source)
    engines.tick(engine)
    (body,) = receiver.bodies
    assert [alert["group"] for alert in body["alerts"]] == [{"agent": "pricer"}]
    judged("pass " * 5, agent="buyer", at_ns=NOW + 5 * SECOND)
    engines.tick(engine, 10)
    assert receiver.said == ["firing"]  # both ended together: there is nothing more to send


def test_a_dead_target_holds_up_no_other(judged, receiver, engines):
    judged("fail fail fail fail")
    dead = {"url": "http://127.0.0.1:9/", "timeout_s": 1}
    engine = engines.open(rule(notify=[dead, {"url": receiver.url}]))
    engines.tick(engine)
    assert receiver.said == ["firing"]
    assert engine.count_waiting() == 1


def test_the_other_targets_get_an_alert_about_a_dead_one_and_its_end(judged, receiver, engines):
    judged("fail fail fail fail")
    with receiving() as other:
        other.answers = [400]
        notify = [{"url": other.url, "name": "pager"}, {"url": receiver.url, "name": "chat"}]
        engine = engines.open(rule(notify=notify, cooldown_s=100_000, resolve_after_s=200))
        engines.tick(engine)
        engines.tick(engine, 599)
        assert [body["rule"] for body in receiver.bodies] == ["misquotes"]
        engines.tick(engine, 601)
        assert [body["rule"] for body in receiver.bodies] == ["misquotes", "alert target"]
        summary = receiver.bodies[1]["summary"]
        assert summary.startswith("The target pager gets no notifications: webhook 127.0.0.1")
        assert "HTTP 400" in summary
        assert [failure.target for failure in engine.dead_targets] == ["pager"]
        engines.tick(engine, 900)  # the end of the alert gets through
        engines.tick(engine, 901)
        assert "The target pager gets notifications again." in [body["summary"] for body in receiver.bodies]
        assert engine.dead_targets == []
        assert engine.close(60)


def test_a_slow_target_gets_one_copy_of_a_repeated_notification(judged, receiver, engines):
    judged("fail fail fail fail")
    engine = engines.open(to(receiver, cooldown_s=1))
    receiver.open.clear()
    for seconds in range(6):
        engine.evaluate_rules(NOW + seconds * SECOND)
    receiver.open.set()
    assert engine.wait_delivered(60)
    assert receiver.said == ["firing", "firing"]
    assert receiver.bodies[1]["at_ns"] == NOW + 5 * SECOND


def test_a_target_that_fails_for_now_is_tried_again_with_the_same_id(store, judged, receiver, engines):
    judged("fail fail fail fail")
    receiver.answers = [503, 500]
    engine = engines.open(to(receiver), first_pause_s=0.01)
    engine.evaluate_rules(NOW)
    wait_until(lambda: not engine.count_waiting())
    assert receiver.said == ["firing"] * 3
    assert len({headers["Idempotency-Key"] for headers in receiver.headers}) == 1
    (delivery,) = store.alerts.deliveries()
    assert (delivery.state, delivery.attempts) == ("delivered", 3)


def test_one_that_was_refused_waits_alone(judged, receiver, engines):
    judged("fail fail fail fail")
    receiver.answers = [400]
    engine = engines.open(to(receiver), to(receiver, name="other"))
    engines.tick(engine)
    assert [body["rule"] for body in receiver.bodies] == ["misquotes", "other"]
    assert engine.count_waiting() == 1


def test_the_delivery_log_has_the_error_and_no_token(store, judged, receiver, engines, caplog):
    judged("fail fail fail fail")
    receiver.answers = [500]
    with caplog.at_level(logging.WARNING, "spanproof.alerts"):
        engines.tick(engines.open(to(receiver)))
    (delivery,) = store.alerts.deliveries()
    assert delivery.state == "undelivered"
    assert "HTTP 500; next try 20" in delivery.error
    assert "token-in-path" not in caplog.text + str(delivery)


def test_a_notification_that_is_too_old_is_given_up(store, judged, receiver, engines):
    judged("fail fail fail fail")
    receiver.answers = [500] * 9
    engine = engines.open(rule(notify=[{"url": receiver.url, "retry_for_s": 5}]), first_pause_s=0.01)
    engines.clock = NOW + 6 * SECOND
    engine.evaluate_rules(NOW)
    assert engine.wait_delivered(60)
    assert [delivery.state for delivery in store.alerts.deliveries()] == ["given_up"]
    assert len(receiver.bodies) == 1


def test_a_rule_that_cannot_be_read_does_not_stop_the_tick(store, judged, caplog):
    closed = open_store(store.name)
    engine = AlertEngine([rule()], closed)
    closed.close()
    with caplog.at_level(logging.WARNING, "spanproof.alerts"):
        assert engine.evaluate_rules(NOW) == []
    assert "cannot be read" in caplog.text
    assert engine.close(60)


def test_two_rules_of_one_name_are_refused(store):
    with pytest.raises(ValueError, match="'misquotes' is given twice"):
        AlertEngine([rule(), rule()], store)


def test_an_error_that_no_one_expects_does_not_end_deliveries(judged, receiver, engines, monkeypatch, caplog):
    judged("fail fail fail fail")
    write, failures = AlertLog.write_delivery, [OSError("no room")]

    def fail_once(log: AlertLog, delivery: Delivery) -> None:
        if failures:
            raise failures.pop()
        write(log, delivery)

    monkeypatch.setattr(AlertLog, "write_delivery", fail_once)
    engine = engines.open(to(receiver), first_pause_s=0.01)
    engine.evaluate_rules(NOW)
    wait_until(lambda: not engine.count_waiting())
    assert receiver.said == ["firing"]
    assert "no room" in caplog.text
