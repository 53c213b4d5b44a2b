"""The processes a run started: found by descent, measured, and ended.

Orphans become children of the watcher (it is a subreaper), so that descent finds every one.
"""

from __future__ import annotations

import contextlib
import os
import signal
import time

_PAGE = os.sysconf("SC_PAGE_SIZE")
_ENDING_S = 5.0


def list_descendants() -> list[int]:
    """List every live process below this one."""
    children: dict[int, list[int]] = {}
    for name in os.listdir("/proc"):  # noqa: PTH208 - names only, twenty times a second
        if name.isdigit() and (parent := _read_parent(name)) is not None:
            children.setdefault(parent, []).append(int(name))
    found: list[int] = []
    waiting = [os.getpid()]
    while waiting:
        below = children.get(waiting.pop(), [])
        found += below
        waiting += below
    return found


def measure_private_memory(pid: int) -> int:
    """Return the resident bytes a process shares with no file and no other process's library."""
    try:
        with open(f"/proc/{pid}/statm", "rb") as file:  # noqa: PTH123
            fields = file.read().split()
    except OSError:
        return 0
    return (int(fields[1]) - int(fields[2])) * _PAGE


def end_all() -> bool:
    """Kill and reap until nothing is left; False where that did not come about."""
    deadline = time.monotonic() + _ENDING_S
    while time.monotonic() < deadline:
        for pid in list_descendants():
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                continue
        except ChildProcessError:
            return True
        time.sleep(0.002)
    return False


def _read_parent(name: str) -> int | None:
    try:
        with open(f"/proc/{name}/stat", "rb") as file:  # noqa: PTH123
            return int(file.read().rpartition(b")")[2].split()[1])
    except (OSError, ValueError, IndexError):
        return None
