"""PID 1 of its own namespaces: has one guest made per run, watches it, and tells what became of it.

In: jobs from the host on one socket. Out: one result per job, made of what the kernel said, and the guest's
own report beside it. Between runs the slot is as it was: everything the guest started is killed and reaped,
everything it wrote is unmounted. When the host or the master goes away, the slot ends, and with it the
namespace.
"""

from __future__ import annotations

import os
import select
import signal
import socket
from dataclasses import dataclass
from typing import NoReturn

from spanproof.sandbox import kernel
from spanproof.sandbox.backends.jail.forkserver import footprint
from spanproof.sandbox.backends.jail.forkserver.zygote import Stems
from spanproof.sandbox.backends.jail.isolation import Armed, Ends, Place
from spanproof.sandbox.backends.jail.namespaces import network, root
from spanproof.sandbox.backends.jail.namespaces import process_tree as tree
from spanproof.sandbox.backends.jail.namespaces.cgroup import Group
from spanproof.sandbox.backends.jail.run.run import Links, Run
from spanproof.sandbox.backends.jail.run.steps import SessionRun
from spanproof.sandbox.backends.jail.seccomp.paths import Boundary
from spanproof.sandbox.backends.jail.seccomp.syscalls import Arch
from spanproof.sandbox.backends.jail.seccomp.watcher import Watcher
from spanproof.sandbox.fixed.run_fixtures import Surroundings, surrounded
from spanproof.sandbox.guest.descriptors import Descriptors
from spanproof.sandbox.guest.wire import FROM_HOST, BadFrame, Decoder, Frame, encode, receive

_DEFAULT_DISK_BYTES = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class SlotPlace:
    """What a slot inherits from its master.

    Attributes:
        visible: what of the machine a guest may read.
        program_path: where a guest's programs are searched.
        seccomp: the filter of every guest, as the kernel takes it.
        seccomp_seeded: that of guests whose random bytes the slot answers.
        written: memory that every guest writes to.
    """

    visible: root.Visible
    arch: Arch
    program_path: str
    seccomp: bytes
    seccomp_seeded: bytes
    written: footprint.Ranges


