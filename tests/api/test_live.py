"""Traces arrive as server-sent events while a real server runs, and sessions join traces."""

from __future__ import annotations

import json

import httpx
import pytest

from spanproof.api import ConsoleServer, ConsoleSettings, TokenHolders
from spanproof.collector.receive import auth
from spanproof.config.model import load_config


def test_a_trace_arrives_as_it_is_evaluated(store, evaluation_of):
    with (
        ConsoleServer(lambda: store, "127.0.0.1", 0) as server,
        httpx.stream("GET", f"{server.url}/api/v1/live?seconds=100", timeout=60) as stream,
    ):
        assert stream.headers["content-type"].startswith("text/event-stream")
        written = evaluation_of(1000)
        for line in stream.iter_lines():
            if line == ": open":
                store.write([written])
            if line.startswith("data: "):
                assert json.loads(line.removeprefix("data: "))["trace_id"] == written.trace.trace_id
                return
    pytest.fail("the stream ended without the trace")


def test_a_stream_ends_when_the_token_of_its_reader_is_revoked(store, tmp_path, monkeypatch):
    monkeypatch.setattr(auth, "_LOOK_EVERY_S", 0.0)
    tokens = tmp_path / "tokens.yaml"
    tokens.write_text("[{token: old, roles: [read]}]")
    config = tmp_path / "spanproof.yaml"
    config.write_text(f"tokens_file: {tokens}\n")
    holders = TokenHolders(load_config(config, {}))
    settings = ConsoleSettings(accepts=holders.find_grant, read_grants=holders.list_grants)
    with (
        ConsoleServer(lambda: store, "127.0.0.1", 0, settings) as server,
        httpx.stream(
            "GET",
            f"{server.url}/api/v1/live?seconds=3600",
            headers={"authorization": "Bearer old"},
            timeout=60,
        ) as stream,
    ):
        assert stream.status_code == httpx.codes.OK
        # Without the check it would go on for an hour, a comment each second.
        for line in stream.iter_lines():
            if line == ": open":
                tokens.write_text("[{token: new, roles: [read]}]")
