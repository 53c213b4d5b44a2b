"""What a run attempted: each distinct attempt once, in order, and no more of them than can be reported.

In: one attempt at a time, as the watcher sees it. Out: facts, from which the host classes the run.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from spanproof.sandbox.guest.wire import Header

_TARGET_CHARACTERS = 4096
_ATTEMPTS = 1000


@dataclass(slots=True)
class Record:
    """What a run attempted.

    Attributes:
        attempts: (kind, target) to whether it was allowed; a refusal outweighs.
        network_used: whether the network namespace may hold traces of the run.
        memory_refused: bytes of the largest single mapping that was refused.
        dropped: how many attempts were not kept.
        missing: files that were to be read, and are not there.
    """

    attempts: dict[tuple[str, str], bool] = field(default_factory=dict)
    network_used: bool = False
    memory_refused: int = 0
    dropped: int = 0
    missing: set[str] = field(default_factory=set)

    def to_header(self) -> Header:
        """All of it, as the host receives it; of most runs there is nothing."""
        if not self.attempts and not self.memory_refused:
            return {}
        return {
            "attempts": [[kind, target, allowed] for (kind, target), allowed in self.attempts.items()],
            "missing": sorted(self.missing),
            "memory_refused": self.memory_refused,
        }

    def note(self, kind: str, target: str, *, allowed: bool, missing: bool = False) -> None:
        """Keep an attempt; refused and allowed for the same target are two facts only if both happened."""
        key = (kind, target[:_TARGET_CHARACTERS])
        if key in self.attempts:
            self.attempts[key] = self.attempts[key] and allowed
            if not missing:
                self.missing.discard(key[1])
        elif len(self.attempts) < _ATTEMPTS:
            self.attempts[key] = allowed
            if missing:
                self.missing.add(key[1])
        else:
            self.dropped += 1
