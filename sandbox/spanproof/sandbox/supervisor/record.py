"""What a run attempted: each distinct attempt once, with a count, and none that was refused lost in a flood.

In: one attempt at a time, as the watcher sees it. Out: facts, from which the host classes the run. Attempts
of each kind, refused and allowed ones apart, have room of their own; what finds none is counted in one
entry, and the record says that it is not whole.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from spanproof.sandbox.guest.wire import Header, count_text_bytes

MERGED = "(others)"
"""The target of the entry that counts those for which there was no room."""
_TARGET_CHARACTERS = 4096
# The kind of looks, which have room of their own as attempts of each kind do.
_LOOK = "look"
# Distinct ones of a kind, refused or allowed.
_ATTEMPTS = 1000
# Of their targets, as they travel: all kinds together must stay within a frame.
_TEXT_BYTES = 512 * 1024


@dataclass(slots=True)
class Kept:
    """One distinct attempt: whether each time it was allowed, and how often it was made."""

    allowed: bool
    count: int = 1


@dataclass(slots=True)
class Record:
    """What a run attempted.

    Attributes:
        attempts: by kind and target; a refusal outweighs.
        merged: how many found no room, by kind and whether they were allowed.
        unjudged: calls that could not be judged, and were refused, or went only where namespaces let them.
        network_used: whether the network namespace may hold traces of the run.
        memory_refused: bytes of the largest single mapping that was refused.
        missing: files of sensitive trees that were to be read, and are not there.
        looks: how often was looked for what is not there, by path, outside of sensitive trees.
        left: how many threads and processes were still running at the end, by which of them.
    """

    attempts: dict[tuple[str, str], Kept] = field(default_factory=dict)
    merged: Counter[tuple[str, bool]] = field(default_factory=Counter)
    unjudged: int = 0
    network_used: bool = False
    memory_refused: int = 0
    missing: set[str] = field(default_factory=set)
    looks: Counter[str] = field(default_factory=Counter)
    left: Counter[str] = field(default_factory=Counter)
    _entries: Counter[tuple[str, bool]] = field(default_factory=Counter)
    _text_bytes: Counter[tuple[str, bool]] = field(default_factory=Counter)

    def to_header(self) -> Header:
        """Return the record as a part of a result; of most runs there is nothing."""
        if not any((self.attempts, self.memory_refused, self.unjudged, self.looks, self.left)):
            return {}
        return {
            "attempts": self.list_rows(),
            "merged": bool(self.merged or self.unjudged),
            "missing": sorted(self.missing),
            "looks": [[path, count] for path, count in self.looks.items()],
            "left": [[what, count] for what, count in self.left.items()],
            "memory_refused": self.memory_refused,
        }

    def list_rows(self) -> list[list[object]]:
        """Return kind, target, whether it was allowed, and count of each attempt, in order."""
        rows: list[list[object]] = [
            [kind, target, kept.allowed, kept.count] for (kind, target), kept in self.attempts.items()
        ]
        return rows + [[kind, MERGED, allowed, count] for (kind, allowed), count in self.merged.items()]

    def add_attempt(self, kind: str, target: str, *, allowed: bool, missing: bool = False) -> None:
        """Keep an attempt; refused and allowed for the same target are one, which was refused."""
        key = (kind, target[:_TARGET_CHARACTERS])
        kept = self.attempts.get(key)
        if kept is not None:
            kept.allowed = kept.allowed and allowed
            kept.count += 1
            if not missing:
                self.missing.discard(key[1])
        elif self._takes_room(kind, key[1], allowed=allowed):
            self.attempts[key] = Kept(allowed, 1 + (self.looks.pop(key[1], 0) if kind == "file" else 0))
            if missing:
                self.missing.add(key[1])
        else:
            self.merged[kind, allowed] += 1

    def record_look(self, path: str) -> None:
        """Keep that a program looked for what is not there; an attempt at the same path is more."""
        path = path[:_TARGET_CHARACTERS]
        attempted = self.attempts.get(("file", path))
        if attempted is not None:
            attempted.count += 1
        elif path in self.looks or self._takes_room(_LOOK, path, allowed=False):
            self.looks[path] += 1
        else:
            # It may lie on the machine, which only the host can find out.
            self.merged["file", False] += 1

    def _takes_room(self, kind: str, target: str, *, allowed: bool) -> bool:
        """Take room for one more; False where there is none."""
        group, size = (kind, allowed), count_text_bytes(target)
        if self._entries[group] >= _ATTEMPTS or self._text_bytes[group] + size > _TEXT_BYTES:
            return False
        self._entries[group] += 1
        self._text_bytes[group] += size
        return True
