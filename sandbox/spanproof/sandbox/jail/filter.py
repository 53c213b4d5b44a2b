"""The seccomp program: from the rules by name to BPF bytes.

In: an architecture and the guest's user id. Out: the program, and with it the promise that every call is
either allowed, fails with a fixed errno, or is handed to the slot; nothing is killed, so that each refusal
is a fact the slot has seen. Calls are found by binary search over ranges of numbers: installing a filter
makes the kernel run it once for every number, so a linear chain costs milliseconds.
"""

from __future__ import annotations

import errno
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from spanproof.sandbox.jail.arch import Arch
from spanproof.sandbox.jail.rules import ALLOWED, REFUSED, UNBOUNDED, WATCHED

RET_ALLOW = 0x7FFF0000
RET_NOTIFY = 0x7FC00000
RET_ENOSYS = 0x00050000 | errno.ENOSYS
RET_EPERM = 0x00050000 | errno.EPERM
_RET_NO_FAMILY = 0x00050000 | errno.EAFNOSUPPORT
_RET_DONE = 0x00050000
_INTERNET_LEVELS = (0, 6, 17, 41)  # IP, TCP, UDP, IPv6
_SOL_SOCKET, _SO_PASSPIDFD, _SO_PEERPIDFD = 1, 76, 77
_RET_NO_OPTION = 0x00050000 | errno.ENOPROTOOPT
_RET_NO_PROTOCOL = 0x00050000 | errno.EPROTONOSUPPORT

_FOR_THE_KERNEL = WATCHED | {"mmap", "mremap", "prctl", "sendto"}
"""Calls shown to be noted, measured or answered, and not to be refused."""

SEEDED = frozenset(("getrandom",))
"""What the slot answers where a program's chance is to repeat."""

LARGE_MAPPING_BYTES = 64 * 1024 * 1024
"""Writable mappings from this size on are shown to the slot, which knows the program's memory limit."""

_LD_ABS, _JEQ, _JGE, _JSET, _JA, _RET, _AND = 0x20, 0x15, 0x35, 0x45, 0x05, 0x06, 0x54
_OFFSET_NR, _OFFSET_ARCH, _OFFSET_ARGS = 0, 4, 16
_X32_BIT = 0x40000000

OUTWARD_FLAGS = 0x7E020000 | 0x8000
"""Of `clone`: new namespaces; and CLONE_PARENT, for a child that is a sibling, so that no slot reaps it."""
_AF_UNIX, _AF_INET, _AF_INET6, _AF_NETLINK = 1, 2, 10, 16
PLAIN_TYPES = (1, 2, 5)  # STREAM, DGRAM, SEQPACKET
PLAIN_PROTOCOLS = (0, 6, 17)
_PR_SET_DUMPABLE = 4
_TIOCSTI, _TIOCLINUX = 0x5412, 0x541C
_FIOSETOWN, _SIOCSPGRP = 0x8901, 0x8902
_F_SETOWN, _F_SETOWN_EX = 8, 15
_RLIMIT_NPROC = 6
_SOCK_STREAM, _SOCK_SEQPACKET = 1, 5
_PROT_WRITE = 2
_S_IFMT, _S_IFCHR, _S_IFBLK = 0o170000, 0o020000, 0o060000
_SLOT_PID = 1
_ON_A_PROCESS = (
    "kill",
    "tgkill",
    "tkill",
    "prlimit64",
    "sched_setaffinity",
    "sched_setattr",
    "sched_setparam",
    "sched_setscheduler",
)
"""Calls on a process named by their first argument: the slot shares the guest's user id, so the kernel alone
would let a guest slow it down."""
# PDEATHSIG (1, 2), DUMPABLE (get, 3), NAME (15, 16), SECCOMP (get, 21), CAPBSET_READ, TIMERSLACK, subreaper,
# NO_NEW_PRIVS, THP_DISABLE, and PR_SET_VMA, with which allocators name their memory
_HARMLESS_PRCTL = (1, 2, 3, 15, 16, 21, 23, 29, 30, 36, 37, 38, 39, 41, 42, 0x53564D41)


@dataclass(frozen=True, slots=True)
class _Instruction:
    code: int
    k: int
    jump_true: int = 0
    jump_false: int = 0

    def packed(self) -> bytes:
        return struct.pack("=HBBI", self.code, self.jump_true, self.jump_false, self.k & 0xFFFFFFFF)


_Program = list[_Instruction]


