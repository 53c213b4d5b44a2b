"""Calls whose arguments decide: for each, the piece of the seccomp program that separates its uses.

In: the guest's user id. Out: by a call's name, its piece. A piece sees the arguments' values and
never the memory behind them: what a pointer points to is the supervisor's to find out.
"""

from __future__ import annotations

import errno
from collections.abc import Mapping, Sequence

from spanproof.sandbox.guest.reporter import STEPS_FD
from spanproof.sandbox.supervisor.seccomp.bpf import (
    AND,
    JGE,
    JSET,
    RET_ALLOW,
    RET_EPERM,
    RET_ERRNO,
    RET_NOTIFY,
    Instruction,
    Program,
    build_membership_jump,
    build_verdict,
    load_high,
    load_low,
)

_ALLOW, _NOTIFY, _REFUSE, _DONE = (
    [build_verdict(value)] for value in (RET_ALLOW, RET_NOTIFY, RET_EPERM, RET_ERRNO)
)
_NO_FAMILY, _NO_OPTION, _NO_PROTOCOL = (
    [build_verdict(RET_ERRNO | error)]
    for error in (errno.EAFNOSUPPORT, errno.ENOPROTOOPT, errno.EPROTONOSUPPORT)
)

LARGE_MAPPING_BYTES = 64 * 1024 * 1024
"""Writable mappings from this size on are shown to the supervisor, which knows the program's memory limit."""

OUTWARD_FLAGS = 0x7E020000 | 0x8000
"""Of `clone`: new namespaces; and CLONE_PARENT, whose child no supervisor would reap."""

_AF_UNIX, _AF_INET, _AF_INET6, _AF_NETLINK = 1, 2, 10, 16
PLAIN_TYPES = (1, 2, 5)  # STREAM, DGRAM, SEQPACKET
PLAIN_PROTOCOLS = (0, 6, 17)
_PR_SET_DUMPABLE = 4
_TIOCSTI, _TIOCLINUX = 0x5412, 0x541C
_FIOSETOWN, _SIOCSPGRP = 0x8901, 0x8902
# FS_IOC_SETFLAGS of 64 and of 32 bits, and FS_IOC_FSSETXATTR, which a file's owner may, opened to read.
_FILE_ATTRIBUTES = (0x40086602, 0x40046602, 0x401C5820)

NETWORK_REQUESTS = range(0x890B, 0x8C00)
"""Requests of `ioctl` that list or change interfaces, routes and wireless networks (SIOCADDRT and above)."""

_F_SETOWN, _F_SETOWN_EX = 8, 15
# F_SETLEASE and F_NOTIFY reach others that have a file; for F_SETPIPE_SZ the kernel holds more.
_SHARED_FILE_COMMANDS = (1024, 1026, 1031)

_RLIMIT_CORE, _RLIMIT_NPROC = 4, 6
_SOCK_STREAM, _SOCK_SEQPACKET = 1, 5
_INTERNET_LEVELS = (0, 6, 17, 41)  # IP, TCP, UDP, IPv6
_SOL_SOCKET, _SO_PASSPIDFD, _SO_PEERPIDFD = 1, 76, 77
# SO_SNDBUF, SO_RCVBUF and their FORCE: without effect, so that the kernel's own sizes bound a socket.
_BUFFER_SIZES = dict.fromkeys((7, 8, 32, 33), _DONE)

_PROT_WRITE = 2
_S_IFMT, _S_IFCHR, _S_IFBLK = 0o170000, 0o020000, 0o060000
_SUPERVISOR_PID = 1
# Calls on a process named by their first argument: the supervisor shares the guest's user id, so the kernel
# alone would let a guest slow it down.
_ON_A_PROCESS = (
    "kill",
    "tgkill",
    "tkill",
    "rt_sigqueueinfo",
    "rt_tgsigqueueinfo",
    "pidfd_open",
    "prlimit64",
    "sched_setaffinity",
    "sched_setattr",
    "sched_setparam",
    "sched_setscheduler",
)
# PDEATHSIG (1, 2), DUMPABLE (get, 3), NAME (15, 16), SECCOMP (get, 21), CAPBSET_READ, TIMERSLACK, subreaper,
# NO_NEW_PRIVS, THP_DISABLE, and PR_SET_VMA, with which allocators name their memory
_HARMLESS_PRCTL = (1, 2, 3, 15, 16, 21, 23, 29, 30, 36, 37, 38, 39, 41, 42, 0x53564D41)


