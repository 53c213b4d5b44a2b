"""`spanproof session` over a real embedded store."""

from __future__ import annotations

import json

import pytest
from agents_of_a_desk import OTHER, REQUEST, RIGHT, desk

from spanproof.cli.app import run
from spanproof.cli.output.console import console
from spanproof.evaluators.engine import Engine
from spanproof.sandbox.scanners.pipeline import Pipeline
from spanproof.store import open_store
from spanproof.trace import trace_of
from spanproof.trace.dialects import normalise_request


@pytest.fixture(scope="module")
def location(tmp_path_factory):
    place = tmp_path_factory.mktemp("sessions") / "store"
    handed = ["print(billing(task='Find the refund of A-71'))", "final_answer('The refund is $12.00.')"]
    engine = Engine(pipeline=Pipeline(), sandbox=None)
    with desk() as ask, open_store(place) as store:
        for request in (ask(REQUEST, RIGHT), ask(REQUEST, handed, OTHER)):
            store.write_spans([request])
            store.write([engine.evaluate(trace_of(list(normalise_request(request))))])
    return str(place)


def test_conversations_are_listed(location, capfd):
    assert run(["session", "--store", location, "--json"]) == 0
    (row,) = map(json.loads, capfd.readouterr().out.splitlines())
    assert (row["id"], row["traces"]) == ("chat-7", 2)
    assert run(["session", "--store", location]) == 0
    assert "chat-7" in capfd.readouterr().out


def test_a_conversation_is_judged_as_a_whole(location, capfd, monkeypatch):
    monkeypatch.setattr(console, "width", 200)
    assert run(["session", "chat-7", "--store", location]) == 0
    printed = " ".join(capfd.readouterr().out.split())
    assert printed.startswith("FAIL session chat-7:")
    assert "(requested again)" in printed
    assert "A-71 in place of A-17" in printed
    assert "first mistake: turn 2, desk: handed over to billing" in printed


def test_a_conversation_as_json(location, capfd):
    assert run(["session", "chat-7", "--store", location, "--json"]) == 0
    shown = json.loads(capfd.readouterr().out)
    assert shown["state"] == "fail"
    assert [turn["state"] for turn in shown["turns"]][-1] == "fail"
    assert [turn["number"] for turn in shown["turns"]] == [1, 2]
    assert shown["hand_overs"][0]["replaced"] == [{"given": "A-17", "used": "A-71"}]


def test_an_unknown_conversation_is_named_with_the_remedy(location, capfd):
    assert run(["session", "chat-8", "--store", location]) == 2
    assert "no trace has the session id 'chat-8'" in capfd.readouterr().err
