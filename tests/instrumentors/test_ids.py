"""Ids of traces and spans: no seed of the host repeats them, and no child process."""

from __future__ import annotations

import os
import random
import subprocess
import sys

from spanproof.instrumentors.spans.ids import UnseededIdGenerator

_SPANS_OF_A_HOST = """
import random
from opentelemetry import trace
from spanproof.instrumentors import register
register(endpoint="http://127.0.0.1:9", instrument=())
tracer = trace.get_tracer("host")
for _ in range(2):
    random.seed(42)
    with tracer.start_as_current_span("run") as run:
        random.seed(42)
        with tracer.start_as_current_span("step") as step:
            print(f"{run.get_span_context().trace_id:x}", f"{step.get_span_context().span_id:x}")
"""


def test_a_seed_repeats_no_id():
    ids = UnseededIdGenerator()
    found = []
    for _ in range(3):
        random.seed(7)
        found += [ids.generate_trace_id(), ids.generate_span_id()]
    assert len(set(found)) == len(found)


def test_drawing_an_id_leaves_the_random_numbers_of_the_host_as_they_are():
    random.seed(7)
    first = random.random()
    random.seed(7)
    UnseededIdGenerator().generate_trace_id()
    assert random.random() == first


def test_a_host_that_seeds_has_two_traces():
    ran = subprocess.run(
        [sys.executable, "-c", _SPANS_OF_A_HOST],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
        env={**os.environ, "OTEL_TRACES_EXPORTER": "none"},
    )
    lines = ran.stdout.split("\n")[:2]
    traces, spans = zip(*(line.split() for line in lines), strict=True)
    assert len(set(traces)) == len(set(spans)) == 2


def test_a_fork_draws_other_ids():
    ids = UnseededIdGenerator()
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(write, f"{ids.generate_trace_id():032x}".encode())
        os._exit(0)
    os.waitpid(child, 0)
    assert os.read(read, 32).decode() != f"{ids.generate_trace_id():032x}"
    os.close(read)
    os.close(write)
