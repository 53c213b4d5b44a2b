"""The jail's own process: a small, single-threaded interpreter that builds the root and starts supervisors.

In: one socket from the host (see `starter`). Out: supervisors; its end takes each along.
Started as `python -s -P -c …` with a scrubbed environment; never run twice in one process.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import signal
import sys
from collections.abc import Container
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from spanproof.sandbox import kernel
from spanproof.sandbox.supervisor.forkserver.spawner import Order, run_spawner, write_identity_maps
from spanproof.sandbox.supervisor.forkserver.starter import Starter, find_host
from spanproof.sandbox.supervisor.forkserver.supervisor import SupervisorSetup
from spanproof.sandbox.supervisor.forkserver.warm import (
    list_import_folders,
    remove_own_source,
    run_gc_freeze,
    start_interpreter,
    update_import_path,
)
from spanproof.sandbox.supervisor.namespaces import cgroup, root
from spanproof.sandbox.supervisor.namespaces.users import find_unused_id
from spanproof.sandbox.supervisor.seccomp.filter import build_filter
from spanproof.sandbox.supervisor.seccomp.paths import is_within
from spanproof.sandbox.supervisor.seccomp.rules import ENDS
from spanproof.sandbox.supervisor.seccomp.syscalls import get_arch


def main(control_fd: int) -> None:
    """Build the root, then start supervisors until the host is gone; does not return."""
    host = find_host(control_fd)
    if host is None:
        return
    try:
        guest_id = find_unused_id(os.geteuid(), Path("/proc/self/uid_map").read_text())
        _start_namespaces(guest_id)
    except OSError as failure:
        host.send_failure(failure)
        return
    child = os.fork()
    if child:
        host.close()
        os.waitpid(child, 0)
        return
    kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGKILL)
    try:
        start_interpreter(host.options["preload"])
        # Both are out of sight once the root is built.
        groups = cgroup.find_base(host.options["owner"])
        proc = os.open("/proc", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        setup = _build_setup(host.options)
    except Exception as failure:  # noqa: BLE001 - reported to the host, in full
        host.send_failure(failure)
        return
    Starter(host, _Root(setup, guest_id, proc), groups).run_until_closed()


@dataclass(frozen=True, slots=True)
class _Root:
    """What all supervisors of this tier share: each one's own namespaces end with it."""

    setup: SupervisorSetup
    guest_id: int | None
    proc: int

    def build_prepared(self) -> _Root:
        """See `SupervisorFactory`."""
        return self

    def run_supervisor(self, channel: int, group: cgroup.Group | None) -> NoReturn:
        """See `PreparedSupervisor`: become the spawner, which starts it."""
        run_spawner(Order(self.setup, self.guest_id, channel, group, self.proc))

    def remove_remains(self, others: Container[int]) -> None:
        """See `PreparedSupervisor`: nothing is left."""

    def close_all(self) -> None:
        """See `SupervisorFactory`."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(-1, signal.SIGKILL)


def _build_setup(options: dict[str, Any]) -> SupervisorSetup:
    """Build the root, and settle this interpreter in it, where it finds its packages."""
    arch = get_arch()
    folders = list_import_folders()
    binds = [root.Bind(*bind) for bind in options["binds"]]
    visible = root.build_root(root.list_interpreter_directories(), binds)
    sys.path[:] = [path for path in sys.path if path and is_within(path, visible.roots)]
    if options["site"] is not None:
        update_import_path(options["site"])
    importlib.invalidate_caches()
    sys.path_importer_cache.clear()
    remove_own_source()
    plain = build_filter(arch, root.GUEST_ID, shown=ENDS)
    observed = build_filter(arch, root.GUEST_ID, observed=True, shown=ENDS)
    run_gc_freeze()
    return SupervisorSetup(visible, arch, os.environ["PATH"], plain, observed, folders)


def _start_namespaces(guest_id: int | None) -> None:
    """Enter a mount and a process namespace; without root, in a user namespace that owns both.

    The master is PID 1 of the process namespace: its end, by whatever signal, is the end of every supervisor.
    """
    if guest_id is not None:
        kernel.unshare(kernel.CLONE_NEWNS | kernel.CLONE_NEWPID)
        return
    uid, gid = os.geteuid(), os.getegid()
    kernel.unshare(kernel.CLONE_NEWUSER | kernel.CLONE_NEWNS | kernel.CLONE_NEWPID)
    write_identity_maps(root.GUEST_ID, uid, gid)
