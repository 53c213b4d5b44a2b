"""The directory of a master's boxes: locked as long as anyone of its processes lives, then removed."""

from __future__ import annotations

import contextlib
import fcntl
import os
import secrets
from pathlib import Path

from spanproof.sandbox.jail.reduced.box import empty

_PREFIX = "spanproof-jail"


def new_home(base: Path) -> Path:
    """A directory for all boxes, locked as long as anyone of us lives; those of the dead are removed."""
    for path in base.glob(f"{_PREFIX}-*"):
        with contextlib.suppress(OSError):
            if path.lstat().st_uid == os.geteuid():
                os.close(_locked(path))
                remove(path)
    home = base / f"{_PREFIX}-{secrets.token_hex(6)}"
    home.mkdir()
    home.chmod(0o711)
    _locked(home)  # held by this process and those it forks, until the last of them is gone
    return home


def _locked(path: Path) -> int:
    fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(fd)
        raise
    return fd


def remove(home: Path) -> None:
    """Remove it with all that lies in it, as far as that can be done."""
    with contextlib.suppress(OSError):
        empty(str(home))
        home.rmdir()
