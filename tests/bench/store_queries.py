"""Time the store's queries at many scores over 30 days, beside plain SQL over the same tables.

Usage: python tests/bench/store_queries.py [--scores 10000000] [--directory DIR] [--json]

Scores are made within ClickHouse: 40 a trace, of 5 agents, 3 models and 8 releases; 4 % of them fail. They
are counted ahead as the collector does. Each query is put through `spanproof.store.Store` 15 times, by turns
with plain SQL that answers the same from the scores; printed are the median, the quickest, and the ratio of
the medians. A directory that was filled before is used again.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path

from clickhouse_connect.driver.client import Client

from spanproof.store import FailRate, Store, open_store
from spanproof.store.rollups import write_marks
from spanproof.trace import Layer

_HOUR_NS = 3600 * 10**9
_DAY_NS = 86_400 * 10**9
_DAYS = 30
_PER_TRACE = 40
_LAYERS = "['correctness', 'boundary', 'execution', 'groundedness', 'trajectory']"
_BATCH = 2_000_000
_ROUNDS = 15

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
INSERT INTO spanproof.traces (project, trace_id, start, start_ns, end_ns, spans, defects, failing, document,
  document_format, evaluated_ns)
SELECT 'shop', lower(hex(MD5(toString(number)))),
  fromUnixTimestamp64Nano(toInt64({end:Int64}) - toInt64(number * {step:UInt64}), 'UTC') AS at,
  toUnixTimestamp64Nano(at), toUnixTimestamp64Nano(at) + 9000000000, 13, [], failing, '{}', 1, 1
FROM (SELECT number FROM numbers({count:UInt64})) AS every
LEFT JOIN (SELECT trace_id, arraySort(groupUniqArray(toString(layer))) AS failing FROM spanproof.scores
  WHERE label = 'fail' AND name = layer GROUP BY trace_id) AS bad
ON bad.trace_id = lower(hex(MD5(toString(every.number))))
"""

_FROM_SCORES = {
    "fail rate of a cohort": (
        "SELECT countIf(label = 'pass'), countIf(label = 'fail') FROM spanproof.scores FINAL"
        " WHERE current = 1 AND layer = 'groundedness' AND name = layer AND agent = 'agent-1'"
    ),
    "traces --failing": (
        "SELECT trace_id FROM spanproof.traces FINAL WHERE trace_id IN (SELECT trace_id FROM"
        " spanproof.scores FINAL WHERE current = 1 AND name = layer AND label = 'fail')"
        " ORDER BY start DESC LIMIT 50"
    ),
    "id prefix": (
        "SELECT DISTINCT trace_id FROM spanproof.scores FINAL WHERE startsWith(trace_id, '{prefix}')"
    ),
}
"""The same answers in plain SQL."""


def fill(store: Store, scores: int) -> None:
    """Write so many scores, with their traces, and count them ahead."""
    traces = scores // _PER_TRACE
    with store._connections.lease() as client:
        end = time.time_ns() - 60 * 10**9
        bound = {"end": end, "step": _DAYS * _DAY_NS // traces, "traces": traces}
        for first in range(0, scores, _BATCH):
            count = min(_BATCH, scores - first)
            client.command(_SCORES, parameters={**bound, "first": first, "count": count})
        client.command(_TRACES, parameters={**bound, "count": traces})
        first_hour = (end - _DAYS * _DAY_NS) // _HOUR_NS
        write_marks(client, "spanproof", range(first_hour, end // _HOUR_NS + 1))
    while store.refresh_rollups():
        pass


def took_ms(query: Callable[[], object]) -> float:
    """Return how long a query takes."""
    began = time.perf_counter()
    query()
    return (time.perf_counter() - began) * 1000


def timings(store: Store) -> dict[str, dict[str, float]]:
    """Return median and quickest milliseconds of each query, and the median of plain SQL."""
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
    found: dict[str, dict[str, float]] = {}
    with store._connections.lease() as client:
        whole = {"start_ns": 0, "end_ns": end}
        check_counts(client, store.fail_rate(grounded, cohort={"agent": "agent-1"}, failing=0, **whole))
        for name, query in queries.items():
            sql = _FROM_SCORES.get(name, "SELECT 1").replace("{prefix}", some_id[:8])
            plain = partial(client.query, sql)
            ours, theirs = zip(*((took_ms(query), took_ms(plain)) for _ in range(_ROUNDS)), strict=True)
            found[name] = {"median": statistics.median(ours), "quickest": min(ours)}
            if name in _FROM_SCORES:
                found[name]["plain"] = statistics.median(theirs)
    return found


def check_counts(client: Client, counted: FailRate) -> None:
    """Compare what was counted ahead with the scores.

    Raises:
        ValueError: they differ, so that the times are of something else.
    """
    rows = client.query(_FROM_SCORES["fail rate of a cohort"]).result_rows
    if (counted.passed, counted.failed) != rows[0]:
        raise ValueError(f"counted ahead {counted}, in the scores {rows[0]}: fill a new directory")


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
        beside = ""
        if "plain" in took:
            beside = f", plain SQL {took['plain']:8.1f} ms, ratio {took['median'] / took['plain']:.4f}"
        print(f"{name:32} {took['median']:8.1f} ms, quickest {took['quickest']:8.1f} ms{beside}")


if __name__ == "__main__":
    main()
