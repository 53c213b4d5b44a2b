"""Measure how long a span waits for its acknowledgement, its row and its scores, and how much disk it takes.

Usage: python -m tests.bench.latency [--rate 50000] [--traces-a-second 4] [--seconds 20] [--json]

Two parts, each with its own server. Acknowledgement: requests of 100 spans begin at fixed times, whatever
became of those before (an open loop), at a server that only reads bodies and answers, and at the receivers
with their log; a time is from when a request was due. Rows and scores: realistic traces of 13 spans and 50 KB
are sent to a whole collector, all layers, without a replay; a span's row is there when the store counts it,
and scores are timed by the collector's own traces, from a trace's completion to the end of storing it.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import queue
import random
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from statistics import quantiles

import httpx
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from tests.bench.intake import HEADERS, SPANS, body, http_client, run_bare, run_receivers, server

from spanproof.cli.commands.serve import build_collector
from spanproof.collector.service import Collector
from spanproof.collector.stages.attach import COLLECTOR_SCOPE
from spanproof.collector.wal.file import Encoding
from spanproof.collector.wal.log import Wal
from spanproof.config.model import load_config
from spanproof.trace.otlp import build_any_value, read_file

CLIENTS = 16
STEPS, PADDING = 4, 3_400
WARM, FILLING = 20, 400
_POLL_S = 0.05
_WORK_OFF_S = 600
_TEXT = """
the shop sells boxes of tea rice salt oil and sugar prices are in cents orders are numbered from 1000 to 9999
a customer may return what is damaged within fourteen days ask for the number of the order first then look it
up by order_of(number) and answer with the sum in euros total = sum(row["cents"] for row in rows)
"""


@dataclass(frozen=True, slots=True)
class Waits:
    """What was waited for; milliseconds."""

    what: str
    median: float
    p99: float
    count: int
    achieved: float


def main() -> None:
    """Measure each, print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rate", type=float, default=50_000.0)
    parser.add_argument("--traces-a-second", type=float, default=4.0)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    rows = [
        acknowledged("bare http", run_bare, options.rate, options.seconds),
        acknowledged("acknowledged, http", run_receivers, options.rate, options.seconds),
    ]
    found, disk = stored_and_scored(options.traces_a_second, options.seconds)
    rows += found
    if options.json:
        print(json.dumps({"waits": [asdict(row) for row in rows], "disk": disk, "load": os.getloadavg()[0]}))
        return
    for row in rows:
        print(
            f"{row.what:22} median {row.median:8.1f} ms, 99 % {row.p99:8.1f} ms"
            f"  ({row.count:,} at {row.achieved:,.0f} spans/s)"
        )
    for name, value in disk.items():
        print(f"{name:40} {value:10,.0f}")
    print(f"load {os.getloadavg()[0]:.0f}")


def acknowledged(what: str, serve: Callable[..., None], rate: float, seconds: float) -> Waits:
    """Return how long requests waited that came at a rate of spans."""
    bodies = [body(number) for number in range(50)]
    every = SPANS / rate
    due: queue.SimpleQueue[float | None] = queue.SimpleQueue()
    waited: list[float] = []
    with server(serve, {}) as (addresses, _line):

        def load(send: Callable[[bytes], None], first: int) -> None:
            number = first
            while (at := due.get()) is not None:
                send(bodies[number % len(bodies)])
                waited.append((time.monotonic() - at) * 1000)
                number += 1

        threads = []
        for place in range(CLIENTS):
            send = http_client(addresses["http"])
            send(bodies[0])
            threads.append(threading.Thread(target=load, args=(send, place)))
        for thread in threads:
            thread.start()
        began = time.monotonic()
        for number in range(int(seconds / every)):
            at = began + number * every
            time.sleep(max(0.0, at - time.monotonic()))
            due.put(at)
        for _ in threads:
            due.put(None)
        for thread in threads:
            thread.join()
        took = time.monotonic() - began
    return waits(what, waited, len(waited) * SPANS / took)


def stored_and_scored(rate: float, seconds: float) -> tuple[list[Waits], dict[str, float]]:
    """Return how long spans waited for their rows and complete traces for their scores, and their disk."""
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    with tempfile.TemporaryDirectory() as scratch:
        process = context.Process(target=run_collector, args=(there, scratch))
        process.start()
        url = here.recv()
        arrivals: list[tuple[float, int]] = []
        with httpx.Client(timeout=60) as client:

            def send(number: int) -> int:
                content, spans = realistic(number)
                client.post(f"{url}/v1/traces", content=content, headers=HEADERS).raise_for_status()
                return spans

            before = sum(map(send, range(WARM)))
            here.send(before)
            here.recv()  # everything is loaded
            began = time.monotonic()
            count = int(seconds * rate)
            for number in range(count):
                time.sleep(max(0.0, began + number / rate - time.monotonic()))
                spans = send(WARM + number)
                arrivals.append((time.monotonic(), before + spans * (number + 1)))
            took = time.monotonic() - began
            here.send(arrivals[-1][1])
            counts = here.recv()
            more = sum(map(send, range(WARM + count, WARM + count + FILLING)))
        here.send(arrivals[-1][1] + more)
        received, stored = here.recv()
        process.join(60)
        process.kill()
        scores = completion_to_score(Path(scratch, "own.jsonl"), WARM, count)
        spans = arrivals[-1][1] + more
        disk = {
            "spans": float(spans),
            "bytes received a span": received / spans,
            "bytes of the store a span": stored / spans,
            "bytes of the log a span": log_bytes_a_span(Path(scratch, "alone")),
        }
    rows = [
        (next(time_ for time_, stored in counts if stored >= spans) - at) * 1000 for at, spans in arrivals
    ]
    achieved = arrivals[-1][1] / took
    return [waits("arrival to row", rows, achieved), waits("complete to score", scores, achieved)], disk


