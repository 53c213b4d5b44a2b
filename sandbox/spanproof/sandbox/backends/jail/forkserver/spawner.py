"""Starts one slot, and the stems its guests are forked from, which must lie outside its process namespace.

In: requests of the slot, each with the socket that a stem shall serve. Out: stems in all the slot's
namespaces but that of processes, each told by a process descriptor; only what a stem forks is born into that
one too. The keeper itself has the master's rights, reads nothing but requests, and ends when the slot does,
after everything that both have started.
"""

from __future__ import annotations

import os
import signal
import socket
from dataclasses import dataclass
from typing import NoReturn

from spanproof.sandbox import kernel
from spanproof.sandbox.backends.jail.forkserver.supervisor import SlotPlace, slot_main, tell
from spanproof.sandbox.backends.jail.forkserver.zygote import stem_main
from spanproof.sandbox.backends.jail.namespaces import root
from spanproof.sandbox.backends.jail.namespaces.cgroup import Group

_OWN = (
    kernel.CLONE_NEWUSER
    | kernel.CLONE_NEWNS
    | kernel.CLONE_NEWIPC
    | kernel.CLONE_NEWUTS
    | kernel.CLONE_NEWNET
    | kernel.CLONE_NEWCGROUP
)
"""The namespaces a slot makes for itself, besides that of processes."""


@dataclass(frozen=True, slots=True)
class Order:
    """A slot to start.

    Attributes:
        place: where.
        guest_id: as whom.
        channel: the socket of the host's it shall serve.
        group: bounds all of it.
        proc: the /proc all of it can be told of by; the one in its root takes no word.
    """

    place: SlotPlace
    guest_id: int | None
    channel: int
    group: Group | None
    proc: int


def keeper_main(order: Order) -> NoReturn:
    """Start a slot and keep it; does not return."""
    channel = socket.socket(fileno=order.channel)
    try:
        requests, slot = _start_slot(order, channel)
        if requests.recv(16):  # the slot's namespaces stand
            channel.close()
            _serve(requests, slot, order)
        _reap(0)  # what a stem waits for was in the slot's namespace, and its own slot is gone
    except BaseException as failure:  # noqa: BLE001 - must not unwind into the master
        tell(channel, failure)
    finally:
        os._exit(1)


def _start_slot(order: Order, channel: socket.socket) -> tuple[socket.socket, int]:
    """Fork the slot as PID 1 of a new process namespace; the socket of its requests, and its descriptor."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGKILL)
    own = os.open("/proc/self/ns/pid", os.O_RDONLY | os.O_CLOEXEC)
    kernel.unshare(kernel.CLONE_NEWPID)
    pid = os.fork()
    if pid == 0:
        ours.close()
        os.close(own)
        _become_slot(order, channel, theirs)
    theirs.close()
    kernel.setns(own, kernel.CLONE_NEWPID)
    os.close(own)
    if order.group is not None:
        order.group.close()
    return ours, os.pidfd_open(pid)


def _become_slot(order: Order, channel: socket.socket, keeper: socket.socket) -> NoReturn:
    try:
        kernel.unshare(kernel.CLONE_NEWNS)
        flags = kernel.MS_NOSUID | kernel.MS_NODEV | kernel.MS_NOEXEC
        kernel.mount("proc", "/proc", "proc", flags, "subset=pid,hidepid=invisible")
        _leave_root(order.guest_id)
        socket.sethostname("sandbox")
        keeper.send(b"ready")
        slot_main(order.place, channel, keeper, order.group, order.proc)
    except BaseException as failure:  # noqa: BLE001 - must not unwind into the master
        tell(channel, failure)
    finally:
        os._exit(1)


def _leave_root(guest_id: int | None) -> None:
    """Become the guest's user in a user namespace of our own, with every other namespace under it."""
    uid = gid = root.GUEST_ID
    if guest_id is not None:
        uid = gid = guest_id
        _become(guest_id)
    kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGKILL)
    kernel.unshare(_OWN)
    map_identity(root.GUEST_ID, uid, gid)
    kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGKILL)


def _become(guest_id: int) -> None:
    """Another user, with the capabilities this one has."""
    os.setgroups([])
    os.setresgid(guest_id, guest_id, guest_id)
    kernel.set_keep_capabilities()
    os.setresuid(guest_id, guest_id, guest_id)
    kernel.raise_permitted()
    kernel.prctl(kernel.PR_SET_DUMPABLE, 1)


def map_identity(inside: int, uid: int, gid: int) -> None:
    """Map one user and one group into the user namespace the caller has just made."""
    for name, text in (
        ("setgroups", "deny"),
        ("uid_map", f"{inside} {uid} 1"),
        ("gid_map", f"{inside} {gid} 1"),
    ):
        with open(f"/proc/self/{name}", "w") as file:  # noqa: PTH123
            file.write(text)


def _serve(requests: socket.socket, slot: int, order: Order) -> None:
    """Start stems until the slot is gone; there is one at a time."""
    while True:
        asked, descriptors, _flags, _address = socket.recv_fds(requests, 16, 1)
        if not asked:
            return
        _reap(os.WNOHANG)
        seeded = asked == b"seeded"
        seccomp = order.place.seccomp_seeded if seeded else order.place.seccomp
        pid = os.fork()
        if pid == 0:
            requests.close()
            _be_killed_second(order.proc)
            stem_main(
                descriptors[0],
                lambda: _join(slot, order.guest_id),
                seccomp,
                order.place.written,
                seeded=seeded,
            )
        os.close(descriptors[0])
        pidfd = os.pidfd_open(pid)
        socket.send_fds(requests, [b"started"], [pidfd])
        os.close(pidfd)


def _join(slot: int, guest_id: int | None) -> None:
    """Enter the namespaces of the slot, as the slot's user; that of processes is for children only."""
    kernel.setns(slot, kernel.CLONE_NEWPID)
    if guest_id is not None:
        _become(guest_id)
    kernel.setns(slot, _OWN)
    kernel.forgo_capabilities()
    kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGKILL)


def _be_killed_second(proc: int) -> None:
    """When memory runs out, be killed after the guest and before the slot.

    The memory of a dead guest is given back some time after it is gone, and until then the kernel looks for
    somebody else to kill. What the slot knows of the guest must outlive it; another stem can be had.
    """
    file = os.open("self/oom_score_adj", os.O_WRONLY | os.O_CLOEXEC, dir_fd=proc)
    os.write(file, b"900")
    os.close(file)


def _reap(flags: int) -> None:
    try:
        while os.waitpid(-1, flags)[0] != 0:
            continue
    except ChildProcessError:
        return
