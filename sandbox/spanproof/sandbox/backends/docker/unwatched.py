"""What a container's PID 1 does where the kernel does not report to it what programs attempt.

That is gVisor's, and old ones. Before them is a filter that refuses what the jail's supervisor would
refuse, in silence. gVisor shields PID 1 from no signal, and gives rights that reach nothing but itself: so
PID 1 is root there with a few of them, and programs are another user, without any.
"""

from __future__ import annotations

import contextlib
import os
import resource
from dataclasses import dataclass
from pathlib import Path

from spanproof.sandbox import kernel
from spanproof.sandbox.supervisor.namespaces import network
from spanproof.sandbox.supervisor.reduced.process_tree import Spared
from spanproof.sandbox.supervisor.tape.routes import remove_routes

# gVisor's own, in no other kernel's `/proc`.
_GVISOR = Path("/proc/sentry-meminfo")


@dataclass(frozen=True, slots=True)
class User:
    """Whom programs run as."""

    uid: int
    gid: int

    @classmethod
    def from_text(cls, text: str) -> User:
        """Parse `UID:GID`."""
        return cls(*map(int, text.split(":")))

    def update_process(self) -> None:
        """Become this user for good, and without a right."""
        with contextlib.suppress(OSError):  # gVisor keeps the user's identity fixed, and has no such bits
            kernel.forgo_capabilities()
        os.setgroups([])
        os.setresgid(self.gid, self.gid, self.gid)
        os.setresuid(self.uid, self.uid, self.uid)
        kernel.drop_capabilities()

    def update_owner(self, directory: str) -> None:
        """Give them a directory with all in it."""
        for path in (directory, *map(str, Path(directory).rglob("*"))):
            os.chown(path, self.uid, self.gid, follow_symlinks=False)


def keeps_root(user: User) -> bool:
    """Keep root if that reaches nothing beyond this container's kernel; else become the programs' user.

    Returns:
        Whether programs are to be another user than this process.
    """
    if os.geteuid() != 0:
        return False
    if not _GVISOR.exists():
        user.update_process()
        return False
    return True


def remove_rights(program: bytes, user: User | None) -> None:
    """Install a filter for good; where this process is root, become another user first."""
    if user is not None:
        user.update_process()
    kernel.prctl(kernel.PR_SET_DUMPABLE, 1)
    kernel.prctl(kernel.PR_SET_NO_NEW_PRIVS, 1)
    kernel.install_filter(program, 0)


class OneUser(Spared):
    """Every process of the container but this one, all of a user whom this kernel counts for it alone."""

    def update_limit(self, pid: int, kind: int, value: int) -> None:
        """See `Namespace`; some limits gVisor knows and lets no process lower (`MSGQUEUE`)."""
        with contextlib.suppress(PermissionError):
            super().update_limit(pid, kind, value)

    def update_process_limit(self, pid: int, count: int) -> None:
        """See `Namespace`; the guest is one of them."""
        self.update_limit(pid, resource.RLIMIT_NPROC, count)


class Led(network.Loopback):
    """The network of a container whose PID 1 leads every address to itself where calls are recorded."""

    def __init__(self) -> None:
        self.resolver = network.Resolver()

    def remove_names(self) -> None:
        """See `Network`; sockets end with the processes that hold them."""
        if self.resolver.names:
            self.resolver.names = {}
            remove_routes()
