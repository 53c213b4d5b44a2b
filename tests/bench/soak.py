"""Measure what `spanproof serve` holds while traces come at a steady rate: memory, descriptors and threads.

Usage: python -m tests.bench.soak [--minutes 60] [--rate 1.0] [--outputs 1] [--replay] [--json]

Traces are those of `served.py`, `--rate` of them a second: half of what the machine evaluates at full load
is half load. The collector and the processes that evaluate are looked at every five seconds. A row is a
sixth of the time: medians of memory, the most of what must be bounded. The first sixth is the start, in
which caches and models are loaded; *growth* compares the last sixth with the second.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import tempfile
import threading
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path

from tests.bench.served import Served, build_trace, count_evaluated, serve_spanproof
from tests.bench.stored import children_of, send

_SAMPLE_S = 5.0
_PARTS = 6
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
_MIB = 1 << 20


@dataclass(frozen=True, slots=True)
class Sample:
    """What the processes of a server hold at one moment.

    Attributes:
        collector_mib: resident memory of the process that receives and stores.
        workers_mib: the same of the largest process that evaluates.
        waiting: traces that were sent and are not evaluated yet.
    """

    collector_mib: float
    workers_mib: float
    descriptors: int
    threads: int
    processes: int
    waiting: int


def main() -> None:
    """Run a server for so long, print what it held."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--rate", type=float, default=1.0, help="traces a second")
    parser.add_argument("--outputs", type=int, default=1, help="KB that a step prints")
    parser.add_argument("--replay", action="store_true")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with (
        tempfile.TemporaryDirectory() as scratch,
        serve_spanproof(Path(scratch), replay=options.replay) as server,
    ):
        samples = soak(server, 60 * options.minutes, options.rate, options.outputs)
    parts = [summarise_samples(part) for part in split_evenly(samples, _PARTS)]
    if options.json:
        print(json.dumps([asdict(part) for part in parts]))
        return
    for number, part in enumerate(parts, 1):
        print(
            f"{number}/{_PARTS}: collector {part.collector_mib:4.0f} MiB,"
            f" largest worker {part.workers_mib:4.0f} MiB, {part.descriptors} descriptors,"
            f" {part.threads} threads, {part.processes} processes, {part.waiting} traces waiting"
        )
    first, last = parts[1], parts[-1]
    print(
        f"growth: collector {last.collector_mib / first.collector_mib:.2f}, worker"
        f" {last.workers_mib / first.workers_mib:.2f}; load {os.getloadavg()[0]:.1f}"
    )


def soak(server: Served, seconds: float, rate: float, output_kb: int) -> list[Sample]:
    """Send traces for so long, and return what the server held meanwhile."""
    ended, sent = threading.Event(), [0]

    def send_steadily() -> None:
        began = time.monotonic()
        while not ended.wait(max(0.0, began + sent[0] / rate - time.monotonic())):
            send(server.url, [build_trace(sent[0], output_kb)])
            sent[0] += 1

    sender = threading.Thread(target=send_steadily)
    sender.start()
    samples: list[Sample] = []
    until = time.monotonic() + seconds
    try:
        while time.monotonic() < until:
            time.sleep(_SAMPLE_S)
            samples.append(take_sample(server, sent[0]))
    finally:
        ended.set()
        sender.join()
    return samples


def take_sample(server: Served, sent: int) -> Sample:
    """Return what the processes of the server hold now, of which `sent` traces were sent."""
    children = children_of(server.pid)
    workers = [child for child in children if b"spanproof.collector.worker" in read_command(child)]
    process = Path(f"/proc/{server.pid}")
    return Sample(
        collector_mib=read_resident_mib(server.pid),
        workers_mib=max(map(read_resident_mib, workers), default=0.0),
        descriptors=len(list((process / "fd").iterdir())),
        threads=len(list((process / "task").iterdir())),
        processes=1 + len(children),
        waiting=sent - count_evaluated(server),
    )


def read_command(pid: int) -> bytes:
    """Return the command line of a process; empty where it ended."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def read_resident_mib(pid: int) -> float:
    """Return the resident memory of a process; 0 where it ended."""
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    except OSError:
        return 0.0
    return pages * _PAGE_BYTES / _MIB


def summarise_samples(samples: Sequence[Sample]) -> Sample:
    """Return the medians of memory and of what waits, and the most of what must be bounded."""
    return Sample(
        collector_mib=statistics.median(sample.collector_mib for sample in samples),
        workers_mib=statistics.median(sample.workers_mib for sample in samples),
        descriptors=max(sample.descriptors for sample in samples),
        threads=max(sample.threads for sample in samples),
        processes=max(sample.processes for sample in samples),
        waiting=round(statistics.median(sample.waiting for sample in samples)),
    )


def split_evenly(samples: Sequence[Sample], parts: int) -> list[Sequence[Sample]]:
    """Return the samples in so many parts, in order of time."""
    ends = [len(samples) * number // parts for number in range(parts + 1)]
    return [samples[first:end] for first, end in pairwise(ends)]


if __name__ == "__main__":
    main()