def build_conditional_rules(uid: int) -> dict[str, Program]:
    """Return the calls whose arguments decide on every tier."""
    return {
        "clone": [load_low(0), *build_membership_jump((OUTWARD_FLAGS,), _NOTIFY, _ALLOW, jump=JSET)],
        "socket": _build_socket_rule(),
        **dict.fromkeys(_ON_A_PROCESS, _NOT_ON_THE_SUPERVISOR),
        # On one process that is not the supervisor; groups and users would take it in.
        "setpriority": _on_one(0, _SUPERVISOR_PID, _NOTIFY, _ALLOW),
        "ioprio_set": _on_one(1, _SUPERVISOR_PID, _NOTIFY, _ALLOW),
        "prlimit64": _build_limit_guard(_RLIMIT_CORE, _DONE, _NOT_ON_THE_SUPERVISOR),
        "setrlimit": _build_core_limit_guard(_ALLOW),
        # They would write back what everyone on the machine has changed; a program's own files have no disk.
        **dict.fromkeys(("sync", "syncfs"), _DONE),
        # Hiding from the supervisor is the supervisor's to allow.
        "prctl": [
            load_low(0),
            *build_membership_jump(
                (_PR_SET_DUMPABLE,), _NOTIFY, build_membership_jump(_HARMLESS_PRCTL, _ALLOW, _REFUSE)
            ),
        ],
        "fcntl": [load_low(1), *build_membership_jump(_SHARED_FILE_COMMANDS, _REFUSE, _ALLOW)],
        "ioctl": _build_request_rule((_TIOCSTI, _TIOCLINUX)),
        "setsockopt": _build_option_rule(_ALLOW, _BUFFER_SIZES),
        "personality": [load_low(0), *build_membership_jump((0xFFFFFFFF,), _ALLOW, _REFUSE)],
        "sendto": _build_address_rule(),
        "mmap": [
            load_low(2),
            *build_membership_jump((_PROT_WRITE,), _build_large_mapping_test(1), _ALLOW, jump=JSET),
        ],
        "mremap": _build_large_mapping_test(2),
        **dict.fromkeys(("setuid", "setgid"), _build_unchanged_ids_test(1, uid)),
        **dict.fromkeys(("setreuid", "setregid"), _build_unchanged_ids_test(2, uid)),
        **dict.fromkeys(("setresuid", "setresgid"), _build_unchanged_ids_test(3, uid)),
    }


def build_device_rules() -> dict[str, Program]:
    """Return more, where no path is judged: a node may be made that is no device."""
    return {"mknod": _build_device_node_test(1), "mknodat": _build_device_node_test(2)}


def build_step_rules() -> dict[str, Program]:
    """Return more: what a session's steps and reports travel by."""
    of_the_channel = [load_low(0), *build_membership_jump((STEPS_FD,), _NOTIFY, _ALLOW)]
    return {"read": of_the_channel, "write": of_the_channel}


def build_unnamespaced_rules() -> dict[str, Program]:
    """Return more: the supervisor is no PID 1, and the machine's network and its user's files show."""
    return {
        **dict.fromkeys(_ON_A_PROCESS, _NOT_ON_ANOTHER),
        "setrlimit": _build_core_limit_guard(_REFUSE),
        # The supervisor moves the bound of processes below what is allowed at most; no other process does.
        "prlimit64": _build_limit_guard(
            _RLIMIT_CORE, _DONE, _build_limit_guard(_RLIMIT_NPROC, _REFUSE, _NOT_ON_ANOTHER)
        ),
        "socket": _build_inner_socket_rule(),
        "socketpair": _build_pair_rule(),
        "fcntl": [
            load_low(1),
            *build_membership_jump((_F_SETOWN, _F_SETOWN_EX, *_SHARED_FILE_COMMANDS), _REFUSE, _ALLOW),
        ],
        "ioctl": _build_network_request_rule((_TIOCSTI, _TIOCLINUX, _FIOSETOWN, _SIOCSPGRP)),
        # Options of an internet socket have no meaning for what replaces it: they hold, to no effect.
        # No descriptor of the process at the other end, which is the supervisor's for some: signals go by it.
        "setsockopt": _build_option_rule(_DONE, {**_BUFFER_SIZES, _SO_PASSPIDFD: _NO_OPTION}),
        "getsockopt": _build_option_rule(_NOTIFY, {_SO_PEERPIDFD: _NO_OPTION}),
        **dict.fromkeys(("getpeername", "getsockname", "recvmsg"), _NOTIFY),
        "recvfrom": _build_address_rule(),
        "setpriority": _on_one(0, 0, _ALLOW, _NOTIFY),
        "ioprio_set": _on_one(1, 0, _ALLOW, _NOTIFY),
    }


_NOT_ON_THE_SUPERVISOR = [load_low(0), *build_membership_jump((_SUPERVISOR_PID,), _NOTIFY, _ALLOW)]
# Zero is the caller, or its process group, in which there are none but the guest's.
_NOT_ON_ANOTHER = [load_low(0), *build_membership_jump((0,), _ALLOW, _NOTIFY)]


def _build_null_test(argument: int, then: Program, otherwise: Program) -> Program:
    """Test all 64 bits for zero."""
    return [
        load_low(argument),
        *build_membership_jump(
            (0,), [load_high(argument), *build_membership_jump((0,), then, otherwise)], otherwise
        ),
    ]


