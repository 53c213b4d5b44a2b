"""Waiting for something another process or thread does, with a deadline.

A loop of the tests that sleeps has a deadline, here or of its own; `tests/lint/test_waits.py` checks it.
The deadline is for a hang, not a measure of speed: what is waited for may take its time on a busy machine.
"""

from __future__ import annotations

import time
from collections.abc import Callable

HANGS_S = 300.0


def becomes(condition: Callable[[], object], within_s: float = HANGS_S, pause_s: float = 0.02) -> bool:
    """Return True as soon as the condition holds, False where it still does not after `within_s` seconds."""
    deadline = time.monotonic() + within_s
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(pause_s)
    return True


def wait_until(
    condition: Callable[[], object],
    what: str = "the condition of the calling line",
    within_s: float = HANGS_S,
    pause_s: float = 0.02,
) -> None:
    """Return as soon as the condition holds.

    Args:
        condition: what is waited for; it may raise to give up at once.
        what: the state that is waited for, for the failure: "the server listens".
        within_s: the deadline, in seconds.
        pause_s: seconds between two looks.

    Raises:
        TimeoutError: the condition does not hold in time.
    """
    if not becomes(condition, within_s, pause_s):
        raise TimeoutError(f"waited {within_s:g} s for this: {what}")
