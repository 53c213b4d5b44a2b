"""Batches: soon after a pause, seldom while things keep coming, never later than the longest wait."""

from __future__ import annotations

import pytest

from spanproof.collector.stages import pace
from spanproof.collector.stages.pace import Pace


@pytest.fixture
def clock(monkeypatch):
    """Seconds that the test sets."""
    now = [1000.0]
    monkeypatch.setattr(pace.time, "monotonic", lambda: now[0])
    return now


def write_all(clock: list[float], arrivals: list[float], every_s: float) -> list[float]:
    """Return when batches are written if things come at these times."""
    writer, written = Pace(every_s), []
    while arrivals:
        deadline = writer.compute_deadline(arrivals[0])
        clock[0] = deadline
        writer.record_write()
        written.append(deadline)
        arrivals = [at for at in arrivals if at > deadline]
    return written


def test_what_comes_after_a_pause_is_written_almost_at_once(clock) -> None:
    written = write_all(clock, [1000.0, 1060.0, 1200.0], every_s=5.0)
    assert written == pytest.approx([1000.2, 1060.2, 1200.2])


def test_one_a_second_is_written_in_batches(clock) -> None:
    arrivals = [1000.0 + second for second in range(60)]
    assert len(write_all(clock, arrivals, every_s=5.0)) <= 60 / 5 + 2


@pytest.mark.parametrize("every_s", [0.05, 0.5, 5.0])
def test_nothing_waits_longer_than_the_longest_wait(clock, every_s: float) -> None:
    arrivals = [1000.0 + number * 0.37 for number in range(200)]
    written = write_all(clock, arrivals, every_s)
    waits = [min(at for at in written if at >= arrival) - arrival for arrival in arrivals]
    assert max(waits) <= every_s + 1e-6
