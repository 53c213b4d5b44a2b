"""How much is let in at once: requests being received, and bytes on their way to the store.

A full house holds a request a little before it refuses it, because some clients never repeat what was
refused. Nothing that was let in is ever dropped here.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from spanproof.collector.receive.refused import Reason, Refused
from spanproof.config.model import Limits

_HOLD_S = 1.0
_LOOK_EVERY_S = 0.02


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
        """More bytes are on their way; the bound is kept by asking first, so this never refuses."""
        with self._changed:
            self._bytes += size

    def remove(self, size: int) -> None:
        """These are stored, or wait in assembly, which has a bound of its own."""
        with self._changed:
            self._bytes -= size
            self._changed.notify_all()

    def wait_for_room(self, timeout_s: float) -> bool:
        """Block until there is room; for what is read again from the log at start."""
        with self._changed:
            return self._changed.wait_for(lambda: not self.full, timeout_s)


class Entry:
    """One request that is inside; it says how large it grows."""

    def __init__(self, admission: Admission) -> None:
        self._admission = admission
        self.bytes = 0

    def grow(self, size: int) -> None:
        """So many more bytes of it are in memory.

        Raises:
            Refused: there is no room for them.
        """
        self._admission.grow(size)
        self.bytes += size


class Admission:
    """Lets requests in; to be used in one event loop."""

    def __init__(self, limits: Limits, backlog: Backlog) -> None:
        self._most = limits.max_in_flight_requests
        self._most_bytes = limits.max_in_flight_bytes
        self._backlog = backlog
        self._inside = 0
        self._bytes = 0
        self._closed = False

    def close(self) -> None:
        """Let nobody in any more."""
        self._closed = True

    @asynccontextmanager
    async def admitted(self) -> AsyncIterator[Entry]:
        """Be inside while the context is open.

        Raises:
            Refused: there is no room, or the collector stops.
        """
        await self._wait_for_room()
        entry = Entry(self)
        self._inside += 1
        try:
            yield entry
        finally:
            self._inside -= 1
            self._bytes -= entry.bytes

    def grow(self, size: int) -> None:
        """Requests inside take so many more bytes.

        Raises:
            Refused: there is no room for them.
        """
        if self._bytes + size > self._most_bytes:
            raise Refused(Reason.FULL, "too many large requests at once; send it again later")
        self._bytes += size

    async def _wait_for_room(self) -> None:
        loop = asyncio.get_running_loop()
        until = loop.time() + _HOLD_S
        while not self._closed and (self._inside >= self._most or self._backlog.full):
            if loop.time() >= until:
                raise Refused(Reason.FULL, "the collector has as much in hand as it may; send it again later")
            await asyncio.sleep(_LOOK_EVERY_S)
        if self._closed:
            raise Refused(Reason.UNAVAILABLE, "the collector is stopping; send it again later")
