"""What jails leave that were killed together with all that cleans up after them, and removing it.

The processes of a jail hold a lock on its control groups and on its directory of boxes. Where no process
holds it, all of them are dead: what programs left running is killed, and groups and directories are removed.
"""

from __future__ import annotations

import contextlib
import os
import signal
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from spanproof.sandbox.supervisor.namespaces import cgroup
from spanproof.sandbox.supervisor.namespaces.process_tree import is_alive
from spanproof.sandbox.supervisor.reduced import home

_ENDS_S, _TICK_S = 5.0, 0.02


def run_cleanup(base: Path | None = None) -> list[str]:
    """Kill and remove what dead jails left, as far as this user may; return a line for each.

    Args:
        base: where the reduced tier's directories are, that of temporary files when None.
    """
    base = Path(tempfile.gettempdir()) if base is None else base
    with contextlib.ExitStack() as locks:
        groups = _list_locked(locks, cgroup.list_jail_groups(), cgroup.locked)
        homes = _list_locked(locks, home.list_homes(base), home.locked)
        removed = [f"process {pid}" for pid in _list_killed(_iter_processes(groups, homes))]
        for path in groups:
            cgroup.remove_stale_groups((str(path),))
        for path in homes:
            home.remove_home(path)
        removed += [f"control group {path}" for path in groups if not path.exists()]
        return removed + [f"directory {path}" for path in homes if not path.exists()]


def _list_locked(
    locks: contextlib.ExitStack,
    paths: Iterable[Path],
    locked: Callable[[Path], contextlib.AbstractContextManager[Path]],
) -> list[Path]:
    """Lock the directories that no process holds, another that cleans up included; return them."""
    held = []
    for path in paths:
        with contextlib.suppress(OSError):
            held.append(locks.enter_context(locked(path)))
    return held


def _iter_processes(groups: Iterable[Path], homes: Iterable[Path]) -> Iterator[int]:
    """Yield the processes in these groups, and the filtered ones that these directories are open to.

    They have one open, or are of the user that a supervisor became, which is no account's: root of a
    container may not see what others have open.
    """
    for group in groups:
        for directory, _names, _files in os.walk(group):
            with contextlib.suppress(OSError):
                yield from map(int, Path(directory, "cgroup.procs").read_text().split())
    places = tuple(f"{path}/" for path in homes)
    users = {box.lstat().st_uid for path in homes for box in path.iterdir()} - {0, os.geteuid()}
    for entry in Path("/proc").iterdir() if places else ():
        with contextlib.suppress(OSError):
            own = entry.name.isdigit() and _is_filtered(entry)
            if own and (entry.stat().st_uid in users or _has_open(entry, places)):
                yield int(entry.name)


def _is_filtered(process: Path) -> bool:
    """Whether a process is under a filter for good: a shell that looks into a directory is not."""
    status = (process / "status").read_bytes()
    return b"\nSeccomp:\t2" in status and b"\nNoNewPrivs:\t1" in status


def _has_open(process: Path, places: tuple[str, ...]) -> bool:
    links = [process / "cwd", *(process / "fd").iterdir()]
    return any(f"{link.readlink()}/".startswith(places) for link in links)


def _list_killed(pids: Iterable[int]) -> list[int]:
    """Kill processes and wait for their end; return those that have ended."""
    found = dict.fromkeys(pids)
    for pid in found:
        with contextlib.suppress(OSError):
            os.kill(pid, signal.SIGKILL)
    deadline = time.monotonic() + _ENDS_S
    while any(map(is_alive, found)) and time.monotonic() < deadline:
        time.sleep(_TICK_S)
    return [pid for pid in found if not is_alive(pid)]
