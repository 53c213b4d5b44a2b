"""Verdicts counted ahead say what the scores themselves say, whatever was written and whenever."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from spanproof.store import Store
from spanproof.store.filters import Filter
from spanproof.store.rollups import build_verdict_source
from spanproof.trace import Cohort, Errored, Label, Layer, Scored

from .conftest import DIRECT

HOUR = 3600 * 10**9
DAY = 24 * HOUR
MONDAY = 1_790_035_200 * 10**9
"""A midnight."""

FAIL = {Layer.GROUNDEDNESS: Scored(0.0, Label.FAIL, "no")}
PASS = {Layer.GROUNDEDNESS: Scored(1.0, Label.PASS, "yes")}
LATE = {Layer.GROUNDEDNESS: Errored("ValueError", "no")}
WORDS = {
    Layer.GROUNDEDNESS: Scored(0.5, None, "uncertain"),
    Layer.TRAJECTORY: Scored(0.4, None, "7 steps", raw=7.0, unit="steps"),
}


# What is counted, and how: the ways to reach a store are those of test_store.
pytestmark = pytest.mark.parametrize("shared_store", DIRECT, indirect=True, scope="module")


@pytest.fixture
def store(emptied: Store) -> Store:
    return emptied


@contextmanager
def move_clock(seconds: float) -> Iterator[None]:
    """Let writes to the store of this process happen so many seconds from now."""
    real = time.time_ns
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(time, "time_ns", lambda: real() + int(seconds * 1e9))
        yield


def refresh_all(store: Store) -> int:
    hours = 0
    while counted := store.refresh_rollups():
        hours += counted
    return hours


def counted_ahead(store: Store) -> int:
    """How many rows a window of everything is read from: few where it was counted ahead."""
    with store._connections.lease() as client:
        source, bound = build_verdict_source(client, store._database, Filter(start_ns=0, end_ns=2**62))
        return int(client.query(f"SELECT count() FROM {source}", parameters=bound).result_rows[0][0])


def said(store: Store, start: int, end: int, **cohort: str) -> object:
    """All that the store says about a window."""
    window = {"start_ns": start, "end_ns": end, "cohort": cohort}
    rate = store.fail_rate(Layer.GROUNDEDNESS, failing=0, **window)
    return (
        (rate.passed, rate.failed, rate.errored, rate.skipped, rate.open),
        store.verdicts_by("agent", **window),
        store.verdict_timeline(bucket_ns=HOUR, **window),
        store.verdict_timeline(bucket_ns=DAY, **window),
        store.groups(Layer.GROUNDEDNESS, "groundedness", ("agent",), **window),
        store.groups(Layer.TRAJECTORY, "trajectory", ("agent",), bucket_ns=2 * HOUR, **window),
        store.measures.count_verdicts(
            Filter(Layer.GROUNDEDNESS, "groundedness", cohort, None, start, end), ("agent",), None
        ),
    )


def test_counts_are_those_of_the_scores_for_any_window(store, evaluation):
    draw = random.Random(7)
    kinds = [FAIL, PASS, LATE, WORDS]
    store.write(
        [
            evaluation(
                number,
                cohort=Cohort(project="shop", agent=draw.choice(["a", "b"])),
                verdicts=draw.choice(kinds),
                start_ns=MONDAY + draw.randrange(0, 4 * DAY),
            )
            for number in range(1, 121)
        ]
    )
    windows = [sorted(MONDAY + draw.randrange(0, 4 * DAY) for _ in range(2)) for _ in range(6)]
    windows += [[MONDAY, MONDAY + 4 * DAY], [MONDAY + 5, MONDAY + 3 * DAY], [0, 2**62]]
    before = [said(store, *window) for window in windows] + [said(store, *windows[0], agent="a")]
    assert refresh_all(store) > 20
    after = [said(store, *window) for window in windows] + [said(store, *windows[0], agent="a")]
    assert after == before


def test_whole_days_are_read_from_counts(store, evaluation):
    store.write([evaluation(n, start_ns=MONDAY + n * 10**9, verdicts=PASS) for n in range(1, 61)])
    assert counted_ahead(store) == 60
    refresh_all(store)
    assert counted_ahead(store) == 1


@pytest.mark.parametrize("move", [0, 2 * HOUR, 3 * DAY])
def test_an_evaluation_that_replaces_another_changes_the_counts_at_once_and_for_good(store, evaluation, move):
    store.write(
        [evaluation(1, start_ns=MONDAY, verdicts=FAIL), evaluation(2, start_ns=MONDAY, verdicts=PASS)]
    )
    refresh_all(store)
    store.write([evaluation(1, start_ns=MONDAY + move, verdicts=LATE)])

    def counts() -> tuple[int, int, int]:
        rate = store.fail_rate(Layer.GROUNDEDNESS, failing=0, start_ns=MONDAY, end_ns=MONDAY + 5 * DAY)
        return rate.passed, rate.failed, rate.errored

    assert counts() == (1, 0, 1)
    refresh_all(store)
    assert counts() == (1, 0, 1)
    with store._connections.lease() as client:
        rows = client.query(f"SELECT sum(failed) FROM {store._database}.verdict_hours FINAL").result_rows
    assert rows[0][0] == 0


def test_an_hour_that_is_written_to_while_it_is_counted_stays_to_be_counted(store, evaluation, monkeypatch):
    from spanproof.store import rollups

    store.write([evaluation(1, start_ns=MONDAY, verdicts=FAIL)])
    count_days = rollups._write_days

    def meanwhile(*arguments: object) -> None:
        count_days(*arguments)
        monkeypatch.undo()
        store.write([evaluation(2, start_ns=MONDAY, verdicts=FAIL)])

    monkeypatch.setattr(rollups, "_write_days", meanwhile)
    store.refresh_rollups()
    rate = store.fail_rate(Layer.GROUNDEDNESS, failing=0, start_ns=MONDAY, end_ns=MONDAY + DAY)
    assert rate.failed == 2
    assert refresh_all(store) == 1


def test_times_after_2100_are_counted(store, evaluation):
    store.write([evaluation(1, start_ns=2**63, verdicts=FAIL)])
    refresh_all(store)
    rate = store.fail_rate(Layer.GROUNDEDNESS, failing=0, start_ns=0, end_ns=2**63 - 1)
    assert rate.failed == 1


def test_failing_traces_are_those_with_a_failing_run_also_after_migration(store, evaluation):
    store.write([evaluation(1, verdicts=FAIL), evaluation(2, verdicts=PASS)])
    assert [int(row.trace_id, 16) for row in store.traces(failing=Layer.GROUNDEDNESS)] == [1]
    assert [int(row.trace_id, 16) for row in store.traces(failing=False)] == [2]


def test_an_hour_that_is_written_to_is_counted_once_it_settles(store, evaluation):
    store.write([evaluation(1, verdicts=FAIL, start_ns=MONDAY)])
    assert store.refresh_rollups(settled_s=3600) == 0
    assert counted_ahead(store) > 0
    assert said(store, MONDAY, MONDAY + DAY)[0] == (0, 1, 0, 0, 0)
    assert store.refresh_rollups(settled_s=0) == 1


def test_an_hour_that_never_settles_is_counted_all_the_same(store, evaluation):
    with move_clock(-16 * 3600):
        store.write([evaluation(1, verdicts=FAIL, start_ns=MONDAY)])
    store.write([evaluation(2, verdicts=FAIL, start_ns=MONDAY)])
    assert store.refresh_rollups(settled_s=3600) == 1
    assert said(store, MONDAY, MONDAY + DAY)[0] == (0, 2, 0, 0, 0)
