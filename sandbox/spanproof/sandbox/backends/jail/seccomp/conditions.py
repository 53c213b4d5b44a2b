"""Calls whose arguments decide: for each, the piece of the seccomp program that separates its uses.

In: the guest's user id. Out: by a call's name, what makes its piece. A piece sees the arguments' values and
never the memory behind them: what a pointer points to is the supervisor's to find out.
"""

from __future__ import annotations

import errno
from collections.abc import Callable, Mapping, Sequence

from spanproof.sandbox.backends.jail.seccomp.bpf import (
    AND,
    JEQ,
    JGE,
    JSET,
    RET_ALLOW,
    RET_EPERM,
    RET_ERRNO,
    RET_NOTIFY,
    Instruction,
    Program,
    any_bit,
    end,
    high,
    low,
    membership,
    one_of,
)
from spanproof.sandbox.guest.reporter import STEPS_FD

_RET_DONE = RET_ERRNO
_RET_NO_FAMILY = RET_ERRNO | errno.EAFNOSUPPORT
_RET_NO_OPTION = RET_ERRNO | errno.ENOPROTOOPT
_RET_NO_PROTOCOL = RET_ERRNO | errno.EPROTONOSUPPORT

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
_FILE_ATTRIBUTES = (0x40086602, 0x40046602, 0x401C5820)
"""FS_IOC_SETFLAGS of 64 and of 32 bits, and FS_IOC_FSSETXATTR, which a file's owner may, opened to read."""
_F_SETOWN, _F_SETOWN_EX = 8, 15
_SHARED_FILE_COMMANDS = (1024, 1026, 1031)
"""F_SETLEASE and F_NOTIFY reach others that have a file; for F_SETPIPE_SZ the kernel holds more."""
_RLIMIT_CORE, _RLIMIT_NPROC = 4, 6
_SOCK_STREAM, _SOCK_SEQPACKET = 1, 5
_INTERNET_LEVELS = (0, 6, 17, 41)  # IP, TCP, UDP, IPv6
_SOL_SOCKET, _SO_PASSPIDFD, _SO_PEERPIDFD = 1, 76, 77
_BUFFER_SIZES = dict.fromkeys((7, 8, 32, 33), _RET_DONE)
"""SO_SNDBUF, SO_RCVBUF and their FORCE: without effect, so that the kernel's own sizes bound a socket."""
_PROT_WRITE = 2
_S_IFMT, _S_IFCHR, _S_IFBLK = 0o170000, 0o020000, 0o060000
_SUPERVISOR_PID = 1
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
"""Calls on a process named by their first argument: the supervisor shares the guest's user id, so the kernel
alone would let a guest slow it down."""
# PDEATHSIG (1, 2), DUMPABLE (get, 3), NAME (15, 16), SECCOMP (get, 21), CAPBSET_READ, TIMERSLACK, subreaper,
# NO_NEW_PRIVS, THP_DISABLE, and PR_SET_VMA, with which allocators name their memory
_HARMLESS_PRCTL = (1, 2, 3, 15, 16, 21, 23, 29, 30, 36, 37, 38, 39, 41, 42, 0x53564D41)


def conditional(uid: int) -> dict[str, Callable[[], Program]]:
    """The calls whose arguments decide on every tier."""

    def same_ids(count: int) -> Callable[[], Program]:
        return lambda: _ids_unchanged(count, uid)

    return {
        "clone": lambda: any_bit(0, OUTWARD_FLAGS, RET_NOTIFY, RET_ALLOW),
        "socket": _socket,
        **dict.fromkeys(_ON_A_PROCESS, _not_on_the_supervisor),
        "setpriority": lambda: _one_process(which=0),
        "ioprio_set": lambda: _one_process(which=1),
        "prlimit64": lambda: _limit_stays(_RLIMIT_CORE, _RET_DONE, _not_on_the_supervisor()),
        "setrlimit": lambda: _no_core_limit(RET_ALLOW),
        # They would write back what everyone on the machine has changed; a program's own files have no disk.
        **dict.fromkeys(("sync", "syncfs"), lambda: [end(_RET_DONE)]),
        "prctl": _process_control,
        "fcntl": lambda: one_of(1, _SHARED_FILE_COMMANDS, RET_EPERM, RET_ALLOW),
        "ioctl": lambda: _request((_TIOCSTI, _TIOCLINUX)),
        "setsockopt": lambda: _option(RET_ALLOW, _BUFFER_SIZES),
        "personality": lambda: one_of(0, (0xFFFFFFFF,), RET_ALLOW, RET_EPERM),
        "sendto": _with_address,
        "mmap": lambda: _large_writable(length_argument=1, protection_argument=2),
        "mremap": lambda: _large(2),
        "setuid": same_ids(1),
        "setgid": same_ids(1),
        "setreuid": same_ids(2),
        "setregid": same_ids(2),
        "setresuid": same_ids(3),
        "setresgid": same_ids(3),
    }


