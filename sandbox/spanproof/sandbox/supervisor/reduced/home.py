"""The directory of a master's boxes: locked as long as anyone of its processes lives, then removed."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import secrets
from collections.abc import Iterator
from pathlib import Path

from spanproof.sandbox.supervisor.reduced.box import remove_entries

_PREFIX = "spanproof-jail"
_ATTEMPTS = 10


def build_home(base: Path) -> Path:
    """Make the directory of all boxes, locked while anyone of us lives; those of the dead are removed."""
    for path in base.glob(f"{_PREFIX}-*"):
        with contextlib.suppress(OSError), locked(path):
            remove_home(path)  # while it is locked: its maker would believe that it has it
    for _ in range(_ATTEMPTS):
        home = base / f"{_PREFIX}-{secrets.token_hex(6)}"
        home.mkdir()
        # Until it is locked, a process that makes another may remove it as one of the dead.
        with contextlib.suppress(BlockingIOError, FileNotFoundError):
            _open_lock(home)  # held by this process and those it forks, until the last of them is gone
            home.chmod(0o711)
            return home
    raise BlockingIOError(f"others remove what is made in {base} before it can be locked")


def _open_lock(path: Path) -> int:
    """Return the descriptor that holds it.

    Raises:
        BlockingIOError: somebody lives who holds it.
        FileNotFoundError: it has been removed.
    """
    fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        path.stat()
    except OSError:
        os.close(fd)
        raise
    return fd


def list_homes(base: Path) -> list[Path]:
    """Return the directories of jails."""
    return list(base.glob(f"{_PREFIX}-*"))


@contextlib.contextmanager
def locked(home: Path) -> Iterator[Path]:
    """Hold a directory while the block lasts.

    Raises:
        OSError: a process holds it, it is gone, or another user's.
    """
    if os.geteuid() not in (0, home.lstat().st_uid):
        raise PermissionError(errno.EPERM, "another user's", str(home))
    fd = _open_lock(home)
    try:
        yield home
    finally:
        os.close(fd)


def remove_home(home: Path) -> None:
    """Remove it with all that lies in it, as far as that can be done."""
    with contextlib.suppress(OSError):
        remove_entries(str(home))
        home.rmdir()
