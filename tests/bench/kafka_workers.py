"""Measure what a trace costs workers that share a topic of Kafka: one, two and three of them.

Usage: python -m tests.bench.kafka_workers [--traces 60] [--workers 1 2 3]

Traces are those of `served.py`, with outputs of 1 KB, judged without a replay. Each worker gets some before,
which load its models. A row is over when every trace is stored. Costs are seconds of processor time of the
workers and their children; the broker, the store's server and the receiver are left out. On a machine with
fewer cores than workers the clock says nothing.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from subprocess import Popen

from tests.bench.served import SPANS, build_trace
from tests.bench.stored import cpu_of, running, send

from spanproof.store import Store, open_store

sys.path.append(str(Path(__file__).parents[1] / "plugins"))

from kafka_broker import Broker, kafka
from tests.store.conftest import serving

_PARTITIONS = 12
# To each worker: the first trace loads the layers' models.
_WARM_TRACES = 8
_DEADLINE_S = 480.0


def main() -> None:
    """Measure each number of workers, print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--traces", type=int, default=60)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2, 3])
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch, kafka(Path(scratch) / "broker") as broker:
        for workers in options.workers:
            directory = Path(scratch) / f"workers-{workers}"
            directory.mkdir()
            measure(broker, directory, workers, options.traces)
    print(f"load {os.getloadavg()[0]:.1f}")


def measure(broker: Broker, directory: Path, workers: int, traces: int) -> None:
    """Have so many workers evaluate so many traces, print what it cost."""
    with ExitStack() as stack:
        location = stack.enter_context(serving(directory / "server"))
        store = stack.enter_context(open_store(location))
        settings = {
            "kafka.brokers": json.dumps([broker.address]),
            "kafka.topic": f"spans_{workers}",
            "kafka.group": f"group_{workers}",
            "kafka.partitions": str(_PARTITIONS),
            "store.location": location,
        }
        receiver, *processes = (
            stack.enter_context(start_role(role, directory / f"{role}-{number}", settings))
            for number, role in enumerate(["receiver", *["worker"] * workers])
        )
        assert receiver.stdout is not None
        url = json.loads(receiver.stdout.readline())["http"]
        warm = _WARM_TRACES * workers
        send(url, [build_trace(number, 1) for number in range(warm)])
        wait_stored(store, warm)
        before_s, began = [cpu_of(process.pid) for process in processes], time.monotonic()
        send(url, [build_trace(warm + number, 1) for number in range(traces)])
        wait_stored(store, warm + traces)
        spent_s = [cpu_of(process.pid) - before for process, before in zip(processes, before_s, strict=True)]
        shares = ", ".join(f"{seconds:.1f}" for seconds in spent_s)
        print(
            f"{workers} workers: {traces} traces of {SPANS} spans,"
            f" {1e3 * sum(spent_s) / traces:.0f} ms a trace, {traces / sum(spent_s):.1f} traces"
            f" a CPU-second; CPU-seconds by worker {shares}; {time.monotonic() - began:.0f} s",
            flush=True,
        )


def wait_stored(store: Store, traces: int) -> None:
    """Wait until so many traces are evaluated and stored."""
    until = time.monotonic() + _DEADLINE_S
    while (found := store.select("SELECT count() FROM traces FINAL", 1)[1][0][0]) < traces:
        if time.monotonic() > until:
            raise TimeoutError(f"{found} of {traces} traces are stored after {_DEADLINE_S:.0f} s")
        time.sleep(0.5)


@contextmanager
def start_role(role: str, directory: Path, settings: dict[str, str]) -> Iterator[Popen[bytes]]:
    """Run one process of a collector that is split."""
    own = {
        "receivers.grpc.port": "0",
        "receivers.http.port": "0",
        "evaluation.replay": "false",
        "evaluation.workers": "1",
        "wal.directory": str(directory / "wal"),
    }
    command = [sys.executable, "-m", "spanproof.cli", "serve", "--role", role, "--json"]
    for name, value in (own | settings).items():
        command += ["--set", f"{name}={value}"]
    with running(command, {}) as process:
        yield process


if __name__ == "__main__":
    main()
