"""Measure what a trace costs through `spanproof serve`: received, logged, evaluated and stored.

Usage: python -m tests.bench.served [--traces 200] [--thin 40] [--outputs 1 50] [--phoenix BIN] [--json]

A trace has 13 spans: a run of four steps, each with a call of a model, a tool that returns records, and code
that prints them: 1 KB or 50 KB a step. At full load four clients send one trace a request as fast as they are
acknowledged; thin load is one trace a second. A row is over when every trace is evaluated and stored, and the
store has had time to merge. Costs are seconds of processor time of all processes of the server, by stage: the
worker processes *evaluate*, their children *replay*, threads of the collector receive and store, and the
*engine* is ClickHouse's own threads. BIN is the `phoenix` of an environment with `arize-phoenix`: it
stores the spans of the same traces, in the same run, and evaluates nothing.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import sys
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

import httpx
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from tests.bench.stored import children_of, cpu_of, phoenix_server, running, send, wait_for

from spanproof.store import open_store
from spanproof.trace.otlp import build_any_value

STEPS, SPANS = 4, 13
_CLIENTS = 4
_WARM_TRACES = 4
# Merges of the engine go on for a moment after the last row.
_MERGE_S = 5.0
_DEADLINE_S = 480.0
_TICKS = os.sysconf("SC_CLK_TCK")
_PROMPT = (
    "You solve the task in steps. In each step you think, then write code that calls the tools given below,"
    " and print what the next step needs. Prices are in cents; orders are numbered from 1000. "
) * 12
_ITEMS = ("tea", "rice", "salt", "oil", "sugar", "flour", "coffee", "honey")
_THREAD = re.compile(r'spanproof_thread_cpu_seconds_total\{thread="([^"]*)"\} (\S+)')
_EVALUATED = re.compile(r"^spanproof_traces_evaluated_total (\S+)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Row:
    """What one load cost.

    Attributes:
        cpu_s: of all processes, over the whole row.
        stages: milliseconds of processor time a trace, by stage.
        disk: bytes of store and log a span, at rest.
    """

    server: str
    load: str
    output_kb: int
    traces: int
    took_s: float
    cpu_s: float
    stages: Mapping[str, float]
    disk: float

    @property
    def traces_a_cpu_s(self) -> float:
        """Traces in a second of processor time."""
        return self.traces / self.cpu_s


@dataclass(frozen=True, slots=True)
class Served:
    """A server under test."""

    url: str
    pid: int
    directory: Path


def main() -> None:
    """Measure each load, print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--traces", type=int, default=200, help="at full load")
    parser.add_argument("--thin", type=int, default=40, help="at one a second; 0 leaves thin load out")
    parser.add_argument("--outputs", type=int, nargs="+", default=[1, 50], help="KB that a step prints")
    parser.add_argument("--replay", choices=("both", "on", "off"), default="both")
    parser.add_argument("--phoenix", type=Path)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    for output_kb in options.outputs:
        for replay in {"both": (False, True), "on": (True,), "off": (False,)}[options.replay]:
            for row in measure_spanproof(output_kb, options.traces, options.thin, replay=replay):
                show(row, as_json=options.json)
        if options.phoenix is not None:
            show(measure_phoenix(options.phoenix, output_kb, options.traces), as_json=options.json)
    if not options.json:
        print(f"load {os.getloadavg()[0]:.1f}")


def show(row: Row, *, as_json: bool) -> None:
    """Print a row."""
    if as_json:
        print(json.dumps(asdict(row) | {"traces_a_cpu_s": row.traces_a_cpu_s}), flush=True)
        return
    stages = ", ".join(f"{name} {value:.1f}" for name, value in row.stages.items() if value >= 0.05)
    print(
        f"{row.server:20} {row.output_kb:3} KB {row.load:5} {row.traces:4} traces"
        f" {row.traces_a_cpu_s:6.1f}/CPU-s {row.traces / row.took_s:6.1f}/s {row.disk:7,.0f} B a span;"
        f" ms: {stages}",
        flush=True,
    )


