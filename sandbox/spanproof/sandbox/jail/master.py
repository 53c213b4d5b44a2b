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
from spanproof.sandbox.jail.filter import SEEDED, compile_filter
from spanproof.sandbox.jail.guest.rehearsal import rehearse
from spanproof.sandbox.jail.keeper import Order, keeper_main, map_identity
from spanproof.sandbox.jail.layout import enlarge
from spanproof.sandbox.jail.slot import SlotPlace

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
    groups: cgroup.Base | None
    proc: int
    """The machine's /proc; the one in the root takes no word."""


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
        say_failed(control, failure)
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
        say_failed(control, failure)
        return
    paths = setup.groups.paths if setup.groups is not None else ()
    control.send(json.dumps({"ready": True, "cgroups": paths}).encode())
    _Starter(setup, control, host).serve()


def say_failed(control: socket.socket, failure: Exception) -> None:
    """Tell the host why it cannot be served."""
    control.send(json.dumps({"failed": f"{type(failure).__name__}: {failure}"}).encode())


def _set_up(options: dict[str, Any], guest_id: int | None) -> _Setup:
    arch = this_arch()
    if arch is None:
        raise OSError(f"the jail has no system call table for {os.uname().machine}")
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    preload(options["preload"])
    if len(os.listdir("/proc/self/task")) > 1:  # noqa: PTH208 - a count
        raise RuntimeError(
            f"a preloaded package started a thread, and forks would inherit its locks: {options['preload']}"
        )
    groups = cgroup.find_base(options["owner"])
    proc = os.open("/proc", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    binds = [root.Bind(*bind) for bind in options["binds"]]
    visible = root.build_root(root.interpreter_directories(), binds)
    sys.path[:] = [path for path in sys.path if path and _visible(path, visible.roots)]
    if options["site"] is not None:
        use_packages_of(options["site"])
    sys.dont_write_bytecode = True
    importlib.invalidate_caches()
    sys.path_importer_cache.clear()
    _hide_own_source()
    place = SlotPlace(
        visible,
        arch,
        os.environ["PATH"],
        compile_filter(arch, root.GUEST_ID),
        compile_filter(arch, root.GUEST_ID, SEEDED),
    )
    gc.collect()
    gc.freeze()
    enlarge()
    return _Setup(place, guest_id, groups, proc)


def preload(extra: list[str]) -> None:
    """Import what programs import, and do once what they do, so that they need not."""
    for name in (*sorted(_PRELOADED), *extra):
        try:
            importlib.import_module(name)
        except ImportError:
            continue  # warmth only: a program that imports it will be told
    rehearse()


def use_packages_of(site: str) -> None:
    """A package set in the place of the interpreter's own packages, for whatever Python runs in the jail."""
    sys.path[:] = [path for path in sys.path if Path(path).name not in ("site-packages", "dist-packages")]
    sys.path.append(site)
    os.environ["PYTHONPATH"] = site


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


class _Starter:
    """Starts slots on request, and cleans up behind those that ended."""

    def __init__(self, setup: _Setup, control: socket.socket, host: int) -> None:
        self._setup = setup
        self._control = control
        self._host = host
        self._groups: dict[int, str] = {}
        self._left: set[str] = set()

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
            say_failed(self._control, failure)
        else:
            self._control.send(b'{"started": true}')
        finally:
            os.close(descriptors[0])
        return True

    def _start(self, channel: int) -> None:
        """Fork a keeper, which starts the slot; both in a control group of their own from the start."""
        groups = self._setup.groups
        name, group = groups.make(_PROCESSES) if groups is not None else ("", None)
        ready, go = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.close(go)
            os.read(ready, 1)
            for fd in (ready, self._control.detach(), self._host):
                os.close(fd)
            keeper_main(Order(self._setup.place, self._setup.guest_id, channel, group, self._setup.proc))
        os.close(ready)
        if groups is not None and group is not None:
            groups.join(name, pid)
            self._groups[pid] = name
            group.close()
        os.close(go)

    def _reap(self, flags: int) -> None:
        """Reap what ended, and remove its control groups; one that is busy yet is for the next time."""
        with contextlib.suppress(ChildProcessError):
            while (pid := os.waitpid(-1, flags)[0]) != 0:
                if pid in self._groups:
                    self._left.add(self._groups.pop(pid))
        groups = self._setup.groups
        if groups is not None:
            self._left = {name for name in self._left if not groups.remove(name)}
