"""Where a path of a guest leads, as the kernel would resolve it for that guest.

In: an absolute path, and the thread that named it. Out: the path of the object. Every link is followed in its
turn, so that `..` is the parent of where a link led and not of its name. `/proc/self` is the caller, and a
link of `/proc` to a descriptor, a root or a working directory leads where that one does. The work is bounded:
a path that takes more links than the kernel follows, or more steps than an ordinary one, is not resolved.
Nothing is opened but as a name (`O_PATH`).
"""

from __future__ import annotations

import os
from functools import cached_property

from spanproof.sandbox import kernel

_AT_FDCWD = -100
_MOST_LINKS = 40  # as the kernel's MAXSYMLINKS
_MOST_STEPS = 4096


class TooManyLinks(Exception):  # noqa: N818 - what a path has
    """A path leads through more links than the kernel follows: the call fails with ELOOP."""


class TooLong(Exception):  # noqa: N818 - what a path is
    """A path takes more steps than are made for one."""


def resolve_path(path: str, thread: int, *, follows: bool = True) -> str:
    """Return the absolute path of the object that a path names.

    What is not there keeps its name. An object of a descriptor that has no path is `/proc/self/fd/N`, and
    what lies in the caller's own directory of `/proc` is named by `/proc/self`.

    Args:
        path: absolute.
        thread: of the caller, as /proc numbers it.
        follows: whether a link at the end of the path is followed.

    Raises:
        TooManyLinks: the kernel does not follow it to its end either.
        TooLong: it takes too many steps.
    """
    if not path.startswith("/proc"):
        found = _resolve_by_kernel(path, follows=follows)
        if found is not None:
            return found
    return _Walk(thread).resolve(path, follows=follows)


def _resolve_by_kernel(path: str, *, follows: bool) -> str | None:
    """Return where a path leads that exists and does not lead to or through /proc; None for any other."""
    flags = os.O_PATH if follows else os.O_PATH | os.O_NOFOLLOW
    try:
        fd = kernel.openat2(_AT_FDCWD, path, flags, resolve=kernel.RESOLVE_NO_MAGICLINKS)
    except OSError:
        return None
    try:
        found = os.readlink(f"/proc/self/fd/{fd}")  # noqa: PTH115 - in the path of every open
    except OSError:
        return None
    finally:
        os.close(fd)
    return found if found.startswith("/") and not found.startswith("/proc") else None


class _Walk:
    """Resolution of one path, component by component."""

    def __init__(self, thread: int) -> None:
        self._thread = thread
        self._links = 0

    @cached_property
    def _process(self) -> int:
        return process_of(self._thread)

    def resolve(self, path: str, *, follows: bool) -> str:
        """See `resolve_path`."""
        waiting = path.split("/")[::-1]
        at, steps = "", 0
        while waiting:
            name = waiting.pop()
            steps += 1
            if steps > _MOST_STEPS:
                raise TooLong
            if name in ("", "."):
                continue
            if name == "..":
                at = at.rpartition("/")[0]
            elif at == "/proc" and name in ("self", "thread-self"):
                own = f"/proc/{self._process}"
                at = own if name == "self" else f"{own}/task/{self._thread}"
            else:
                at = self._enter(f"{at}/{name}", waiting, follows=follows)
        return self._named_as_own(at or "/")

    def _enter(self, here: str, waiting: list[str], *, follows: bool) -> str:
        """Return the directory to go on from: a link's components are put before those that wait."""
        if here == f"/proc/{os.getpid()}":
            return here  # the supervisor's own: no link of it is followed for a guest
        if here.startswith(f"/proc/{os.getpid()}/"):
            return here
        try:
            text = os.readlink(here)  # noqa: PTH115 - in the path of every open
        except (OSError, ValueError):
            return here  # no link, or nothing there
        if not follows and not waiting:
            return here
        in_a_process = here.count("/") > 2 and here.startswith("/proc/")
        if in_a_process and (not text.startswith("/") or text.startswith("/memfd:")):
            return here  # a pipe, a socket, a namespace: an object without a path
        self._links += 1
        if self._links > _MOST_LINKS:
            raise TooManyLinks
        waiting.extend(text.split("/")[::-1])
        return "" if text.startswith("/") else here.rpartition("/")[0]

    def _named_as_own(self, path: str) -> str:
        if not path.startswith("/proc/"):
            return path
        for own in (self._process, self._thread):
            if path.startswith(f"/proc/{own}/"):
                return f"/proc/self/{path.removeprefix(f'/proc/{own}/')}"
        return path


def process_of(thread: int) -> int:
    """Return the process that a thread belongs to; its own number where that cannot be read."""
    try:
        with open(f"/proc/{thread}/status", "rb") as file:  # noqa: PTH123
            return int(file.read().partition(b"\nTgid:")[2].split(None, 1)[0])
    except (OSError, IndexError, ValueError):
        return thread
