"""The warm interpreter's memory, laid out so that a fork and its end cost least.

A fork copies an entry for every page of the process, and the end of the child takes each away again; for an
interpreter with its libraries loaded, that is most of what both cost. Pages that are parts of a large one are
copied and taken away together. The entries of a file's pages are copied only where the mapping has a page of
the process's own; elsewhere each child takes a fault for every 64 KB of code it enters. A program sees
nothing of it, and where the kernel does not allow it, nothing is done. For the master, after its imports.
"""

from __future__ import annotations

import contextlib
import ctypes
import re
from pathlib import Path

# MADV_COLLAPSE, from Linux 6.1 on.
_COLLAPSE = 25
LARGE = 2 * 1024 * 1024
"""Bytes of a large page."""
_WRITABLE = re.compile(r"^([0-9a-f]+)-([0-9a-f]+) rw-p \S+ \S+ 0 +(?:\[heap\])?$", re.MULTILINE)
_CODE = re.compile(r"^([0-9a-f]+)-([0-9a-f]+) r-xp \S+ \S+ [1-9]\d* +/", re.MULTILINE)
_READ_ONLY_FILE = re.compile(r"^([0-9a-f]+)-([0-9a-f]+) r-([x-])p \S+ \S+ [1-9]\d* +/", re.MULTILINE)
_READ, _WRITE, _EXECUTE = 1, 2, 4
# MAP_PRIVATE and MAP_ANONYMOUS.
_PRIVATE = 0x22
_IN_PLACE = 3  # MREMAP_MAYMOVE and MREMAP_FIXED
_FAILED = ctypes.c_void_p(-1).value

_libc = ctypes.CDLL(None)
_libc.mmap.restype = ctypes.c_void_p


def prepare_for_forks() -> None:
    """Use large pages, and have forks copy the entries of code; at each address lies what did."""
    with contextlib.suppress(OSError):
        maps = Path("/proc/self/maps").read_text()
        for start, end in _WRITABLE.findall(maps):
            collapse(*align_to_large_pages(int(start, 16), int(end, 16)))
        enlarge_code(maps)
        for start, end, executable in _READ_ONLY_FILE.findall(Path("/proc/self/maps").read_text()):
            access = _READ | (_EXECUTE if executable == "x" else 0)
            own_a_page(int(start, 16), int(end, 16) - int(start, 16), access)


def own_a_page(start: int, size: int, access: int) -> None:
    """Write the first byte of a read-only mapping to itself, which makes its page this process's own."""
    address, length = ctypes.c_void_p(start), ctypes.c_size_t(size)
    if not _libc.mprotect(address, length, access | _WRITE):
        ctypes.memmove(start, ctypes.string_at(start, 1), 1)
        _libc.mprotect(address, length, access)


def enlarge_code(maps: str) -> None:
    """Replace the mapping that holds the interpreter's code by large pages of the same content."""
    somewhere = ctypes.cast(ctypes.pythonapi.Py_IncRef, ctypes.c_void_p).value or 0
    for start, end in _CODE.findall(maps):
        if int(start, 16) <= somewhere < int(end, 16):
            first, last = align_to_large_pages(int(start, 16), int(end, 16))
            if first < last:
                _replace(first, last - first)


def align_to_large_pages(start: int, end: int) -> tuple[int, int]:
    """Return the first address that large pages can hold of a mapping, and the one after their last."""
    return (start + LARGE - 1) // LARGE * LARGE, end // LARGE * LARGE


def collapse(first: int, end: int) -> bool:
    """Make large pages of what lies there; whether it consists of nothing else now."""
    return first < end and not _libc.madvise(ctypes.c_void_p(first), ctypes.c_size_t(end - first), _COLLAPSE)


def _replace(first: int, size: int) -> None:
    """Replace executable memory by large pages, which memory that is no file's can have anywhere."""
    room = size + LARGE
    spare = _libc.mmap(None, ctypes.c_size_t(room), _READ | _WRITE, _PRIVATE, -1, ctypes.c_long(0))
    if spare == _FAILED:
        return
    copy, _end = align_to_large_pages(spare, spare + room)
    _free_range(spare, copy)  # not at the end: by then something else may lie where the copy was
    _free_range(copy + size, spare + room)
    ctypes.memmove(copy, first, size)
    address, length = ctypes.c_void_p(copy), ctypes.c_size_t(size)
    # Executed only once it is written: this is when a kernel has the processor forget what code it knew.
    if not collapse(copy, copy + size) or _libc.mprotect(address, length, _READ | _EXECUTE):
        _free_range(copy, copy + size)
    else:
        _libc.mremap(address, length, length, _IN_PLACE, ctypes.c_void_p(first))


def _free_range(first: int, end: int) -> None:
    if first < end:
        _libc.munmap(ctypes.c_void_p(first), ctypes.c_size_t(end - first))
