"""What reaches outside a script, by resolved name, from `data/javascript.txt`."""

from __future__ import annotations

from typing import Final

from spanproof.sandbox.catalogue import by_word, words_of
from spanproof.sandbox.scanners.catalogue import read_sections

_KNOWLEDGE: Final = read_sections("javascript")


def _parse(effects: str) -> tuple[tuple[str, str], ...]:
    rows = (effect.split() for effect in effects.split(";"))
    return tuple((words[0], words[1] if len(words) > 1 else "") for words in rows)


SINKS: Final = {name: _parse(effects) for name, effects in _KNOWLEDGE["calls"].items()}
"""Effects by resolved name: a kind, and a position or a rule."""

INERT: Final = words_of(_KNOWLEDGE["inert"], "names")
INERT_METHODS: Final = words_of(_KNOWLEDGE["inert"], "methods")
SENDING: Final = words_of(_KNOWLEDGE["inert"], "sending")
ROUTED: Final = words_of(_KNOWLEDGE["inert"], "routed")
TARGETS: Final = words_of(_KNOWLEDGE["inert"], "targets")

DENIED_MODULES: Final = words_of(_KNOWLEDGE["modules"], "denied")

DATABASES: Final = by_word(_KNOWLEDGE["databases"])
"""Modules of databases, and methods that send statements, to `files`, `servers` or `methods`."""

GLOBALS: Final = frozenset({"globalThis", "global", "window", "self"})
"""Names of the object that holds every other name."""
