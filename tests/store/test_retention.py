"""Rows are kept as long as they are wanted, and no longer."""

from __future__ import annotations

import time

from spanproof.store.retention import KEPT
from spanproof.trace import Layer

DAY = 86_400 * 10**9


def test_rows_that_are_older_are_dropped_and_counts_outlive_scores(embedded, evaluation):
    now = time.time_ns()
    embedded.write([evaluation(1, start_ns=now - 40 * DAY), evaluation(2, start_ns=now)])
    while embedded.refresh_rollups():
        pass
    changed = embedded.apply_retention({"scores": 30, "evaluations": 30})
    assert set(changed) == {t.name for name in ("scores", "evaluations") for t in KEPT[name]}
    with embedded._connections.lease() as client:
        for table in (*changed, "rollup_marks"):
            client.command(f"OPTIMIZE TABLE spanproof.{table} FINAL")
    assert [int(row.trace_id, 16) for row in embedded.traces()] == [2]
    assert {int(score.trace_id, 16) for score in embedded.scores()} == {2}
    rate = embedded.fail_rate(Layer.GROUNDEDNESS, failing=0, start_ns=now - 60 * DAY, end_ns=now + DAY)
    assert rate.failed == 2


def test_what_holds_already_is_not_set_again_and_none_is_for_ever(embedded):
    assert embedded.apply_retention({}) == [], "a new store keeps what it is told to keep"
    assert embedded.apply_retention({"spans": 7})
    assert embedded.apply_retention({"spans": 7}) == []
    assert set(embedded.apply_retention({"spans": 8})) == {"otel_traces", "otel_traces_trace_id_ts"}
    assert set(embedded.apply_retention({})) == {"otel_traces", "otel_traces_trace_id_ts"}
    assert embedded.apply_retention({}) == []
