"""PID 1 of its own namespaces: has one guest made per run, watches it, and reports what became of it.

In: jobs from the host on one socket. Out: one result per job, made of what the kernel said, and the guest's
own report beside it. Between runs the supervisor is as it was: everything the guest started is killed and
reaped, everything it wrote is unmounted. When the host or the master goes away, the supervisor ends, and with
it the namespace.
"""

from __future__ import annotations

import os
import select
import signal
import socket
from collections.abc import Callable
from dataclasses import dataclass
from typing import NoReturn

from spanproof.sandbox import kernel
from spanproof.sandbox.guest.descriptors import Descriptors
from spanproof.sandbox.guest.wire import (
    FROM_HOST,
    BadFrame,
    Decoder,
    Frame,
    Header,
    encode_frame,
    wait_for_frame,
)
from spanproof.sandbox.supervisor.fixtures.run_fixtures import RunFixtures, has_fixtures
from spanproof.sandbox.supervisor.forkserver.zygote import Zygotes
from spanproof.sandbox.supervisor.isolation import Armed, Ends, Isolation
from spanproof.sandbox.supervisor.namespaces import network, root
from spanproof.sandbox.supervisor.namespaces import process_tree as tree
from spanproof.sandbox.supervisor.namespaces.cgroup import Group
from spanproof.sandbox.supervisor.run import ahead
from spanproof.sandbox.supervisor.run.channel import Channel
from spanproof.sandbox.supervisor.run.run import Links, Run
from spanproof.sandbox.supervisor.run.steps import SessionRun
from spanproof.sandbox.supervisor.seccomp.paths import Boundary
from spanproof.sandbox.supervisor.seccomp.syscalls import Arch
from spanproof.sandbox.supervisor.seccomp.watcher import Watcher

_DEFAULT_DISK_BYTES = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class SupervisorSetup:
    """What a supervisor inherits from its master.

    Attributes:
        visible: what of the machine a guest may read.
        program_path: where a guest's programs are searched.
        seccomp: the filter of every guest, as the kernel takes it.
        seccomp_observed: that of guests whose random bytes the supervisor answers.
        import_folders: where the interpreter searches modules.
    """

    visible: root.Visible
    arch: Arch
    program_path: str
    seccomp: bytes
    seccomp_observed: bytes
    import_folders: tuple[str, ...]


