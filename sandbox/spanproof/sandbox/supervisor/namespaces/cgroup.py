"""Memory and process bounds of a supervisor's whole tree, by cgroup v1 or v2, where there may be any.

In: the machine's cgroup file systems. Out: a `Base` to make groups in, or None, and then the memory meter
alone bounds the tree. Directories are held by descriptor, because the master loses sight of the machine's
files. A group's limit is set anew for each run; the files are opened before the supervisor gives up its
rights.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import secrets
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

_NAME = "spanproof-jail"
# Where processes of a delegated group go, which cannot hand controllers down while it has any itself.
_HOST = "spanproof-host"

_NO_SWAP = "0"
_KILLS = re.compile(rb"oom_kill (\d+)")
_NO_LIMIT = 1 << 62
_V1_TCP_LIMIT, _TCP_BYTES = "memory.kmem.tcp.limit_in_bytes", 128 * 1024 * 1024
_ATTEMPTS = 10
_SETTLING_TURNS, _SETTLING_TURN_S = 200, 0.005
# Of the supervisor's own: pages it has touched meanwhile.
_LEFT_BEHIND_BYTES = 16 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class _Files:
    """What a version calls its files."""

    limit: str
    usage: str
    events: str
    no_swap: str
    processes_limit: str
    join: str


_V1 = _Files(
    "memory.limit_in_bytes",
    "memory.usage_in_bytes",
    "memory.oom_control",
    "memory.swappiness",
    "pids.max",
    "tasks",
)
_V2 = _Files("memory.max", "memory.current", "memory.events", "memory.swap.max", "pids.max", "cgroup.procs")


@dataclass(slots=True)
class Group:
    """One supervisor's group, as the supervisor uses it."""

    limit_fd: int
    usage_fd: int
    events_fd: int
    _events_before: bytes = field(default=b"")
    _began_with: int = field(default=0)
    _lifted: bool = field(default=False)

    def start_limits(self, memory_bytes: int, disk_bytes: int) -> None:
        """Bound what is added from now on.

        A disk in memory outlives who filled it, and must not fill the group alone: the kernel would kill the
        supervisor. That files count as memory is for the meter to see.
        """
        if self._lifted:
            self._wait_for_memory()
        self._began_with = self._read_usage()
        # Pages the supervisor has touched may be taken back, so the bound is never under what is there.
        os.pwrite(self.limit_fd, b"%d" % (self._began_with + memory_bytes + disk_bytes), 0)
        self._events_before = self._read_events()

    def remove_limits(self) -> None:
        """Bound nothing until the next `begin`: the kernel would kill those who are left."""
        os.pwrite(self.limit_fd, b"%d" % _NO_LIMIT, 0)
        self._lifted = True

    def _wait_for_memory(self) -> None:
        """Wait for the memory of the dead, which the kernel gives back some time after they are gone."""
        for _ in range(_SETTLING_TURNS):
            if self._read_usage() <= self._began_with + _LEFT_BEHIND_BYTES:
                break
            time.sleep(_SETTLING_TURN_S)
        self._lifted = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_failure: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of it; the group stays."""
        for fd in (self.limit_fd, self.usage_fd, self.events_fd):
            os.close(fd)

    def has_killed(self) -> bool:
        """Whether the kernel killed in the group, for memory, since `begin`."""
        events = self._read_events()
        return events != self._events_before and _count_kills(events) > _count_kills(self._events_before)

    def _read_usage(self) -> int:
        return int(os.pread(self.usage_fd, 64, 0))

    def _read_events(self) -> bytes:
        return os.pread(self.events_fd, 4096, 0)


def _count_kills(events: bytes) -> int:
    found = _KILLS.search(events)
    return int(found[1]) if found else 0


@dataclass(frozen=True, slots=True)
class _Held:
    """A directory of ours, open and locked for as long as the master lives: so others know that it does."""

    path: Path
    fd: int


class Base:
    """Where groups are made: a directory per controller (one for both, in v2)."""

    def __init__(self, files: _Files, memory: _Held, processes: _Held | None) -> None:
        held = [memory] if processes is None else [memory, processes]
        self._files = files
        self._memory, self._processes = memory.fd, None if processes is None else processes.fd
        self._parents = [
            (os.open(group.path.parent, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC), group.path.name)
            for group in held
        ]
        self.paths = tuple(str(group.path) for group in held)
        self._made = 0

    @property
    def version(self) -> int:
        """The version of the control groups."""
        return 2 if self._files is _V2 else 1

    def build_group(self, processes: int) -> tuple[str, Group]:
        """Make a new group; the caller's next child joins it by `join`.

        Raises:
            OSError: it cannot be made; nothing of it is left.
        """
        self._made += 1
        name = f"supervisor-{self._made}"
        try:
            for directory in self._list_directories():
                os.mkdir(name, dir_fd=directory)
            self._write_setting(f"{name}/{self._files.no_swap}", _NO_SWAP)
            if self._files is _V1:  # which counts the buffers of TCP apart, and bounds them only so
                self._write_setting(f"{name}/{_V1_TCP_LIMIT}", str(_TCP_BYTES))
            if self._processes is not None:
                self._write(self._processes, f"{name}/{self._files.processes_limit}", str(processes))
            return name, self._open_group(name)
        except OSError:
            self.close_group(name)
            raise

    def _open_group(self, name: str) -> Group:
        files, opened = self._files, []
        with contextlib.ExitStack() as undone:
            for file, flags in (
                (files.limit, os.O_RDWR),
                (files.usage, os.O_RDONLY),
                (files.events, os.O_RDONLY),
            ):
                opened.append(self._open(f"{name}/{file}", flags))
                undone.callback(os.close, opened[-1])
            undone.pop_all()
        limit, usage, events = opened
        return Group(limit, usage, events)

    def add_process(self, name: str, pid: int) -> None:
        """Put a process into a group; what it starts is born there."""
        for directory in self._list_directories():
            self._write(directory, f"{name}/{self._files.join}", str(pid))

    def close_group(self, name: str) -> bool:
        """Remove a group; whether it could be, which is not so while a process in it is on its way out."""
        gone = True
        for directory in self._list_directories():
            try:
                os.rmdir(name, dir_fd=directory)
            except FileNotFoundError:
                continue
            except OSError:
                gone = False
        return gone

    def remove_itself(self) -> None:
        """Remove the directory that held the groups, when all of them are gone."""
        for parent, name in self._parents:
            with contextlib.suppress(OSError):
                os.rmdir(name, dir_fd=parent)

    def close(self) -> None:
        """Let go of them; the groups stay, and any later host may sweep them once the host is dead."""
        for fd in (*self._list_directories(), *(parent for parent, _name in self._parents)):
            os.close(fd)

    def _list_directories(self) -> list[int]:
        if self._processes is None:
            return [self._memory]
        return [self._memory, self._processes]

    def _open(self, name: str, flags: int) -> int:
        return os.open(name, flags | os.O_CLOEXEC, dir_fd=self._memory)

    def _write_setting(self, name: str, value: str) -> None:
        with contextlib.suppress(OSError):  # kernels without swap accounting lack the file
            self._write(self._memory, name, value)

    @staticmethod
    def _write(directory: int, name: str, value: str) -> None:
        fd = os.open(name, os.O_WRONLY | os.O_CLOEXEC, dir_fd=directory)
        try:
            os.write(fd, value.encode())
        finally:
            os.close(fd)


def find_base(owner: int, mounts: str | None = None, memberships: str | None = None) -> Base | None:
    """Make a place of our own under this process's groups, None where the kernel or the rights allow none.

    Args:
        owner: the host's process id: its groups are named by it, so that leftovers are known.
        mounts: text of /proc/self/mountinfo, read when None.
        memberships: text of /proc/self/cgroup, read when None.
    """
    if mounts is None:
        mounts = Path("/proc/self/mountinfo").read_text()
    else:
        mounts = mounts
    if memberships is None:
        memberships = Path("/proc/self/cgroup").read_text()
    else:
        memberships = memberships
    # Others may have our number in a process namespace of theirs, and the same groups in sight.
    name = f"{_NAME}-{secrets.token_hex(4)}-{owner}"
    controllers = _read_v1_directories(mounts, memberships)
    if "memory" in controllers:
        wanted = [controllers[key] for key in ("memory", "pids") if key in controllers]
        made = [_find_own_directory(path, name) for path in wanted]
        if made and made[0] is not None:
            return Base(_V1, made[0], made[1] if len(made) > 1 else None)
        return None
    for parent in _list_v2_candidates(mounts, memberships):
        if (made_one := _find_v2_directory(parent, name)) is not None:
            return Base(_V2, made_one, None)
    return None


def remove_stale_groups(paths: tuple[str, ...]) -> None:
    """Remove what a master left that could not clean up after itself, and its own directories."""
    for path in paths:
        for supervisor in Path(path).glob("supervisor-*"):
            with contextlib.suppress(OSError):
                supervisor.rmdir()
        with contextlib.suppress(OSError):
            Path(path).rmdir()


def list_jail_groups() -> list[Path]:
    """Return the directories of jails, wherever groups are mounted."""
    found = []
    for _root, point, _kind, _options in _parse_cgroup_mounts(Path("/proc/self/mountinfo").read_text()):
        for directory, names, _files in os.walk(point):
            found += [Path(directory, name) for name in names if name.startswith(f"{_NAME}-")]
    return found


@contextlib.contextmanager
def locked(path: Path) -> Iterator[Path]:
    """Keep other jails from a directory while the block lasts.

    Raises:
        OSError: a process holds it, or it is gone.
    """
    fd = _open_directory(path)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield path
    finally:
        os.close(fd)


def _find_own_directory(parent: Path, name: str) -> _Held | None:
    _remove_dead(parent)
    path = parent / name
    with contextlib.suppress(OSError):
        for _ in range(_ATTEMPTS):
            path.mkdir(exist_ok=True)
            try:
                fd = _open_directory(path)
            except FileNotFoundError:
                continue  # swept before it was locked
            fcntl.flock(fd, fcntl.LOCK_SH)
            if path.exists():
                return _Held(path, fd)
            os.close(fd)
    return None


def _remove_dead(parent: Path) -> None:
    """Remove the groups of hosts that were killed together with their master.

    A host in another process namespace is not to be seen, but what it holds is locked.
    """
    for path in parent.glob(f"{_NAME}-*"):
        owner = path.name.rpartition("-")[2]
        if owner.isdigit() and not Path("/proc", owner).exists():
            with contextlib.suppress(OSError), locked(path):
                remove_stale_groups((str(path),))


def _open_directory(path: Path) -> int:
    return os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)


def _read_v1_directories(mounts: str, memberships: str) -> dict[str, Path]:
    """Return this process's directory by v1 controller."""
    own = {}
    for line in memberships.splitlines():
        _id, names, path = line.split(":", 2)
        for name in filter(None, names.split(",")):
            own[name] = path
    found = {}
    for root, point, kind, options in _parse_cgroup_mounts(mounts):
        for name in options if kind == "cgroup" else ():
            if name in own:
                found[name] = _get_group_path(root, point, own[name])
    return found


