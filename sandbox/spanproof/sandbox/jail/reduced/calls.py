"""What the slot opens in a guest's stead, so that no path is read twice.

A guest may change its memory between our look and the kernel's. Where no other wall stands behind a call, it
is therefore never let through: the slot does what it asks for, with the arguments it has judged, or refuses.
"""

from __future__ import annotations

import ctypes
import os
import struct

_OPENAT2 = 437  # the same number on every architecture
_NO_MAGICLINKS, _NO_SYMLINKS, _BENEATH = 2, 4, 8

_libc = ctypes.CDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long


def open_beneath(directory: str, path: str, flags: int, mode: int = 0, *, links: bool = True) -> int:
    """Open a path that must not lead out of a directory, whatever lies in it.

    Symbolic links that stay inside are followed, unless `links` says no.

    Raises:
        OSError: it leads out, or through a link of /proc, or cannot be opened.
    """
    base = os.open(directory, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    resolve = _BENEATH | _NO_MAGICLINKS | (0 if links else _NO_SYMLINKS)
    how = struct.pack("=QQQ", flags | os.O_CLOEXEC, mode, resolve)
    try:
        fd = _libc.syscall(
            ctypes.c_long(_OPENAT2),
            ctypes.c_long(base),
            os.fsencode(path) or b".",
            how,
            ctypes.c_size_t(len(how)),
        )
    finally:
        os.close(base)
    if fd == -1:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return int(fd)
