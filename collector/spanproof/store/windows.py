"""Many windows of time in one query: each row counts in all the windows that hold its time.

In: windows of one length. Out: expressions in SQL for the numbers of the windows that a row is in.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

WINDOW_COLUMN: Final = "window_number"
"""The column with the number of a row's window, from 0, as text."""


@dataclass(frozen=True, slots=True)
class Windows:
    """Windows of one length, in order of time; a window's number is its place in them.

    Attributes:
        starts_ns: where they begin, each once; Unix nanoseconds.
    """

    starts_ns: Sequence[int]
    length_ns: int

    @property
    def start_ns(self) -> int:
        """Where the first one begins."""
        return self.starts_ns[0]

    @property
    def end_ns(self) -> int:
        """Where the last one ends, exclusive."""
        return self.starts_ns[-1] + self.length_ns

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters of the expressions."""
        ends_ns = [start_ns + self.length_ns for start_ns in self.starts_ns]
        # Before the first end no window has ended.
        return {"window_starts": list(self.starts_ns), "window_ends": [0, *ends_ns]}

    def build_bounds(self, at: str) -> str:
        """Return the number of the first window that holds a time, and that of the first one after it.

        Args:
            at: an expression of the time, in Unix nanoseconds, that is not before the first window.
        """
        # Windows of one length end in the order in which they begin.
        return f"({_build_rank(at, 'window_ends', 0)}, {_build_rank(at, 'window_starts', 1)})"


def build_numbers(bounds: str) -> str:
    """Return the numbers of the windows between the bounds, a row for each, as text."""
    return f"toString(arrayJoin(range({bounds}.1, {bounds}.2)))"


def _build_rank(at: str, times: str, first: int) -> str:
    """Return how many of these times are not after another, counted from `first`."""
    array = f"{{{times}:Array(Int64)}}"
    ranks = f"range(toUInt32({first}), toUInt32(length({array}) + {first}))"
    return f"toUInt32(transform(roundDown({at}, {array}), {array}, {ranks}, 0))"
