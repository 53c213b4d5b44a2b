"""Random bytes that repeat: seeded streams behind every source the kernel has.

In: a seed. Out: the bytes that `getrandom` returns to each caller, and a pipe that replaces
`/dev/random` and `/dev/urandom`. Each thread has a stream of its own, named by how many were started before
it, so that threads and processes that run at once repeat too; all share the pipe, in the order they read.
"""

from __future__ import annotations

import contextlib
import os
import select
from collections import Counter
from hashlib import shake_256

_DEVICES = frozenset(("/dev/random", "/dev/urandom"))
_AT_ONCE_BYTES = 65536


class Entropy:
    """The streams of one run."""

    def __init__(self, seed: int, guest: int, poll: select.epoll) -> None:
        """Count threads from the guest's first on; the pipe is registered with `poll` once there is one."""
        self._seed = seed
        self._guest = guest
        self._drawn: Counter[int | None] = Counter()
        self._ahead = b""
        self._poll = poll
        self._pipe: tuple[int, int] | None = None

    def draw(self, thread: int, length: int) -> bytes:
        """Return the next bytes for a thread that calls `getrandom`; they may be fewer than it requests."""
        return self._draw(thread - self._guest, min(length, _AT_ONCE_BYTES))

    def in_place_of(self, path: str) -> int | None:
        """Return the end of the pipe that is read in place of a device, the caller's to close."""
        if path not in _DEVICES:
            return None
        if self._pipe is None:
            self._pipe = os.pipe()
            os.set_blocking(self._pipe[1], False)
            self.feed()
            self._poll.register(self._pipe[1], select.EPOLLOUT)
        return os.dup(self._pipe[0])

    def feed(self) -> None:
        """Fill the pipe; what finds no room is kept, so that no reader misses a byte."""
        if self._pipe is not None:
            self._ahead = self._ahead or self._draw(None, _AT_ONCE_BYTES)
            with contextlib.suppress(BlockingIOError):
                self._ahead = self._ahead[os.write(self._pipe[1], self._ahead) :]

    def close(self) -> None:
        """Close the pipe."""
        for fd in self._pipe or ():
            os.close(fd)
        self._pipe = None

    def _draw(self, stream: int | None, length: int) -> bytes:
        number = self._drawn[stream]
        self._drawn[stream] += 1
        return shake_256(f"{self._seed}, {stream}, {number}".encode()).digest(length)
