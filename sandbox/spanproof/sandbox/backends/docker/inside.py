"""PID 1 of a container: the jail's supervisor, with the container as its wall.

In: jobs on the standard input. Out: one result per job on the standard output, and a word after each that
everything is as it was before: no process but this one, nothing in any tmpfs, no object of any other kind
that outlives a process. Where that cannot be said, it ends, and the container with it. Sent into the
container as source; the image gives Python and nothing else. It has no capability, and the programs' user;
`unwatched` says where that is otherwise.
"""

from __future__ import annotations

import contextlib
import os
import platform
import resource
import shutil
import signal
import socket
import sys
from collections.abc import Iterable, Mapping
from functools import partial
from importlib.util import find_spec
from pathlib import Path

from spanproof.sandbox import kernel
from spanproof.sandbox.backends.docker.unwatched import Led, OneUser, User, keeps_root, remove_rights
from spanproof.sandbox.guest.wire import Frame, encode_frame
from spanproof.sandbox.supervisor.fixtures.run_fixtures import own_image
from spanproof.sandbox.supervisor.forkserver.arming import Arming, Forked, Silent
from spanproof.sandbox.supervisor.forkserver.supervisor import Supervisor, send_failure
from spanproof.sandbox.supervisor.forkserver.warm import (
    remove_own_source,
    run_imports,
    update_import_path,
)
from spanproof.sandbox.supervisor.isolation import Armed, Isolation
from spanproof.sandbox.supervisor.namespaces import cgroup, root
from spanproof.sandbox.supervisor.namespaces.dns_stub import DnsStub
from spanproof.sandbox.supervisor.namespaces.network import NoResolver
from spanproof.sandbox.supervisor.namespaces.network import Resolver as Names
from spanproof.sandbox.supervisor.node import find_node
from spanproof.sandbox.supervisor.reduced.arming import Passed
from spanproof.sandbox.supervisor.reduced.box import remove_entries
from spanproof.sandbox.supervisor.reduced.process_tree import Spared
from spanproof.sandbox.supervisor.reduced.processes import SHOWN, ProcessWatcher
from spanproof.sandbox.supervisor.run.channel import Channel
from spanproof.sandbox.supervisor.run.proxied_sockets import ProxyingWatcher
from spanproof.sandbox.supervisor.seccomp.filter import build_filter, build_silent_filter
from spanproof.sandbox.supervisor.seccomp.paths import Boundary
from spanproof.sandbox.supervisor.seccomp.rules import ENDS
from spanproof.sandbox.supervisor.seccomp.syscalls import Arch, find_arch
from spanproof.sandbox.toolchains import select_toolchains

TMPFS = (root.BOX, "/tmp", "/dev/shm")  # noqa: S108 - the container's
"""All that can be written to in the container; each is root's, so a program changes only what is in it."""

_USER_PROCESSES = 4096
_OUTLIVES_PROCESSES = ("/proc/sysvipc/msg", "/proc/sysvipc/sem", "/proc/sysvipc/shm")
_OOM_EVENTS = ("/sys/fs/cgroup/memory.events", "/sys/fs/cgroup/memory/memory.oom_control")
_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib64", "/opt", "/etc/ssl", root.ENVIRONMENT)


# Of a package set; Node.js looks beside the work directory last.
_PACKAGES = Path(root.ENVIRONMENT, "node_modules")


class Processes(Spared):
    """Every process of the container but this one."""

    def update_limit(self, pid: int, kind: int, value: int) -> None:
        """See `Namespace`; where a process may not limit another (gVisor), the container's limits hold."""
        with contextlib.suppress(PermissionError):
            super().update_limit(pid, kind, value)

    def update_process_limit(self, pid: int, count: int) -> None:
        """Limit loosely: the control group bounds them; the kernel counts other containers' too."""
        self.update_limit(pid, resource.RLIMIT_NPROC, _USER_PROCESSES)


class ContainerWatcher(ProcessWatcher):
    """The watcher of a container whose processes all belong to one user."""