def _list_v2_candidates(mounts: str, memberships: str) -> list[Path]:
    own = [line[3:] for line in memberships.splitlines() if line.startswith("0::")]
    for root, point, kind, _options in _parse_cgroup_mounts(mounts):
        if kind == "cgroup2" and own:
            group = _get_group_path(root, point, own[0])
            # A group with processes cannot hand controllers down; the top one can.
            return [group.parent if group.name == _HOST else group, Path(point)]
    return []


def _is_delegated(group: Path) -> bool:
    """Whether systemd has left a group, and all below it, to its user (`Delegate=`)."""
    try:
        return os.getxattr(group, "user.delegate") == b"1"
    except OSError:
        return False


def _remove_own_processes(group: Path) -> None:
    """Leave a group without processes of its own; those that are born meanwhile are moved too.

    Raises:
        OSError: they may not be moved.
    """
    below = group / _HOST
    below.mkdir(exist_ok=True)
    for _ in range(_ATTEMPTS):
        pids = (group / "cgroup.procs").read_text().split()
        if not pids:
            return
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                (below / "cgroup.procs").write_text(pid)


def _find_v2_directory(parent: Path, name: str) -> _Held | None:
    try:
        if "memory" not in (parent / "cgroup.controllers").read_text().split():
            return None
        _remove_dead(parent)
        if _is_delegated(parent):
            _remove_own_processes(parent)
        (parent / "cgroup.subtree_control").write_text("+memory +pids")
        made = _find_own_directory(parent, name)
        if made is not None:
            (made.path / "cgroup.subtree_control").write_text("+memory +pids")
    except OSError:
        with contextlib.suppress(OSError):
            (parent / name).rmdir()
        return None
    return made


def _parse_cgroup_mounts(mounts: str) -> list[tuple[str, str, str, list[str]]]:
    """Return (root inside the hierarchy, mount point, kind, super options) of each cgroup mount."""
    found = []
    for line in mounts.splitlines():
        before, _, after = line.partition(" - ")
        fields, kinds = before.split(), after.split()
        if len(fields) >= 5 and kinds and kinds[0] in ("cgroup", "cgroup2"):
            found.append((fields[3], fields[4], kinds[0], kinds[-1].split(",")))
    return found


def _get_group_path(root: str, point: str, path: str) -> Path:
    """Return the directory of a group, where the mount may show a part of the hierarchy only."""
    if root != "/":
        relative = os.path.relpath(path, root)
    else:
        relative = path.lstrip("/")
    if relative.startswith(".."):
        return Path(point)
    return Path(point, relative)