def compile_filter(
    arch: Arch,
    uid: int,
    answered: frozenset[str] = frozenset(),
    *,
    namespaced: bool = True,
    shown: frozenset[str] = frozenset(),
) -> bytes:
    """The program for one architecture.

    Args:
        arch: whose numbers the filter holds; calls of any other are handed to the slot, which refuses.
        uid: the guest's user and group id: setting it again is no attempt.
        answered: allowed calls that the slot answers in the kernel's place.
        namespaced: whether namespaces bound what a call on another process, a socket or a file of the same
            user reaches; where they do not, the slot is shown those calls too.
        shown: calls that the slot is shown whatever their arguments.
    """
    head = [
        _Instruction(_LD_ABS, _OFFSET_ARCH),
        _Instruction(_JEQ, arch.audit, 1, 0),
        _Instruction(_RET, RET_NOTIFY),
        _Instruction(_LD_ABS, _OFFSET_NR),
        _Instruction(_JGE, _X32_BIT, 0, 1),
        _Instruction(_RET, RET_NOTIFY),
    ]
    return _packed(head + _search(_ranges(_actions(arch, uid, answered, namespaced, shown))))


def compile_untold(arch: Arch, uid: int) -> bytes:
    """The program for a kernel that does not notify: what a slot would refuse fails, and nobody is told.

    What it would judge by a path, an address or a size goes through: another wall must bound that.
    """
    actions = _actions(arch, uid, frozenset(), namespaced=True, shown=frozenset())
    names = {number: name for name, number in arch.numbers.items()}
    settled = {
        number: _settled(action, RET_ALLOW if names[number] in _FOR_THE_KERNEL else RET_EPERM)
        for number, action in actions.items()
    }
    head = [
        _Instruction(_LD_ABS, _OFFSET_ARCH),
        _Instruction(_JEQ, arch.audit, 1, 0),
        _Instruction(_RET, RET_ENOSYS),
        _Instruction(_LD_ABS, _OFFSET_NR),
    ]
    return _packed(head + _search(_ranges(settled)))


def _settled(action: _Program, verdict: int) -> _Program:
    """With a verdict in the place of the slot's."""
    asked = _end(RET_NOTIFY)
    return [_end(verdict) if instruction == asked else instruction for instruction in action]


def _packed(program: _Program) -> bytes:
    if len(program) > 4096:  # BPF_MAXINSNS
        raise ValueError(f"the seccomp program has {len(program)} instructions, the kernel takes 4096")
    return b"".join(instruction.packed() for instruction in program)


def _actions(
    arch: Arch, uid: int, answered: frozenset[str], namespaced: bool, shown: frozenset[str]
) -> dict[int, _Program]:
    actions: dict[int, _Program] = {}
    for names, verdict in ((ALLOWED - answered, RET_ALLOW), (WATCHED | REFUSED | answered, RET_NOTIFY)):
        for name in names:
            if name in arch.numbers:
                actions[arch.numbers[name]] = [_Instruction(_RET, verdict)]
    rules = _conditional(uid) if namespaced else _conditional(uid) | _without_namespaces()
    rules |= dict.fromkeys(shown, lambda: [_end(RET_NOTIFY)])
    for name, rule in rules.items():
        if name in arch.numbers:
            actions[arch.numbers[name]] = rule()
    return actions


def _ranges(actions: dict[int, _Program]) -> list[tuple[int, _Program]]:
    """Starts of runs of numbers that share an action, ascending; what no rule names is ENOSYS."""
    unknown = [_Instruction(_RET, RET_ENOSYS)]
    ranges: list[tuple[int, _Program]] = []
    for number in range(max(actions) + 2):
        action = actions.get(number, unknown)
        if not ranges or ranges[-1][1] != action:
            ranges.append((number, action))
    return ranges


def _search(ranges: Sequence[tuple[int, _Program]]) -> _Program:
    if len(ranges) == 1:
        return list(ranges[0][1])
    middle = len(ranges) // 2
    low, high = _search(ranges[:middle]), _search(ranges[middle:])
    if len(low) <= 255:
        return [_Instruction(_JGE, ranges[middle][0], len(low), 0), *low, *high]
    return [_Instruction(_JGE, ranges[middle][0], 0, 1), _Instruction(_JA, len(low)), *low, *high]