class Slot:
    """Serves one host socket until it closes."""

    def __init__(
        self, place: Place, channel: socket.socket, group: Group | None, way_out: int | None = None
    ) -> None:
        self._place = place
        self._box = place.box
        self._watcher = place.watcher
        self._channel = channel
        self._decoder = Decoder(FROM_HOST)
        way_out = channel.fileno() if way_out is None else way_out
        self._links = Links(channel, self._decoder, place, group, way_out)
        self._bounds: tree.Bounds | None = None
        self._has_box = False

    def serve(self) -> None:
        """Arm a guest, take a job, run it, and again."""
        armed = self._arm()
        self._channel.sendall(encode({"kind": "armed"}))
        while True:
            try:
                frame = receive(self._channel, self._decoder)
            except (EOFError, BadFrame, OSError):
                return
            if frame.header.get("kind") != "job":
                continue  # meant for a session that has ended meanwhile
            armed = self._bounded(armed, tree.Bounds.of(frame.header))
            self._watcher.watch(armed.born.listener)
            self._surround(frame, armed)
            self._prepare(frame)
            kind = SessionRun if frame.header["language"] == "session" else Run
            run = kind(frame, armed, self._links)
            run.start()
            header, parts = run.finish()  # nothing of the program runs any more
            self._channel.sendall(encode(header, parts))
            armed = self._follow(run, armed)

    def _follow(self, run: Run, armed: Armed) -> Armed:
        """Leave nothing of a run whose result has been told, and arm the next guest."""
        if run.leaves_one_process:
            self._place.tree.kill_others()
            following = self._armed(self._ask())  # who makes it does so when that process is gone
            self._place.origin.ended()
            self._clear(armed, touched=False)
            return following
        run.see_off()
        if self._watcher.surroundings is not None:
            self._watcher.surroundings.close()
        self._clear(armed, touched=run.touched)
        if self._watcher.record.network_used:
            self._place.network.renew()
            self._place.origin.renew()
        return self._arm()

    def _bounded(self, armed: Armed, bounds: tree.Bounds) -> Armed:
        """A guest under these bounds: mostly the one at hand, because jobs resemble the one before."""
        waits = self._waits(armed)
        if bounds == self._bounds and waits:
            return armed
        known, self._bounds = self._bounds, bounds
        if known is None and waits and not bounds.seeded:
            bounds.apply(armed.born.pid, self._place.tree)  # the first guest was armed without any
            self._box.resize(bounds.disk_bytes)
            return armed
        self._place.tree.kill_others()
        self._place.origin.ended()
        self._place.tree.kill_all()
        self._clear(armed, touched=self._box.touched())
        armed = self._arm()
        if not self._waits(armed):
            raise RuntimeError("guests end before they are given anything to do")
        return armed

    def _waits(self, armed: Armed) -> bool:
        """Whether the armed guest lives, and has made no call that is held: it has nothing to do yet."""
        poll = select.poll()  # select() knows no descriptor beyond 1023
        poll.register(self._place.origin, select.POLLIN)
        poll.register(armed.born.listener, select.POLLIN)
        return not poll.poll(0)

    def _surround(self, job: Frame, armed: Armed) -> None:
        """Fix what the run is to find fixed."""
        if not surrounded(job.header):
            return
        if job.header["tape"]:
            self._watcher.record.network_used = True
        network, code = self._place.network, self._place.box.code
        self._watcher.surroundings = Surroundings(job, armed.born.pid, network.lead, code, self._note_call)

    def _note_call(self, target: str, *, allowed: bool) -> None:
        """Record a network attempt in the record at hand: each step of a session has its own."""
        self._watcher.record.note("network", target, allowed=allowed)

    def _prepare(self, frame: Frame) -> None:
        """Lay the program's files into the box."""
        names = frame.header.get("files", [])
        for name, content in zip(names, frame.parts[3:], strict=False):
            place = os.path.join(self._box.work, name)  # noqa: PTH118 - checked by the host
            os.makedirs(os.path.dirname(place), exist_ok=True)  # noqa: PTH103, PTH120
            with open(place, "wb") as file:  # noqa: PTH123
                file.write(content)
        script = frame.header.get("script")
        if script:
            with open(f"{self._box.code}/{script}", "wb") as file:  # noqa: PTH123
                file.write(frame.parts[0])
            argv = frame.header["argv"]
            frame.header["argv"] = [word.replace(root.CODE, self._box.code) for word in argv]
        for name, text in frame.header.get("aids", {}).items():
            with open(f"{self._box.code}/{name}", "w", encoding="utf-8") as aid:  # noqa: PTH123
                aid.write(text)

    def _arm(self) -> Armed:
        if not self._has_box:
            self._box.fresh(_DEFAULT_DISK_BYTES if self._bounds is None else self._bounds.disk_bytes)
            self._has_box = True
        return self._armed(self._ask())

    def _ask(self) -> Ends:
        """Have a guest made: our ends of what it is given."""
        seeded = self._bounds is not None and self._bounds.seeded
        stdin_read, stdin_write = os.pipe()
        stdout_read, stdout_write = os.pipe()
        stderr_read, stderr_write = os.pipe()
        ours, theirs = socket.socketpair()
        given = Descriptors(theirs.detach(), stdin_read, stdout_write, stderr_write)
        self._place.origin.ask(given, seeded=seeded)
        return Ends(ours, stdin_write, stdout_read, stderr_read)

    def _armed(self, ends: Ends) -> Armed:
        """The guest that was asked for, under its bounds."""
        born = self._place.origin.born(ends.control)
        for fd in (ends.control.fileno(), ends.stdin, ends.stdout, ends.stderr):
            os.set_blocking(fd, False)
        if self._bounds is not None:
            self._bounds.apply(born.pid, self._place.tree)
        return Armed(born, *ends, os.urandom(16).hex())

    def _clear(self, armed: Armed, *, touched: bool) -> None:
        """Forget a run whose processes are dead; a box nobody has touched stays."""
        armed.close()
        if touched:
            self._box.drop()
            self._has_box = False


def slot_main(
    place: SlotPlace, channel: socket.socket, keeper: socket.socket, group: Group | None, proc: int
) -> NoReturn:
    """Run a slot in a process that is PID 1 already; does not return."""
    status = 1
    try:
        _settle()
        Slot(_place(place, keeper, proc), channel, group).serve()
        status = 0
    except BaseException as failure:  # noqa: BLE001 - told to the host, which starts another slot
        tell(channel, failure)
    finally:
        os._exit(status)


def _place(inherited: SlotPlace, keeper: socket.socket, proc: int) -> Place:
    """The full tier's: everything of namespaces, which this process is in already."""
    boundary = Boundary((*inherited.visible.roots, "/etc/ssl"), inherited.program_path)
    return Place(
        tree=tree.Namespace(_newest(proc)),
        box=root.Tmpfs(inherited.visible),
        network=network.Loopback(),
        watcher=Watcher(inherited.arch, boundary),
        origin=Stems(keeper),
    )


def _newest(proc: int) -> int | None:
    """See `tree.Namespace`; a kernel without checkpoints (CONFIG_CHECKPOINT_RESTORE) does not tell."""
    try:
        return os.open("sys/kernel/ns_last_pid", os.O_RDONLY | os.O_CLOEXEC, dir_fd=proc)
    except OSError:
        return None


def _settle() -> None:
    """Default dispositions, so that the kernel shields PID 1 from its own children's signals."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
        signal.signal(number, signal.SIG_DFL)
    kernel.forgo_capabilities()


def tell(channel: socket.socket, failure: BaseException) -> None:
    """Say why the slot ends, if anyone still listens."""
    try:
        channel.sendall(encode({"kind": "broken", "reason": f"{type(failure).__name__}: {failure}"[:4000]}))
    except OSError:
        return
