from __future__ import annotations

import pytest

from spanproof.alerts import AlertEngine
from spanproof.store import AlertEvent, AlertLog, Store, StoreUnavailable

from .test_engine import NOW, SECOND, grouped, rule, to


@pytest.fixture
def store(emptied: Store) -> Store:
    return emptied


def restarted(engine, engines, *rules, **more) -> AlertEngine:
    assert engine.close(60)
    return engines.open(*rules, **more)


def test_what_was_sent_is_not_sent_again_after_a_restart(judged, receiver, engines):
    judged("fail fail fail fail")
    watched = to(receiver, cooldown_s=100)
    engine = engines.open(watched)
    engines.tick(engine)
    engine = restarted(engine, engines, watched)
    engines.tick(engine, 50)
    assert receiver.said == ["firing"]
    engines.tick(engine, 100)  # the cooldown goes on where it was
    assert receiver.said == ["firing", "firing"]


def test_the_end_is_sent_after_a_restart(judged, receiver, engines):
    judged("fail fail fail fail", agent="buyer")
    watched = grouped(receiver)
    engine = engines.open(watched)
    engines.tick(engine)
    engine = restarted(engine, engines, watched)
    engines.tick(engine, 700)
    engine = restarted(engine, engines, watched)
    engines.tick(engine, 800)
    assert receiver.said == ["firing", "resolved"]
    assert len({body["alerts"][0]["id"] for body in receiver.bodies}) == 1


def test_waiting_for_the_duration_goes_on_after_a_restart(judged, receiver, engines):
    judged("fail fail fail fail")
    watched = to(receiver, for_s=30)
    engine = engines.open(watched)
    engines.tick(engine)
    engine = restarted(engine, engines, watched)
    engines.tick(engine, 30)
    assert [body["alerts"][0]["since_ns"] for body in receiver.bodies] == [NOW]


@pytest.mark.parametrize("document", ["{}", "[]", "", '{"id": "of a later version"}'])
def test_an_alert_of_a_form_that_is_unknown_stops_no_other(store, judged, receiver, engines, document):
    watched = to(receiver)
    for name in (watched.name, "gone"):
        targets = tuple(target.id for target in watched.notify)
        unknown = AlertEvent(
            name, "a", NOW - 1, 0, "firing", NOW - 1, NOW - 1, NOW - 1, f"{name}-1", targets, False, document
        )
        store.alerts.write_events([unknown])
    judged("fail fail fail fail")
    engine = engines.open(watched)
    engines.tick(engine)
    assert receiver.said == ["firing"]


def test_what_a_target_did_not_get_is_sent_after_a_restart_in_order(store, judged, receiver, engines):
    judged("fail fail fail fail")
    watched = to(receiver, cooldown_s=10_000)
    receiver.answers = [503]
    engine = engines.open(watched)
    engines.tick(engine)
    engines.tick(engine, 700)
    assert engine.count_waiting() == 2
    engine = restarted(engine, engines, watched)
    assert engine.wait_delivered(60)
    assert receiver.said == ["firing", "firing", "resolved"]
    assert receiver.bodies[0] == receiver.bodies[1]
    attempts = {delivery.notification: delivery.attempts for delivery in store.alerts.deliveries()}
    assert attempts[receiver.bodies[0]["id"]] == 2


def test_one_target_that_got_it_does_not_settle_it_for_another(store, judged, receiver, engines):
    judged("fail fail fail fail")
    dead = {"name": "pager", "url": "http://127.0.0.1:9/"}
    alive = {"name": "chat", "url": receiver.url}
    engine = engines.open(rule(notify=[dead, alive]))
    engines.tick(engine)
    engine = restarted(engine, engines, rule(notify=[{**dead, "url": receiver.url}, alive]))
    assert engine.wait_delivered(60)
    assert receiver.said == ["firing", "firing"]
    assert {each.target: each.state for each in store.alerts.deliveries()} == dict.fromkeys(
        ("pager", "chat"), "delivered"
    )


def test_an_alert_of_a_rule_that_was_taken_out_ends(judged, receiver, engines):
    judged("fail fail fail fail")
    engine = engines.open(to(receiver), to(receiver, name="other", threshold=1, cohort={"agent": "x"}))
    engines.tick(engine)
    engine = restarted(engine, engines, to(receiver, name="other", threshold=1, cohort={"agent": "x"}))
    assert engine.wait_delivered(60)
    assert receiver.said == ["firing", "resolved"]
    assert receiver.bodies[1]["summary"] == "The rule misquotes is no longer configured."


def test_a_target_that_was_taken_out_is_given_up_once(store, judged, receiver, engines, caplog):
    judged("fail fail fail fail")
    receiver.answers = [500]
    engine = engines.open(to(receiver))
    engines.tick(engine)
    for _ in range(2):
        engine = restarted(engine, engines, rule())
    (delivery,) = store.alerts.deliveries()
    assert (delivery.state, delivery.error) == ("given_up", "the target is no longer configured")
    assert caplog.text.count("is no longer configured") == 1


def test_an_alert_that_fires_while_the_dimensions_of_its_rule_change_ends(judged, receiver, engines):
    judged("fail fail fail fail", agent="buyer")
    engine = engines.open(grouped(receiver, no_data="keep"))
    engines.tick(engine)
    engine = restarted(engine, engines, to(receiver, cohort={}, group_by=["agent", "model"], no_data="keep"))
    engines.tick(engine, 10)
    statuses = [alert["status"] for body in receiver.bodies for alert in body["alerts"]]
    assert statuses == ["firing", "firing", "resolved"]


def test_what_cannot_be_written_is_not_sent(store, judged, receiver, engines, monkeypatch):
    judged("fail fail fail fail")
    engine = engines.open(to(receiver))

    def refuse(*_: object) -> None:
        raise StoreUnavailable("gone")

    with monkeypatch.context() as patched:
        patched.setattr(AlertLog, "write_events", refuse)
        assert engines.tick(engine) == []
    engines.tick(engine, 1)
    assert receiver.said == ["firing"]
    assert receiver.bodies[0]["alerts"][0]["since_ns"] == NOW + SECOND
