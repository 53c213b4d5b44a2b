"""Processor time by stage, threads, descriptors and memory are among the collector's metrics."""

from __future__ import annotations

import threading
import time

from prometheus_client import CollectorRegistry

from spanproof.collector.process_metrics import add_process_metrics


def test_the_processor_time_of_a_stage_is_its_threads_also_once_it_ended() -> None:
    registry = CollectorRegistry()
    add_process_metrics(registry)
    worked, done = threading.Event(), threading.Event()

    def work() -> None:
        while time.thread_time() < 0.2:
            pass
        worked.set()
        done.wait(60)

    def read() -> float:
        labels = {"thread": "spanproof-stage"}
        return registry.get_sample_value("spanproof_thread_cpu_seconds_total", labels) or 0.0

    thread = threading.Thread(target=work, name="spanproof-stage-3")
    thread.start()
    assert worked.wait(60)
    assert read() >= 0.1  # the system counts in hundredths
    done.set()
    thread.join()
    assert read() >= 0.1


def test_what_the_process_holds_is_shown() -> None:
    registry = CollectorRegistry()
    add_process_metrics(registry)
    for name in ("spanproof_threads", "process_open_fds", "process_max_fds", "process_resident_memory_bytes"):
        assert (registry.get_sample_value(name) or 0) > 0
