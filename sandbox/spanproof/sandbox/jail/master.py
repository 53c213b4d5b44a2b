"""The jail's own process: a small, single-threaded interpreter that builds the root and starts slots.

In: one socket from the host, over which come requests for slots, each with the socket that slot shall serve.
Out: slots. The host is never forked: it may have threads. The master ends when the host does, and its end
takes every slot along. Started as `python -s -P -c …` with a scrubbed environment; never run twice in one
process.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import linecache
import os
import select
import signal
import socket
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from spanproof.sandbox.jail import cgroup, kernel, root
from spanproof.sandbox.jail.arch import this_arch
from spanproof.sandbox.jail.slot import SlotPlace, slot_main, tell

_PROCESSES = 1024
"""Of a slot's group: a bound behind the program's own, which is a resource limit."""

HIGH_ID = 0xFFFE7
"""The user a guest is on the machine when the host is root: a number no account has."""

_PRELOADED: frozenset[str] = frozenset(
    """
    abc array ast base64 bisect calendar cmath collections collections.abc contextlib copy csv dataclasses
    datetime decimal enum fractions functools glob hashlib heapq inspect io itertools json linecache math
    numbers operator os pathlib pprint queue random re secrets shutil signal socket statistics string struct
    subprocess tempfile textwrap threading time traceback types typing unicodedata urllib.parse uuid
    warnings zlib zoneinfo
    """.split()  # noqa: SIM905 - a table
)


@dataclass(frozen=True, slots=True)
class _Setup:
    """What the master knows once its root stands."""

    place: SlotPlace
    guest_id: int | None
    own_pid_namespace: int
    groups: cgroup.Base | None


def main(control_fd: int) -> None:
    """Build the root, then start slots until the host is gone; does not return."""
    control = socket.socket(fileno=control_fd)
    host = os.pidfd_open(os.getppid())
    options = json.loads(control.recv(65536))
    if os.getppid() != options["owner"]:
        return  # the host died before we could watch it
    try:
        guest_id = foreign_id(os.geteuid(), Path("/proc/self/uid_map").read_text())
        _enter_namespaces(guest_id)
    except OSError as failure:
        _say_failed(control, failure)
        return
    child = os.fork()
    if child:
        control.close()
        os.close(host)
        os.waitpid(child, 0)
        return
    kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGKILL)
    try:
        setup = _set_up(options, guest_id)
    except Exception as failure:  # noqa: BLE001 - told to the host, in full
        _say_failed(control, failure)
        return
    paths = setup.groups.paths if setup.groups is not None else ()
    control.send(json.dumps({"ready": True, "cgroups": paths}).encode())
    _Starter(setup, control, host).serve()


def _say_failed(control: socket.socket, failure: Exception) -> None:
    control.send(json.dumps({"failed": f"{type(failure).__name__}: {failure}"}).encode())


def _set_up(options: dict[str, Any], guest_id: int | None) -> _Setup:
    arch = this_arch()
    if arch is None:
        raise OSError(f"the jail has no system call table for {os.uname().machine}")
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _preload(options["preload"])
    if len(os.listdir("/proc/self/task")) > 1:  # noqa: PTH208 - a count
        raise RuntimeError(
            f"a preloaded package started a thread, and forks would inherit its locks: {options['preload']}"
        )
    groups = cgroup.find_base(options["owner"])
    visible = root.build_root(root.interpreter_directories())
    sys.path[:] = [path for path in sys.path if path and _visible(path, visible.roots)]
    sys.dont_write_bytecode = True
    importlib.invalidate_caches()
    sys.path_importer_cache.clear()
    _hide_own_source()
    gc.collect()
    gc.freeze()
    place = SlotPlace(visible, arch, os.environ["PATH"])
    own_pid_namespace = os.open("/proc/self/ns/pid", os.O_RDONLY | os.O_CLOEXEC)
    return _Setup(place, guest_id, own_pid_namespace, groups)


def _preload(extra: list[str]) -> None:
    for name in (*sorted(_PRELOADED), *extra):
        try:
            importlib.import_module(name)
        except ImportError:
            continue  # warmth only: a program that imports it will be told


def _hide_own_source() -> None:
    """A traceback through the runner must not look for files that are not there."""
    for name, module in list(sys.modules.items()):
        path = getattr(module, "__file__", None)
        if name.startswith("spanproof.") and path:
            linecache.cache[path] = (0, None, [], path)


def _visible(path: str, roots: tuple[str, ...]) -> bool:
    return any(path == base or path.startswith(f"{base}/") for base in roots)


def foreign_id(uid: int, uid_map: str) -> int | None:
    """A user that is nobody else's, for guests; None where we may not become another.

    Root of the machine may be anyone; root of a container only who is mapped into it, and root of a user
    namespace with a single user is no more than that user.
    """
    ranges = [[int(field) for field in line.split()] for line in uid_map.splitlines()]
    if uid != 0 or not ranges:
        return None
    first, _outside, count = max(ranges)
    last = first + count - 1
    return min(HIGH_ID, last) if last > 0 else None


def _enter_namespaces(guest_id: int | None) -> None:
    """A mount namespace to build in, and a process namespace; without root, a user namespace that owns both.

    The master is PID 1 of the process namespace: its end, by whatever signal, is the end of every slot.
    """
    if guest_id is not None:
        kernel.unshare(kernel.CLONE_NEWNS | kernel.CLONE_NEWPID)
        return
    uid, gid = os.geteuid(), os.getegid()
    kernel.unshare(kernel.CLONE_NEWUSER | kernel.CLONE_NEWNS | kernel.CLONE_NEWPID)
    map_identity(root.GUEST_ID, uid, gid)


def map_identity(inside: int, uid: int, gid: int) -> None:
    """Map one user and one group into the user namespace the caller has just made."""
    for name, text in (
        ("setgroups", "deny"),
        ("uid_map", f"{inside} {uid} 1"),
        ("gid_map", f"{inside} {gid} 1"),
    ):
        with open(f"/proc/self/{name}", "w") as file:  # noqa: PTH123
            file.write(text)


class _Starter:
    """Starts slots on request, and cleans up behind those that ended."""

    def __init__(self, setup: _Setup, control: socket.socket, host: int) -> None:
        self._setup = setup
        self._control = control
        self._host = host
        self._groups: dict[int, str] = {}

    def serve(self) -> None:
        """Until the host closes its socket or dies; then end every slot."""
        waiting = select.poll()
        waiting.register(self._control, select.POLLIN)
        waiting.register(self._host, select.POLLIN)
        while True:
            ready = dict(waiting.poll(1000))
            self._reap(os.WNOHANG)
            if self._host in ready or (self._control.fileno() in ready and not self._request()):
                break
        with contextlib.suppress(ProcessLookupError):
            os.kill(-1, signal.SIGKILL)
        self._reap(0)
        if self._setup.groups is not None:
            self._setup.groups.remove_itself()

    def _request(self) -> bool:
        message, descriptors, _flags, _address = socket.recv_fds(self._control, 65536, 4)
        if not message:
            return False
        try:
            self._start(descriptors[0])
        except OSError as failure:
            _say_failed(self._control, failure)
        else:
            self._control.send(b'{"started": true}')
        finally:
            os.close(descriptors[0])
        return True

    def _start(self, channel: int) -> None:
        """Fork a slot as PID 1 of a new process namespace, and come back to our own."""
        groups = self._setup.groups
        name, group = groups.make(_PROCESSES) if groups is not None else ("", None)
        ready, go = os.pipe()
        kernel.unshare(kernel.CLONE_NEWPID)
        pid = os.fork()
        if pid == 0:
            os.close(go)
            os.read(ready, 1)
            os.close(ready)
            _become_slot(self._setup, channel, (self._control.detach(), self._host), group)
        kernel.setns(self._setup.own_pid_namespace, kernel.CLONE_NEWPID)
        os.close(ready)
        if groups is not None and group is not None:
            groups.join(name, pid)
            self._groups[pid] = name
            for fd in (group.limit_fd, group.usage_fd, group.events_fd):
                os.close(fd)
        os.close(go)

    def _reap(self, flags: int) -> None:
        try:
            while (pid := os.waitpid(-1, flags)[0]) != 0:
                if self._setup.groups is not None and pid in self._groups:
                    self._setup.groups.remove(self._groups.pop(pid))
        except ChildProcessError:
            return


def _become_slot(setup: _Setup, channel: int, inherited: tuple[int, int], group: cgroup.Group | None) -> None:
    stream = socket.socket(fileno=channel)
    try:
        for fd in (*inherited, setup.own_pid_namespace):
            os.close(fd)
        kernel.unshare(kernel.CLONE_NEWNS)
        flags = kernel.MS_NOSUID | kernel.MS_NODEV | kernel.MS_NOEXEC
        kernel.mount("proc", "/proc", "proc", flags, "subset=pid,hidepid=invisible")
        _leave_root(setup.guest_id)
        socket.sethostname("sandbox")
        slot_main(setup.place, stream, group)
    except BaseException as failure:  # noqa: BLE001 - must not unwind into the master
        tell(stream, failure)
    finally:
        os._exit(1)


def _leave_root(guest_id: int | None) -> None:
    """Become the guest's user in a user namespace of our own, with every other namespace under it."""
    uid = gid = root.GUEST_ID
    if guest_id is not None:
        os.setgroups([])
        uid = gid = guest_id
        os.setresgid(gid, gid, gid)
        kernel.set_keep_capabilities()
        os.setresuid(uid, uid, uid)
        kernel.raise_permitted()
        kernel.prctl(kernel.PR_SET_DUMPABLE, 1)
    kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGKILL)
    kernel.unshare(
        kernel.CLONE_NEWUSER
        | kernel.CLONE_NEWNS
        | kernel.CLONE_NEWIPC
        | kernel.CLONE_NEWUTS
        | kernel.CLONE_NEWNET
        | kernel.CLONE_NEWCGROUP
    )
    map_identity(root.GUEST_ID, uid, gid)
    kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGKILL)
