"""A process of its own with a store and an alert engine, which the tests kill at any moment.

It makes one agent fail and recover, again and again, as fast as it can, on a clock of its own that is in a
file. `to the end` lets the last episode end, prints the ids of all episodes that were notified, and exits.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

from spanproof.alerts import AlertEngine, AlertRule
from spanproof.evaluators.model import NoReplay, RunEvaluation, TraceEvaluation
from spanproof.store import Store, open_store
from spanproof.trace import Cohort, Label, Layer, Run, Score, Scored, Span, SpanKind, trace_of

START = 1_790_000_000
STEP = 10
"""Seconds of the engine's clock between two ticks."""


def evaluation(at_s: int, label: Label) -> TraceEvaluation:
    trace_id, span_id, cohort, at_ns = f"{at_s:032x}", "a" * 16, Cohort(agent="a"), at_s * 10**9
    span = Span(trace_id, span_id, None, "a", SpanKind.AGENT, at_ns, at_ns + 1)
    run = Run(trace_id, span_id, "a", None, None, (), cohort=cohort, start_ns=at_ns, end_ns=at_ns + 1)
    outcome = Scored(float(label is Label.PASS), label, "said so")
    score = Score(
        trace_id, trace_id, span_id, span_id, None, Layer.GROUNDEDNESS, "groundedness", "e", "1", outcome,
        cohort=cohort, span_time_ns=at_ns, input_digest="",
    )  # fmt: skip
    return TraceEvaluation(trace_of([span]), (RunEvaluation(run, {}, NoReplay("off"), (score,)),), ())


def tick(directory: Path, store: Store, engine: AlertEngine, *, may_fail: bool) -> None:
    clock = directory / "clock"
    at_s = int(clock.read_text()) if clock.exists() and clock.read_text() else START
    failing = may_fail and (at_s // STEP) % 4 < 2
    store.write([evaluation(at_s, Label.FAIL if failing else Label.PASS)])
    engine.evaluate_rules(at_s * 10**9)
    # Renamed into its place, so that a kill leaves one clock or the other.
    fresh = directory / "clock.next"
    fresh.write_text(str(at_s + STEP))
    fresh.replace(clock)


def main(directory: Path, url: str, *, to_the_end: bool) -> None:
    rule = AlertRule.model_validate(
        {"name": "r", "layer": "groundedness", "window_s": STEP - 1, "min_count": 1, "threshold": 1,
         "cooldown_s": 1_000_000, "notify": [{"url": url, "timeout_s": 60}]}
    )  # fmt: skip
    with open_store(directory / "store") as store:
        engine = AlertEngine([rule], store, clock=lambda: START * 10**9, first_pause_s=0.01)
        print("ready", flush=True)
        while not to_the_end:
            tick(directory, store, engine, may_fail=True)
        for _ in range(3):
            tick(directory, store, engine, may_fail=False)
        deadline = time.monotonic() + 120
        while engine.count_waiting() and time.monotonic() < deadline:
            time.sleep(0.01)
        engine.close(60)
        notified = {
            json.loads(event.document)["id"]
            for event in store.alerts.history(100_000)
            if event.notification and event.status == "firing"
        }
        print(json.dumps(sorted(notified)))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], to_the_end=len(sys.argv) > 3)
