"""The jail's own process in the reduced tier: starts slots, each in a directory (as root, a user) of its own.

In: one socket from the host, over which come requests for slots. Out: slots. Two processes: a keeper that
only waits, and the master below it. What loses its parent falls to the nearest of them, which ends it:
so whoever of them dies, nothing of a program stays. Started as the full tier's master is.
"""

from __future__ import annotations

import contextlib
import fcntl
import gc
import json
import linecache
import os
import secrets
import select
import signal
import socket
import sys
from pathlib import Path
from typing import Any

from spanproof.sandbox.jail import cgroup, kernel, root
from spanproof.sandbox.jail.arch import this_arch
from spanproof.sandbox.jail.layout import enlarge
from spanproof.sandbox.jail.master import foreign_id, preload, say_failed, use_packages_of
from spanproof.sandbox.jail.reduced import landlock
from spanproof.sandbox.jail.reduced.box import empty
from spanproof.sandbox.jail.reduced.slot import Site, serve
from spanproof.sandbox.jail.reduced.tree import Descendants

_PREFIX = "spanproof-jail"
_PROCESSES = 1024
_USERS = 16384
_CHOWN, _SETGID, _SETUID = 0, 6, 7


def main(control_fd: int) -> None:
    """Start slots until the host is gone; does not return."""
    control = socket.socket(fileno=control_fd)
    host = os.pidfd_open(os.getppid())
    options = json.loads(control.recv(65536))
    if os.getppid() != options["owner"]:
        return  # the host died before we could watch it
    kernel.prctl(kernel.PR_SET_CHILD_SUBREAPER, 1)
    home = _new_home(Path(options["base"]))
    child = os.fork()
    if child:
        control.close()
        os.close(host)
        os.waitpid(child, 0)
        Descendants(own_user=False).kill_all()
        _remove(home)
        return
    kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGKILL)
    kernel.prctl(kernel.PR_SET_CHILD_SUBREAPER, 1)
    try:
        starter = _set_up(options, control, host, home)
    except Exception as failure:  # noqa: BLE001 - told to the host, in full
        say_failed(control, failure)
        return
    starter.serve()


def _set_up(options: dict[str, Any], control: socket.socket, host: int, home: Path) -> _Starter:
    arch = this_arch()
    if arch is None:
        raise OSError(f"the jail has no system call table for {os.uname().machine}")
    if landlock.abi() == 0:
        raise OSError("this kernel has no Landlock, or the container's profile forbids it")
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    binds = tuple(root.Bind(*bind) for bind in options["binds"])
    preload(options["preload"])
    if len(os.listdir("/proc/self/task")) > 1:  # noqa: PTH208 - a count
        raise RuntimeError(
            f"a preloaded package started a thread, and forks would inherit its locks: {options['preload']}"
        )
    sys.dont_write_bytecode = True
    linecache.clearcache()
    interpreter = root.interpreter_directories()
    user = _another_user(interpreter, binds)
    if options["site"] is not None:
        use_packages_of(_at_its_own_path(options["site"], binds))
    groups = cgroup.find_base(options["owner"])
    gc.collect()
    gc.freeze()
    enlarge()
    control.send(json.dumps({"ready": True, "cgroups": groups.paths if groups is not None else ()}).encode())
    return _Starter(control, host, home, user, groups, (interpreter, binds))


def _new_home(base: Path) -> Path:
    """A directory for all boxes, locked as long as anyone of us lives; those of the dead are removed."""
    for path in base.glob(f"{_PREFIX}-*"):
        with contextlib.suppress(OSError):
            if path.lstat().st_uid == os.geteuid():
                os.close(_locked(path))
                _remove(path)
    home = base / f"{_PREFIX}-{secrets.token_hex(6)}"
    home.mkdir()
    home.chmod(0o711)
    _locked(home)  # held by this process and those it forks, until the last of them is gone
    return home


def _locked(path: Path) -> int:
    fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(fd)
        raise
    return fd


def _remove(home: Path) -> None:
    with contextlib.suppress(OSError):
        empty(str(home))
        home.rmdir()


def _at_its_own_path(place: str, binds: tuple[root.Bind, ...]) -> str:
    """Where something lies that would be bound elsewhere in the full tier."""
    for bind in binds:
        if place.startswith(f"{bind.target}/"):
            return bind.source + place[len(bind.target) :]
    return place