class Supervisor:
    """Serves one host socket until it closes."""

    _fixtures = RunFixtures

    def __init__(self, isolation: Isolation, channel: socket.socket | Channel, group: Group | None) -> None:
        self._isolation = isolation
        self._box = isolation.box
        self._watcher = isolation.watcher
        self._channel = channel
        self._decoder = Decoder(FROM_HOST)
        if isinstance(channel, Channel):
            way_out = channel.way_out
        else:
            way_out = channel.fileno()
        self._links = Links(channel, self._decoder, isolation, group, way_out)
        self._bounds: tree.Bounds | None = None
        self._has_box = False
        # Whether a program has begun whose result has not been sent.
        self.at_work = False

    def run_jobs(self) -> None:
        """Arm a guest, take a job, run it, and again."""
        armed = self._start_guest()
        self._channel.sendall(encode_frame({"kind": "armed"}))
        while True:
            try:
                frame = wait_for_frame(self._channel, self._decoder)
            except (EOFError, BadFrame, OSError):
                return
            if frame.header.get("kind") != "job":
                continue  # meant for a session that has ended meanwhile
            armed = self._get_fitting_guest(armed, frame.header)
            armed = self._build_next_guest(self._run_job(frame, armed), armed)
            if "ahead" in frame.header:
                armed = self._start_ahead(frame, armed)

    def _run_job(self, frame: Frame, armed: Armed) -> Run:
        """Run a job in a guest that fits it, and report its result."""
        self._watcher.start_run(armed.guest.listener)
        self._start_fixtures(frame, armed)
        self._watcher.fixtures = armed.fixtures
        self._write_files(frame)
        self.at_work = True
        kind = SessionRun if frame.header["language"] == "session" else Run
        run = kind(frame, armed, self._links)
        run.start()
        header, parts = run.run_to_end()  # nothing of the program runs any more
        self._channel.sendall(encode_frame(header, parts))
        self.at_work = False
        return run

    def _build_next_guest(self, run: Run, armed: Armed) -> Armed:
        """Leave nothing of a run whose result has been reported, and arm the next guest."""
        if run.leaves_one_process:
            self._isolation.tree.remove_other_processes()
            # The zygote makes it when that process is gone.
            following = self._wait_for_guest(self._send_guest_request())
            self._isolation.origin.wait_for_end()
            self._remove_run(armed, touched=False)
            return following
        run.wait_for_held()
        self._remove_run(armed, touched=run.touched)
        if self._watcher.record.network_used:
            self._isolation.network.remove_names()
            self._isolation.origin.update_namespaces()
        return self._start_guest()

    def _get_fitting_guest(self, armed: Armed, job: Header) -> Armed:
        """Return a guest for a job, under its bounds: mostly the one at hand, as jobs resemble each other."""
        bounds = tree.Bounds.from_job(job)
        waits = self._waits(armed)
        if bounds == self._bounds and waits and ahead.serves(armed, job):
            return armed
        earlier, self._bounds = self._bounds, bounds
        if earlier is None and waits and not bounds.observed:
            bounds.update_guest(
                armed.guest.pid, self._isolation.tree
            )  # the first guest was armed without any
            self._box.update_size(bounds.disk_bytes)
            return armed
        armed = self._build_replacement(armed)
        if not self._waits(armed):
            raise RuntimeError("guests end before they are given anything to do")
        return armed

    def _build_replacement(self, armed: Armed) -> Armed:
        """Arm another guest in the place of one that has run no program."""
        self._isolation.tree.remove_other_processes()
        self._isolation.origin.wait_for_end()
        self._isolation.tree.remove_all_processes()
        self._remove_run(armed, touched=self._box.has_changed())
        return self._start_guest()

    def _start_ahead(self, job: Frame, armed: Armed) -> Armed:
        """Make the guest the interpreter of the next job, if that is like this one; else one that waits."""
        self._start_fixtures(Frame(job.header, ()), armed)
        if ahead.starts_ahead(job, armed, self._isolation, self._channel.fileno()):
            return armed
        return self._build_replacement(armed)

    def _waits(self, armed: Armed) -> bool:
        """Whether the armed guest lives, and has made no call that is held, unless it is still starting."""
        poll = select.poll()  # select() knows no descriptor beyond 1023
        poll.register(self._isolation.origin, select.POLLIN)
        if not armed.is_starting:
            poll.register(armed.guest.listener, select.POLLIN)
        return not poll.poll(0)

    def _start_fixtures(self, job: Frame, armed: Armed) -> None:
        """Fix what the run is to find fixed, unless its interpreter was started with it."""
        if armed.fixtures is not None or not has_fixtures(job.header):
            return
        if job.header["tape"]:
            self._watcher.record.network_used = True
        network, code = self._isolation.network, self._isolation.box.code
        armed.fixtures = self._fixtures(job, armed.guest.pid, network.add_names, code, self._record_call)

    def _record_call(self, target: str, *, allowed: bool) -> None:
        """Record a network attempt in the record at hand: each step of a session has its own."""
        self._watcher.record.add_attempt("network", target, allowed=allowed)

    def _write_files(self, frame: Frame) -> None:
        """Lay the program's files into the box."""
        names = frame.header.get("files", [])
        for name, content in zip(names, frame.parts[3:], strict=False):
            isolation = os.path.join(self._box.work, name)  # noqa: PTH118 - checked by the host
            os.makedirs(os.path.dirname(isolation), exist_ok=True)  # noqa: PTH103, PTH120
            with open(isolation, "wb") as file:  # noqa: PTH123
                file.write(content)
        script = frame.header.get("script")
        if script:
            with open(f"{self._box.code}/{script}", "wb") as file:  # noqa: PTH123
                file.write(frame.parts[0])
            argv = frame.header["argv"]
            frame.header["argv"] = [word.replace(root.CODE, self._box.code) for word in argv]
        ahead.write_aids(frame.header.get("aids", {}), self._box.code)

    def _start_guest(self) -> Armed:
        if not self._has_box:
            self._box.start_empty(_DEFAULT_DISK_BYTES if self._bounds is None else self._bounds.disk_bytes)
            self._has_box = True
        return self._wait_for_guest(self._send_guest_request())

    def _send_guest_request(self) -> Ends:
        """Request a guest; return our ends of what it is given."""
        observed = self._bounds is not None and self._bounds.observed
        stdin_read, stdin_write = os.pipe()
        stdout_read, stdout_write = os.pipe()
        stderr_read, stderr_write = os.pipe()
        ours, theirs = socket.socketpair()
        descriptors = Descriptors(theirs.detach(), stdin_read, stdout_write, stderr_write)
        self._isolation.origin.send_request(descriptors, observed=observed)
        return Ends(ours, stdin_write, stdout_read, stderr_read)

    def _wait_for_guest(self, ends: Ends) -> Armed:
        """Return the guest that was requested, under its bounds."""
        guest = self._isolation.origin.wait_for_guest(ends.control)
        for fd in (ends.control.fileno(), ends.stdin, ends.stdout, ends.stderr):
            os.set_blocking(fd, False)
        if self._bounds is not None:
            self._bounds.update_guest(guest.pid, self._isolation.tree)
        return Armed(guest, *ends, os.urandom(16).hex())

    def _remove_run(self, armed: Armed, *, touched: bool) -> None:
        """Forget a run whose processes are dead; a box no one has touched stays."""
        armed.close()
        if touched:
            self._box.remove()
            self._has_box = False