def devices_refused() -> dict[str, Callable[[], Program]]:
    """More, where no path is judged: a node may be made that is no device."""
    return {"mknod": lambda: _device_node(1), "mknodat": lambda: _device_node(2)}


def for_steps() -> dict[str, Callable[[], Program]]:
    """More: what a session's steps and reports travel by."""
    return dict.fromkeys(("read", "write"), lambda: one_of(0, (STEPS_FD,), RET_NOTIFY, RET_ALLOW))


def without_namespaces() -> dict[str, Callable[[], Program]]:
    """More: the supervisor is no PID 1, and the machine's network and files of its user are visible."""
    return {
        **dict.fromkeys(_ON_A_PROCESS, _not_on_oneself),
        "setrlimit": lambda: _no_core_limit(RET_EPERM),
        # The supervisor moves the bound of processes below what is allowed at most; no other process does.
        "prlimit64": lambda: _limit_stays(
            _RLIMIT_CORE, _RET_DONE, _limit_stays(_RLIMIT_NPROC, RET_EPERM, _not_on_oneself())
        ),
        "socket": _socket_inside,
        "socketpair": lambda: _pair(1),
        "fcntl": lambda: one_of(1, (_F_SETOWN, _F_SETOWN_EX, *_SHARED_FILE_COMMANDS), RET_EPERM, RET_ALLOW),
        "ioctl": lambda: _request((_TIOCSTI, _TIOCLINUX, _FIOSETOWN, _SIOCSPGRP)),
        # Options of an internet socket have no meaning for what replaces it: they hold, to no effect.
        # No descriptor of the process at the other end, which is the supervisor's for some: signals go by it.
        "setsockopt": lambda: _option(_RET_DONE, {**_BUFFER_SIZES, _SO_PASSPIDFD: _RET_NO_OPTION}),
        "getsockopt": lambda: _option(RET_NOTIFY, {_SO_PEERPIDFD: _RET_NO_OPTION}),
        **dict.fromkeys(("getpeername", "getsockname", "recvmsg"), lambda: [end(RET_NOTIFY)]),
        "recvfrom": _with_address,
        "setpriority": lambda: _of_oneself(which=0),
        "ioprio_set": lambda: _of_oneself(which=1),
        # Where the kernel shares out the processor by session, no program has the room of dozens.
        "setsid": lambda: [end(RET_NOTIFY)],
    }


def _not_on_the_supervisor() -> Program:
    return one_of(0, (_SUPERVISOR_PID,), RET_NOTIFY, RET_ALLOW)


def _not_on_oneself() -> Program:
    """Zero is the caller, or its process group, in which there are none but the guest's."""
    return one_of(0, (0,), RET_ALLOW, RET_NOTIFY)


def _limit_stays(limit: int, verdict: int, other: Program) -> Program:
    """Of `prlimit64`: a verdict for a new value of this limit; the other program for the rest."""
    return [
        low(1),
        Instruction(JEQ, limit, 0, 5),
        low(2),
        Instruction(JEQ, 0, 0, 2),
        high(2),
        Instruction(JEQ, 0, 1, 0),
        end(verdict),
        *other,
    ]


def _no_core_limit(processes: int) -> Program:
    """Of `setrlimit`: the limit of core files stays as it is (`Bounds.apply`); a verdict for processes."""
    stays = [low(0), Instruction(JEQ, _RLIMIT_CORE, 0, 1), end(_RET_DONE)]
    return [*stays, *one_of(0, (_RLIMIT_NPROC,), processes, RET_ALLOW)]


def _of_oneself(which: int) -> Program:
    return [
        low(0),
        Instruction(JEQ, which, 0, 2),
        low(1),
        Instruction(JEQ, 0, 1, 0),
        end(RET_NOTIFY),
        end(RET_ALLOW),
    ]


def _one_process(which: int) -> Program:
    """On one process that is not the supervisor; groups and users would take it in."""
    return [
        low(0),
        Instruction(JEQ, which, 0, 2),
        low(1),
        Instruction(JEQ, _SUPERVISOR_PID, 0, 1),
        end(RET_NOTIFY),
        end(RET_ALLOW),
    ]


