from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from spanproof.alerts import AlertEngine
from spanproof.store import AlertLog, StoreUnavailable, open_store

from .test_engine import NOW, SECOND, grouped, rule, to

ROUNDS = int(os.environ.get("SPANPROOF_KILL_ROUNDS", "6"))
"""How often the process is killed; more by `SPANPROOF_KILL_ROUNDS`."""


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


def test_what_a_target_did_not_get_is_sent_after_a_restart_in_order(store, judged, receiver, engines):
    judged("fail fail fail fail")
    watched = to(receiver, cooldown_s=10_000)
    receiver.answers = [503]
    engine = engines.open(watched)
    engines.tick(engine)
    engines.tick(engine, 700)
    assert engine.waiting() == 2
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


_CHILD = Path(__file__).with_name("killed_engine.py")


@pytest.mark.parametrize("seed", [1, 2])
def test_nothing_is_lost_or_sent_under_two_ids_however_often_the_process_is_killed(tmp_path, receiver, seed):
    """Each round goes on where the last one was killed; in the end each alert fired and ended once."""
    moments = random.Random(seed)
    receiver.answers = [500 if moments.random() < 0.2 else 200 for _ in range(20 * ROUNDS)]
    for number in range(ROUNDS):
        process = start(tmp_path, receiver.url)
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
            if number % 2 == 0:
                # On a busy machine every process might be killed before its first tick.
                wait_for_tick(tmp_path / "clock")
            time.sleep(moments.uniform(0.0, 1.5))
        finally:
            process.send_signal(signal.SIGKILL)
            process.wait()
            process.stdout.close()
    last = start(tmp_path, receiver.url, "to the end")
    out, _ = last.communicate(timeout=300)
    assert last.returncode == 0, out
    episodes = json.loads(out.splitlines()[-1])
    assert episodes
    by_id: dict[str, list[str]] = {}
    seen = set()
    for body in receiver.bodies:
        (alert,) = body["alerts"]
        if (body["id"], alert["status"]) not in seen:
            seen.add((body["id"], alert["status"]))
            by_id.setdefault(alert["id"], []).append(alert["status"])
    assert by_id == {episode: ["firing", "resolved"] for episode in episodes}
    with open_store(tmp_path / "store") as store:
        assert {each.state for each in store.alerts.deliveries()} == {"delivered"}


def wait_for_tick(clock: Path) -> None:
    """Wait until the process has moved the clock on."""
    before = clock.read_text() if clock.exists() else ""
    deadline = time.monotonic() + 120
    while not clock.exists() or clock.read_text() == before:
        assert time.monotonic() < deadline, "the process makes no tick"
        time.sleep(0.01)


def start(directory: Path, url: str, *more: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, str(_CHILD), str(directory), url, *more], stdout=subprocess.PIPE, text=True
    )
