"""Measure spans acknowledged once they are durable, beside a server that reads bodies and answers.

Usage: python tests/bench/intake.py [--seconds N] [--json]

Both servers run in a process of their own, one after the other, on this machine; the load runs in threads
here. A row is spans per second, spans per second of the server's CPU time, and the ratio of the latter to the
bare server's in the same run: what of the cost is receiving at all, and what is keeping the promise.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from multiprocessing.connection import Connection
from pathlib import Path

import grpc
import httpx
import uvicorn
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from spanproof.collector.receive.admission import Backlog
from spanproof.collector.receive.server import Receiver
from spanproof.collector.receive.sockets import bind
from spanproof.collector.service import build_acceptor
from spanproof.collector.telemetry import Telemetry
from spanproof.collector.wal.log import Wal
from spanproof.config.model import load_config

SPANS, ATTRIBUTES, TEXT = 100, 24, "x" * 120
CLIENTS = 4
HEADERS = {"content-type": "application/x-protobuf"}
EXPORT = "/opentelemetry.proto.collector.trace.v1.TraceService/Export"
REDACT = {"redaction.patterns": r"['\b\d{16}\b', '[a-z]+@example\.com']", "redaction.keys": "[password]"}


@dataclass(frozen=True, slots=True)
class Row:
    """What one server did."""

    server: str
    spans_per_s: float
    spans_per_cpu_s: float
    of_bare: float


def main() -> None:
    """Measure each, print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    bodies = [body(number) for number in range(50)]
    print(f"{SPANS} spans a request, {len(bodies[0]) / SPANS:.0f} bytes a span")
    bare = measured("bare http", run_bare, {}, http_client, bodies, options.seconds, 0.0)
    rows = [
        bare,
        measured("http", run_receivers, {}, http_client, bodies, options.seconds, bare.spans_per_cpu_s),
        measured("grpc", run_receivers, {}, grpc_client, bodies, options.seconds, bare.spans_per_cpu_s),
    ]
    redacting = measured(
        "http, redacting", run_receivers, REDACT, http_client, bodies, options.seconds, bare.spans_per_cpu_s
    )
    rows.append(redacting)
    for row in rows:
        if options.json:
            print(json.dumps(asdict(row)))
        else:
            print(
                f"{row.server:18} {row.spans_per_s:9,.0f} spans/s {row.spans_per_cpu_s:9,.0f} a core"
                f"  {row.of_bare:5.2f} of bare"
            )


def measured(
    name: str,
    serve: Callable[..., None],
    settings: dict[str, str],
    client: Callable[[str], Callable[[bytes], None]],
    bodies: list[bytes],
    seconds: float,
    bare: float,
) -> Row:
    """Load one server for some seconds."""
    with server(serve, settings) as (addresses, line):
        address = addresses["grpc" if client is grpc_client else "http"]
        send = client(address)
        send(bodies[0])  # connected, and everything is loaded
        line.send("cpu")
        cpu = line.recv()
        counts = [0] * CLIENTS
        until = time.monotonic() + seconds

        def load(place: int) -> None:
            send = client(address)
            while time.monotonic() < until:
                send(bodies[counts[place] % len(bodies)])
                counts[place] += 1

        threads = [threading.Thread(target=load, args=(place,)) for place in range(CLIENTS)]
        began = time.monotonic()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        took = time.monotonic() - began
        line.send("cpu")
        cpu = line.recv() - cpu
    spans = sum(counts) * SPANS
    return Row(name, spans / took, spans / cpu, (spans / cpu) / bare if bare else 1.0)


@contextmanager
def server(
    serve: Callable[..., None], settings: dict[str, str]
) -> Iterator[tuple[dict[str, str], Connection]]:
    """A server in a process of its own: where it listens, and a line that answers with its CPU time."""
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    with tempfile.TemporaryDirectory() as folder:
        process = context.Process(target=serve, args=(there, folder, settings))
        process.start()
        try:
            yield here.recv(), here
        finally:
            here.send("stop")
            process.join(30)
            process.kill()


def run_receivers(line: Connection, folder: str, settings: dict[str, str]) -> None:
    """Both receivers with the log behind them, and nothing behind that."""
    given = {
        "receivers.grpc.port": "0",
        "receivers.http.port": "0",
        "wal.directory": str(Path(folder) / "wal"),
    }
    config, telemetry = load_config(None, {}, given | settings), Telemetry()
    wal = Wal(config.wal.directory, segment_bytes=config.wal.segment_bytes)
    backlog = Backlog(config.limits.max_backlog_bytes)
    acceptor = build_acceptor(config, telemetry, wal, backlog, lambda accepted: wal.settle([accepted.record]))
    receiver = Receiver(config.receivers, acceptor, telemetry)
    where = receiver.start()
    line.send({"http": where.http, "grpc": where.grpc})
    answer_cpu(line)
    receiver.stop()
    wal.close()


def run_bare(line: Connection, folder: str, settings: dict[str, str]) -> None:
    """The same server for HTTP, which reads a body and answers."""

    async def export(request: Request) -> Response:
        await request.body()
        return Response(b"", media_type="application/x-protobuf")

    bound = bind("127.0.0.1", 0)
    assert bound is not None
    app = Starlette(routes=[Route("/v1/traces", export, methods=["POST"])])
    config = uvicorn.Config(app, http="httptools", loop="uvloop", log_level="warning", access_log=False)
    running = uvicorn.Server(config)
    threading.Thread(target=running.run, kwargs={"sockets": [bound]}, daemon=True).start()
    line.send({"http": f"http://127.0.0.1:{bound.getsockname()[1]}"})
    answer_cpu(line)


def answer_cpu(line: Connection) -> None:
    """Answer with this process's CPU time until it is to stop."""
    while line.recv() == "cpu":
        line.send(time.process_time())


def http_client(address: str) -> Callable[[bytes], None]:
    """A function that sends over a connection of its own."""
    client = httpx.Client(timeout=60)

    def send(content: bytes) -> None:
        client.post(f"{address}/v1/traces", content=content, headers=HEADERS).raise_for_status()

    return send


def grpc_client(address: str) -> Callable[[bytes], None]:
    """The same over gRPC."""
    call = grpc.insecure_channel(address, options=[("grpc.use_local_subchannel_pool", 1)]).unary_unary(EXPORT)
    return lambda content: call(content, timeout=60)  # type: ignore[no-any-return]


def body(number: int) -> bytes:
    """One request of agent spans."""
    request = ExportTraceServiceRequest()
    spans = request.resource_spans.add().scope_spans.add().spans
    for position in range(SPANS):
        span = spans.add(
            trace_id=(number * SPANS + position // 10 + 1).to_bytes(16, "big"),
            span_id=(number * SPANS + position + 1).to_bytes(8, "big"),
            name="step",
            start_time_unix_nano=time.time_ns(),
            end_time_unix_nano=time.time_ns(),
        )
        for index in range(ATTRIBUTES):
            span.attributes.add(key=f"agent.attribute.{index}").value.string_value = f"{TEXT}{position}"
    return request.SerializeToString()


if __name__ == "__main__":
    main()
