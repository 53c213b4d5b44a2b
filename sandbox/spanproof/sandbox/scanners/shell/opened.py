"""What programs open by themselves: sockets of their daemons, hosts that they query for a newer version.

In: a policy, the programs that ran, and a target. Out: whether an allowed program opens it by itself.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from spanproof.sandbox.policy import Policy
from spanproof.sandbox.scanners.catalogue import read_sections

_OPENS: Final = {
    program: tuple(targets.split()) for program, targets in read_sections("shell")["opens"].items()
}


def is_opened_by_allowed(policy: Policy, programs: Iterable[str], target: str) -> bool:
    """Whether one of the programs that ran opens a target by itself, and the policy allows the program.

    Args:
        policy: whose `allowed_commands` count.
        programs: names of those that ran, without folders.
        target: an absolute path, a host without its port, or the name of a system call.
    """
    allowed = {pattern.split()[0] for pattern in policy.allowed_commands}
    return any(
        target == opened or target.startswith(f"{opened}/")
        for program in allowed.intersection(programs)
        for opened in _OPENS.get(program, ())
    )
