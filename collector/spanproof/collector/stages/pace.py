"""When the next batch is written: soon after a pause, and seldom while things keep coming.

A write costs the store 50 to 100 ms of processor time whatever is in it: queries for what is known, and a new
part, later merged, in each of six tables. One trace a second, each written by itself, costs ten times what it
does in batches. So the first one after a pause is written almost at once, and while more keep coming a batch
is begun no sooner than the longest wait after the one before it.
"""

from __future__ import annotations

import time

# What ends at the same moment, such as the traces of one request, is one batch also after a pause.
_SOON_S = 0.2


class Pace:
    """The pace of one writer's batches.

    Args:
        every_s: the longest time that something waits for its batch.
    """

    def __init__(self, every_s: float) -> None:
        self._every_s = every_s
        self._soon_s = min(every_s, _SOON_S)
        self._last_s = float("-inf")

    def compute_deadline(self, first_s: float) -> float:
        """Return when a batch is to be written whose first member came at this time (`time.monotonic`)."""
        return max(first_s + self._soon_s, self._last_s + self._every_s)

    def record_write(self) -> None:
        """Note that a batch is written now."""
        self._last_s = time.monotonic()
