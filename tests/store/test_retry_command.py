from __future__ import annotations

import json
from pathlib import Path

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from spanproof.cli.app import run
from spanproof.evaluators.engine import Engine
from spanproof.store import DeadLetter, open_store


def body(trace_id: str) -> bytes:
    """Return a trace of one agent's span as an OTLP request."""
    request = ExportTraceServiceRequest()
    span = (
        request.resource_spans.add()
        .scope_spans.add()
        .spans.add(
            trace_id=bytes.fromhex(trace_id),
            span_id=b"\x01" * 8,
            name="clerk",
            start_time_unix_nano=1,
            end_time_unix_nano=2,
        )
    )
    span.attributes.add(key="openinference.span.kind").value.string_value = "AGENT"
    return request.SerializeToString()


@pytest.fixture
def location(tmp_path: Path) -> str:
    """A store with two dead letters: a real trace, and bytes that no version can read."""
    with open_store(tmp_path / "store") as store:
        store.write_dead_letters(
            [
                DeadLetter("a" * 32, "evaluate", "MemoryError", "no room", 3, body("a" * 32), 2),
                DeadLetter("b" * 32, "normalise", "ValueError", "\x1b[31mbad", 3, b"\xff\xff", 1),
            ]
        )
    return str(tmp_path / "store")


def test_dead_letters_are_listed_with_their_error(location, capfd):
    assert run(["retry", "--list", "--store", location]) == 0
    out = capfd.readouterr().out
    assert "MemoryError: no room" in out
    assert "\x1b[31mbad" not in out
    assert run(["retry", "--list", "--store", location, "--json"]) == 0
    first = json.loads(capfd.readouterr().out.splitlines()[0])
    assert (first["trace_id"], first["stage"], first["attempts"]) == ("a" * 32, "evaluate", 3)


def test_what_is_evaluated_now_is_a_dead_letter_no_more(location, capfd):
    assert run(["retry", "--store", location, "--set", "evaluation.replay=false"]) == 1
    read = capfd.readouterr()
    assert "1 trace evaluated, 1 failed again" in read.out
    assert "failed again: Malformed" in read.err
    with open_store(location, read_only=True) as store:
        assert [letter.trace_id for letter in store.dead_letters()] == ["b" * 32]
        assert len(store.trace_ids()) == 1


def test_an_error_of_an_evaluator_keeps_the_letter(location, capfd, monkeypatch):
    def fail(*_: object) -> None:
        raise MemoryError("no room again")

    monkeypatch.setattr(Engine, "evaluate", fail)
    arguments = ["retry", "a" * 32, "--store", location, "--set", "evaluation.replay=false", "--json"]
    assert run(arguments) == 1
    assert json.loads(capfd.readouterr().out)["error"] == "MemoryError: no room again"
    with open_store(location, read_only=True) as store:
        assert len(store.dead_letters()) == 2


def test_a_trace_that_is_no_dead_letter_is_named(location, capfd):
    assert run(["retry", "c" * 32, "--store", location]) == 2
    assert "`spanproof retry --list` lists them" in capfd.readouterr().err


def test_a_store_without_dead_letters_is_fine(tmp_path, capfd):
    open_store(tmp_path / "store").close()
    assert run(["retry", "--store", str(tmp_path / "store")]) == 0
    assert "has no dead letter" in capfd.readouterr().err
