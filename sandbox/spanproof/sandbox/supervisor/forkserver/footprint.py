"""Pages that every guest writes to, whatever its program: found once, and pinned where guests come from.

A fork shares all pages, and the first write to each of them costs a fault and a copy, in the guest and in
the process it was forked from. What is pinned is not shared: the fork itself copies it, for about half of
that, and neither ever faults there. Pages are pinned as the buffers of an io_uring that is never used for
anything. Where there is none to be had (`kernel.io_uring_disabled`, `RLIMIT_MEMLOCK`) nothing is pinned, and
guests go through a small program ahead. They do so in all supervisors or in none: it changes where objects
lie.

In: a warm interpreter, before any supervisor is started. Out: ranges of its memory, the same in all its
forks.
"""

from __future__ import annotations

import os
import signal
import socket
import time
from collections.abc import Callable, Iterable

from spanproof.sandbox import kernel
from spanproof.sandbox.guest.main import encode_rehearsal
from spanproof.sandbox.supervisor.namespaces.process_tree import STATE, read_stat_fields

Ranges = tuple[tuple[int, int], ...]
"""Start and length of each, in bytes; ascending."""

_PAGE = os.sysconf("SC_PAGE_SIZE")
_TRIAL_S = 10.0
_TICK_S = 0.001
_STOPS_AT_ITS_END = """
print(1)
import atexit, os, signal
atexit.register(os.kill, os.getpid(), signal.SIGSTOP)
"""
# In the highest byte of a page's entry in /proc/self/pagemap.
_PRESENT, _FILE, _EXCLUSIVE = 1 << 7, 1 << 5, 1


def learn(serve: Callable[[socket.socket], None]) -> Ranges:
    """Return what guests write to, by a trial in a fork of this process; empty where nothing can be pinned.

    Args:
        serve: in the fork, serves guests as a zygote does.
    """
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    pid = os.fork()
    if pid == 0:
        try:
            ours.close()
            serve(theirs)
        finally:
            os._exit(0)
    theirs.close()
    ours.settimeout(_TRIAL_S)
    try:
        _run_trial(ours, _find_visible_pid(pid))  # the first writes to what later ones find done
        return _keep_pinnable(_merge_pages(_run_trial(ours, _find_visible_pid(pid))))
    except (OSError, ValueError, IndexError):
        return ()
    finally:
        ours.close()
        os.waitpid(pid, 0)


def pin(ranges: Ranges) -> int | None:
    """Pin them; the descriptor that holds them, or None where that cannot be had."""
    if not ranges:
        return None
    try:
        return kernel.pin(ranges)
    except OSError:
        return None


def _keep_pinnable(ranges: Ranges) -> Ranges:
    ring = pin(ranges)
    if ring is None:
        return ()
    os.close(ring)
    return ranges


def find_own_pages(pid: int) -> set[int]:
    """Return the numbers of the pages that are this process's alone."""
    found: set[int] = set()
    with open(f"/proc/{pid}/maps") as file:  # noqa: PTH123
        mappings = file.read().splitlines()
    with open(f"/proc/{pid}/pagemap", "rb", buffering=0) as pagemap:  # noqa: PTH123
        for mapping in mappings:
            address, kind, *_rest = mapping.split(None, 2)
            if "w" in kind and "[stack]" not in mapping:
                first, end = (int(text, 16) // _PAGE for text in address.split("-"))
                entries = os.pread(pagemap.fileno(), (end - first) * 8, first * 8)
                found.update(first + at for at, flags in enumerate(entries[7::8]) if _is_own(flags))
    return found


def _is_own(flags: int) -> bool:
    return flags & (_PRESENT | _FILE | _EXCLUSIVE) == _PRESENT | _EXCLUSIVE


def _run_trial(zygote: socket.socket, zygote_pid: int) -> set[int]:
    """Return what one guest has written to at its end, and its zygote since it forked that.

    Raises:
        OSError, ValueError: it could not be had.
    """
    control, theirs = socket.socketpair()
    with control, open(os.devnull, "r+b", buffering=0) as nothing:  # noqa: PTH123
        with theirs:
            given = *([nothing.fileno()] * 3), theirs.fileno()
            socket.send_fds(zygote, [b"fork"], given)
        control.settimeout(_TRIAL_S)
        guest = int(control.recv(4096))
        try:
            control.sendall(encode_rehearsal(_STOPS_AT_ITS_END))
            shown = _find_visible_pid(guest)
            _await_stop(shown)
            return find_own_pages(shown) | find_own_pages(zygote_pid)
        finally:
            os.kill(guest, signal.SIGKILL)
            zygote.recv(4096)


def _find_visible_pid(pid: int) -> int:
    """Return what number /proc shows a process by: it may be that of a namespace above this process's.

    Raises:
        OSError, ValueError: it does not show it.
    """
    pidfd = os.pidfd_open(pid)
    try:
        with open(f"/proc/self/fdinfo/{pidfd}") as file:  # noqa: PTH123
            return int(file.read().partition("\nPid:")[2].split()[0])
    finally:
        os.close(pidfd)


def _await_stop(pid: int) -> None:
    """Wait until this process is stopped.

    Raises:
        OSError: it is not, in all the time there is for a trial.
    """
    for _ in range(int(_TRIAL_S / _TICK_S)):
        if read_stat_fields(pid)[STATE] == b"T":
            return
        time.sleep(_TICK_S)
    raise TimeoutError


def _merge_pages(pages: Iterable[int]) -> Ranges:
    found: list[tuple[int, int]] = []
    for page in sorted(pages):
        start = page * _PAGE
        if found and sum(found[-1]) == start:
            found[-1] = found[-1][0], found[-1][1] + _PAGE
        else:
            found.append((start, _PAGE))
    return tuple(found)
