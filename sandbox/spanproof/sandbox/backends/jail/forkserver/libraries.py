"""How a warm interpreter has its libraries mapped: in few mappings, whose pages forks inherit.

A fork copies every mapping of the process, and the end of the child takes each away again; what a page of a
file holds is left to be found again, by a fault for every few of them. A program sees nothing of it, and
where the kernel does not allow it, nothing is done. For the master, after all its imports.
"""

from __future__ import annotations

import contextlib
import ctypes
import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

from spanproof.sandbox.backends.jail.forkserver.layout import LARGE, collapse, large_part

_MAPPING = re.compile(r"^([0-9a-f]+)-([0-9a-f]+) (r[w-][x-])p ([0-9a-f]+) (\S+ [1-9]\d*) +/", re.MULTILINE)
"""Of a file, private to this process, as /proc reports it."""
_SEEN_BYTES = 128 * 1024
"""Of a mapping whose faults are worth sparing."""
_FLAGS = _READ, _WRITE, _EXECUTE = 1, 2, 4
_PRIVATE = 0x22
"""MAP_PRIVATE and MAP_ANONYMOUS."""
_IN_PLACE = 3
"""MREMAP_MAYMOVE and MREMAP_FIXED."""
_FAILED = ctypes.c_void_p(-1).value

_libc = ctypes.CDLL(None)
_libc.mmap.restype = ctypes.c_void_p


def unite() -> None:
    """Make fewer mappings of libraries, because a fork and the end of the child pay for each.

    A library has five: its code between two of constants, then what is constant once it is loaded, and its
    data. A process that runs any code loses nothing when the first three may all be executed and the last two
    written: then they are two.
    """
    for one, other in pairwise(_mappings()):
        if not one.leads_to(other):
            continue
        if one.allowed == _READ and other.allowed == _READ | _WRITE:
            _protect(one, _READ | _WRITE)
        elif {one.allowed, other.allowed} == {_READ, _READ | _EXECUTE}:
            _protect(one, _READ | _EXECUTE)
            _protect(other, _READ | _EXECUTE)


def hand_down() -> None:
    """Let forks inherit which pages of libraries are present, or each takes a fault for every few of them.

    A fork copies no entries of a mapping whose pages a file can give again, unless one page of it is the
    process's own; so each gets one, with what it held.
    """
    for mapping in _mappings():
        worth_it = mapping.size >= _SEEN_BYTES and not mapping.allowed & _WRITE
        if worth_it and _protect(mapping, mapping.allowed | _WRITE):
            ctypes.memmove(mapping.start, mapping.start, 1)
            _protect(mapping, mapping.allowed)


def enlarge() -> None:
    """Put the interpreter's own code into large pages, which memory that is no file's can have anywhere.

    A fork copies a few entries for it then, and the processor finds it sooner. At each address lies what did.
    """
    somewhere = ctypes.cast(ctypes.pythonapi.Py_IncRef, ctypes.c_void_p).value or 0
    for mapping in _mappings():
        if mapping.start <= somewhere < mapping.end:
            first, end = large_part(mapping.start, mapping.end)
            if first < end:
                _replace(first, end - first, mapping.allowed)


def _replace(first: int, size: int, allowed: int) -> None:
    """Replace memory by large pages of the same content."""
    room = size + LARGE
    spare = _libc.mmap(None, ctypes.c_size_t(room), _READ | _WRITE, _PRIVATE, -1, ctypes.c_long(0))
    if spare == _FAILED:
        return
    copy, _end = large_part(spare, spare + room)
    _free(spare, copy)  # not at the end: by then something else may lie where the copy was
    _free(copy + size, spare + room)
    ctypes.memmove(copy, first, size)
    address, length = ctypes.c_void_p(copy), ctypes.c_size_t(size)
    # Executed only once it is written: this is when a kernel has the processor forget what code it knew.
    if not collapse(copy, copy + size) or _libc.mprotect(address, length, allowed):
        _free(copy, copy + size)
    else:
        _libc.mremap(address, length, length, _IN_PLACE, ctypes.c_void_p(first))


def _free(first: int, end: int) -> None:
    if first < end:
        _libc.munmap(ctypes.c_void_p(first), ctypes.c_size_t(end - first))


class _Mapping:
    """A part of a file in memory."""

    def __init__(self, start: str, end: str, allowed: str, offset: str, file: str) -> None:
        self.start, self.end = int(start, 16), int(end, 16)
        self.size = self.end - self.start
        self.allowed = sum(flag for flag, letter in zip(_FLAGS, allowed, strict=True) if letter != "-")
        self._offset, self._file = int(offset, 16), file

    def leads_to(self, other: _Mapping) -> bool:
        """Whether the other goes on where this one ends, in memory and in the file."""
        here = self.end, self._offset + self.size, self._file
        return here == (other.start, other._offset, other._file)


def _mappings() -> Iterator[_Mapping]:
    """As they are now, where that can be seen."""
    with contextlib.suppress(OSError):
        for found in _MAPPING.findall(Path("/proc/self/maps").read_text()):
            yield _Mapping(*found)


def _protect(mapping: _Mapping, allowed: int) -> bool:
    address, size = ctypes.c_void_p(mapping.start), ctypes.c_size_t(mapping.size)
    return not _libc.mprotect(address, size, allowed)
