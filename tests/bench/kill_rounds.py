"""Kill a collector again and again while it takes spans, and count what is lost, duplicated or not scored.

Usage: python tests/bench/kill_rounds.py [--rounds 200] [--minutes 60] [--seed 1] [--json]

kill -9: during ingest, evaluation or storing, while it starts, or while it stops; in some
rounds evaluating processes are killed first. Segments of the log are small, so that it rotates often. At the
end a last collector works everything off. Exit code 1 where an acknowledged span is not stored exactly once,
or an acknowledged trace has not exactly one evaluation with a verdict or a reason for every layer.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import closing
from dataclasses import asdict, dataclass, field
from pathlib import Path

import httpx
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from spanproof.store import Store, open_store

_SPANS = 4
_TRACES = 10
_LAYERS = 5
_WORK_OFF_S = 600
_MOMENTS = ("ingest", "evaluation", "start", "stop", "child")
_PROTOBUF = {"content-type": "application/x-protobuf"}


@dataclass(slots=True)
class Report:
    """What the rounds came to."""

    rounds: int = 0
    moments: dict[str, int] = field(default_factory=dict)
    acknowledged_spans: int = 0
    lost_spans: int = 0
    duplicated_spans: int = 0
    acknowledged_traces: int = 0
    traces_without_evaluation: int = 0
    traces_evaluated_twice: int = 0

    @property
    def bad(self) -> bool:
        """Whether a promise was broken."""
        return any(
            (
                self.lost_spans,
                self.duplicated_spans,
                self.traces_without_evaluation,
                self.traces_evaluated_twice,
            )
        )


def main() -> None:
    """Run the rounds, work everything off, compare."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        report = run(Path(scratch), options.rounds, options.minutes * 60, options.seed)
    if options.json:
        print(json.dumps(asdict(report)))
    else:
        print("\n".join(f"{name:28} {value}" for name, value in asdict(report).items()))
    sys.exit(report.bad)


def run(directory: Path, rounds: int, most_s: float, seed: int) -> Report:
    """Return what so many rounds came to; fewer where they take too long."""
    draw, report, moments = random.Random(seed), Report(), Counter[str]()
    acknowledged: set[int] = set()
    until = time.monotonic() + most_s
    for number in range(rounds):
        if time.monotonic() > until:
            break
        moment = _MOMENTS[number % len(_MOMENTS)]
        acknowledged |= play(directory, number, moment, draw)
        moments[moment] += 1
        report.rounds += 1
    report.moments = dict(moments)
    report.acknowledged_traces = len(acknowledged)
    report.acknowledged_spans = len(acknowledged) * _SPANS
    work_off(directory, len(acknowledged))
    with closing(open_store(directory / "store")) as store:
        compare(store, acknowledged, report)
    return report


def play(directory: Path, number: int, moment: str, draw: random.Random) -> set[int]:
    """Start a collector, send traces and kill it; returns the traces it acknowledged."""
    process = start(directory)
    acknowledged: set[int] = set()
    try:
        if moment == "start":
            time.sleep(draw.uniform(0.0, 3.0))
            return acknowledged
        url = json.loads(process.stdout.readline())["http"]  # type: ignore[union-attr]
        with httpx.Client(timeout=60) as client:
            for part in range(draw.randint(2, 6)):
                traces = range((number * 10 + part) * _TRACES + 1, (number * 10 + part + 1) * _TRACES + 1)
                sent = client.post(f"{url}/v1/traces", content=request_of(traces), headers=_PROTOBUF)
                if sent.status_code == 200:
                    acknowledged |= set(traces)
        if moment == "child":
            kill_children(process.pid)
            time.sleep(draw.uniform(0.2, 1.5))
        elif moment == "evaluation":
            time.sleep(draw.uniform(0.3, 2.0))
        elif moment == "stop":
            process.send_signal(signal.SIGTERM)
            time.sleep(draw.uniform(0.0, 1.5))
        return acknowledged
    finally:
        process.kill()
        process.wait()
        process.stdout.close()  # type: ignore[union-attr]


