"""Starts one supervisor, and its zygotes, which must lie outside its process namespace.

In: requests of the supervisor, each with the socket that a zygote shall serve. Out: zygotes in all the
supervisor's namespaces but that of processes, each reported by a process descriptor; only what a zygote forks
is born into that one too. The spawner itself has the master's rights, reads nothing but requests, and ends
when the supervisor does, after everything that both have started.
"""

from __future__ import annotations

import os
import signal
import socket
from dataclasses import dataclass
from typing import NoReturn

from spanproof.sandbox import kernel
from spanproof.sandbox.supervisor.forkserver.supervisor import SupervisorSetup, run_supervisor, send_failure
from spanproof.sandbox.supervisor.forkserver.zygote import run_zygote
from spanproof.sandbox.supervisor.namespaces import root
from spanproof.sandbox.supervisor.namespaces.cgroup import Group

# The namespaces a supervisor makes for itself, besides that of processes.
_OWN = (
    kernel.CLONE_NEWUSER
    | kernel.CLONE_NEWNS
    | kernel.CLONE_NEWIPC
    | kernel.CLONE_NEWUTS
    | kernel.CLONE_NEWNET
    | kernel.CLONE_NEWCGROUP
)


@dataclass(frozen=True, slots=True)
class Order:
    """A supervisor to start.

    Attributes:
        setup: what it inherits from the master.
        guest_id: as whom.
        channel: the socket of the host's it shall serve.
        group: bounds all of it.
        proc: the /proc in which its processes can be set up; the one in its root allows no write.
    """

    setup: SupervisorSetup
    guest_id: int | None
    channel: int
    group: Group | None
    proc: int


def run_spawner(order: Order) -> NoReturn:
    """Start a supervisor and keep it; does not return."""
    channel = socket.socket(fileno=order.channel)
    try:
        requests, supervisor = _build_supervisor(order, channel)
        if requests.recv(16):  # the supervisor's namespaces are ready
            channel.close()
            _run_zygotes(requests, supervisor, order)
        _wait_for_children(
            0
        )  # what a zygote waits for was in the supervisor's namespace, and its own supervisor is gone
    except BaseException as failure:  # noqa: BLE001 - must not unwind into the master
        send_failure(channel, failure)
    finally:
        os._exit(1)


def _build_supervisor(order: Order, channel: socket.socket) -> tuple[socket.socket, int]:
    """Fork the supervisor as PID 1 of a new process namespace; return its request socket and its pidfd."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGKILL)
    own = os.open("/proc/self/ns/pid", os.O_RDONLY | os.O_CLOEXEC)
    kernel.unshare(kernel.CLONE_NEWPID)
    pid = os.fork()
    if pid == 0:
        ours.close()
        os.close(own)
        _run_supervisor(order, channel, theirs)
    theirs.close()
    kernel.setns(own, kernel.CLONE_NEWPID)
    os.close(own)
    if order.group is not None:
        order.group.close()
    return ours, os.pidfd_open(pid)


def _run_supervisor(order: Order, channel: socket.socket, spawner: socket.socket) -> NoReturn:
    try:
        kernel.unshare(kernel.CLONE_NEWNS)
        flags = kernel.MS_NOSUID | kernel.MS_NODEV | kernel.MS_NOEXEC
        kernel.mount("proc", "/proc", "proc", flags, "subset=pid,hidepid=invisible")
        _start_user_namespace(order.guest_id)
        socket.sethostname("sandbox")
        spawner.send(b"ready")
        run_supervisor(order.setup, channel, spawner, order.group, order.proc)
    except BaseException as failure:  # noqa: BLE001 - must not unwind into the master
        send_failure(channel, failure)
    finally:
        os._exit(1)


def _start_user_namespace(guest_id: int | None) -> None:
    """Become the guest's user in a user namespace of our own, with every other namespace under it."""
    uid = gid = root.GUEST_ID
    if guest_id is not None:
        uid = gid = guest_id
        _update_user(guest_id)
    kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGKILL)
    kernel.unshare(_OWN)
    write_identity_maps(root.GUEST_ID, uid, gid)
    kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGKILL)


def _update_user(guest_id: int) -> None:
    """Become another user, with the capabilities this one has."""
    os.setgroups([])
    os.setresgid(guest_id, guest_id, guest_id)
    kernel.set_keep_capabilities()
    os.setresuid(guest_id, guest_id, guest_id)
    kernel.raise_permitted()
    kernel.prctl(kernel.PR_SET_DUMPABLE, 1)


def write_identity_maps(inside: int, uid: int, gid: int) -> None:
    """Map one user and one group into the user namespace the caller has just made."""
    for name, text in (
        ("setgroups", "deny"),
        ("uid_map", f"{inside} {uid} 1"),
        ("gid_map", f"{inside} {gid} 1"),
    ):
        with open(f"/proc/self/{name}", "w") as file:  # noqa: PTH123
            file.write(text)


def _run_zygotes(requests: socket.socket, supervisor: int, order: Order) -> None:
    """Start zygotes until the supervisor is gone; there is one at a time."""
    while True:
        request, descriptors, _flags, _address = socket.recv_fds(requests, 16, 1)
        if not request:
            return
        _wait_for_children(os.WNOHANG)
        observed = request == b"observed"
        if observed:
            seccomp = order.setup.seccomp_observed
        else:
            seccomp = order.setup.seccomp
        pid = os.fork()
        if pid == 0:
            requests.close()
            _write_oom_score(order.proc)
            run_zygote(
                descriptors[0],
                lambda: _update_namespaces(supervisor, order.guest_id),
                seccomp,
                observed=observed,
            )
        os.close(descriptors[0])
        pidfd = os.pidfd_open(pid)
        socket.send_fds(requests, [b"started"], [pidfd])
        os.close(pidfd)


def _update_namespaces(supervisor: int, guest_id: int | None) -> None:
    """Enter the supervisor's namespaces as its user; that of processes is for children only."""
    kernel.setns(supervisor, kernel.CLONE_NEWPID)
    if guest_id is not None:
        _update_user(guest_id)
    kernel.setns(supervisor, _OWN)
    kernel.forgo_capabilities()
    kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGKILL)


def _write_oom_score(proc: int) -> None:
    """Raise the OOM score: be killed after the guest and before the supervisor when memory runs out.

    The memory of a dead guest is given back some time after it is gone, and until then the kernel looks for
    somebody else to kill. What the supervisor knows of the guest must outlive it; another zygote can be had.
    """
    file = os.open("self/oom_score_adj", os.O_WRONLY | os.O_CLOEXEC, dir_fd=proc)
    os.write(file, b"900")
    os.close(file)


def _wait_for_children(flags: int) -> None:
    try:
        while os.waitpid(-1, flags)[0] != 0:
            continue
    except ChildProcessError:
        return