def _process_control() -> Program:
    """Hiding from the supervisor is the supervisor's to allow."""
    hides = [low(0), Instruction(JEQ, _PR_SET_DUMPABLE, 0, 1), end(RET_NOTIFY)]
    return [*hides, *one_of(0, _HARMLESS_PRCTL, RET_ALLOW, RET_EPERM)]


def _socket() -> Program:
    """UNIX, INET and INET6 stream, datagram and sequenced sockets; the supervisor refuses others."""
    refuse_family = [
        low(0),
        Instruction(JEQ, _AF_NETLINK, 0, 1),
        # libc queries netlink for interfaces and copes without; refusing it is no news
        end(_RET_NO_FAMILY),
        end(RET_NOTIFY),
    ]
    protocols = [low(2), *membership(PLAIN_PROTOCOLS), end(RET_NOTIFY), end(RET_ALLOW)]
    types = [
        low(1),
        Instruction(AND, 0xF),
        *membership(PLAIN_TYPES),
        end(RET_NOTIFY),
        *protocols,
    ]
    families = [low(0)]
    known = (_AF_UNIX, _AF_INET, _AF_INET6)
    families += [
        Instruction(JEQ, family, len(known) - index - 1 + len(refuse_family), 0)
        for index, family in enumerate(known)
    ]
    return [*families, *refuse_family, *types]


def _socket_inside() -> Program:
    """As `_socket`, with every internet socket shown, and no unix socket that can be sent anywhere."""
    pair = _pair(1)
    inside = [low(0), Instruction(JEQ, _AF_UNIX, 0, len(pair)), *pair]
    return [*inside, Instruction(JEQ, _AF_NETLINK, 0, 1), end(_RET_NO_FAMILY), end(RET_NOTIFY)]


def _option(of_the_internet: int, of_sockets: Mapping[int, int]) -> Program:
    """A verdict for the levels of the internet, and one for each of these options of any socket."""
    options = [
        step
        for option, verdict in of_sockets.items()
        for step in (Instruction(JEQ, option, 0, 1), end(verdict))
    ]
    last = len(_INTERNET_LEVELS) + len(options) + 2
    levels = [Instruction(JEQ, level, last - index, 0) for index, level in enumerate(_INTERNET_LEVELS)]
    return [
        low(1),
        *levels,
        Instruction(JEQ, _SOL_SOCKET, 0, len(options) + 1),
        low(2),
        *options,
        end(RET_ALLOW),
        end(of_the_internet),
    ]


def _pair(type_argument: int) -> Program:
    """Connected sockets only: a datagram may bear any address."""
    return [
        low(type_argument),
        Instruction(AND, 0xF),
        *membership((_SOCK_STREAM, _SOCK_SEQPACKET)),
        end(_RET_NO_PROTOCOL),
        end(RET_ALLOW),
    ]


def _with_address() -> Program:
    """`sendto` with a null address is a plain send on a connected socket, and `recvfrom` a plain `recv`."""
    return [
        low(4),
        Instruction(JEQ, 0, 0, 2),
        high(4),
        Instruction(JEQ, 0, 1, 0),
        end(RET_NOTIFY),
        end(RET_ALLOW),
    ]


def _large_writable(length_argument: int, protection_argument: int) -> Program:
    size = _large(length_argument)
    return [
        low(protection_argument),
        Instruction(JSET, _PROT_WRITE, 1, 0),
        end(RET_ALLOW),
        *size,
    ]


def _large(argument: int) -> Program:
    return [
        high(argument),
        Instruction(JEQ, 0, 0, 2),
        low(argument),
        Instruction(JGE, LARGE_MAPPING_BYTES, 0, 1),
        end(RET_NOTIFY),
        end(RET_ALLOW),
    ]


def _request(refused: Sequence[int]) -> Program:
    """Of a device or a file, by number."""
    shown = [
        step for request in _FILE_ATTRIBUTES for step in (Instruction(JEQ, request, 0, 1), end(RET_NOTIFY))
    ]
    return [low(1), *shown, *one_of(1, refused, RET_EPERM, RET_ALLOW)]


def _device_node(mode_argument: int) -> Program:
    return [
        low(mode_argument),
        Instruction(AND, _S_IFMT),
        Instruction(JEQ, _S_IFCHR, 2, 0),
        Instruction(JEQ, _S_IFBLK, 1, 0),
        end(RET_ALLOW),
        end(RET_NOTIFY),
    ]


def _ids_unchanged(count: int, uid: int) -> Program:
    program: Program = []
    for argument in range(count):
        program += [
            low(argument),
            Instruction(JEQ, uid, 2, 0),
            Instruction(JEQ, 0xFFFFFFFF, 1, 0),
            end(RET_NOTIFY),
        ]
    return [*program, end(RET_ALLOW)]