def start(directory: Path) -> subprocess.Popen[bytes]:
    """Start a collector that evaluates soon and writes small segments."""
    settings = {
        "receivers.grpc.enabled": "false",
        "receivers.http.port": "0",
        "console.enabled": "false",
        "wal.directory": str(directory / "wal"),
        "wal.segment_bytes": "65536",
        "store.location": str(directory / "store"),
        "assembly.quiet_s": "0.3",
        "assembly.orphan_quiet_s": "1",
        "evaluation.replay": "false",
        "evaluation.workers": "1",
        "evaluation.store_every_s": "0.1",
    }
    flags = [part for key, value in settings.items() for part in ("--set", f"{key}={value}")]
    command = [sys.executable, "-m", "spanproof.cli", "serve", "--json", "--log-level", "error", *flags]
    environment = {key: value for key, value in os.environ.items() if not key.startswith("SPANPROOF_")}
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment)


def kill_children(process: int) -> None:
    """Kill the evaluating processes of a collector."""
    for thread in Path(f"/proc/{process}/task").iterdir():
        for child in (thread / "children").read_text().split():
            os.kill(int(child), signal.SIGKILL)


def request_of(traces: range) -> bytes:
    """Return a request with these traces: an agent, a model, a tool and its result."""
    request = ExportTraceServiceRequest()
    scope = request.resource_spans.add().scope_spans.add()
    scope.scope.name = "openinference.instrumentation.smolagents"
    kinds = ("AGENT", "LLM", "TOOL", "LLM")
    now = time.time_ns()
    for trace in traces:
        for span in range(1, _SPANS + 1):
            made = scope.spans.add(
                trace_id=trace.to_bytes(16, "big"),
                span_id=span.to_bytes(8, "big"),
                parent_span_id=b"" if span == 1 else (1).to_bytes(8, "big"),
                name=f"span {span}",
                start_time_unix_nano=now + span,
                end_time_unix_nano=now + 1000 - span,
            )
            values = {"openinference.span.kind": kinds[span - 1], "output.value": f"{trace} is {trace}"}
            for key, value in values.items():
                made.attributes.add(key=key).value.string_value = value
    return bytes(request.SerializeToString())


def work_off(directory: Path, traces: int) -> None:
    """Let a last collector evaluate what is left, and stop it gracefully."""
    process = start(directory)
    try:
        url = json.loads(process.stdout.readline())["http"]  # type: ignore[union-attr]
        until = time.monotonic() + _WORK_OFF_S
        with httpx.Client(timeout=60) as client:
            while time.monotonic() < until:
                lines = client.get(f"{url}/metrics").text.splitlines()
                if "spanproof_wal_pending_records 0.0" in lines:
                    break
                time.sleep(0.5)
        process.send_signal(signal.SIGTERM)
        process.wait(120)
    finally:
        process.kill()
        process.wait()
        process.stdout.close()  # type: ignore[union-attr]


def compare(store: Store, acknowledged: set[int], report: Report) -> None:
    """Count what of the acknowledged is not stored exactly once."""
    with store._connections.lease() as client:
        spans = Counter(
            {
                int(row[0], 16): int(row[1])
                for row in client.query(
                    "SELECT TraceId, count() FROM spanproof.otel_traces FINAL GROUP BY TraceId"
                ).result_rows
            }
        )
        traces = Counter(
            int(row[0], 16) for row in client.query("SELECT trace_id FROM spanproof.traces FINAL").result_rows
        )
        layers = {
            int(row[0], 16): (int(row[1]), int(row[2]))
            for row in client.query(
                "SELECT trace_id, count(), uniqExact(layer) FROM spanproof.scores FINAL"
                " WHERE name = layer AND current GROUP BY trace_id"
            ).result_rows
        }
    for trace in acknowledged:
        report.lost_spans += max(0, _SPANS - spans[trace])
        report.duplicated_spans += max(0, spans[trace] - _SPANS)
        scored = layers.get(trace, (0, 0))
        report.traces_without_evaluation += traces[trace] == 0 or scored[1] < _LAYERS
        report.traces_evaluated_twice += traces[trace] > 1 or scored[0] > _LAYERS


if __name__ == "__main__":
    main()