class Wiped:
    """The tmpfs of the container, emptied after each run: they cannot be mounted anew without a right to."""

    work = root.WORK
    code = root.CODE

    def __init__(self, user: User | None) -> None:
        """Take whom it is to belong to, if not to this process."""
        self._user = user

    def start_empty(self, size_bytes: int) -> None:
        """See `Box`; the room is the container's."""
        for path in (self.work, self.code):
            os.mkdir(path, 0o755)  # noqa: PTH102 - in the path of every run
        if _PACKAGES.is_dir():
            os.symlink(_PACKAGES, f"{root.BOX}/node_modules")  # noqa: PTH211
        self.update_owner()

    def update_owner(self) -> None:
        """Let programs have what lies in it."""
        if self._user is not None:
            for path in (self.work, self.code):
                self._user.update_owner(path)

    def update_size(self, size_bytes: int) -> None:
        """Leave it as it is: the container was made with the room its jobs request."""

    def has_changed(self) -> bool:
        """Return True, to have it always emptied: that costs less than to find out."""
        return True

    def remove(self) -> None:
        """Clear all, and see that nothing is left.

        Raises:
            RuntimeError: something is; this container is not to be used again.
        """
        for top in TMPFS:
            remove_entries(top)
            if os.listdir(top):  # noqa: PTH208
                raise RuntimeError(f"{top} could not be emptied")
        for table in _OUTLIVES_PROCESSES:
            # Where there is none (gVisor's kernel shows none), the filter lets no process make such an
            # object.
            if Path(table).exists() and len(Path(table).read_text().splitlines()) > 1:
                raise RuntimeError(f"an object in {table} outlived the program")
        queues = Path("/dev/mqueue")
        if queues.is_dir() and any(queues.iterdir()):
            raise RuntimeError("a message queue outlived the program")

    def read_files_left(self) -> dict[str, int]:
        """See `Box`."""
        return root.read_regular_files(self.work)

    def count_memory_bytes(self) -> int:
        """See `Box`."""
        rooms = [os.statvfs(top) for top in TMPFS]
        return sum((room.f_blocks - room.f_bfree) * room.f_frsize for room in rooms)

    def find_exceeded_limit(self) -> str | None:
        """Leave that to the kernel."""
        return None


class Loopback:
    """The container's network: a loopback, and no process left that could hold anything of it."""

    def __init__(self, *, watched: bool) -> None:
        self.resolver: Names | DnsStub | NoResolver
        try:
            self.resolver = Names()
        except OSError:  # port 53 is not a user's to take (in Podman's containers)
            self.resolver = DnsStub() if watched else NoResolver()

    def add_names(self, names: Mapping[str, str], _ports: Iterable[int]) -> tuple[socket.socket, ...]:
        """See `Network`; a container may not set a route.

        Raises:
            OSError: the names that programs look up could not be received.
        """
        if isinstance(self.resolver, NoResolver):
            raise PermissionError("no DNS query can be received in this container")
        self.resolver.names = names
        return ()

    def remove_names(self) -> None:
        """Forget the names; sockets end with the processes that hold them."""
        if not isinstance(self.resolver, NoResolver):
            self.resolver.names = {}


class OwnGroup(cgroup.Group):
    """The container's control group, seen from inside: its limits are fixed, its events can be read."""

    def start_limits(self, memory_bytes: int, disk_bytes: int) -> None:
        """Count from now on."""
        self._events_before = self._read_events()

    def remove_limits(self) -> None:
        """Leave its bound, which is the daemon's."""


class ContainerSupervisor(Supervisor):
    """Serves the host until it closes the stream."""

    _box: Wiped

    def _write_files(self, frame: Frame) -> None:
        super()._write_files(frame)
        self._box.update_owner()

    def _remove_run(self, armed: Armed, *, touched: bool) -> None:
        super()._remove_run(armed, touched=touched)
        self._channel.sendall(encode_frame({"kind": "clean"}))


