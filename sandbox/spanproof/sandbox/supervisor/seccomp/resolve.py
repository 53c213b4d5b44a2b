"""Where a path of a guest leads, as the kernel would resolve it for that guest.

In: an absolute path, and the thread that named it. Out: the path of the object. Every link is followed in its
turn, so that `..` is the parent of where a link led and not of its name. `/proc/self` is the caller, and a
link of `/proc` to a descriptor, a root or a working directory leads where that one does. The work is bounded:
a path that takes more links than the kernel follows, or more steps than an ordinary one, is not resolved.
Nothing is opened but as a name (`O_PATH`).
"""

from __future__ import annotations

import errno
import os
from functools import cached_property

from spanproof.sandbox import kernel

_AT_FDCWD = -100
_MOST_LINKS = 40  # as the kernel's MAXSYMLINKS
_MOST_STEPS = 4096
_DELETED = " (deleted)"
# What the kernel takes for a path, and what leaves room for links and for the slashes between names.
_PATH_BYTES, _SHORT_BYTES = 4096, 3000


class TooManyLinks(Exception):  # noqa: N818 - what a path has
    """A path leads through more links than the kernel follows: the call fails with ELOOP."""


class TooLong(Exception):  # noqa: N818 - what a path is
    """A path takes more steps than are made for one."""


def get_resolved_path(path: str, thread: int, *, follows: bool = True) -> str:
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
        found = _find_path_by_kernel(path, follows=follows)
        if found is not None:
            return found
    return _Walk(thread).get_resolved_path(path, follows=follows)


def get_path_in_root(path: str, directory: str, thread: int, *, follows: bool = True) -> str:
    """Return the absolute path of the object that a path names for a caller whose root is a directory.

    As `openat2` with RESOLVE_IN_ROOT: an absolute path begins at the directory, that of a link too, and
    `..` does not lead above it.

    Args:
        path: as the caller names it.
        directory: absolute path of that root.
        thread: of the caller, as /proc numbers it.
        follows: whether a link at the end of the path is followed.

    Raises:
        TooManyLinks: the kernel does not follow it to its end either.
        TooLong: it takes too many steps.
    """
    return _Walk(thread, get_resolved_path(directory, thread).rstrip("/")).get_resolved_path(
        path, follows=follows
    )


def _find_path_by_kernel(path: str, *, follows: bool) -> str | None:
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
    if found.startswith("/") and not found.startswith("/proc"):
        return found
    return None


class _Walk:
    """Resolution of one path, component by component."""

    def __init__(self, thread: int, root: str = "") -> None:
        self._thread = thread
        self._root = root
        self._links = 0
        # A link of /proc to a directory that has no name: it is removed, or too deep.
        self._unnamed = ""

    @cached_property
    def _process(self) -> int:
        return kernel.process_of(self._thread)

    def get_resolved_path(self, path: str, *, follows: bool) -> str:
        """See `get_resolved_path`."""
        waiting = path.split("/")[::-1]
        at, steps = self._root, 0
        while waiting:
            name = waiting.pop()
            steps += 1
            if steps > _MOST_STEPS:
                raise TooLong
            if name in ("", ".") or (name == ".." and at == self._root):
                continue
            if name == ".." and self._is_unnamed(at):
                at = f"{at}/.."
            elif name == "..":
                at = at.rpartition("/")[0]
            elif at == "/proc" and name in ("self", "thread-self"):
                own = f"/proc/{self._process}"
                at = own if name == "self" else f"{own}/task/{self._thread}"
            else:
                at = self._get_next_directory(f"{at}/{name}", waiting, follows=follows)
        return self._to_proc_self(_describe_object(at, self._unnamed) if self._is_unnamed(at) else at or "/")

    def _is_unnamed(self, at: str) -> bool:
        """Whether a place can be named only by way of the link to a directory without a name."""
        return bool(self._unnamed) and (at == self._unnamed or at.startswith(f"{self._unnamed}/"))

    def _get_next_directory(self, here: str, waiting: list[str], *, follows: bool) -> str:
        """Return the directory to go on from: a link's components are put before those that wait."""
        if f"{here}/".startswith(f"/proc/{os.getpid()}/"):
            return here  # the supervisor's own: no link of it is followed for a guest
        text = self._find_link_target(here)
        if text is None or (not follows and not waiting):
            return here
        in_a_process = here.count("/") > 2 and here.startswith("/proc/") and not self._is_unnamed(here)
        if in_a_process and (text.endswith(_DELETED) or len(text) + sum(map(len, waiting)) >= _SHORT_BYTES):
            self._unnamed = here  # the name may be another's by now, or cannot be gone on from
            return here
        if in_a_process and (not text.startswith("/") or text.startswith("/memfd:")):
            return here  # a pipe, a socket, a namespace: an object without a path
        self._links += 1
        if self._links > _MOST_LINKS:
            raise TooManyLinks
        waiting.extend(text.split("/")[::-1])
        if text.startswith("/"):
            return self._root
        return here.rpartition("/")[0]

    def _find_link_target(self, here: str) -> str | None:
        """Return where a link leads; None where there is none, or nothing."""
        try:
            return os.readlink(here)  # noqa: PTH115 - in the path of every open
        except OSError as problem:
            if problem.errno == errno.ENAMETOOLONG:
                if not here.startswith("/proc/") or len(here) >= _PATH_BYTES:
                    raise TooLong from None
                self._unnamed = here
            return None
        except ValueError:
            return None

    def _to_proc_self(self, path: str) -> str:
        if not path.startswith("/proc/"):
            return path
        for own in (self._process, self._thread):
            if path.startswith(f"/proc/{own}/"):
                return f"/proc/self/{path.removeprefix(f'/proc/{own}/')}"
        return path


def _describe_object(path: str, link: str) -> str:
    """Return the path of what is reached by way of a link of /proc to a directory without a name.

    Raises:
        TooLong: so many directories lie above it that it is not named.
    """
    for component, rest in ((path, ""), path.rsplit("/", 1)):
        try:
            fd = os.open(component, os.O_PATH | os.O_CLOEXEC | (0 if component == link else os.O_NOFOLLOW))
        except OSError:
            continue
        try:
            return f"{_describe_descriptor(fd)}/{rest}".rstrip("/") or "/"
        finally:
            os.close(fd)
    return path


def _describe_descriptor(fd: int) -> str:
    """Return where a descriptor leads, by its nearest directory above that has a name."""
    at, below = os.dup(fd), ""
    try:
        for _ in range(_MOST_STEPS):
            try:
                return os.readlink(f"/proc/self/fd/{at}") + below  # noqa: PTH115
            except OSError as problem:
                if problem.errno != errno.ENAMETOOLONG:
                    raise
            above = os.open("..", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=at)
            os.close(at)
            at, below = above, "/(deeper)"
    finally:
        os.close(at)
    raise TooLong
