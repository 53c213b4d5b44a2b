"""The directory that a script works in: `cd` and its kin.

In: a command that changes the directory. Out: the directories that relative paths may begin at, in the state.
The first is where the script is if each `cd` succeeds. The others are where it is if one fails: they count
only where nothing ends the script then (`set -e`). `mkdir -p a/b; cd a/b; cat ../../x` reads `x`, and where
`a/b` cannot be made it reads a file outside.
"""

# ruff: noqa: ARG001 - handlers of one table share one signature

from __future__ import annotations

import posixpath
from typing import Final

from tree_sitter import Node

from spanproof.sandbox.scanners.boundary import Action
from spanproof.sandbox.scanners.shell.state import NOTHING, State, Stream, Words, read_known_text
from spanproof.sandbox.scanners.shell.walk import Handler, Shell

_MOST: Final = 8
"""Directories that are kept; with more, relative paths begin at the work directory."""

_WORK: Final = ""

# Nodes whose commands run one after another, each whatever the one before gave.
_SEQUENCES: Final = frozenset({"program", "compound_statement", "subshell", "redirected_statement"})


def change_directory(shell: Shell, program: str, arguments: list[Words], stdin: Stream, node: Node) -> Stream:
    """Follow `cd` and `pushd`: judge the directory as read, and begin relative paths there."""
    operands = [one for one in arguments if (read_known_text(one) or "")[:2] not in {"-L", "-P", "-e", "-@"}]
    if not operands:
        _enter(shell, ["~"], node)
    elif read_known_text(operands[0]) == "-":
        shell.state.directories[:] = [_WORK]
    else:
        shell.judge_path(Action.READ, operands[0], program, node)
        _enter(shell, [_to_text(pieces) for pieces in operands[0]], node)
    return NOTHING


def leave_directory(shell: Shell, program: str, arguments: list[Words], stdin: Stream, node: Node) -> Stream:
    """Follow `popd`."""
    shell.state.directories[:] = [_WORK]
    return NOTHING


def _to_text(pieces: tuple[str | None, ...]) -> str | None:
    return pieces[0] if len(pieces) == 1 else None


def _enter(shell: Shell, targets: list[str | None], node: Node) -> None:
    directories = shell.state.directories
    if any(target is None for target in targets):
        directories[:] = [_WORK]
        return
    entered = [
        posixpath.normpath(posixpath.join(one, target or "")) for one in directories for target in targets
    ]
    kept = entered if _ends_where_it_fails(shell.state, node) else [*entered, *directories]
    kept = list(dict.fromkeys(kept))
    directories[:] = kept if len(kept) <= _MOST else [_WORK]


def _ends_where_it_fails(state: State, node: Node) -> bool:
    """Whether the script goes no further where this command fails."""
    if not state.ends_at_failure or state.calls:
        return False
    below, parent = node, node.parent
    while parent is not None:
        following = below.next_sibling
        if parent.type not in _SEQUENCES or (following is not None and following.type == "&"):
            return False
        below, parent = parent, parent.parent
    return True


HANDLERS: Final[dict[str, Handler]] = {
    "cd": change_directory, "pushd": change_directory, "popd": leave_directory,
}  # fmt: skip
