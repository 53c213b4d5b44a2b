"""Locks that a forked child finds free.

A fork may happen while another thread holds a lock; that thread does not exist in the child.
"""

from __future__ import annotations

import os
import threading
from types import TracebackType
from weakref import WeakSet

_locks: WeakSet[ForkSafeLock] = WeakSet()


class ForkSafeLock:
    """A reentrant lock, to be used in `with` blocks that do not fork."""

    def __init__(self) -> None:
        self.renew()
        _locks.add(self)

    def renew(self) -> None:
        """Replace the lock by a free one."""
        self._lock = threading.RLock()

    def __enter__(self) -> None:
        self._lock.__enter__()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, stack: TracebackType | None
    ) -> None:
        self._lock.__exit__(kind, error, stack)


def _renew_in_child() -> None:
    for lock in list(_locks):
        lock.renew()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_in_child)
