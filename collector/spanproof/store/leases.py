"""What only one process at a time does, though several could: by a lease in the store.

ClickHouse has no compare-and-set. So a process claims a lease only where it sees none, waits until every
claim made at the same time is to be seen, and holds it where its own is the first. Times are the database's.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable

from spanproof.store.connection import Connections
from spanproof.store.schema import LEASES

LEASE_S = 30.0
"""How long a lease lasts without renewal: a holder that dies is followed after so long."""
# How long an insert may take to be seen by all.
_SETTLE_S = 2.0

_NOW = "toUInt64(toUnixTimestamp64Nano(now64(9)))"


class Lease:
    """One process's claim to a task, renewed by calling `held` often.

    Args:
        name: of the task.
        pause: waits for so many seconds.
    """

    def __init__(
        self, connections: Connections, name: str, pause: Callable[[float], object] = time.sleep
    ) -> None:
        self._connections = connections
        self._name = name
        self._pause = pause
        self._holder = uuid.uuid4().hex
        self._since_ns = 0
        self._checked_s = float("-inf")

    def held(self) -> bool:
        """Return whether this process holds the lease; claims it where no process does, and renews it.

        Raises:
            StoreUnavailable: the store cannot be reached: what is held is not known.
        """
        if self._since_ns and time.monotonic() < self._checked_s + LEASE_S / 3:
            return True
        first = self._find_first_holder()
        if not self._since_ns:
            if first is not None:
                return False
            self._since_ns = self._write(0)
            self._pause(_SETTLE_S)
            first = self._find_first_holder()
        if first != self._holder:
            self.release()
            return False
        self._write(self._since_ns)
        self._checked_s = time.monotonic()
        return True

    def release(self) -> None:
        """Let another process have it at once. Safe to call without holding it."""
        if self._since_ns:
            self._write(self._since_ns, removed=True)
            self._since_ns = 0

    def _find_first_holder(self) -> str | None:
        """Return the holder of the first claim that has not expired."""
        with self._connections.lease() as client:
            rows = client.query(
                f"SELECT holder FROM {self._connections.database}.{LEASES.name} FINAL"  # noqa: S608
                f" WHERE name = {{name:String}} AND expires_ns > {_NOW}"
                " ORDER BY since_ns, holder LIMIT 1",
                parameters={"name": self._name},
            ).result_rows
        return str(rows[0][0]) if rows else None

    def _write(self, since_ns: int, *, removed: bool = False) -> int:
        """Write the claim, from now on where `since_ns` is 0; returns since when it is."""
        with self._connections.lease() as client:
            since_ns = since_ns or int(client.query(f"SELECT {_NOW}").result_rows[0][0])
            client.command(
                f"INSERT INTO {self._connections.database}.{LEASES.name}"
                " (name, holder, since_ns, expires_ns, evaluated_ns, is_deleted) SELECT {name:String},"
                f" {{holder:String}}, {{since:UInt64}}, {_NOW} + {{lasts:UInt64}}, {_NOW}, {{removed:UInt8}}",
                parameters={
                    "name": self._name,
                    "holder": self._holder,
                    "since": since_ns,
                    "lasts": int(LEASE_S * 10**9),
                    "removed": int(removed),
                },
            )
        return since_ns
