"""A deadline is about work: a process that waits for a processor has not begun to be late."""

from __future__ import annotations

import pytest

from spanproof.collector.stages.work_clock import WorkClock, read_processor_waits

WORKER, CHILD = 7, 8


@pytest.mark.parametrize(
    ("waits", "worked"),
    [
        pytest.param([{WORKER: 1.0}] * 3, 30.0, id="it never waits"),
        pytest.param([{WORKER: 1.0}, {WORKER: 10.0}, {WORKER: 19.0}], 12.0, id="it waits"),
        pytest.param(
            [{WORKER: 1.0, CHILD: 0.0}, {WORKER: 1.0, CHILD: 9.0}, {WORKER: 1.0}], 21.0, id="a child waits"
        ),
        pytest.param(
            [{WORKER: 0.0}, {WORKER: 6.0, CHILD: 5.0}, {WORKER: 6.0, CHILD: 5.0}],
            24.0,
            id="both wait at once",
        ),
        pytest.param([{}, {}, {}], 30.0, id="the system does not count"),
        pytest.param([{WORKER: 0.0}, {WORKER: 50.0}, {WORKER: 50.0}], 20.0, id="more than passed"),
    ],
)
def test_time_without_a_processor_is_not_counted(waits, worked) -> None:
    times, readings = iter([0.0, 10.0, 20.0, 30.0]), iter(waits)
    clock = WorkClock(WORKER, lambda pid: next(readings), lambda: next(times))
    assert [clock.compute_work_s() for _ in waits][-1] == worked


def test_waits_of_a_process_that_is_gone_are_none() -> None:
    assert read_processor_waits(2**22 + 1) == {}
