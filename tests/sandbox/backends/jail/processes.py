"""What this machine shows of a sandbox: its processes and its descriptors.

Of this process's descendants and descriptors only those count that came with the sandbox: a Docker daemon of
other tests may be its child, and start what others ask it for meanwhile. What is waited for comes, however
busy the machine is; the limit is for a hang.
"""

from __future__ import annotations

import contextlib
import gc
import os
from collections.abc import Callable, Collection
from pathlib import Path

import waiting

HANGS_S = waiting.HANGS_S
SETTLED = 6
"""Processes of a jail: launcher, master, spawner, supervisor, zygote, and the guest that is armed."""
NAMED = "import ctypes; ctypes.CDLL(None).prctl(15, b'{name}')\n"
"""A program's name, as everybody on the machine sees it."""


def descendants(pid: int, but: Collection[int] = ()) -> set[int]:
    """Every live process under this one, but for these and all under them."""
    parents = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_bytes().rpartition(b")")[2].split()
            except OSError:
                continue
            if fields[0] != b"Z" and int(entry.name) not in but:
                parents[int(entry.name)] = int(fields[1])
    found = {pid}
    while more := {child for child, parent in parents.items() if parent in found} - found:
        found |= more
    return found - {pid}


def comes(found: Callable[[], bool]) -> bool:
    """Whether something comes true."""
    return waiting.becomes(found)


def gone(pids: set[int]) -> bool:
    """Whether all of them end."""
    return comes(lambda: not any(lives(pid) for pid in pids))


def named(name: str) -> set[int]:
    """Those of our descendants that call themselves so."""
    found = set()
    for pid in descendants(os.getpid()):
        with contextlib.suppress(OSError):
            if Path(f"/proc/{pid}/comm").read_bytes() == f"{name}\n".encode():
                found.add(pid)
    return found


def parent_of(pid: int) -> int:
    """No process's, of a guest that is gone meanwhile: it was answered before it was."""
    try:
        return int(Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[1])
    except OSError:
        return 0


def is_zygote(pid: int) -> bool:
    """Whether it is filtered, and sees its guests from outside."""
    status = _status(pid)  # looked at once: a guest that has run may end meanwhile
    return "Seccomp:\t2" in status and len(_numbers_in(status)) == len(_numbers(parent_of(pid)))


def supervisor_of(guest: int) -> int:
    """The process 1 of a guest's process namespace, in its sandbox: a pytest may have others open."""
    depth, spawner = len(_numbers(guest)), parent_of(parent_of(guest))
    first = [pid for pid in descendants(os.getpid()) if _numbers(pid)[depth - 1 :] == ["1"]]
    (supervisor,) = [pid for pid in first if parent_of(pid) == spawner]
    return supervisor


def supervisor_beside(zygote: int) -> int:
    """The supervisor that a zygote's spawner keeps: process 1 of the namespace of the zygote's guests."""
    spawner, depth = parent_of(zygote), len(_numbers(zygote))
    (supervisor,) = [
        pid for pid in descendants(spawner) if parent_of(pid) == spawner and _numbers(pid)[depth:] == ["1"]
    ]
    return supervisor


def open_descriptors() -> set[tuple[str, str]]:
    """Number and meaning of each, but for what is garbage, and the one that looks."""
    gc.collect()
    found = set()
    for entry in Path("/proc/self/fd").iterdir():
        with contextlib.suppress(OSError):
            found.add((entry.name, str(entry.readlink())))
    return {(number, place) for number, place in found if not place.startswith("/proc/")}


def lives(pid: int) -> bool:
    """Whether it has not ended; a zombie has."""
    try:
        return Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[0] != b"Z"
    except OSError:
        return False


def _numbers(pid: int) -> list[str]:
    """A process's number in each process namespace, from ours inwards."""
    return _numbers_in(_status(pid))


def _numbers_in(status: str) -> list[str]:
    for line in status.splitlines():
        if line.startswith("NSpid:"):
            return line.split()[1:]
    return []


def _status(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/status").read_text(errors="replace")
    except OSError:
        return ""
