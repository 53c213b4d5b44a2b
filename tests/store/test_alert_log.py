from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from spanproof.store import Acknowledgement, AlertEvent, Delivery, Silence, StoreError, open_store

EVENT = AlertEvent("r", "f", 10, 0, "firing", 10, 10, 10, "n", ("a", "b"), repeated=False, document="{}")
QUOTES = 'it\'s "x"\\n\n\t{id:String} \N{SNOWMAN}'


def event(**changes: object) -> AlertEvent:
    values = {name: getattr(EVENT, name) for name in EVENT.__slots__} | changes
    return AlertEvent(**values)


def test_the_newest_event_of_the_newest_episode_is_the_state(embedded):
    later = event(episode_ns=20, sequence=0, status="pending", at_ns=20)
    embedded.alerts.write_events([EVENT, event(sequence=1, status="resolved", at_ns=30), later])
    embedded.alerts.write_events([event(fingerprint="g", at_ns=5)])
    states = {state.fingerprint: state for state in embedded.alerts.states()}
    assert states == {"f": later, "g": event(fingerprint="g", at_ns=5)}
    assert [each.at_ns for each in embedded.alerts.history(2)] == [30, 20]


def test_a_notification_is_undelivered_until_each_of_its_targets_is_settled(embedded):
    log = embedded.alerts
    log.write_events([EVENT, event(fingerprint="g", notification="", targets=())])
    assert log.undelivered(0) == [(EVENT, {"a": 0, "b": 0})]
    log.write_delivery(Delivery("n", "a", "r", "delivered", 1, "", 10))
    log.write_delivery(Delivery("n", "b", "r", "trying", 2, "", 10))
    assert log.undelivered(0) == [(EVENT, {"b": 2})]
    log.write_delivery(Delivery("n", "b", "r", "undelivered", 2, "HTTP 500", 10))
    assert log.undelivered(0) == [(EVENT, {"b": 2})]
    log.write_delivery(Delivery("n", "b", "r", "given_up", 3, "HTTP 500", 10))
    assert log.undelivered(0) == []
    assert [each.state for each in log.deliveries("n")] == ["delivered", "given_up"]
    assert log.undelivered(11) == []


def test_a_silence_is_in_force_from_its_start_to_its_end_and_may_be_replaced(embedded):
    silence = Silence("s", {"agent": QUOTES, QUOTES: "*"}, 10, 20, QUOTES, QUOTES)
    embedded.alerts.write_silence(silence)
    assert embedded.alerts.silences() == [silence]
    assert [bool(embedded.alerts.silences(at)) for at in (9, 10, 19, 20)] == [False, True, True, False]
    embedded.alerts.write_silence(Silence("s", {}, 10, 12, "me", ""))
    assert embedded.alerts.silences(15) == []
    assert len(embedded.alerts.silences()) == 1


_OTHER = """
import sys
from spanproof.store import Acknowledgement, Silence, open_store
with open_store(sys.argv[1]) as store:
    store.alerts.write_silence(Silence("s", {"agent": sys.argv[2]}, 1, 2**62, "me", sys.argv[2]))
    store.alerts.acknowledge(Acknowledgement("r", "f", 10, "me", sys.argv[2], 7))
    assert [silence.id for silence in store.alerts.silences()] == ["s"]
"""


def test_another_process_may_silence_and_acknowledge_while_the_store_is_held(tmp_path: Path):
    with open_store(tmp_path / "store", share=True) as store:
        subprocess.run([sys.executable, "-c", _OTHER, str(tmp_path / "store"), QUOTES], check=True)
        assert store.alerts.silences() == [Silence("s", {"agent": QUOTES}, 1, 2**62, "me", QUOTES)]
        assert store.alerts.acknowledgements() == [Acknowledgement("r", "f", 10, "me", QUOTES, 7)]


@pytest.mark.parametrize(
    "statement",
    [
        "INSERT INTO spanproof.alert_events (rule) SELECT {id:String}",
        "INSERT INTO spanproof.alert_silences (id) SELECT name FROM system.tables",
        "INSERT INTO spanproof.alert_silences (id) SELECT {id:String} FROM url('http://127.0.0.1:1/')",
        "INSERT INTO spanproof.alert_silences (id) SELECT {id:String}; DROP TABLE spanproof.scores",
        "INSERT INTO spanproof.alert_silences (id) SELECT file('/etc/passwd')",
        "TRUNCATE TABLE spanproof.alert_silences",
    ],
)
def test_a_reader_writes_nothing(tmp_path: Path, statement: str):
    with open_store(tmp_path / "store", share=True) as store:
        url = (tmp_path / "store" / "lock").read_text().partition('"read_url": "')[2].partition('"')[0]
        with (
            open_store(url, read_only=True) as reader,
            pytest.raises(StoreError),
            reader._connections.lease() as client,
        ):
            client.command(statement, parameters={"id": "x"})
        assert store.alerts.silences() == []
