"""The directories that a script changes to: `cd` and its kin.

In: a command that changes the directory. Out: in the state, the directories besides the work directory that
relative paths may begin at. A `cd` may fail, or be undone, so that paths are judged from the work directory
as well, always: `cd a/b; cat ../../x` reads a file outside where `a/b` is not there. That is reviewed.
"""

# ruff: noqa: ARG001 - handlers of one table share one signature

from __future__ import annotations

import posixpath
from typing import Final

from tree_sitter import Node

from spanproof.sandbox.scanners.boundary import Action
from spanproof.sandbox.scanners.shell.state import NOTHING, UNKNOWN_DIRECTORY, Stream, Words, read_known_text
from spanproof.sandbox.scanners.shell.walk import Handler, Shell

# Directories that are kept of a script.
_MOST: Final = 8


def change_directory(shell: Shell, program: str, arguments: list[Words], stdin: Stream, node: Node) -> Stream:
    """Follow `cd` and `pushd`: judge the directory as read, and begin relative paths there."""
    operands = [one for one in arguments if (read_known_text(one) or "")[:2] not in {"-L", "-P", "-e", "-@"}]
    shell.context.own_files.close()
    for operand in operands or [(("~",),)]:
        if operands and read_known_text(operand) != "-":
            shell.judge_path(Action.READ, operand, program, node)
        for pieces in operand:
            _enter(shell.state.directories, pieces[0] if len(pieces) == 1 else None)
    return NOTHING


def leave_directory(shell: Shell, program: str, arguments: list[Words], stdin: Stream, node: Node) -> Stream:
    """Follow `popd`."""
    shell.context.own_files.close()
    return NOTHING


def _enter(directories: list[str], target: str | None) -> None:
    """Note where the script may be: outside, below the work directory, or anywhere."""
    entered = [UNKNOWN_DIRECTORY]
    if target is not None and target != "-":
        known = [one for one in directories if one != UNKNOWN_DIRECTORY]
        entered = [posixpath.normpath(posixpath.join(one, target)) for one in ("", *known)]
    new = [one for one in dict.fromkeys(entered) if one[:1] != "." and one not in directories]
    directories += new[: max(0, _MOST - len(directories))]


HANDLERS: Final[dict[str, Handler]] = {
    "cd": change_directory, "pushd": change_directory, "popd": leave_directory,
}  # fmt: skip