def run_supervisor(
    isolation: SupervisorSetup, channel: socket.socket, spawner: socket.socket, group: Group | None, proc: int
) -> NoReturn:
    """Run a supervisor in a process that is PID 1 already; does not return."""

    def make() -> Supervisor:
        _update_signal_handlers()
        return Supervisor(_build_isolation(isolation, spawner, proc), channel, group)

    run_until_closed(make, channel)


def run_until_closed(make: Callable[[], Supervisor], channel: socket.socket) -> NoReturn:
    """Make a supervisor and have it serve; the host is sent why it fails. Does not return."""
    status, supervisor = 1, None
    try:
        supervisor = make()
        supervisor.run_jobs()
        status = 0
    except BaseException as failure:  # noqa: BLE001 - reported to the host, which starts another supervisor
        send_failure(channel, failure, at_work=supervisor is not None and supervisor.at_work)
    finally:
        os._exit(status)


def _build_isolation(inherited: SupervisorSetup, spawner: socket.socket, proc: int) -> Isolation:
    """Build the full tier's isolation: namespaces, which this process is in already."""
    roots = (*inherited.visible.roots, "/etc/ssl")
    boundary = Boundary(roots, inherited.program_path, inherited.import_folders)
    processes = tree.Namespace(_find_last_pid(proc))
    return Isolation(
        tree=processes,
        box=root.Tmpfs(inherited.visible),
        network=network.Loopback(),
        watcher=Watcher(inherited.arch, boundary, processes),
        origin=Zygotes(spawner),
    )


def _find_last_pid(proc: int) -> int | None:
    """See `tree.Namespace`; a kernel without checkpoints (CONFIG_CHECKPOINT_RESTORE) does not report."""
    try:
        return os.open("sys/kernel/ns_last_pid", os.O_RDONLY | os.O_CLOEXEC, dir_fd=proc)
    except OSError:
        return None


def _update_signal_handlers() -> None:
    """Set default dispositions, so that the kernel shields PID 1 from its own children's signals."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
        signal.signal(number, signal.SIG_DFL)
    kernel.forgo_capabilities()


def send_failure(channel: socket.socket | Channel, failure: BaseException, *, at_work: bool = False) -> None:
    """Report why the supervisor ends, and whether a program was at work then, if anyone still listens."""
    reason = f"{type(failure).__name__}: {failure}"[:4000]
    try:
        channel.sendall(encode_frame({"kind": "broken", "reason": reason, "at_work": at_work}))
    except OSError:
        return
