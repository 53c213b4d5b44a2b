"""Waiting for something another process or thread does, with a deadline.

A loop of the tests that sleeps has a deadline, here or of its own; `tests/lint/test_waits.py` checks it.
The deadline is for a hang, not a measure of speed: what is waited for may take its time on a busy machine.
"""

from __future__ import annotations

import time
from collections.abc import Callable

HANGS_S = 300.0
PAUSES_PER_LOOK = 3
"""A pause is so many times as long as the look before it, so that looks leave the processor to others."""
LONGEST_PAUSE_S = 0.3
"""No pause for the sake of a long look is longer."""


def becomes(condition: Callable[[], object], within_s: float = HANGS_S, pause_s: float = 0.02) -> bool:
    """Return True as soon as the condition holds, False where it still does not after `within_s` seconds."""
    deadline = time.monotonic() + within_s
    began = time.monotonic()
    while not condition():
        look_s = time.monotonic() - began
        if time.monotonic() > deadline:
            return False
        time.sleep(max(pause_s, min(PAUSES_PER_LOOK * look_s, LONGEST_PAUSE_S)))
        began = time.monotonic()
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
        pause_s: seconds between two looks; more where a look takes long.

    Raises:
        TimeoutError: the condition does not hold in time.
    """
    if not becomes(condition, within_s, pause_s):
        raise TimeoutError(f"waited {within_s:g} s for this: {what}")