def _conditional(uid: int) -> dict[str, Callable[[], _Program]]:
    def same_ids(count: int) -> Callable[[], _Program]:
        return lambda: _ids_unchanged(count, uid)

    return {
        "clone": lambda: _any_bit(0, OUTWARD_FLAGS, RET_NOTIFY, RET_ALLOW),
        "socket": _socket,
        **dict.fromkeys(_ON_A_PROCESS, _not_on_the_slot),
        "setpriority": lambda: _one_process(which=0),
        "ioprio_set": lambda: _one_process(which=1),
        "prctl": _process_control,
        "ioctl": lambda: _one_of(1, (_TIOCSTI, _TIOCLINUX), RET_EPERM, RET_ALLOW),
        "personality": lambda: _one_of(0, (0xFFFFFFFF,), RET_ALLOW, RET_EPERM),
        "sendto": _with_address,
        "mmap": lambda: _large_writable(length_argument=1, protection_argument=2),
        "mremap": lambda: _large(2),
        "mknod": lambda: _device_node(1),
        "mknodat": lambda: _device_node(2),
        "setuid": same_ids(1),
        "setgid": same_ids(1),
        "setreuid": same_ids(2),
        "setregid": same_ids(2),
        "setresuid": same_ids(3),
        "setresgid": same_ids(3),
    }


def _without_namespaces() -> dict[str, Callable[[], _Program]]:
    """Where the slot is no PID 1, the network is the machine's, and files of the same user are in sight."""
    return {
        **dict.fromkeys(UNBOUNDED, lambda: [_end(RET_NOTIFY)]),
        **dict.fromkeys(_ON_A_PROCESS, _not_on_oneself),
        "setrlimit": lambda: _one_of(0, (_RLIMIT_NPROC,), RET_EPERM, RET_ALLOW),
        "prlimit64": _no_new_bound_of_processes,
        "socket": _socket_inside,
        "socketpair": lambda: _pair(1),
        "fcntl": lambda: _one_of(1, (_F_SETOWN, _F_SETOWN_EX), RET_EPERM, RET_ALLOW),
        "ioctl": lambda: _one_of(1, (_TIOCSTI, _TIOCLINUX, _FIOSETOWN, _SIOCSPGRP), RET_EPERM, RET_ALLOW),
        # Options of an internet socket have no meaning for what stands in its place: they hold, to no effect.
        "setsockopt": lambda: _option(_RET_DONE, _SO_PASSPIDFD),
        "getsockopt": lambda: _option(RET_NOTIFY, _SO_PEERPIDFD),
        **dict.fromkeys(("getpeername", "getsockname", "recvmsg"), lambda: [_end(RET_NOTIFY)]),
        "recvfrom": _with_address,
        "setpriority": lambda: _of_oneself(which=0),
        "ioprio_set": lambda: _of_oneself(which=1),
    }


def _low(argument: int) -> _Instruction:
    return _Instruction(_LD_ABS, _OFFSET_ARGS + 8 * argument)


def _high(argument: int) -> _Instruction:
    return _Instruction(_LD_ABS, _OFFSET_ARGS + 8 * argument + 4)


def _end(verdict: int) -> _Instruction:
    return _Instruction(_RET, verdict)


def _one_of(argument: int, values: Sequence[int], then: int, otherwise: int) -> _Program:
    """Compares the low half only: the kernel takes these arguments as 32-bit integers."""
    tests = [_Instruction(_JEQ, value, len(values) - index, 0) for index, value in enumerate(values)]
    return [_low(argument), *tests, _end(otherwise), _end(then)]


def _any_bit(argument: int, mask: int, then: int, otherwise: int) -> _Program:
    return [_low(argument), _Instruction(_JSET, mask, 1, 0), _end(otherwise), _end(then)]


def _not_on_the_slot() -> _Program:
    return _one_of(0, (_SLOT_PID,), RET_NOTIFY, RET_ALLOW)


def _not_on_oneself() -> _Program:
    """Zero is the caller, or its process group, in which there are none but the guest's."""
    return _one_of(0, (0,), RET_ALLOW, RET_NOTIFY)


def _no_new_bound_of_processes() -> _Program:
    """The slot moves that bound below what is allowed at most; nobody else does."""
    return [
        _low(1),
        _Instruction(_JEQ, _RLIMIT_NPROC, 0, 5),
        _low(2),
        _Instruction(_JEQ, 0, 0, 2),
        _high(2),
        _Instruction(_JEQ, 0, 1, 0),
        _end(RET_EPERM),
        *_not_on_oneself(),
    ]


def _of_oneself(which: int) -> _Program:
    return [
        _low(0),
        _Instruction(_JEQ, which, 0, 2),
        _low(1),
        _Instruction(_JEQ, 0, 1, 0),
        _end(RET_NOTIFY),
        _end(RET_ALLOW),
    ]


def _socket_inside() -> _Program:
    """As `_socket`, with every internet socket shown, and no unix socket that can be sent anywhere."""
    pair = _pair(1)
    inside = [_low(0), _Instruction(_JEQ, _AF_UNIX, 0, len(pair)), *pair]
    return [*inside, _Instruction(_JEQ, _AF_NETLINK, 0, 1), _end(_RET_NO_FAMILY), _end(RET_NOTIFY)]