def measure_spanproof(output_kb: int, traces: int, thin: int, *, replay: bool) -> Iterator[Row]:
    """Yield the rows of one server: full load, then thin load."""
    name = "Spanproof, replay" if replay else "Spanproof, no replay"
    with tempfile.TemporaryDirectory() as scratch, serve_spanproof(Path(scratch), replay=replay) as server:
        post_all(server.url, [build_trace(number, output_kb) for number in range(_WARM_TRACES)])
        wait_evaluated(server, _WARM_TRACES)
        first = _WARM_TRACES
        loads: list[tuple[str, int, Callable[[str, list[bytes]], None]]] = [("full", traces, post_all)]
        if thin:
            loads.append(("thin", thin, post_thinly))
        for load, count, post in loads:
            bodies = [build_trace(number, output_kb) for number in range(first, first + count)]
            before, disk, began = read_stages(server), measure_stored(server.directory), time.monotonic()
            post(server.url, bodies)
            wait_evaluated(server, first + count)
            took_s = time.monotonic() - began
            time.sleep(_MERGE_S)
            after = read_stages(server)
            spent = {stage: after[stage] - before.get(stage, 0.0) for stage in after}
            by_cost = sorted(spent.items(), key=lambda item: -item[1])
            yield Row(
                name, load, output_kb, count, took_s, sum(spent.values()),
                {stage: 1e3 * seconds / count for stage, seconds in by_cost},
                (measure_stored(server.directory) - disk) / (SPANS * count),
            )  # fmt: skip
            first += count


def measure_phoenix(program: Path, output_kb: int, traces: int) -> Row:
    """Return what Phoenix needs to store the same spans."""
    with tempfile.TemporaryDirectory() as scratch:
        directory = Path(scratch)
        server = contextmanager(phoenix_server)(directory, str(program))
        with server as (process, url, count_stored):
            before = count_stored()
            send(url, [build_trace(number, output_kb) for number in range(_WARM_TRACES)])
            wait_for(count_stored, before + SPANS * _WARM_TRACES)
            bodies = [build_trace(_WARM_TRACES + number, output_kb) for number in range(traces)]
            cpu_s, disk, began = cpu_of(process.pid), measure_disk(directory), time.monotonic()
            post_all(url, bodies)
            wait_for(count_stored, before + SPANS * (_WARM_TRACES + traces))
            took_s = time.monotonic() - began
            time.sleep(_MERGE_S)
            cpu_s = cpu_of(process.pid) - cpu_s
            disk_a_span = (measure_disk(directory) - disk) / (SPANS * traces)
            stages = {"store": 1e3 * cpu_s / traces}
            return Row("Phoenix", "full", output_kb, traces, took_s, cpu_s, stages, disk_a_span)


@contextmanager
def serve_spanproof(directory: Path, *, replay: bool) -> Iterator[Served]:
    """Run `spanproof serve` as its users do, but for its ports and directories."""
    settings = {
        "receivers.grpc.enabled": "false",
        "receivers.http.port": "0",
        "console.enabled": "false",
        "wal.directory": str(directory / "wal"),
        "store.location": str(directory / "store"),
        "evaluation.replay": str(replay).lower(),
        # By the clock: beside other work a trace of 50 KB a step may take longer than the 10 s of a service.
        "evaluation.deadline_s": "120",
    }
    command = [sys.executable, "-m", "spanproof.cli", "serve", "--json"]
    for name, value in settings.items():
        command += ["--set", f"{name}={value}"]
    with running(command, {}) as process:
        assert process.stdout is not None
        yield Served(json.loads(process.stdout.readline())["http"], process.pid, directory)


