"""A supervisor of the reduced tier: the parts that hold its guests, and the process that serves them."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from spanproof.sandbox import kernel
from spanproof.sandbox.guest.descriptors import Descriptors
from spanproof.sandbox.model import Tier
from spanproof.sandbox.supervisor.forkserver.arming import Forked
from spanproof.sandbox.supervisor.forkserver.supervisor import Supervisor, run_until_closed
from spanproof.sandbox.supervisor.isolation import Isolation
from spanproof.sandbox.supervisor.namespaces.cgroup import Group
from spanproof.sandbox.supervisor.namespaces.root import ENVIRONMENT, Bind
from spanproof.sandbox.supervisor.reduced.arming import Passed
from spanproof.sandbox.supervisor.reduced.box import Directory
from spanproof.sandbox.supervisor.reduced.network import NoNetwork
from spanproof.sandbox.supervisor.reduced.paths import ReducedBoundary
from spanproof.sandbox.supervisor.reduced.process_tree import Descendants
from spanproof.sandbox.supervisor.reduced.watcher import GuardedWatcher
from spanproof.sandbox.supervisor.seccomp.filter import build_filter
from spanproof.sandbox.supervisor.seccomp.rules import ENDS, FORKS
from spanproof.sandbox.supervisor.seccomp.syscalls import Arch


@dataclass(frozen=True, slots=True)
class Site:
    """What a supervisor inherits from its master.

    Attributes:
        box: the directory made for it.
        user: whom it becomes, a user no other account has; None where it stays who it is.
        interpreter: the interpreter's directories.
        binds: directories that guests see beside the usual, at their own paths.
        import_folders: where the interpreter searches modules.
    """

    arch: Arch
    box: str
    user: int | None
    interpreter: tuple[str, ...]
    binds: tuple[Bind, ...] = ()
    import_folders: tuple[str, ...] = ()


class Shielded(Forked):
    """Guests with a process beside each that only waits: killed before the supervisor for memory.

    The memory of a dead guest is given back some time after it is gone, and until then the kernel looks for
    somebody else to kill. Its death is the moment in which the supervisor lifts the bound; it ends with the
    guest.
    """

    def send_request(self, descriptors: Descriptors, *, observed: bool) -> None:
        """See `Origin`."""
        if os.fork() == 0:
            _wait_to_be_killed()
        super().send_request(descriptors, observed=observed)


def _wait_to_be_killed() -> NoReturn:
    try:
        kernel.prctl(kernel.PR_SET_DUMPABLE, 1)  # else the file is not ours
        Path("/proc/self/oom_score_adj").write_text("900")
        kernel.prctl(kernel.PR_SET_DUMPABLE, 0)
        os.closerange(0, os.sysconf("SC_OPEN_MAX"))
        while True:
            signal.pause()
    finally:
        os._exit(1)


def run_reduced_supervisor(site: Site, channel: socket.socket, group: Group | None) -> NoReturn:
    """Serve as a supervisor; does not return."""

    def make() -> Supervisor:
        _update_user(site)
        return Supervisor(_build_isolation(site, group), channel, group)

    run_until_closed(make, channel)


def _update_user(site: Site) -> None:
    """Become the guest's user, whom the kernel lets look into guests, and the reaper of all they start."""
    if site.user is not None:
        with contextlib.suppress(OSError):  # a container may take that right away
            kernel.forgo_capabilities()
        os.setgroups([])
        os.setresgid(site.user, site.user, site.user)
        os.setresuid(site.user, site.user, site.user)
    kernel.drop_capabilities()
    kernel.prctl(kernel.PR_SET_DUMPABLE, 0)  # a guest is of the same user
    kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGKILL)
    kernel.prctl(kernel.PR_SET_CHILD_SUBREAPER, 1)
    # The kernel may share out the processor by session: so a supervisor gets as much as any of a guest's.
    os.setsid()
    os.umask(0o022)


def _build_isolation(site: Site, group: Group | None) -> Isolation:
    tree = Descendants(own_user=site.user is not None)
    images = [Path(bind.source, "node_modules") for bind in site.binds if bind.target == ENVIRONMENT]
    packages = next((str(path) for path in images if path.is_dir()), None)
    box = Directory(site.box, tree, packages)
    os.environ.update(HOME=box.work, TMPDIR=box.tmp)
    path, folders = os.environ["PATH"], site.import_folders
    boundary = ReducedBoundary(site.box, site.interpreter, path, site.binds, folders)
    network = NoNetwork()
    user = os.getuid()
    shown = ENDS if tree.counted else ENDS | FORKS
    origin = (Forked if group is None else Shielded)(
        Passed(build_filter(site.arch, user, namespaced=False, shown=shown), boundary.walls),
        Passed(build_filter(site.arch, user, observed=True, namespaced=False, shown=shown), boundary.walls),
        box.work,
    )
    tree.zygote = origin.zygote
    tree.companions += group is not None  # who waits to be killed is of the same user
    return Isolation(
        tree=tree,
        box=box,
        network=network,
        watcher=GuardedWatcher(site.arch, boundary, tree, box, network.resolver),
        origin=origin,
        tier=Tier.REDUCED,
    )
