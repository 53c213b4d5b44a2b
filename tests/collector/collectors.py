"""Collectors that really run, in this process or in their own, and what agents send to them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import plain_http

from spanproof.cli.commands.serve import build_collector
from spanproof.collector.service import Collector
from spanproof.config.model import load_config
from spanproof.trace.otlp import build_any_value

SETTINGS = {
    "receivers.grpc.port": "0",
    "receivers.http.port": "0",
    "assembly.quiet_s": "0.4",
    "assembly.orphan_quiet_s": "1.5",
    "evaluation.store_every_s": "0.1",
    "evaluation.replay": "false",
    "evaluation.workers": "1",
}
PROTOBUF = {"content-type": "application/x-protobuf"}
AGENT = {"openinference.span.kind": "AGENT", "input.value": "What is 2 + 2?", "output.value": "4"}
LLM = {"openinference.span.kind": "LLM", "output.value": "Let me see.\n```python\nprint(2 + 2)\n```"}


def settings_of(tmp_path: Path, **more: str) -> dict[str, str]:
    """Settings of a collector below a folder; a key's dots are written `__`."""
    places = {"wal.directory": str(tmp_path / "wal"), "store.location": str(tmp_path / "store")}
    return {**SETTINGS, **places, **{key.replace("__", "."): value for key, value in more.items()}}


def flags_of(tmp_path: Path, **more: str) -> list[str]:
    """The same for the command line."""
    return [
        part for key, value in settings_of(tmp_path, **more).items() for part in ("--set", f"{key}={value}")
    ]


@contextmanager
def running(tmp_path: Path, **more: str) -> Iterator[Collector]:
    """A collector in this process."""
    with build_collector(load_config(None, {}, settings_of(tmp_path, **more))) as collector:
        yield collector


@contextmanager
def serving(tmp_path: Path, **more: str) -> Iterator[tuple[subprocess.Popen[bytes], dict[str, str]]]:
    """A collector in its own process, and where it listens; killed at the end."""
    process = subprocess.Popen(
        [sys.executable, "-m", "spanproof.cli", "serve", "--json", *flags_of(tmp_path, **more)],
        stdout=subprocess.PIPE,
        env={key: value for key, value in os.environ.items() if not key.startswith("SPANPROOF_")},
    )
    assert process.stdout is not None
    try:
        yield process, json.loads(process.stdout.readline())
    finally:
        process.kill()
        process.stdout.close()
        process.wait()


def agent_request(make_request: Callable[..., object], *spans: tuple[int, int, int | None]) -> bytes:
    """Spans (trace, span, parent), the first of a trace an agent's, the others its model's."""
    request = make_request(*spans, scope="openinference.instrumentation.smolagents")
    for span in request.resource_spans[0].scope_spans[0].spans:
        for key, value in (LLM if span.parent_span_id else AGENT).items():
            span.attributes.add(key=key, value=build_any_value(value))
    return bytes(request.SerializeToString())


def post(collector: Collector, body: bytes) -> None:
    """Have it acknowledged."""
    url = f"{collector.endpoints.http}/v1/traces"
    response = plain_http.post(url, content=body, headers=PROTOBUF, timeout=120)
    assert response.status_code == 200


def metrics(collector: Collector) -> str:
    return plain_http.get(f"{collector.endpoints.http}/metrics", timeout=120).text
