"""Where a program runs: a fresh directory and, where the machine allows it, namespaces of its own.

As root, the run gets namespaces of its own (mounts, processes, IPC, network): the machine's files read-only,
an empty /tmp, /var/tmp and /dev/shm in memory, a network of its loopback alone, and a user number no one else
has. All of it ends with the run. Without root, only the work directory is fresh: the host then never uses the
machine twice.
"""

from __future__ import annotations

import os
import secrets
import signal
import tempfile
from pathlib import Path

from spanproof.sandbox import kernel
from spanproof.sandbox.supervisor.namespaces.network import start_loopback
from spanproof.sandbox.supervisor.namespaces.root import read_regular_files

_SCRATCH = ("/tmp", "/var/tmp", "/dev/shm")  # noqa: S108 - made anew for the run


class Workspace:
    """See `Box`: two directories, which end with the run's namespaces, or with the machine.

    Attributes:
        user: whom the program runs as; None is the process that this one is.
    """

    def __init__(self, *, separated: bool) -> None:
        base = Path(tempfile.mkdtemp(prefix="run-"))
        base.chmod(0o755)
        # node.cjs knows the program's own lines by the end of this path.
        self.work, self.code = f"{base}/box/work", f"{base}/box/code"
        self.user = secrets.randbelow(1 << 29) + 100_000 if separated else None

    def start_empty(self, size_bytes: int) -> None:
        """See `Box`; the room is that of the mount, or the machine's."""
        for path in (self.work, self.code):
            Path(path).mkdir(parents=True)

    def update_owner(self) -> None:
        """Let the program have what lies in its work directory."""
        if self.user is not None:
            for path in (self.work, *map(str, Path(self.work).rglob("*"))):
                os.chown(path, self.user, self.user)

    def update_size(self, size_bytes: int) -> None:
        """See `Box`; the room was made when the machine's files were covered."""

    def has_changed(self) -> bool:
        """Return True: it is not used again."""
        return True

    def remove(self) -> None:
        """See `Box`; it ends by itself."""

    def read_files_left(self) -> dict[str, int]:
        """See `Box`."""
        return read_regular_files(self.work)

    def count_memory_bytes(self) -> int:
        """Return 0: what it holds is bounded by its mount."""
        return 0

    def find_exceeded_limit(self) -> str | None:
        """See `Box`; the kernel does."""
        return None


def enters_namespaces(disk_bytes: int) -> bool:
    """Go on in namespaces of our own, in a process of our own; False where the machine does not allow it.

    The process that came in waits for the end of the one that goes on, and so of everything it started.

    Raises:
        OSError: the namespaces were made, but a mount in them failed.
    """
    if os.geteuid() != 0:
        return False
    try:
        kernel.unshare(kernel.CLONE_NEWNS | kernel.CLONE_NEWIPC | kernel.CLONE_NEWNET | kernel.CLONE_NEWPID)
    except OSError:
        return False
    inside = os.fork()
    if inside:
        status = os.waitpid(inside, 0)[1]
        os._exit(os.waitstatus_to_exitcode(status) & 0xFF)
    kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGKILL)
    kernel.mount("none", "/", flags=kernel.MS_REC | kernel.MS_PRIVATE)
    kernel.set_mount_attributes("/", kernel.MOUNT_ATTR_RDONLY | kernel.MOUNT_ATTR_NOSUID)
    for path in _SCRATCH:
        if Path(path).is_dir():
            options = f"size={disk_bytes},mode=1777"
            kernel.mount("tmpfs", path, "tmpfs", kernel.MS_NOSUID | kernel.MS_NODEV, options)
    kernel.mount("proc", "/proc", "proc", kernel.MS_NOSUID | kernel.MS_NODEV | kernel.MS_NOEXEC)
    start_loopback()
    return True
