"""What the supervisor opens in a guest's stead, so that no path is read twice.

A guest may change its memory between our look and the kernel's. Where no other wall is behind a call, it
is therefore never let through: the supervisor does what it requests, with the arguments it has judged, or
refuses.
"""

from __future__ import annotations

import os

from spanproof.sandbox import kernel


def open_beneath(directory: str, path: str, flags: int, mode: int = 0, *, links: bool = True) -> int:
    """Open a path that must not lead out of a directory, whatever lies in it.

    Symbolic links that stay inside are followed, unless `links` says no.

    Raises:
        OSError: it leads out, or through a link of /proc, or cannot be opened.
    """
    base = os.open(directory, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    resolve = kernel.RESOLVE_BENEATH | kernel.RESOLVE_NO_MAGICLINKS
    resolve |= 0 if links else kernel.RESOLVE_NO_SYMLINKS
    try:
        return kernel.openat2(base, path or ".", flags, mode, resolve)
    finally:
        os.close(base)
