"""Calls that reach beyond the program, and which argument names the target, from the data files."""

from __future__ import annotations

from typing import Final, NamedTuple

from spanproof.sandbox.scanners.catalogue import read_sections

KNOWLEDGE: Final = read_sections("python")
LIBRARIES: Final = read_sections("libraries")


class Effect(NamedTuple):
    """One thing a call does; `position` -1 is the receiver, -2 no argument at all.

    `unless` names a keyword that, given as true, makes it harmless.
    """

    kind: str
    position: int
    keyword: str
    unless: str = ""


def _parse(table: dict[str, str]) -> dict[str, tuple[Effect, ...]]:
    return {
        name: tuple(_effect(part.split()) for part in effects.split(";")) for name, effects in table.items()
    }


def _effect(words: list[str]) -> Effect:
    kind = words[0]
    if words[-2:-1] == ["unless"]:
        return Effect(kind, -2, words[1], words[3])
    if len(words) == 3:
        return Effect(kind, int(words[1]), words[2])
    return Effect(kind, -1 if kind == "pathself" else -2, words[1] if len(words) > 1 else "")


SINKS: Final = _parse(KNOWLEDGE["calls"] | LIBRARIES["calls"])
"""Effects by resolved name."""

METHOD_SINKS: Final = _parse(KNOWLEDGE["methods"] | LIBRARIES["methods"])
"""Effects by method name, where the receiver's class is not known."""
