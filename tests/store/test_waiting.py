"""Traces whose spans are stored and that are not evaluated yet, and the commands that say so."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from spanproof.cli.app import run
from spanproof.store import DeadLetter, Store, open_store

WHOLE, UNFINISHED, EVALUATED = 0xAA << 120, 0xBB << 120, 0xCC << 120


def request_of(number: int, *spans: tuple[int, int], age_s: float = 1.0) -> ExportTraceServiceRequest:
    """Return spans of one trace, each an id and its parent's id, that ended so long ago."""
    request = ExportTraceServiceRequest()
    scope = request.resource_spans.add().scope_spans.add()
    end_ns = time.time_ns() - int(age_s * 1e9)
    for span_id, parent in spans:
        scope.spans.add(
            trace_id=number.to_bytes(16, "big"),
            span_id=span_id.to_bytes(8, "big"),
            parent_span_id=parent.to_bytes(8, "big") if parent else b"",
            name="step",
            start_time_unix_nano=end_ns - 10**9,
            end_time_unix_nano=end_ns,
        )
    return request


def write(store: Store, *requests: ExportTraceServiceRequest, project: str = "shop") -> None:
    store.write_spans(requests, project)


@pytest.fixture
def location(tmp_path: Path, evaluation) -> str:
    """A store with one evaluated trace, one that waits, and one whose root has not ended."""
    start_ns = time.time_ns() - 20 * 10**9
    with open_store(tmp_path / "store") as store:
        write(store, request_of(EVALUATED, (1, 0)))
        store.write([evaluation(EVALUATED, start_ns=start_ns)])
        write(store, request_of(WHOLE, (1, 0), (2, 1)), request_of(UNFINISHED, (2, 1)))
    return str(tmp_path / "store")


def test_what_is_stored_and_not_evaluated_waits(location: str) -> None:
    with open_store(location, read_only=True) as store:
        waiting = store.waiting_traces()
    assert {(int(each.trace_id, 16), each.is_whole) for each in waiting.traces} == {
        (WHOLE, True),
        (UNFINISHED, False),
    }
    assert waiting.usual_wait_s is not None
    assert 0 <= waiting.usual_wait_s < 30
    assert all(time.time_ns() - each.stored_ns < 60 * 10**9 for each in waiting.traces)


def test_a_missing_parent_an_old_trace_and_one_that_cannot_be_evaluated(tmp_path: Path) -> None:
    with open_store(tmp_path / "store") as store:
        write(store, request_of(1, (1, 0), (3, 2)), request_of(2, (1, 0), age_s=5000), request_of(3, (1, 0)))
        store.write_dead_letters(
            [DeadLetter(f"{3:032x}", "evaluate", "ValueError", "no", 3, b"", time.time_ns(), "shop")]
        )
        waiting = store.waiting_traces()
    assert [(int(each.trace_id, 16), each.is_whole) for each in waiting.traces] == [(1, False)]
    assert waiting.usual_wait_s is None


def test_what_waits_is_of_one_project_where_one_is_named(tmp_path: Path) -> None:
    with open_store(tmp_path / "store") as store:
        write(store, request_of(1, (1, 0)), project="shop")
        assert len(store.waiting_traces("shop").traces) == 1
        assert store.waiting_traces("other").traces == ()


def test_traces_says_what_waits_beside_what_is_evaluated(location: str, capfd) -> None:
    assert run(["traces", "--store", location, "--json"]) == 0
    printed = capfd.readouterr()
    assert int(json.loads(printed.out)["trace_id"], 16) == EVALUATED
    assert "1 trace waits, evaluated" in printed.err
    assert "1 trace has not ended" in printed.err


def test_show_of_a_trace_that_waits_says_so(location: str, capfd) -> None:
    assert run(["show", "AA", "--store", location]) == 2
    printed = capfd.readouterr()
    assert printed.err.startswith("spanproof: 1 trace waits, evaluated")
    assert "remedy: Run the same command again then." in printed.err
    assert "has not ended" not in printed.err


def test_show_last_is_the_newest_evaluated_trace_and_says_what_is_newer(location: str, capfd) -> None:
    assert run(["show", "--last", "--store", location]) == 0
    printed = capfd.readouterr()
    assert f"{EVALUATED:032x}" in printed.out
    first, *newer = printed.err.splitlines()
    assert first.startswith(f"the newest evaluated trace of {location}; it started 2")
    assert any("1 trace waits" in line for line in newer)


def test_show_last_as_json_has_the_states(location: str, capfd) -> None:
    assert run(["show", "--last", "--json", "--store", location]) == 0
    shown = json.loads(capfd.readouterr().out)
    assert (shown["state"], shown["runs"][0]["state"]) == ("fail", "fail")


def test_show_last_of_a_store_without_an_evaluated_trace(tmp_path: Path, capfd) -> None:
    location = str(tmp_path / "store")
    with open_store(location) as store:
        pass
    assert run(["show", "--last", "--store", location]) == 2
    assert "is evaluated yet" in capfd.readouterr().err
    with open_store(location) as store:
        write(store, request_of(WHOLE, (1, 0)))
    assert run(["show", "--last", "--store", location]) == 2
    assert "1 trace waits, evaluated in about" in capfd.readouterr().err


@pytest.mark.parametrize("arguments", [[], ["abc", "--last"]])
def test_show_takes_a_trace_or_the_last(location: str, capfd, arguments: list[str]) -> None:
    assert run(["show", *arguments, "--store", location]) == 2
    assert "show takes a trace or --last" in capfd.readouterr().err
