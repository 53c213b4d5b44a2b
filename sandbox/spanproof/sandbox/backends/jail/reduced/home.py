"""The directory of a master's boxes: locked as long as anyone of its processes lives, then removed."""

from __future__ import annotations

import contextlib
import fcntl
import os
import secrets
from pathlib import Path

from spanproof.sandbox.backends.jail.reduced.box import empty

_PREFIX = "spanproof-jail"
_ATTEMPTS = 10


def new_home(base: Path) -> Path:
    """A directory for all boxes, locked as long as anyone of us lives; those of the dead are removed."""
    for path in base.glob(f"{_PREFIX}-*"):
        with contextlib.suppress(OSError):
            if path.lstat().st_uid == os.geteuid():
                _remove_unless_held(path)
    for _ in range(_ATTEMPTS):
        home = base / f"{_PREFIX}-{secrets.token_hex(6)}"
        home.mkdir()
        # Until it is locked, a process that makes another may remove it as one of the dead.
        with contextlib.suppress(BlockingIOError, FileNotFoundError):
            _locked(home)  # held by this process and those it forks, until the last of them is gone
            home.chmod(0o711)
            return home
    raise BlockingIOError(f"others remove what is made in {base} before it can be locked")


def _locked(path: Path) -> int:
    """What holds it.

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


def _remove_unless_held(home: Path) -> None:
    fd = _locked(home)
    remove(home)  # while it is locked: its maker would believe that it has it
    os.close(fd)


def remove(home: Path) -> None:
    """Remove it with all that lies in it, as far as that can be done."""
    with contextlib.suppress(OSError):
        empty(str(home))
        home.rmdir()