def _build_limit_guard(limit: int, verdict: Program, other: Program) -> Program:
    """Keep, in `prlimit64`, a limit: a verdict for a new value of it; the other program for the rest."""
    return [load_low(1), *build_membership_jump((limit,), _build_null_test(2, other, verdict), other)]


def _build_core_limit_guard(processes: Program) -> Program:
    """Keep, in `setrlimit`, the limit of core files as it is (`Bounds.update_guest`).

    Args:
        processes: the verdict for the limit of processes.
    """
    return [
        load_low(0),
        *build_membership_jump(
            (_RLIMIT_CORE,), _DONE, build_membership_jump((_RLIMIT_NPROC,), processes, _ALLOW)
        ),
    ]


def _on_one(which: int, pid: int, then: Program, otherwise: Program) -> Program:
    """Build that of priorities: a verdict for this process, one for others; groups and users are shown."""
    return [
        load_low(0),
        *build_membership_jump(
            (which,), [load_low(1), *build_membership_jump((pid,), then, otherwise)], _NOTIFY
        ),
    ]


def _build_socket_rule() -> Program:
    """Allow UNIX, INET and INET6 stream, datagram and sequenced sockets; the supervisor refuses others."""
    protocols = [load_low(2), *build_membership_jump(PLAIN_PROTOCOLS, _ALLOW, _NOTIFY)]
    types = [load_low(1), Instruction(AND, 0xF), *build_membership_jump(PLAIN_TYPES, protocols, _NOTIFY)]
    return [load_low(0), *build_membership_jump((_AF_UNIX, _AF_INET, _AF_INET6), types, _OTHER_FAMILY)]


def _build_inner_socket_rule() -> Program:
    """Show every internet socket, and allow no unix socket that can be sent anywhere."""
    return [load_low(0), *build_membership_jump((_AF_UNIX,), _build_pair_rule(), _OTHER_FAMILY)]


# libc queries netlink for interfaces and copes without; refusing it is no news
_OTHER_FAMILY = build_membership_jump((_AF_NETLINK,), _NO_FAMILY, _NOTIFY)


def _build_option_rule(of_the_internet: Program, of_sockets: Mapping[int, Program]) -> Program:
    """Build a verdict for the levels of the internet, and one for each of these options of any socket."""
    options = _ALLOW
    for option, verdict in of_sockets.items():
        options = build_membership_jump((option,), verdict, options)
    of_any = build_membership_jump((_SOL_SOCKET,), [load_low(2), *options], _ALLOW)
    return [load_low(1), *build_membership_jump(_INTERNET_LEVELS, of_the_internet, of_any)]


def _build_pair_rule() -> Program:
    """Allow connected sockets only: a datagram may bear any address."""
    return [
        load_low(1),
        Instruction(AND, 0xF),
        *build_membership_jump((_SOCK_STREAM, _SOCK_SEQPACKET), _ALLOW, _NO_PROTOCOL),
    ]


def _build_address_rule() -> Program:
    """Allow a null address: `sendto` is then a plain send on a connected socket, `recvfrom` a `recv`."""
    return _build_null_test(4, _ALLOW, _NOTIFY)


def _build_large_mapping_test(argument: int) -> Program:
    low_half = [load_low(argument), *build_membership_jump((LARGE_MAPPING_BYTES,), _NOTIFY, _ALLOW, jump=JGE)]
    return [load_high(argument), *build_membership_jump((0,), low_half, _NOTIFY)]


def _build_request_rule(refused: Sequence[int]) -> Program:
    """Test the request of a device or a file, by number."""
    return [
        load_low(1),
        *build_membership_jump(_FILE_ATTRIBUTES, _NOTIFY, build_membership_jump(refused, _REFUSE, _ALLOW)),
    ]


def _build_network_request_rule(refused: Sequence[int]) -> Program:
    """Test as `_build_request_rule`, and show what is requested of the network, which is the machine's."""
    other = _build_request_rule(refused)
    first, beyond = NETWORK_REQUESTS.start, NETWORK_REQUESTS.stop
    within = [load_low(1), *build_membership_jump((beyond,), other, _NOTIFY, jump=JGE)]
    return [load_low(1), *build_membership_jump((first,), within, other, jump=JGE)]


def _build_device_node_test(mode_argument: int) -> Program:
    return [
        load_low(mode_argument),
        Instruction(AND, _S_IFMT),
        *build_membership_jump((_S_IFCHR, _S_IFBLK), _NOTIFY, _ALLOW),
    ]


def _build_unchanged_ids_test(count: int, uid: int) -> Program:
    program = _ALLOW
    for argument in reversed(range(count)):
        program = [load_low(argument), *build_membership_jump((uid, 0xFFFFFFFF), program, _NOTIFY)]
    return program
