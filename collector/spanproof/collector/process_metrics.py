"""What the collector's process uses: memory, descriptors, threads, and processor time by thread.

Processor time says which stage costs what: each stage has a thread of its own, by name. Threads that are not
Python's, ClickHouse's in an embedded store for the most part, are one series of the name `native`.
"""

from __future__ import annotations

import os
import re
import threading
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from prometheus_client import CollectorRegistry, ProcessCollector
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

_TASKS = Path("/proc/self/task")
# Python numbers the threads of a pool: they are one series, as each number would be one for ever.
_NUMBER = re.compile(r"[-_ ]\d+.*$")


def add_process_metrics(registry: CollectorRegistry) -> None:
    """Show what this process uses in the metrics of a registry; nothing where the system has no /proc."""
    if _TASKS.is_dir():
        ProcessCollector(registry=registry)
        registry.register(_ThreadTimes())


class _ThreadTimes(Collector):
    """Processor time and number of threads. Threads that ended keep the last time that was seen of them."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._seen: dict[tuple[str, int], float] = {}

    def collect(self) -> Iterator[Metric]:
        """Yield the metrics."""
        names = {thread.native_id: _NUMBER.sub("", thread.name) for thread in threading.enumerate()}
        times = _read_thread_times()
        with self._guard:
            for thread, seconds in times.items():
                key = names.get(thread, "native"), thread
                # A thread that ended may have given its number to another.
                self._seen[key] = max(seconds, self._seen.get(key, 0.0))
            sums: defaultdict[str, float] = defaultdict(float)
            for (name, _), seconds in self._seen.items():
                sums[name] += seconds
        metric = CounterMetricFamily(
            "spanproof_thread_cpu_seconds",
            "Processor time by the stage of this process's threads; native: those of the embedded store.",
            labels=["thread"],
        )
        for name, seconds in sums.items():
            metric.add_metric([name], seconds)
        yield metric
        yield GaugeMetricFamily("spanproof_threads", "Threads of this process.", len(times))


def _read_thread_times() -> dict[int, float]:
    """Return the seconds of processor time of each thread, by its number in the system."""
    ticks = os.sysconf("SC_CLK_TCK")
    times = {}
    for task in _TASKS.iterdir():
        try:
            fields = (task / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue  # it ended meanwhile
        times[int(task.name)] = (int(fields[11]) + int(fields[12])) / ticks
    return times
