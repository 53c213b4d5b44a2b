"""Texts that a guest reads in the place of files: in memory, and sealed against any change.

A guest that is given a descriptor can open the same file anew, to write, by its own /proc. So they are
sealed: what one run reads is what the next one will.
"""

from __future__ import annotations

import fcntl
import os

_SEALS = fcntl.F_SEAL_SEAL | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_WRITE


class SealedText:
    """One text, opened as often as it is requested."""

    def __init__(self, name: str, text: str) -> None:
        self._fd = os.memfd_create(name, os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        view = memoryview(text.encode())
        while view:
            view = view[os.write(self._fd, view) :]
        fcntl.fcntl(self._fd, fcntl.F_ADD_SEALS, _SEALS)

    def open_descriptor(self) -> int:
        """Return a descriptor at its beginning, the caller's to close."""
        return os.open(f"/proc/self/fd/{self._fd}", os.O_RDONLY | os.O_CLOEXEC)

    def close(self) -> None:
        """Let go of it; what was opened stays open."""
        os.close(self._fd)