def post_all(url: str, bodies: list[bytes]) -> None:
    """Send the bodies from several clients, each as soon as the one before it is acknowledged."""
    threads = [
        threading.Thread(target=send, args=(url, bodies[number::_CLIENTS])) for number in range(_CLIENTS)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def post_thinly(url: str, bodies: list[bytes]) -> None:
    """Send one body a second."""
    began = time.monotonic()
    for number, body in enumerate(bodies):
        time.sleep(max(0.0, began + number - time.monotonic()))
        send(url, [body])


def wait_evaluated(server: Served, traces: int) -> None:
    """Wait until so many traces are evaluated and stored."""
    until = time.monotonic() + _DEADLINE_S
    while (found := count_evaluated(server)) < traces:
        if time.monotonic() > until:
            raise TimeoutError(f"{found} of {traces} traces are evaluated after {_DEADLINE_S:.0f} s")
        time.sleep(1.0)


def count_evaluated(server: Served) -> int:
    """Return how many traces are evaluated and stored."""
    counted = _EVALUATED.search(httpx.get(f"{server.url}/metrics", timeout=30).text)
    return int(float(counted[1])) if counted else 0


def read_stages(server: Served) -> dict[str, float]:
    """Return the seconds of processor time that the server has used, by stage."""
    stages: defaultdict[str, float] = defaultdict(float)
    text = httpx.get(f"{server.url}/metrics", timeout=30).text
    for name, seconds in _THREAD.findall(text):
        stages[name.removeprefix("spanproof-")] += float(seconds)
    stages["engine"] = stages.pop("native", 0.0)
    for child in children_of(server.pid):
        command = Path(f"/proc/{child}/cmdline")
        is_worker = command.exists() and b"spanproof.collector.worker" in command.read_bytes()
        if is_worker:
            stages["evaluate"] += read_own_cpu(child)
            stages["replay"] += cpu_of(child) - read_own_cpu(child)
    stages["other"] = cpu_of(server.pid) - sum(stages.values())
    return stages


def read_own_cpu(pid: int) -> float:
    """Return the seconds of processor time of a process without its children."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS


def measure_stored(directory: Path) -> int:
    """Return the bytes of the log, and of the store without parts that were merged and go within minutes."""
    query = "SELECT sum(bytes_on_disk) FROM system.parts WHERE active AND database != 'system'"
    with closing(open_store(directory / "store", read_only=True)) as store:
        return int(store.select(query, 1)[1][0][0]) + measure_disk(directory / "wal")


def measure_disk(directory: Path) -> int:
    """Return the bytes on disk below a directory."""
    total = 0
    for folder, _, files in os.walk(directory):
        for file in files:
            try:
                total += Path(folder, file).lstat().st_blocks * 512
            except FileNotFoundError:
                continue
    return total


def build_trace(number: int, output_kb: int) -> bytes:
    """Return a request with one trace of an agent that works in code, in the conventions of OpenInference."""
    chance = random.Random(number)
    request = ExportTraceServiceRequest()
    resource = request.resource_spans.add()
    for key, value in (("service.name", "shop"), ("service.version", "1.4.0")):
        resource.resource.attributes.add(key=key, value=build_any_value(value))
    scope = resource.scope_spans.add()
    scope.scope.name = "openinference.instrumentation.smolagents"
    now = time.time_ns()
    trace_id = chance.randbytes(16)

    def add(span: int, parent: int, name: str, **attributes: str) -> None:
        made = scope.spans.add(
            trace_id=trace_id,
            span_id=chance.randbytes(8) if not span else ids[span],
            parent_span_id=ids[parent] if parent else b"",
            name=name,
            start_time_unix_nano=now + span * 1_000_000,
            end_time_unix_nano=now + (90_000_000 if span == 1 else span * 1_000_000 + 900_000),
        )
        for key, value in attributes.items():
            made.attributes.add(key=key.replace("__", "."), value=build_any_value(value))

    ids = {span: chance.randbytes(8) for span in range(1, SPANS + 1)}
    records = [build_records(chance, output_kb * 1000) for _ in range(STEPS)]
    dearest = max(records[-1], key=lambda record: int(record["cents"]))
    add(1, 0, "CodeAgent.run", openinference__span__kind="AGENT",
        input__value="Which of the last orders is the dearest?",
        output__value=f"Order {dearest['order']} is the dearest, at {dearest['cents']} cents.")  # fmt: skip
    history = _PROMPT
    for step, found in enumerate(records):
        at = 2 + 3 * step
        source = f"orders = orders_of(page={step + 1})\nfor order in orders:\n    print(order)"
        printed = "".join(f"{record}\n" for record in found)
        add(at, 1, f"Step {step + 1}", openinference__span__kind="CHAIN", spanproof__code__source=source,
            spanproof__code__language="python", spanproof__execution__logs=printed,
            output__value=f"Execution logs:\n{printed}Last output from code snippet:\nNone")  # fmt: skip
        add(at + 1, at, "LiteLLMModel.__call__", openinference__span__kind="LLM",
            llm__model_name="gpt-5-mini",
            input__value=history,
            output__value=f"I read page {step + 1}.\n```python\n{source}\n```")  # fmt: skip
        add(at + 2, at, "orders_of", openinference__span__kind="TOOL", tool__name="orders_of",
            input__value=json.dumps({"args": [], "kwargs": {"page": step + 1}}),
            output__value=json.dumps(found), output__mime_type="application/json")  # fmt: skip
        history += f"\nObservation of step {step + 1}:\n{printed}"
    return request.SerializeToString()


def build_records(chance: random.Random, size: int) -> list[dict[str, str | int]]:
    """Return records whose printed lines have about this many bytes."""
    records: list[dict[str, str | int]] = []
    left = size
    while left > 0:
        record: dict[str, str | int] = {
            "order": chance.randrange(1000, 99_999),
            "item": f"{chance.choice(_ITEMS)}-{chance.randrange(100)}",
            "cents": chance.randrange(100, 99_999),
        }
        left -= len(str(record)) + 1
        records.append(record)
    return records


if __name__ == "__main__":
    main()
