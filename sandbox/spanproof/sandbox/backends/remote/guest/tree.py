"""The processes a run started: found by descent, measured, and ended.

Orphans become children of the watcher (it is a subreaper), so that descent finds every one.
"""

from __future__ import annotations

import contextlib
import os
import signal
import time

from spanproof.sandbox.supervisor.namespaces.process_tree import PARENT, read_stat_fields

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
        return int(read_stat_fields(int(name))[PARENT])
    except OSError:
        return None
