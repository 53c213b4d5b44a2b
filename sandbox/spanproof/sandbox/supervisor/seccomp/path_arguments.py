"""Which arguments of a call name files, for the calls that open files and those that change them.

An argument is named by its number. A path that is not absolute starts at a directory: at the one that another
argument holds open, or at the caller's own where there is no such argument. `calls.txt` holds the lists.
"""

from __future__ import annotations

from spanproof.sandbox.catalogue import split_entry
from spanproof.sandbox.supervisor.seccomp.rules import CALLS


def _find_argument(number: str) -> int | None:
    return None if number == "-" else int(number)


MUTATORS = {
    name: [tuple(map(_find_argument, path.split(":"))) for path in paths.split()]
    for name, paths in CALLS["changes"].items()
}
"""Of each path: the directory and the path. Calls with two are judged by both; one without a path changes
what the descriptor itself is of."""

_TAKEN = CALLS["taken"]
BY_DESCRIPTOR = split_entry(_TAKEN, "descriptor")
"""Calls that may change what a descriptor is of, where the path is missing or empty."""
NOT_FOLLOWED = split_entry(_TAKEN, "link")
"""Calls that change a link at the end of a path, not what it leads to."""
NOFOLLOW_FLAGS = {name: int(at) for name, at in (word.split(":") for word in _TAKEN["nofollow"].split())}
"""The argument that may hold AT_SYMLINK_NOFOLLOW."""

OPENS = {
    name: (_find_argument(directory), int(path), _find_argument(flags))
    for name, (directory, path, flags) in ((name, at.split(":")) for name, at in CALLS["opens"].items())
}
"""The directory, the path and the flags, where an argument holds them."""
