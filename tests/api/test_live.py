"""Traces arrive as server-sent events while a real server runs, and sessions join traces."""

from __future__ import annotations

import json

import httpx
import pytest

from spanproof.api import ConsoleServer


def test_a_trace_arrives_as_it_is_evaluated(store, evaluation_at):
    with (
        ConsoleServer(lambda: store, "127.0.0.1", 0) as server,
        httpx.stream("GET", f"{server.url}/api/v1/live?seconds=100", timeout=60) as stream,
    ):
        assert stream.headers["content-type"].startswith("text/event-stream")
        written = evaluation_at(1000)
        for line in stream.iter_lines():
            if line == ": open":
                store.write([written])
            if line.startswith("data: "):
                assert json.loads(line.removeprefix("data: "))["trace_id"] == written.trace.trace_id
                return
    pytest.fail("the stream ended without the trace")