def main() -> None:
    """Serve jobs until the host is gone; does not return."""
    status = 1
    channel = Channel()
    try:
        # Left to their defaults, signals of the container's own processes do not reach its PID 1.
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
            signal.signal(number, signal.SIG_DFL)
        with contextlib.suppress(OSError):
            own_image()  # where it cannot be read, nothing is fixed
        user = User.from_text(sys.argv[1])
        apart = keeps_root(user)
        kernel.prctl(kernel.PR_SET_DUMPABLE, 0)  # the programs have our user: they must not reach our memory
        run_imports([])
        remove_own_source()
        if Path(root.ENVIRONMENT, "site").is_dir():
            update_import_path(f"{root.ENVIRONMENT}/site")
        watched = _can_notify()
        isolation = _build_isolation(watched, user if apart else None)
        channel.sendall(encode_frame(_build_hello(watched, isolation)))
        supervisor = ContainerSupervisor(isolation, channel, _find_own_group())
        supervisor.run_jobs()
        status = 0
    except BaseException as failure:  # noqa: BLE001 - reported to the host, which starts another container
        send_failure(channel, failure)
    finally:
        os._exit(status)


def _build_hello(watched: bool, isolation: Isolation) -> dict[str, object]:
    node = find_node()
    return {
        "kind": "hello",
        "python": platform.python_version(),
        "machine": platform.machine(),
        "libc": platform.libc_ver()[0],
        "libc_version": platform.libc_ver()[1],
        "watched": watched,
        "tape": watched or isinstance(isolation.network, Led),
        "oom": _find_oom_events() is not None,
        "bash": shutil.which("bash"),
        "node": None if node is None else [node.path, node.version],
        "duckdb": find_spec("duckdb") is not None,
        "toolchains": sorted(select_toolchains()),
    }


def _can_notify() -> bool:
    try:
        return find_arch() is not None and kernel.has_user_notification()
    except OSError:
        return False


def _build_isolation(watched: bool, apart: User | None) -> Isolation:
    arch = find_arch()
    if arch is None:
        raise OSError(f"there is no system call table for {os.uname().machine}")
    visible = (*(path for path in _SYSTEM if Path(path).exists()), *root.list_interpreter_directories())
    if not watched:
        return _build_unwatched_isolation(arch, visible, apart)
    arming: Arming = Passed(build_filter(arch, os.getuid(), shown=SHOWN | ENDS))
    observed: Arming = Passed(build_filter(arch, os.getuid(), observed=True, shown=SHOWN | ENDS))
    network = Loopback(watched=True)
    dns_stub = network.resolver if isinstance(network.resolver, DnsStub) else None
    processes, origin = Processes(), Forked(arming, observed, root.WORK)
    processes.zygote = origin.zygote
    boundary = Boundary(visible, os.environ["PATH"])
    watcher = ContainerWatcher(arch, boundary, processes, dns_stub)
    return Isolation(
        tree=processes,
        box=Wiped(None),
        network=network,
        watcher=watcher,
        origin=origin,
    )


def _build_unwatched_isolation(arch: Arch, visible: Iterable[str], apart: User | None) -> Isolation:
    program = build_silent_filter(arch, os.getuid() if apart is None else apart.uid)
    arming = Silent(partial(remove_rights, program, apart))
    processes = Processes() if apart is None else OneUser()
    origin = Forked(arming, arming, root.WORK)
    processes.zygote = origin.zygote
    return Isolation(
        tree=processes,
        box=Wiped(apart),
        network=Loopback(watched=False) if apart is None else Led(),
        watcher=ProxyingWatcher(arch, Boundary(visible, os.environ["PATH"]), processes, None),
        origin=origin,
        holds_calls=False,
    )


def _find_oom_events() -> str | None:
    return next((path for path in _OOM_EVENTS if os.access(path, os.R_OK)), None)


def _find_own_group() -> OwnGroup | None:
    events = _find_oom_events()
    if events is None:
        return None
    return OwnGroup(-1, -1, os.open(events, os.O_RDONLY | os.O_CLOEXEC))
