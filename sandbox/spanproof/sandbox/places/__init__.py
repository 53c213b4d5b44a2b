"""Places outside a program's own directories: probed by libraries, sensitive, or given to each run empty.

`places.txt` is the list, with a reason for each. Pure: names alone are looked at, nothing is opened.
"""

from __future__ import annotations

import re
from importlib.resources import files

from spanproof.sandbox.catalogue import read_sections

_PLACES = read_sections(files(__package__) / "places.txt")


def _build_pattern(name: str) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{pattern})" for pattern in _PLACES[name]), re.DOTALL)


PROBED = _build_pattern("probed")
"""What interpreters and libraries look for by themselves: no attempt and no note."""

TERMINALS = _build_pattern("terminals")
"""Devices that libraries try to open, to write too: where there is none, that is no attempt and no note."""

SENSITIVE = _build_pattern("sensitive")

_SHOWN = _build_pattern("shown")

WRITABLE = tuple(_PLACES["writable"])
"""Directories that each run finds empty, and may write to."""


def is_sensitive(path: str) -> bool:
    """Whether a look at an absolute path concerns the boundary even where nothing lies there."""
    return SENSITIVE.fullmatch(path) is not None


def may_be_shown(path: str) -> bool:
    """Whether an absolute path is in a tree of which a sandbox shows a part."""
    return _SHOWN.fullmatch(path) is not None
