"""Whether something lies on this machine where a program found nothing; looked up on the host, later.

In: a path that hostile code named. Out: a guess that errs towards yes. Nothing is opened or waited for, and
no other file system is entered: one mounted on demand, or over a network, would carry the name elsewhere.
What is found out goes into the failure class that the host receives, and nowhere that a program can look.
"""

from __future__ import annotations

import errno
import os

from spanproof.sandbox import kernel

_NOTHING = (errno.ENOENT, errno.ENOTDIR)
_BOUNDS = kernel.RESOLVE_NO_XDEV | kernel.RESOLVE_NO_MAGICLINKS


def may_exist_on_host(path: str) -> bool:
    """Whether something may lie at an absolute path of this machine: False only where it is known not to."""
    if not path.startswith("/") or "\0" in path:
        return True
    try:
        root = os.open("/", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.close(kernel.openat2(root, path, os.O_PATH | os.O_NOFOLLOW, resolve=_BOUNDS))
        finally:
            os.close(root)
    except OSError as problem:
        return problem.errno not in _NOTHING
    except UnicodeEncodeError:  # no path of bytes: what came is not what was tried
        return True
    return True
