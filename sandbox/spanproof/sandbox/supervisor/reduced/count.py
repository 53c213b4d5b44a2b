"""How many processes and threads the kernel counts for this user, wherever on the machine they run.

`RLIMIT_NPROC` bounds that number, and no file reports it: other containers' processes of the same user number
are counted and not in sight. So it is found by calls to `clone` that the kernel must refuse in any case:
first for the limit, where that is passed, else for an address that no one can write to.
"""

from __future__ import annotations

import errno
import os
import resource
from collections.abc import Callable
from typing import TypeVar

from spanproof.sandbox import kernel
from spanproof.sandbox.supervisor.seccomp.syscalls import get_arch

_SHARING = 0x00000F00  # memory, directory, descriptors, signal handlers: so that little is copied
_CLONE_PIDFD = 0x00001000
_NOWHERE = 1
_ALL = 1 << 22  # more numbers than a kernel gives

_T = TypeVar("_T")


class Counter:
    """Counts for the calling process's user; a look costs a few calls when little has changed."""

    def __init__(self) -> None:
        self._clone = get_arch().get_number("clone")
        self._hard = resource.getrlimit(resource.RLIMIT_NPROC)[1]
        self._last = 64

    def counts(self) -> bool:
        """Whether the kernel bounds this user at all: the machine's root is not."""
        return self._with_limit(lambda: not self._fits(0))

    def count_tasks(self) -> int:
        """Count the processes and threads of this user, the caller's included."""
        return self._with_limit(self._compute_count)

    def _compute_count(self) -> int:
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
        number: int | None = 0
        try:
            kernel.call_kernel("clone", self._clone, _SHARING | _CLONE_PIDFD, None, _NOWHERE, None, None)
        except OSError as refusal:
            number = refusal.errno
        if number not in (errno.EAGAIN, errno.EFAULT):
            reason = os.strerror(number or 0)
            raise OSError(number, f"how many processes there are is not known: {reason}")
        return number == errno.EFAULT
