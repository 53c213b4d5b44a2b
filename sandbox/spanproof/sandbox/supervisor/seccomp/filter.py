"""The seccomp program: from the rules by name to bytes.

In: an architecture and the guest's user id. Out: the program, and with it the promise that every call is
either allowed, fails with a fixed errno, or is handed to the supervisor; nothing is killed, so that each
refusal is a fact the supervisor has seen. Calls are found by binary search over ranges of numbers: installing
a filter makes the kernel run it once for every number, so a linear chain costs milliseconds.
"""

from __future__ import annotations

from collections.abc import Sequence

from spanproof.sandbox.supervisor.seccomp.bpf import (
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
    build_verdict,
    encode_program,
)
from spanproof.sandbox.supervisor.seccomp.conditions import (
    build_conditional_rules,
    build_device_rules,
    build_step_rules,
    build_unnamespaced_rules,
)
from spanproof.sandbox.supervisor.seccomp.rules import ALLOWED, FORKS, REFUSED, WATCHED
from spanproof.sandbox.supervisor.seccomp.syscalls import Arch

# Calls shown to be noted, measured or answered, and not to be refused.
_FOR_THE_KERNEL = (WATCHED | {"mmap", "mremap", "prctl", "sendto"}) - build_device_rules().keys()

# Shown where a program's chance is to repeat, and where each task belongs to a step of a session.
_OBSERVED = FORKS | {"getrandom"}

_X32_BIT = 0x40000000


def build_filter(
    arch: Arch,
    uid: int,
    *,
    observed: bool = False,
    namespaced: bool = True,
    shown: frozenset[str] = frozenset(),
) -> bytes:
    """Compile the program for one architecture.

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
        build_verdict(RET_NOTIFY),
        NUMBER,
        Instruction(JGE, _X32_BIT, 0, 1),
        build_verdict(RET_NOTIFY),
    ]
    return encode_program(
        head + _build_search(_list_ranges(_group_actions(arch, uid, observed, namespaced, shown)))
    )


def build_silent_filter(arch: Arch, uid: int) -> bytes:
    """Compile the program for a kernel that does not notify: what would be refused fails unrecorded.

    What it would judge by a path, an address or a size goes through: another wall must bound that.
    """
    actions = _group_actions(arch, uid, observed=False, namespaced=True, shown=frozenset())
    actions |= {
        arch.numbers[name]: rule for name, rule in build_device_rules().items() if name in arch.numbers
    }
    names = {number: name for name, number in arch.numbers.items()}
    settled = {
        number: _build_silent_action(action, RET_ALLOW if names[number] in _FOR_THE_KERNEL else RET_EPERM)
        for number, action in actions.items()
    }
    head = [ARCHITECTURE, Instruction(JEQ, arch.audit, 1, 0), build_verdict(RET_ENOSYS), NUMBER]
    return encode_program(head + _build_search(_list_ranges(settled)))


def _build_silent_action(action: Program, verdict: int) -> Program:
    """Put a verdict in the place of the supervisor's."""
    notified = build_verdict(RET_NOTIFY)
    return [build_verdict(verdict) if instruction == notified else instruction for instruction in action]


def _group_actions(
    arch: Arch, uid: int, observed: bool, namespaced: bool, shown: frozenset[str]
) -> dict[int, Program]:
    actions: dict[int, Program] = {}
    for names, verdict in ((ALLOWED, RET_ALLOW), (WATCHED | REFUSED, RET_NOTIFY)):
        for name in names:
            if name in arch.numbers:
                actions[arch.numbers[name]] = [build_verdict(verdict)]
    rules = build_conditional_rules(uid) | ({} if namespaced else build_unnamespaced_rules())
    if observed:
        shown |= _OBSERVED
        rules |= build_step_rules()
    rules |= {name: [build_verdict(RET_NOTIFY)] for name in shown}
    actions |= {arch.numbers[name]: rule for name, rule in rules.items() if name in arch.numbers}
    return actions


def _list_ranges(actions: dict[int, Program]) -> list[tuple[int, Program]]:
    """Return starts of runs of numbers that share an action, ascending; what no rule names is ENOSYS."""
    unknown = [build_verdict(RET_ENOSYS)]
    ranges: list[tuple[int, Program]] = []
    for number in range(max(actions) + 2):
        action = actions.get(number, unknown)
        if not ranges or ranges[-1][1] != action:
            ranges.append((number, action))
    return ranges


def _build_search(ranges: Sequence[tuple[int, Program]]) -> Program:
    if len(ranges) == 1:
        return list(ranges[0][1])
    middle = len(ranges) // 2
    low, high = _build_search(ranges[:middle]), _build_search(ranges[middle:])
    if len(low) <= 255:
        return [Instruction(JGE, ranges[middle][0], len(low), 0), *low, *high]
    return [Instruction(JGE, ranges[middle][0], 0, 1), Instruction(JA, len(low)), *low, *high]
