"""The jail's own process in the reduced tier: starts supervisors, each in a directory of its own.

In: one socket from the host (see `forkserver.starter`). Out: supervisors. Two processes: a spawner that
only waits, and the master below it. What loses its parent falls to the nearest of them, which ends it:
so whichever of them dies, nothing of a program stays. Started as the full tier's master is.
"""

from __future__ import annotations

import contextlib
import itertools
import linecache
import os
import secrets
import signal
import socket
from collections.abc import Container, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

from spanproof.sandbox import kernel
from spanproof.sandbox.supervisor.forkserver.starter import Starter, find_host
from spanproof.sandbox.supervisor.forkserver.warm import (
    list_import_folders,
    remove_own_source,
    run_gc_freeze,
    start_interpreter,
    update_import_path,
)
from spanproof.sandbox.supervisor.namespaces import cgroup, root
from spanproof.sandbox.supervisor.namespaces.users import find_unused_id
from spanproof.sandbox.supervisor.reduced import landlock
from spanproof.sandbox.supervisor.reduced.box import remove_closed_entries, remove_entries
from spanproof.sandbox.supervisor.reduced.home import build_home, remove_home
from spanproof.sandbox.supervisor.reduced.process_tree import Descendants
from spanproof.sandbox.supervisor.reduced.supervisor import Site, run_reduced_supervisor
from spanproof.sandbox.supervisor.seccomp.syscalls import get_arch

_USERS = 16384
_CHOWN, _SETGID, _SETUID = 0, 6, 7


def main(control_fd: int) -> None:
    """Start supervisors until the host is gone; does not return."""
    host = find_host(control_fd)
    if host is None:
        return
    kernel.prctl(kernel.PR_SET_CHILD_SUBREAPER, 1)
    home = build_home(Path(host.options["base"]))
    child = os.fork()
    if child:
        host.close()
        os.waitpid(child, 0)
        Descendants(own_user=False).remove_all_processes()
        remove_home(home)
        return
    kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGKILL)
    kernel.prctl(kernel.PR_SET_CHILD_SUBREAPER, 1)
    try:
        boxes = _build_boxes(host.options, home)
        groups = cgroup.find_base(host.options["owner"])
        run_gc_freeze()
    except Exception as failure:  # noqa: BLE001 - reported to the host, in full
        host.send_failure(failure)
        return
    Starter(host, boxes, groups).run_until_closed()


def _build_boxes(options: dict[str, Any], home: Path) -> _Boxes:
    get_arch()
    if landlock.get_abi() == 0:
        raise OSError("this kernel has no Landlock, or the container's profile forbids it")
    start_interpreter(options["preload"])
    linecache.clearcache()
    remove_own_source()
    binds = tuple(root.Bind(*bind) for bind in options["binds"])
    interpreter = root.list_interpreter_directories()
    user = _find_first_user(interpreter, binds)
    if options["site"] is not None:
        update_import_path(_get_own_path(options["site"], binds))
    return _Boxes(home, user, interpreter, binds, list_import_folders())


@dataclass(frozen=True, slots=True)
class _Boxes:
    """What the supervisors of this tier share: directories in one that is theirs.

    Attributes:
        first_user: of a range of users no other account has, None where supervisors stay who we are.
        interpreter, binds, import_folders: see `Site`.
    """

    home: Path
    first_user: int | None
    interpreter: tuple[str, ...]
    binds: tuple[root.Bind, ...]
    import_folders: tuple[str, ...] = ()
    tree: Descendants = field(default_factory=lambda: Descendants(own_user=False))
    numbers: Iterator[int] = field(default_factory=lambda: itertools.count(1))

    def build_prepared(self) -> _Box:
        """See `SupervisorFactory`."""
        box = str(self.home / str(next(self.numbers)))
        if self.first_user is None:
            user = None
        else:
            user = self.first_user + secrets.randbelow(_USERS)
        os.mkdir(box, 0o700)  # noqa: PTH102
        if user is not None:
            for own in (box, *(bind.source for bind in self.binds if bind.writable)):
                os.chown(own, user, user)
        site = Site(get_arch(), box, user, self.interpreter, self.binds, self.import_folders)
        return _Box(site, self.tree)

    def close_all(self) -> None:
        """See `SupervisorFactory`; what their programs left has become ours, and ends too."""
        self.tree.remove_all_processes()
        remove_entries(str(self.home))


@dataclass(frozen=True, slots=True)
class _Box:
    """One of them."""

    site: Site
    tree: Descendants

    def run_supervisor(self, channel: int, group: cgroup.Group | None) -> NoReturn:
        """See `PreparedSupervisor`."""
        run_reduced_supervisor(self.site, socket.socket(fileno=channel), group)

    def remove_remains(self, others: Container[int]) -> None:
        """See `PreparedSupervisor`; what it left running has become our child, and ends too."""
        with contextlib.suppress(OSError):
            self.tree.remove_children(but=others)
            remove_closed_entries(self.site.box)
            os.rmdir(self.site.box)  # noqa: PTH106


def _get_own_path(path: str, binds: tuple[root.Bind, ...]) -> str:
    """Return where something lies that would be bound elsewhere in the full tier."""
    for bind in binds:
        if path.startswith(f"{bind.target}/"):
            return bind.source + path[len(bind.target) :]
    return path


def _find_first_user(interpreter: tuple[str, ...], binds: tuple[root.Bind, ...]) -> int | None:
    """Pick the first of a range of users no other account has; None where we may not become another.

    Raises:
        OSError: others may not read the interpreter, or the directory of environments.
    """
    highest = find_unused_id(os.geteuid(), Path("/proc/self/uid_map").read_text())
    held = int(_read_status("CapEff"), 16)
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


def _read_status(name: str) -> str:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(f"{name}:"):
            return line.split()[1]
    return "0"
