"""Locks of open files between processes: flock, or the one byte that Windows locks in its place.

A lock ends when its descriptor is closed. Windows has exclusive locks alone: a shared one is exclusive there.
"""

from __future__ import annotations

import os
import sys

if sys.platform != "win32":
    from fcntl import LOCK_EX, LOCK_NB, LOCK_SH, flock
else:
    LOCK_SH, LOCK_EX, LOCK_NB = 1, 2, 4
    # Beyond what any of these files holds: Windows refuses reading and writing of locked bytes.
    _LOCK_OFFSET = 1 << 40

    def flock(descriptor: int, operation: int) -> None:
        """Lock a file; raises BlockingIOError where that would wait and LOCK_NB is given."""
        import msvcrt

        here = os.lseek(descriptor, 0, os.SEEK_CUR)
        os.lseek(descriptor, _LOCK_OFFSET, os.SEEK_SET)
        try:
            while True:
                try:
                    msvcrt.locking(descriptor, msvcrt.LK_NBLCK if operation & LOCK_NB else msvcrt.LK_LOCK, 1)
                except PermissionError:
                    if operation & LOCK_NB:
                        raise BlockingIOError from None
                except OSError:  # LK_LOCK gives up after ten seconds
                    continue
                else:
                    return
        finally:
            os.lseek(descriptor, here, os.SEEK_SET)


__all__ = ["LOCK_EX", "LOCK_NB", "LOCK_SH", "flock"]