def _option(of_the_internet: int, pidfd: int) -> _Program:
    """No descriptor of the process at the other end, which is the slot's for some: signals go by it."""
    last = len(_INTERNET_LEVELS) + 4
    levels = [_Instruction(_JEQ, level, last - index, 0) for index, level in enumerate(_INTERNET_LEVELS)]
    return [
        _low(1),
        *levels,
        _Instruction(_JEQ, _SOL_SOCKET, 0, 3),
        _low(2),
        _Instruction(_JEQ, pidfd, 0, 1),
        _end(_RET_NO_OPTION),
        _end(RET_ALLOW),
        _end(of_the_internet),
    ]


def _pair(type_argument: int) -> _Program:
    """Connected sockets only: a datagram may bear any address."""
    return [
        _low(type_argument),
        _Instruction(_AND, 0xF),
        *_membership((_SOCK_STREAM, _SOCK_SEQPACKET)),
        _end(_RET_NO_PROTOCOL),
        _end(RET_ALLOW),
    ]


def _process_control() -> _Program:
    """Hiding from the slot is the slot's to allow."""
    hides = [_low(0), _Instruction(_JEQ, _PR_SET_DUMPABLE, 0, 1), _end(RET_NOTIFY)]
    return [*hides, *_one_of(0, _HARMLESS_PRCTL, RET_ALLOW, RET_EPERM)]


def _one_process(which: int) -> _Program:
    """On one process that is not the slot; groups and users would take it in."""
    return [
        _low(0),
        _Instruction(_JEQ, which, 0, 2),
        _low(1),
        _Instruction(_JEQ, _SLOT_PID, 0, 1),
        _end(RET_NOTIFY),
        _end(RET_ALLOW),
    ]


def _socket() -> _Program:
    """UNIX, INET and INET6 stream, datagram and sequenced sockets; others are told apart by the slot."""
    refuse_family = [
        _low(0),
        _Instruction(_JEQ, _AF_NETLINK, 0, 1),
        # libc asks netlink for interfaces and copes without; refusing it is no news
        _end(_RET_NO_FAMILY),
        _end(RET_NOTIFY),
    ]
    protocols = [_low(2), *_membership(PLAIN_PROTOCOLS), _end(RET_NOTIFY), _end(RET_ALLOW)]
    types = [
        _low(1),
        _Instruction(_AND, 0xF),
        *_membership(PLAIN_TYPES),
        _end(RET_NOTIFY),
        *protocols,
    ]
    families = [_low(0)]
    known = (_AF_UNIX, _AF_INET, _AF_INET6)
    families += [
        _Instruction(_JEQ, family, len(known) - index - 1 + len(refuse_family), 0)
        for index, family in enumerate(known)
    ]
    return [*families, *refuse_family, *types]


def _membership(values: Sequence[int]) -> _Program:
    """Jumps over the one instruction that follows when the accumulator is one of the values."""
    return [_Instruction(_JEQ, value, len(values) - index, 0) for index, value in enumerate(values)]


def _with_address() -> _Program:
    """`sendto` with a null address is a plain send on a connected socket, and `recvfrom` a plain `recv`."""
    return [
        _low(4),
        _Instruction(_JEQ, 0, 0, 2),
        _high(4),
        _Instruction(_JEQ, 0, 1, 0),
        _end(RET_NOTIFY),
        _end(RET_ALLOW),
    ]


def _large_writable(length_argument: int, protection_argument: int) -> _Program:
    size = _large(length_argument)
    return [
        _low(protection_argument),
        _Instruction(_JSET, _PROT_WRITE, 1, 0),
        _end(RET_ALLOW),
        *size,
    ]


def _large(argument: int) -> _Program:
    return [
        _high(argument),
        _Instruction(_JEQ, 0, 0, 2),
        _low(argument),
        _Instruction(_JGE, LARGE_MAPPING_BYTES, 0, 1),
        _end(RET_NOTIFY),
        _end(RET_ALLOW),
    ]


def _device_node(mode_argument: int) -> _Program:
    return [
        _low(mode_argument),
        _Instruction(_AND, _S_IFMT),
        _Instruction(_JEQ, _S_IFCHR, 2, 0),
        _Instruction(_JEQ, _S_IFBLK, 1, 0),
        _end(RET_ALLOW),
        _end(RET_NOTIFY),
    ]


def _ids_unchanged(count: int, uid: int) -> _Program:
    program: _Program = []
    for argument in range(count):
        program += [
            _low(argument),
            _Instruction(_JEQ, uid, 2, 0),
            _Instruction(_JEQ, 0xFFFFFFFF, 1, 0),
            _end(RET_NOTIFY),
        ]
    return [*program, _end(RET_ALLOW)]
