"""Time the store's queries at many scores over 30 days, with the verdicts counted ahead and without.

Usage: python tests/bench/store_queries.py [--scores 10000000] [--directory DIR] [--json]

Scores are made within ClickHouse: 40 a trace, of 5 agents, 3 models and 8 releases. Each query is put through
`spanproof.store.Store` five times; the median counts. A directory that was filled before is used again.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from spanproof.store import Store, open_store
from spanproof.trace import Layer

_DAY_NS = 86_400 * 10**9
_DAYS = 30
_PER_TRACE = 40
_LAYERS = "['correctness', 'boundary', 'execution', 'groundedness', 'trajectory']"
_BATCH = 2_000_000
_ROUNDS = 5

_START = "toInt64({end:Int64}) - toInt64(number * {step:UInt64})"
"""Traces are spread evenly over the window, the first of them the newest."""

_SCORES = f"""
INSERT INTO spanproof.scores (project, trace_id, run_span_id, span_id, snippet_id, layer, name, evaluator,
  version, span_time, span_time_ns, id, outcome, value, label, explanation, evidence, agent, model, release,
  evaluated_ns)
SELECT 'shop', lower(hex(MD5(toString(trace)))), 'aaaaaaaaaaaaaaaa',
  if(nth < 5, 'aaaaaaaaaaaaaaaa', leftPad(hex(nth), 16, 'b')), '', {_LAYERS}[nth % 5 + 1] AS layer,
  if(nth < 5, layer, concat('check_', toString(intDiv(nth, 5)))), concat('spanproof.', layer), '1',
  fromUnixTimestamp64Nano(toInt64({{end:Int64}}) - toInt64(trace * {{step:UInt64}}), 'UTC') AS at,
  toUnixTimestamp64Nano(at), lower(hex(MD5(toString(number)))),
  if(cityHash64(number) % 10 = 0, 'skipped', 'scored') AS came,
  if(came = 'scored', if(failed, 0., 1.), NULL),
  if(came = 'scored', if(failed, 'fail', 'pass'), ''),
  if(failed, concat('the answer says ', toString(number), ', the tool returned less'), 'every claim holds'),
  '[]', concat('agent-', toString(trace % 5)), concat('model-', toString(trace % 3)),
  concat('release-', toString(intDiv(trace * 8, {{traces:UInt64}}))), 1
FROM (SELECT number, intDiv(number, {_PER_TRACE}) AS trace, number % {_PER_TRACE} AS nth,
  cityHash64(number, 7) % 100 < 4 AS failed FROM numbers({{first:UInt64}}, {{count:UInt64}}))
"""

_TRACES = """
INSERT INTO spanproof.traces (project, trace_id, start, start_ns, end_ns, spans, defects, document,
  document_format, evaluated_ns)
SELECT 'shop', lower(hex(MD5(toString(number)))),
  fromUnixTimestamp64Nano(toInt64({end:Int64}) - toInt64(number * {step:UInt64}), 'UTC') AS at,
  toUnixTimestamp64Nano(at), toUnixTimestamp64Nano(at) + 9000000000, 13, [], '{}', 1, 1
FROM numbers({count:UInt64})
"""


def fill(store: Store, scores: int) -> None:
    """Write so many scores, with their traces."""
    traces = scores // _PER_TRACE
    with store._connections.lease() as client:
        end = time.time_ns() - 60 * 10**9
        bound = {"end": end, "step": _DAYS * _DAY_NS // traces, "traces": traces}
        for first in range(0, scores, _BATCH):
            count = min(_BATCH, scores - first)
            client.command(_SCORES, parameters={**bound, "first": first, "count": count})
        client.command(_TRACES, parameters={**bound, "count": traces})


def median_ms(query: Callable[[], object]) -> float:
    """Return how long a query takes."""
    took = []
    for _ in range(_ROUNDS):
        began = time.perf_counter()
        query()
        took.append((time.perf_counter() - began) * 1000)
    return statistics.median(took)


def timings(store: Store) -> dict[str, float]:
    """Return the milliseconds of each query."""
    end = time.time_ns()
    window = {"start_ns": end - _DAYS * _DAY_NS, "end_ns": end}
    some_id = store.traces(limit=1)[0].trace_id
    grounded = Layer.GROUNDEDNESS
    queries: dict[str, Callable[[], object]] = {
        "fail rate of a cohort": lambda: store.fail_rate(
            grounded, cohort={"agent": "agent-1"}, failing=0, **window
        ),
        "fail rate by agent": lambda: store.groups(grounded, grounded.value, ("agent",), **window),
        "fail rate by agent and day": lambda: store.groups(
            grounded, grounded.value, ("agent",), bucket_ns=_DAY_NS, **window
        ),
        "verdicts by release": lambda: store.verdicts_by("release", **window),
        "timeline by hour": lambda: store.verdict_timeline(bucket_ns=3600 * 10**9, **window),
        "latest traces": lambda: store.traces(limit=50),
        "traces --failing": lambda: store.traces(failing=True, limit=50),
        "traces --failing groundedness": lambda: store.traces(failing=grounded, limit=50),
        "id prefix": lambda: store.trace_ids(some_id[:8]),
    }
    return {name: median_ms(query) for name, query in queries.items()}


def main() -> None:
    """Fill a store where it is empty, time the queries, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--scores", type=int, default=10_000_000)
    parser.add_argument("--directory", type=Path)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch, closing(open_store(options.directory or scratch)) as store:
        if not store.traces(limit=1):
            fill(store, options.scores)
        found = timings(store)
    if options.json:
        print(json.dumps(found))
        return
    for name, took in found.items():
        print(f"{name:32} {took:10.1f} ms")


if __name__ == "__main__":
    main()