def run_collector(line: Connection, scratch: str) -> None:
    """Run a whole collector; given how many spans were sent, wait for them, and send when each came."""
    settings = {
        "receivers.grpc.port": "0",
        "receivers.http.port": "0",
        "wal.directory": f"{scratch}/wal",
        "store.location": f"{scratch}/store",
        "evaluation.replay": "false",
        "forward_directory": f"{scratch}/forward",
        "forward": json.dumps(
            [{"endpoint": f"file://{scratch}/own.jsonl", "traces": False, "logs": False, "own_traces": True}]
        ),
    }
    with build_collector(load_config(None, {}, settings)) as collector:
        line.send(collector.endpoints.http)
        counts: list[tuple[float, int]] = []
        for answer in (lambda: None, lambda: counts, lambda: sizes(collector)):
            counts.clear()
            wanted, until = 0, time.monotonic() + _WORK_OFF_S
            while not wanted or not counts or counts[-1][1] < wanted:
                if line.poll(_POLL_S):
                    wanted = line.recv()
                found = int(collector.store.select("SELECT count() FROM otel_traces", 1)[1][0][0])
                counts.append((time.monotonic(), found))
                if time.monotonic() > until:
                    raise TimeoutError(f"{found} of {wanted} spans are stored after {_WORK_OFF_S} s")
            collector.evaluated.wait_for(wanted // spans_a_trace(), timeout_s=_WORK_OFF_S)
            line.send(answer())


def sizes(collector: Collector) -> tuple[float, float]:
    """Return the bytes that were received, and those of all tables."""
    received = collector.telemetry.registry.get_sample_value("spanproof_receive_bytes_total") or 0.0
    query = "SELECT sum(bytes_on_disk) FROM system.parts WHERE active AND database != 'system'"
    return received, float(collector.store.select(query, 1)[1][0][0])


def completion_to_score(path: Path, skipped: int, count: int) -> list[float]:
    """Return how long complete traces waited for their scores, by the collector's own traces; ms."""
    found = [
        (span.end_time_unix_nano - span.start_time_unix_nano) / 1e6
        for request in read_file(path)
        for resource in request.resource_spans
        for scope in resource.scope_spans
        if scope.scope.name == COLLECTOR_SCOPE
        for span in scope.spans
        if not span.parent_span_id
    ]
    return found[skipped : skipped + count]


def log_bytes_a_span(directory: Path) -> float:
    """Return what a span of such traces takes in the log."""
    wal = Wal(directory, segment_bytes=1 << 26)
    spans = 0
    for number in range(FILLING):
        content, more = realistic(number)
        wal.append(Encoding.PROTOBUF, content).result(60)
        spans += more
    used = sum(len(path.read_bytes().rstrip(b"\0")) for path in directory.glob("*.wal"))
    wal.close()
    return used / spans


def spans_a_trace() -> int:
    """Return how many spans a realistic trace has."""
    return 1 + 3 * STEPS


def realistic(number: int) -> tuple[bytes, int]:
    """Return a request with one trace of an agent that works in code, and how many spans it has."""
    chance = random.Random(number)
    filling = " ".join(chance.choices(_TEXT.split(), k=PADDING // 6)) + f" {chance.random()}"
    request = ExportTraceServiceRequest()
    resource = request.resource_spans.add()
    resource.resource.attributes.add(key="service.name", value=build_any_value("shop"))
    scope = resource.scope_spans.add()
    scope.scope.name = "openinference.instrumentation.smolagents"
    now = time.time_ns()

    def add(span: int, parent: int, name: str, **attributes: str) -> None:
        made = scope.spans.add(
            trace_id=(number + 1).to_bytes(16, "big"),
            span_id=span.to_bytes(8, "big"),
            parent_span_id=parent.to_bytes(8, "big") if parent else b"",
            name=name,
            start_time_unix_nano=now + span * 1_000_000,
            end_time_unix_nano=now + (90_000_000 if span == 1 else span * 1_000_000 + 900_000),
        )
        for key, value in attributes.items():
            made.attributes.add(key=key.replace("__", "."), value=build_any_value(value))

    add(1, 0, "CodeAgent.run", openinference__span__kind="AGENT",
        input__value="What does the last box cost?",
        output__value=f"It costs {4503 + number} cents.")  # fmt: skip
    for step in range(STEPS):
        at, price = 2 + 3 * step, str(4500 + step + number)
        source = f"cents_{step} = price_of('tea-{step}')\nprint(cents_{step})"
        add(at, 1, f"Step {step + 1}", openinference__span__kind="CHAIN", spanproof__code__source=source,
            spanproof__code__language="python", spanproof__execution__logs=f"{price}\n")  # fmt: skip
        add(at + 1, at, "LiteLLMModel.__call__", openinference__span__kind="LLM", input__value=filling,
            output__value=f"{filling}\n```python\n{source}\n```")  # fmt: skip
        add(at + 2, at, "price_of", openinference__span__kind="TOOL", input__value=f"tea-{step}",
            output__value=price)  # fmt: skip
    return request.SerializeToString(), spans_a_trace()


def waits(what: str, waited: list[float], achieved: float) -> Waits:
    """Return the row of what was waited for."""
    cuts = quantiles(waited, n=100, method="inclusive")
    return Waits(what, cuts[49], cuts[98], len(waited), achieved)


if __name__ == "__main__":
    main()