def _another_user(interpreter: tuple[str, ...], binds: tuple[root.Bind, ...]) -> int | None:
    """The first of a range of users nobody else is; None where we may not become another.

    Raises:
        OSError: others may not read the interpreter, or the directory of environments.
    """
    highest = foreign_id(os.geteuid(), Path("/proc/self/uid_map").read_text())
    held = int(_status("CapEff"), 16)
    if highest is None or not all(held >> capability & 1 for capability in (_CHOWN, _SETGID, _SETUID)):
        return None
    for directory in interpreter:
        for path in (Path(directory), *Path(directory).parents):
            if not path.stat().st_mode & 0o001:
                raise OSError(
                    f"programs run as a user of their own, who may not enter {path}: make it passable for"
                    " others (chmod o+x), or run Spanproof as another user than root"
                )
    for bind in binds:
        for path in Path(bind.source).parents:
            if not path.stat().st_mode & 0o001:
                raise OSError(
                    f"programs run as a user of their own, who may not enter {path}: keep environments where"
                    f" others may enter, by SPANPROOF_ENVIRONMENTS=/var/cache/spanproof, say"
                )
    # In a user namespace the highest mapped numbers hold `nobody`.
    return (highest if highest > 100_000 else min(highest, 60_000)) - _USERS


def _status(name: str) -> str:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(f"{name}:"):
            return line.split()[1]
    return "0"


class _Starter:
    """Starts slots on request, and cleans up behind those that ended."""

    def __init__(
        self,
        control: socket.socket,
        host: int,
        home: Path,
        first_user: int | None,
        groups: cgroup.Base | None,
        seen: tuple[tuple[str, ...], tuple[root.Bind, ...]],
    ) -> None:
        self._control = control
        self._host = host
        self._home = home
        self._first_user = first_user
        self._groups = groups
        self._interpreter, self._binds = seen
        self._tree = Descendants(own_user=False)
        self._slots: dict[int, tuple[str, str]] = {}
        """Box and control group by process."""
        self._made = 0

    def serve(self) -> None:
        """Until the host closes its socket or dies; then end every slot."""
        waiting = select.poll()
        waiting.register(self._control, select.POLLIN)
        waiting.register(self._host, select.POLLIN)
        while True:
            ready = dict(waiting.poll(200))
            self._reap()
            if self._host in ready or (self._control.fileno() in ready and not self._request()):
                break
        self._tree.kill_all()
        empty(str(self._home))
        if self._groups is not None:
            for _box, group in self._slots.values():
                self._groups.remove(group)
            self._groups.remove_itself()

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
        self._made += 1
        arch = this_arch()
        assert arch is not None
        box = str(self._home / str(self._made))
        user = None if self._first_user is None else self._first_user + secrets.randbelow(_USERS)
        os.mkdir(box, 0o700)  # noqa: PTH102
        if user is not None:
            for own in (box, *(bind.source for bind in self._binds if bind.writable)):
                os.chown(own, user, user)
        name, group = self._groups.make(_PROCESSES) if self._groups is not None else ("", None)
        ready, go = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.close(go)
            os.read(ready, 1)
            os.close(ready)
            os.close(self._control.detach())
            os.close(self._host)
            serve(Site(arch, box, user, self._interpreter, self._binds), socket.socket(fileno=channel), group)
        os.close(ready)
        self._slots[pid] = (box, name)
        if self._groups is not None and group is not None:
            self._groups.join(name, pid)
            for fd in (group.limit_fd, group.usage_fd, group.events_fd):
                os.close(fd)
        os.close(go)

    def _reap(self) -> None:
        """Clean up behind slots that ended; what they left running has become our child, and ends too."""
        try:
            while (pid := os.waitpid(-1, os.WNOHANG)[0]) != 0:
                if pid in self._slots:
                    self._clean(*self._slots.pop(pid))
        except ChildProcessError:
            return

    def _clean(self, box: str, group: str) -> None:
        self._tree.kill_children(but=self._slots)
        with contextlib.suppress(OSError):
            empty(box)
            os.rmdir(box)  # noqa: PTH106
        if self._groups is not None:
            self._groups.remove(group)
