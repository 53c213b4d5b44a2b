"""How many processes and threads the kernel counts for this user, wherever on the machine they run.

`RLIMIT_NPROC` bounds that number, and no file reports it: other containers' processes of the same user number
are counted and not in sight. So it is found by calls to `clone` that the kernel must refuse in any case:
first for the limit, where that is passed, else for an address that no one can write to.
"""

from __future__ import annotations

import ctypes
import errno
import os
import resource
from collections.abc import Callable
from typing import TypeVar

from spanproof.sandbox.supervisor.seccomp.syscalls import detect_arch

_SHARING = 0x00000F00  # memory, directory, descriptors, signal handlers: so that little is copied
_CLONE_PIDFD = 0x00001000
_NOWHERE = 1
_ALL = 1 << 22  # more numbers than a kernel gives

_T = TypeVar("_T")

_libc = ctypes.CDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long


class Counter:
    """Counts for the calling process's user; a look costs a few calls when little has changed."""

    def __init__(self) -> None:
        arch = detect_arch()
        assert arch is not None
        self._clone = arch.number("clone")
        self._hard = resource.getrlimit(resource.RLIMIT_NPROC)[1]
        self._last = 64

    def counts(self) -> bool:
        """Whether the kernel bounds this user at all: the machine's root is not."""
        return self._with_limit(lambda: not self._fits(0))

    def now(self) -> int:
        """Count the processes and threads of this user, the caller's included."""
        return self._with_limit(self._search)

    def _search(self) -> int:
        low, high, step = self._last, self._last + 1, 1
        while low > 0 and self._fits(low):
            high, low, step = low, max(0, low - step), 2 * step
        step = 1
        while high < _ALL and not self._fits(high):
            low, high, step = high, high + step, 2 * step
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if self._fits(middle) else (middle, high)
        self._last = low
        return low

    def _with_limit(self, look: Callable[[], _T]) -> _T:
        try:
            return look()
        finally:
            resource.setrlimit(resource.RLIMIT_NPROC, (self._hard, self._hard))

    def _fits(self, limit: int) -> bool:
        """Whether one more is within a limit."""
        if self._hard != resource.RLIM_INFINITY and limit > self._hard:
            return True
        resource.setrlimit(resource.RLIMIT_NPROC, (limit, self._hard))
        flags = ctypes.c_long(_SHARING | _CLONE_PIDFD)
        made = _libc.syscall(ctypes.c_long(self._clone), flags, None, ctypes.c_long(_NOWHERE), None, None)
        number = ctypes.get_errno()
        if made != -1 or number not in (errno.EAGAIN, errno.EFAULT):
            raise OSError(number, f"how many processes there are is not known: {os.strerror(number)}")
        return number == errno.EFAULT
