"""Which variables of the run the replay has: what steps that were replayed bound, less what others did.

Takes the names of each step and its outcome; decides whether the next step finds the state it builds on.
A snippet that needs a variable of one that was left out is left out too: its failure would say nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from spanproof.evaluators.replay.names import Names


@dataclass(slots=True)
class State:
    """The variables of a replay at work.

    Attributes:
        bound: what is in the session.
        tools: names that stand for tools, which no step takes away.
    """

    bound: set[str]
    tools: frozenset[str]
    _lost: dict[str, str] = field(default_factory=dict)
    _cut_before: bool = False

    def find_missing(self, names: Names) -> str | None:
        """Return why the state this snippet builds on is not there, None where it is."""
        used = (names.used & self._lost.keys()) - self.bound
        if used:
            name = min(used)
            return f"it depends on {name!r} of an earlier step, and {self._lost[name]}"
        unknown = self.list_unknown(names)
        if self._cut_before and unknown:
            return f"it depends on {min(unknown)!r}, which the cut part of an earlier step may define"
        return None

    def list_unknown(self, names: Names) -> frozenset[str]:
        """Return the names this snippet reads that nothing in the run defines."""
        return names.free - self.bound - self.tools

    def record_bound(self, names: Iterable[str]) -> None:
        """Record the names that a replayed step bound."""
        self.bound.update(names)

    def record_lost(self, names: Names, reason: str, *, cut: bool) -> None:
        """Record a step not replayed to its end: what it bound or may have changed is not as in the run."""
        changed = names.mentioned - self.tools
        self.bound -= changed
        self._lost.update(dict.fromkeys(changed, reason))
        self._cut_before = self._cut_before or cut
