"""Where a warm interpreter has its objects: in one piece, in pages as large as the machine has them.

A fork copies an entry for every page of the process, and the end of the child takes each away again; for an
interpreter with its libraries loaded, that is most of what both cost. Pages that are parts of a large one are
copied and taken away together. A program sees nothing of it, and where the kernel or the C library cannot do
it, nothing is done. For the master, before its other imports and after them.
"""

from __future__ import annotations

import contextlib
import ctypes
import re
from pathlib import Path

_COLLAPSE = 25
"""MADV_COLLAPSE, from Linux 6.1 on."""
LARGE = 2 * 1024 * 1024
"""Bytes of a large page."""
_PIECE = 1024 * 1024
_ROOM = 64
"""Pieces that the heap is to have room for: more than an interpreter with its usual libraries takes."""
_WRITABLE = re.compile(r"^([0-9a-f]+)-([0-9a-f]+) rw-p \S+ \S+ 0 +(?:\[heap\])?$", re.MULTILINE)
"""Of the process's own memory, as /proc reports it."""

_libc = ctypes.CDLL(None)
_libc.malloc.restype = ctypes.c_void_p


class _ArenaAllocator(ctypes.Structure):
    """PyObjectArenaAllocator: where the interpreter takes pieces for small objects from, 1 MiB each."""

    _fields_ = (("context", ctypes.c_void_p), ("allocate", ctypes.c_void_p), ("free", ctypes.c_void_p))


_usual = _ArenaAllocator()
_last = ctypes.c_void_p()
"""The last piece of the heap, while there is to be room before it."""


def gather() -> None:
    """Take such pieces from the C library's heap, which grows in one piece, and not where there is a gap."""
    ctypes.pythonapi.PyObject_GetArenaAllocator(ctypes.byref(_usual))
    # Once a block of this size is freed, smaller ones come from the heap (mallopt(3), M_MMAP_THRESHOLD).
    _libc.free(ctypes.c_void_p(_libc.malloc(ctypes.c_size_t(LARGE))))
    _make_room()
    # The context is the first argument, the size the second. Such a piece is given back as any other is, by
    # unmapping it: the heap never uses the place again.
    allocate = ctypes.cast(_libc.aligned_alloc, ctypes.c_void_p)
    gathering = _ArenaAllocator(4096, allocate, _usual.free)
    ctypes.pythonapi.PyObject_SetArenaAllocator(ctypes.byref(gathering))


def _make_room() -> None:
    """Have the heap grow now: what is added after a fork lies in a mapping, and in pages, of its own."""
    *pieces, _last.value = (_libc.malloc(ctypes.c_size_t(_PIECE)) for _ in range(_ROOM + 1))
    for piece in pieces:
        _libc.free(ctypes.c_void_p(piece))


def enlarge() -> None:
    """Take them as usual again, and make large pages of what there is, as far as it fills them."""
    if _usual.allocate:
        ctypes.pythonapi.PyObject_SetArenaAllocator(ctypes.byref(_usual))
    with contextlib.suppress(OSError):
        for start, end in _WRITABLE.findall(Path("/proc/self/maps").read_text()):
            collapse(*large_part(int(start, 16), int(end, 16)))
    _libc.free(_last)  # and what room is left
    _last.value = None


def large_part(start: int, end: int) -> tuple[int, int]:
    """What of a mapping large pages can hold: its first address, and the one after its last."""
    return (start + LARGE - 1) // LARGE * LARGE, end // LARGE * LARGE


def collapse(first: int, end: int) -> bool:
    """Make large pages of what lies there; whether it consists of nothing else now."""
    return first < end and not _libc.madvise(ctypes.c_void_p(first), ctypes.c_size_t(end - first), _COLLAPSE)
