from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from spanproof.alerts import AlertEngine
from spanproof.cli.app import run
from spanproof.store import AlertEvent, open_store

from .test_engine import NOW, SECOND, grouped


@pytest.fixture
def location(tmp_path: Path, store, judged, receiver) -> str:
    """A store in which two alerts fired, one ended, and the target of the newest one is down."""
    judged("fail fail fail fail", agent="buyer")
    judged("fail fail fail fail", agent="pri\x1b[31mcer")
    engine = AlertEngine([grouped(receiver, cooldown_s=100_000)], store, clock=lambda: NOW, first_pause_s=600)
    engine.evaluate_rules(NOW)
    assert engine.wait_delivered(60)
    receiver.answers = [503]
    judged("pass " * 9, agent="buyer", at_ns=NOW + SECOND)
    engine.evaluate_rules(NOW + 300 * SECOND)
    assert engine.close(60)
    store.close()
    return str(tmp_path / "store")


def listed(capfd, *arguments: str) -> list[dict[str, object]]:
    assert run(["alerts", *arguments, "--json"]) == 0
    return [json.loads(line) for line in capfd.readouterr().out.splitlines()]


def test_what_fires_is_listed_and_what_has_ended_on_request(location, capfd):
    (alert,) = listed(capfd, "list", "--store", location)
    assert (alert["state"], alert["rule"], alert["part"], alert["whole"]) == ("firing", "misquotes", 4, 4)
    assert (alert["threshold"], alert["window"]) == ("threshold 50 %", "10 min")
    assert alert["not_counted"] == {"skipped": 0, "errored": 0, "open": 0}
    assert len(alert["traces"]) == 4
    assert "fails 4 of 4 (100 %)" in alert["first_summary"]
    assert run(["alerts", "list", "--store", location]) == 0
    out = capfd.readouterr().out
    # Beside a long note the column of the text is narrow: it is folded, and nothing of it is cut.
    assert {"fails", "4", "of", "(100", "%)"} <= set(out.split())
    assert "\x1b[31m" not in out
    states = [
        (row["state"], bool(row["undelivered"]))
        for row in listed(capfd, "list", "--all", "--store", location)
    ]
    assert sorted(states) == [("firing", True), ("resolved", True)]  # both are in the update


def test_an_alert_of_a_form_that_is_unknown_is_left_out_and_counted(location, capfd):
    with open_store(location) as store:
        unknown = AlertEvent("gone", "a", NOW, 0, "firing", NOW, NOW, NOW, "n", (), False, "{}")
        store.alerts.write_events([unknown])
    assert run(["alerts", "list", "--store", location, "--json"]) == 0
    printed = capfd.readouterr()
    assert len(printed.out.splitlines()) == 1
    assert "1 alert left out: this version cannot read it" in printed.err


def test_doctor_names_a_target_that_did_not_get_a_notification(location, capfd):
    assert run(["doctor", "--store", location]) == 0
    out = " ".join(capfd.readouterr().out.split())
    assert "did not get 1 notification, the newest of misquotes: undelivered" in out
    assert "HTTP 503" in out
    assert run(["doctor", "--store", location, "--json"]) == 0
    (missing,) = json.loads(capfd.readouterr().out)["undelivered"]
    assert (missing["rule"], missing["state"], missing["attempts"]) == ("misquotes", "undelivered", 1)


def test_a_rule_is_tried_on_the_store_of_its_configuration(location, tmp_path, capfd):
    config = tmp_path / "spanproof.yaml"
    rules = "[{name: misquotes, layer: groundedness}]"
    config.write_text(f"store: {{location: {location}}}\nalerts: {rules}")
    assert run(["alerts", "test", "misquotes", "--since", "90s", "--config", str(config)]) == 0
    assert "misquotes would have fired 0 times in the last 90s" in capfd.readouterr().out


def test_an_alert_is_acknowledged_by_the_start_of_its_id(location, capfd):
    (alert,) = listed(capfd, "list", "--store", location)
    start = str(alert["id"])[:6]
    assert run(["alerts", "ack", start, "--comment", "on it", "--author", "ada", "--store", location]) == 0
    assert "misquotes is acknowledged by ada" in capfd.readouterr().out
    (alert,) = listed(capfd, "list", "--store", location)
    assert alert["acknowledged"]["author"] == "ada"
    assert run(["alerts", "ack", "zzz", "--store", location]) == 2
    assert "0 alerts of this id fire" in capfd.readouterr().err


def test_an_incident_is_one_line_and_acknowledged_as_a_whole(tmp_path, store, judged, receiver, capfd):
    for agent in ("buyer", "pricer", "clerk"):
        judged("fail fail fail fail", agent=agent)
    engine = AlertEngine([grouped(receiver)], store, clock=lambda: NOW, first_pause_s=600)
    engine.evaluate_rules(NOW)
    assert engine.close(60)
    store.close()
    location = str(tmp_path / "store")
    rows = listed(capfd, "list", "--store", location)
    (incident,) = {str(row["incident"]) for row in rows}
    assert len(rows) == 3
    assert run(["alerts", "list", "--store", location]) == 0
    out = " ".join(capfd.readouterr().out.split())
    assert out.count("firing") == 1
    assert "in 3 of 3 alerts" in out
    assert run(["alerts", "ack", incident[:8], "--author", "ada", "--store", location]) == 0
    assert "misquotes (3 alerts) is acknowledged by ada" in capfd.readouterr().out
    assert all(row["acknowledged"] for row in listed(capfd, "list", "--store", location))


def test_a_silence_is_made_listed_and_ended(location, capfd):
    (made,) = listed(
        capfd, "silence", "agent=b*", "severity=error", "--for", "2h", "--author", "ada", "--store", location
    )
    assert made["matchers"] == {"agent": "b*", "severity": "error"}
    assert made["ends_ns"] - made["starts_ns"] == 7200 * SECOND
    assert listed(capfd, "list", "--store", location)[1:] == [made]
    assert run(["alerts", "list", "--store", location]) == 0
    assert "agent=b*, severity=error, by ada" in " ".join(capfd.readouterr().out.split())
    assert run(["alerts", "silence", "--end", made["id"][:5], "--store", location]) == 0
    assert "has ended" in capfd.readouterr().out
    assert len(listed(capfd, "list", "--store", location)) == 1
    assert run(["alerts", "silence", "--end", made["id"], "--store", location]) == 2


def test_a_silence_that_is_none_is_refused(location, capfd):
    refused = {
        "give matchers, or --end": [[], ["agent=x", "--end", "y"]],
        "'agent' is no matcher": [["agent"]],
        "is no span of time": [["agent=x", "--for", "soon"]],
    }
    for words, commands in refused.items():
        for arguments in commands:
            assert run(["alerts", "silence", *arguments, "--store", location]) == 2
            assert words in capfd.readouterr().err


def test_a_silence_is_made_while_another_process_holds_the_store(location):
    with open_store(location, share=True) as store:
        command = [sys.executable, "-m", "spanproof.cli", "alerts", "silence", "agent=*", "--store", location]
        subprocess.run(command, check=True, capture_output=True)
        assert [dict(silence.matchers) for silence in store.alerts.silences()] == [{"agent": "*"}]


def test_without_an_alert_it_says_so(tmp_path, capfd):
    open_store(tmp_path / "store").close()
    assert run(["alerts", "list", "--store", str(tmp_path / "store")]) == 0
    assert "no alert fires" in capfd.readouterr().err
