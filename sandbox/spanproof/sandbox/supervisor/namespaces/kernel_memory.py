"""Memory that the kernel holds for a program and counts for no process: sockets, pipes, epoll, page tables.

Read from /proc, where no control group counts it. What is bounded elsewhere is not looked for: keyrings,
inotify, memfd, System V objects and POSIX queues are not to be had, and timers have a resource limit. No
socket's buffer and no pipe can be made larger than it is born (`seccomp.conditions`), so those that cannot be
looked into count as full. What an ordinary program has is left out (`SLACK_BYTES`).
"""

from __future__ import annotations

import contextlib
import os
import re
import time
from collections.abc import Iterable
from pathlib import Path

SLACK_BYTES = 16 * 1024 * 1024
"""So much of it is no one's concern: 64 full pipes and sockets, say."""
UNIX_SOCKET_BYTES = 208 * 1024
"""net.core.wmem_default of all kernels, which bounds what a unix socket has sent."""
_PIPE_BYTES = 64 * 1024
_EPOLL_FACTOR = 3  # What epoll holds for a descriptor is so many times the line that fdinfo has on it
_EPOLL_TEXT_BYTES = 16 * 1024 * 1024
_BACKLOG = re.compile(rb"^(TCP6?|UDP6?): inuse (\d+)", re.MULTILINE)
# The supervisor's resolver.
_OWN_SOCKETS = {"UDP": 1}
_TABLE_RATIO = 512  # Of a mapping to its page table
_TABLES = re.compile(rb"VmPTE:\s+(\d+) kB")
_TABLES_BORN_BYTES = 1024 * 1024
# The next look comes when ten times what the last one took is past.
_REST = 10


class KernelMemory:
    """What the kernel holds for all processes of a supervisor."""

    def __init__(self) -> None:
        self._last = 0
        self._next_look = 0.0

    def count_bytes(self, pids: Iterable[int], socket_bytes: int | None) -> int:
        """Return the bytes held now, less the slack; those of the last look where that was just made.

        Args:
            pids: of all processes.
            socket_bytes: what their sockets hold, None where each unix socket counts as full.
        """
        started = time.monotonic()
        if started >= self._next_look:
            found = _count_descriptor_bytes(pids, count_sockets=socket_bytes is None) + (socket_bytes or 0)
            self._last = max(0, found - SLACK_BYTES)
            self._next_look = started + _REST * (time.monotonic() - started)
        return self._last


def count_page_table_bytes(pid: int, mapped_bytes: int) -> int:
    """Return what a process's page tables take beyond those it was born with."""
    if mapped_bytes // _TABLE_RATIO <= _TABLES_BORN_BYTES:
        return 0
    try:
        with open(f"/proc/{pid}/status", "rb") as file:  # noqa: PTH123 - twenty times a second
            found = _TABLES.search(file.read())
    except OSError:
        return 0
    if found:
        return max(0, int(found[1]) * 1024 - _TABLES_BORN_BYTES)
    return 0


def count_socket_bytes() -> int:
    """Return what the sockets of this network namespace hold, in which there are a program's alone."""
    total = max(0, _count_lines("unix") - 1) * UNIX_SOCKET_BYTES
    for protocol, used in _BACKLOG.findall(_read_table("sockstat") + _read_table("sockstat6")):
        name = protocol.decode()
        if int(used) > _OWN_SOCKETS.get(name, 0):
            total += _count_queued_bytes(name.lower())
    return total


def _count_descriptor_bytes(pids: Iterable[int], *, count_sockets: bool) -> int:
    """Return what pipes and epoll hold, and if that is wanted, sockets; one that several hold counts once."""
    objects: set[str] = set()
    epoll = 0
    for pid in pids:
        for number, target in list_descriptor_links(pid):
            if target == "anon_inode:[eventpoll]":
                epoll += _count_epoll_bytes(pid, number)
            else:
                objects.add(target)
    pipes = sum(target.startswith("pipe:") for target in objects)
    if count_sockets:
        sockets = sum(target.startswith("socket:") for target in objects)
    else:
        sockets = 0
    return epoll + pipes * _PIPE_BYTES + sockets * UNIX_SOCKET_BYTES


def list_descriptor_links(pid: int) -> list[tuple[str, str]]:
    """Return number and target of each descriptor of a process; none of one that is gone."""
    found = []
    with contextlib.suppress(OSError):
        for number in os.listdir(f"/proc/{pid}/fd"):  # noqa: PTH208 - names only
            with contextlib.suppress(OSError):
                found.append((number, os.readlink(f"/proc/{pid}/fd/{number}")))  # noqa: PTH115
    return found


def _count_epoll_bytes(pid: int, number: str) -> int:
    with contextlib.suppress(OSError), open(f"/proc/{pid}/fdinfo/{number}", "rb") as file:  # noqa: PTH123
        return len(file.read(_EPOLL_TEXT_BYTES)) * _EPOLL_FACTOR
    return 0


def _count_queued_bytes(table: str) -> int:
    """Return what is queued in the sockets of a table of /proc/self/net."""
    total = 0
    for line in _read_table(table).splitlines()[1:]:
        fields = line.split(None, 5)
        if len(fields) > 4:
            sent, _, received = fields[4].partition(b":")
            total += int(sent, 16) + int(received, 16)
    return total


def _count_lines(table: str) -> int:
    return _read_table(table).count(b"\n")


def _read_table(name: str) -> bytes:
    """Return a table of the network namespace as it is: names of unix sockets are any bytes."""
    try:
        return Path(f"/proc/self/net/{name}").read_bytes()
    except OSError:  # not to be had, as in gVisor
        return b""
