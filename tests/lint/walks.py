"""Measure how far a reader walks through the code who follows one journey through the product.

`python tests/lint/walks.py [--stays]` takes four journeys, each once, and prints how many *stays* each has in
how many modules: a stay is a run of functions of one module, in the order in which they are called first. A
function that is called again is no new stay, as a reader has read it. `--stays` prints the stays themselves.

Only the product's functions count, those of the calling process: a sandboxed program runs in another.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import groupby
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from spanproof.cli.input.trace_files import read_traces
from spanproof.collector.receive.accept import Acceptor, Sent
from spanproof.collector.receive.admission import Admission, Backlog
from spanproof.collector.receive.auth import Authoriser
from spanproof.collector.receive.signals import Signal
from spanproof.collector.telemetry import Telemetry
from spanproof.collector.wal.file import Encoding
from spanproof.collector.wal.log import Wal
from spanproof.config.engine import build_engine
from spanproof.config.model import Config, Limits
from spanproof.evaluators.layers.groundedness.ground import build_ledger
from spanproof.sandbox import Program, SandboxUnavailable, open_sandbox
from spanproof.sandbox.scanners.pipeline import Pipeline

ROOT = Path(__file__).parents[2]

# Not functions of their own: what a comprehension or a class body calls.
_PARTS = ("<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>", "<lambda>", "<module>")
_TRACE = ROOT / "tests" / "golden" / "dialects" / "otel_genai.json"


@contextmanager
def recorded_calls() -> Iterator[list[str]]:
    """Record the modules of the product's functions, in the order of their first calls in any thread."""
    modules: list[str] = []
    seen: set[CodeType] = set()
    product = {name: f"{ROOT}/{name}/" for name in ("collector", "evaluators", "instrumentors", "sandbox")}

    def record(frame: FrameType, event: str, _argument: Any) -> None:
        code = frame.f_code
        if event != "call" or code in seen:
            return
        seen.add(code)
        if code.co_filename.startswith(tuple(product.values())) and code.co_name not in _PARTS:
            modules.append(code.co_filename.removeprefix(f"{ROOT}/"))

    threading.setprofile(record)
    sys.setprofile(record)
    try:
        yield modules
    finally:
        sys.setprofile(None)
        threading.setprofile(None)  # type: ignore[arg-type]  # as its documentation says


def list_stays(modules: list[str]) -> list[tuple[str, int]]:
    """Return each stay: its module, and how many functions are read there."""
    return [(module, len(list(group))) for module, group in groupby(modules)]


def receive_a_request() -> list[str]:
    """Receive a request with one span, up to its durable record."""
    with tempfile.TemporaryDirectory() as folder:
        wal = Wal(Path(folder), segment_bytes=1 << 20)
        limits = Limits()
        admission = Admission(limits, Backlog(limits.max_backlog_bytes))
        acceptor = Acceptor(
            authoriser=Authoriser(),
            limits=limits,
            admission=admission,
            wal=wal,
            telemetry=Telemetry(),
            hand_on=lambda _request: None,
        )
        sent = Sent("http", Signal.TRACES, Encoding.PROTOBUF, _build_body())
        try:
            with recorded_calls() as modules, admission.received("peer") as entry:
                asyncio.run(acceptor.handle_request(sent, entry))
        finally:
            wal.close()
    return modules


def _build_body() -> bytes:
    request = ExportTraceServiceRequest()
    span = request.resource_spans.add().scope_spans.add().spans.add()
    span.trace_id, span.span_id, span.name = bytes(15) + b"\1", bytes(7) + b"\1", "answer"
    span.start_time_unix_nano, span.end_time_unix_nano = 1_760_000_000_000_000_000, 1_760_000_001_000_000_000
    return request.SerializeToString()


def evaluate_a_trace() -> list[str]:
    """Evaluate the golden trace of the GenAI conventions, without a replay."""
    engine = build_engine(Config(), Pipeline(), None, "the walk runs no code")
    traces, _problems = read_traces(_TRACE)
    with recorded_calls() as modules:
        engine.evaluate(traces[0])
    return modules


def ground_an_answer() -> list[str]:
    """Enter one answer, with a value and a sum, into a ledger."""
    table = "region,revenue\nEMEA,1284.50\nAPAC,977.25"
    with recorded_calls() as modules:
        build_ledger([table], "EMEA leads with $1,284.50; the total is $2,261.75.")
    return modules


def run_in_the_sandbox() -> list[str]:
    """Run a program in the default backend."""
    with open_sandbox() as backend, recorded_calls() as modules:
        backend.run(Program("python", "print(6 * 7)"))
    return modules


JOURNEYS: dict[str, Callable[[], list[str]]] = {
    "a request's receipt": receive_a_request,
    "a trace's evaluation": evaluate_a_trace,
    "an answer's ledger": ground_an_answer,
    "a sandboxed run": run_in_the_sandbox,
}


def main() -> int:
    """Print the walks."""
    for name, take in JOURNEYS.items():
        try:
            stays = list_stays(take())
        # A machine without a sandbox measures the others all the same.
        except SandboxUnavailable as problem:
            print(f"{name:<22}  not measured: {problem!r}")
            continue
        print(f"{name:<22}  {len(stays)} stays in {len({module for module, _count in stays})} modules")
        if "--stays" in sys.argv:
            print(*(f"  {module} {count}" for module, count in stays), sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
