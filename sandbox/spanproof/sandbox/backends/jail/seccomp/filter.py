"""The seccomp program: from the rules by name to bytes.

In: an architecture and the guest's user id. Out: the program, and with it the promise that every call is
either allowed, fails with a fixed errno, or is handed to the supervisor; nothing is killed, so that each
refusal is a fact the supervisor has seen. Calls are found by binary search over ranges of numbers: installing
a filter makes the kernel run it once for every number, so a linear chain costs milliseconds.
"""

from __future__ import annotations

from collections.abc import Sequence

from spanproof.sandbox.backends.jail.seccomp.bpf import (
    ARCHITECTURE,
    JA,
    JEQ,
    JGE,
    NUMBER,
    RET_ALLOW,
    RET_ENOSYS,
    RET_EPERM,
    RET_NOTIFY,
    Instruction,
    Program,
    end,
    pack,
)
from spanproof.sandbox.backends.jail.seccomp.conditions import (
    conditional,
    devices_refused,
    for_steps,
    without_namespaces,
)
from spanproof.sandbox.backends.jail.seccomp.rules import ALLOWED, FORKS, REFUSED, WATCHED
from spanproof.sandbox.backends.jail.seccomp.syscalls import Arch

_FOR_THE_KERNEL = (WATCHED | {"mmap", "mremap", "prctl", "sendto"}) - devices_refused().keys()
"""Calls shown to be noted, measured or answered, and not to be refused."""

_OBSERVED = FORKS | {"getrandom"}
"""Shown where a program's chance is to repeat, and where each task belongs to a step of a session."""

_X32_BIT = 0x40000000


def compile_filter(
    arch: Arch,
    uid: int,
    *,
    observed: bool = False,
    namespaced: bool = True,
    shown: frozenset[str] = frozenset(),
) -> bytes:
    """The program for one architecture.

    Args:
        arch: whose numbers the filter holds; calls of any other are handed to the supervisor, which refuses.
        uid: the guest's user and group id: setting it again is no attempt.
        observed: whether the supervisor may have to answer random bytes, and holds the steps of a session.
        namespaced: whether namespaces bound what a call on another process, a socket or a file of the same
            user reaches; where they do not, the supervisor is shown those calls too.
        shown: calls that the supervisor is shown whatever their arguments.
    """
    head = [
        ARCHITECTURE,
        Instruction(JEQ, arch.audit, 1, 0),
        end(RET_NOTIFY),
        NUMBER,
        Instruction(JGE, _X32_BIT, 0, 1),
        end(RET_NOTIFY),
    ]
    return pack(head + _search(_ranges(_actions(arch, uid, observed, namespaced, shown))))


def compile_silent_filter(arch: Arch, uid: int) -> bytes:
    """The program for a kernel that does not notify: what a supervisor would refuse fails unrecorded.

    What it would judge by a path, an address or a size goes through: another wall must bound that.
    """
    actions = _actions(arch, uid, observed=False, namespaced=True, shown=frozenset())
    actions |= {arch.numbers[name]: rule for name, rule in devices_refused().items() if name in arch.numbers}
    names = {number: name for name, number in arch.numbers.items()}
    settled = {
        number: _settled(action, RET_ALLOW if names[number] in _FOR_THE_KERNEL else RET_EPERM)
        for number, action in actions.items()
    }
    head = [
        ARCHITECTURE,
        Instruction(JEQ, arch.audit, 1, 0),
        end(RET_ENOSYS),
        NUMBER,
    ]
    return pack(head + _search(_ranges(settled)))


def _settled(action: Program, verdict: int) -> Program:
    """With a verdict in the place of the supervisor's."""
    notified = end(RET_NOTIFY)
    return [end(verdict) if instruction == notified else instruction for instruction in action]


def _actions(
    arch: Arch, uid: int, observed: bool, namespaced: bool, shown: frozenset[str]
) -> dict[int, Program]:
    actions: dict[int, Program] = {}
    for names, verdict in ((ALLOWED, RET_ALLOW), (WATCHED | REFUSED, RET_NOTIFY)):
        for name in names:
            if name in arch.numbers:
                actions[arch.numbers[name]] = [end(verdict)]
    rules = conditional(uid) if namespaced else conditional(uid) | without_namespaces()
    if observed:
        shown |= _OBSERVED
        rules |= for_steps()
    rules |= {name: [end(RET_NOTIFY)] for name in shown}
    actions |= {arch.numbers[name]: rule for name, rule in rules.items() if name in arch.numbers}
    return actions


def _ranges(actions: dict[int, Program]) -> list[tuple[int, Program]]:
    """Starts of runs of numbers that share an action, ascending; what no rule names is ENOSYS."""
    unknown = [end(RET_ENOSYS)]
    ranges: list[tuple[int, Program]] = []
    for number in range(max(actions) + 2):
        action = actions.get(number, unknown)
        if not ranges or ranges[-1][1] != action:
            ranges.append((number, action))
    return ranges


def _search(ranges: Sequence[tuple[int, Program]]) -> Program:
    if len(ranges) == 1:
        return list(ranges[0][1])
    middle = len(ranges) // 2
    low, high = _search(ranges[:middle]), _search(ranges[middle:])
    if len(low) <= 255:
        return [Instruction(JGE, ranges[middle][0], len(low), 0), *low, *high]
    return [Instruction(JGE, ranges[middle][0], 0, 1), Instruction(JA, len(low)), *low, *high]
