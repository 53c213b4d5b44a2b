"""How much is let in at once: requests being taken in, their bytes, and bytes on their way to the store.

A request has a place only once its body is there: one that comes slowly holds its bytes and nothing else. A
full house holds a request a little before it refuses it, because some clients never repeat what was refused.
Nothing that was let in is ever dropped here.
"""

from __future__ import annotations

import asyncio
import os
import threading
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

from spanproof.collector.receive.refused import Reason, Refused
from spanproof.config.model import Limits

_HOLD_S = 1.0
_LOOK_EVERY_S = 0.02
_STATM = Path("/proc/self/statm")
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


class Backlog:
    """Acknowledged bytes that are on their way to the store. Thread-safe."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._bytes = 0
        self._changed = threading.Condition()

    @property
    def bytes(self) -> int:
        """How many there are now."""
        return self._bytes

    @property
    def full(self) -> bool:
        """Whether more must wait."""
        return self._bytes >= self._most

    def add(self, size: int) -> None:
        """Add bytes that are on their way; the bound is kept by checking first, so this never refuses."""
        with self._changed:
            self._bytes += size

    def remove(self, size: int) -> None:
        """Remove bytes that are stored, or wait in assembly, which has a bound of its own."""
        with self._changed:
            self._bytes -= size
            self._changed.notify_all()

    def wait_for_room(self, timeout_s: float) -> bool:
        """Block until there is room; for what is read again from the log at start."""
        with self._changed:
            return self._changed.wait_for(lambda: not self.full, timeout_s)


class Memory:
    """The resident memory of this process, read now and then."""

    def __init__(self, most: int | None) -> None:
        self._most = most
        self._read_s = -_LOOK_EVERY_S
        self._resident = 0

    @property
    def full(self) -> bool:
        """Whether it is above the limit."""
        if self._most is None:
            return False
        if time.monotonic() - self._read_s >= _LOOK_EVERY_S:
            self._read_s = time.monotonic()
            self._resident = read_resident_bytes()
        return self._resident >= self._most


def read_resident_bytes() -> int:
    """Return the resident memory of this process."""
    return int(_STATM.read_text().split()[1]) * _PAGE_BYTES


class Entry:
    """One request that is received; counts its bytes in memory. Thread-safe."""

    def __init__(self, admission: Admission, peer: str) -> None:
        self._admission = admission
        self.peer = peer
        self.bytes = 0

    def add_bytes(self, size: int) -> None:
        """Count so many more bytes of it in memory.

        Raises:
            Refused: there is no room for them.
        """
        self._admission.add_bytes(self.peer, size)
        self.bytes += size


class Admission:
    """Lets requests in; `admitted` is to be used in one event loop."""

    def __init__(self, limits: Limits, backlog: Backlog) -> None:
        self._most = limits.max_in_flight_requests
        self._most_bytes = limits.max_in_flight_bytes
        # The largest body fits, packed and unpacked.
        self._most_of_peer = max(limits.max_in_flight_bytes // 2, 2 * limits.max_body_bytes)
        self._most_calls = limits.max_connections_per_peer
        self._memory = Memory(limits.max_resident_bytes)
        self._backlog = backlog
        self._guard = threading.Lock()
        self._inside = 0
        self._bytes = 0
        self._bytes_of: Counter[str] = Counter()
        self._calls_of: Counter[str] = Counter()
        self._closed = False

    def close(self) -> None:
        """Let nothing in any more."""
        self._closed = True

    @property
    def open(self) -> bool:
        """Whether a request would be let in now."""
        return not self._closed and not self._full

    @contextmanager
    def received(self, peer: str) -> Iterator[Entry]:
        """Receive a request of a peer while the context is open.

        Raises:
            Refused: the peer sends too many at once, or memory is short.
        """
        with self._guard:
            if self._calls_of[peer] >= self._most_calls:
                raise Refused(Reason.FULL, "too many requests of one address at once; send it again later")
            self._calls_of[peer] += 1
        entry = Entry(self, peer)
        try:
            self._check_memory()
            yield entry
        finally:
            with self._guard:
                self._bytes -= entry.bytes
                self._bytes_of[peer] -= entry.bytes
                self._calls_of[peer] -= 1
                for counts in (self._bytes_of, self._calls_of):
                    if not counts[peer]:
                        del counts[peer]

    @asynccontextmanager
    async def admitted(self) -> AsyncIterator[None]:
        """Hold a place for a request whose body is there, while the context is open.

        Raises:
            Refused: there is no room, or the collector stops.
        """
        await self._wait_for_room()
        self._inside += 1
        try:
            yield
        finally:
            self._inside -= 1

    def add_bytes(self, peer: str, size: int) -> None:
        """Count so many more bytes for the requests of a peer.

        Raises:
            Refused: there is no room for them.
        """
        self._check_memory()
        with self._guard:
            too_many = (
                self._bytes + size > self._most_bytes or self._bytes_of[peer] + size > self._most_of_peer
            )
            if too_many:
                raise Refused(Reason.FULL, "too many large requests at once; send it again later")
            self._bytes += size
            self._bytes_of[peer] += size

    @property
    def _full(self) -> bool:
        return self._inside >= self._most or self._backlog.full or self._memory.full

    def _check_memory(self) -> None:
        if self._memory.full:
            raise Refused(
                Reason.FULL, "the collector has no memory left for requests (limits.max_resident_bytes)"
            )

    async def _wait_for_room(self) -> None:
        loop = asyncio.get_running_loop()
        until = loop.time() + _HOLD_S
        while not self._closed and self._full:
            if loop.time() >= until:
                raise Refused(Reason.FULL, "the collector has as much in hand as it may; send it again later")
            await asyncio.sleep(_LOOK_EVERY_S)
        if self._closed:
            raise Refused(Reason.UNAVAILABLE, "the collector is stopping; send it again later")
