"""The directories that a script changes to: `cd` and its kin.

In: a command that changes the directory. Out: in the state, the directories besides the work directory that
relative paths may begin at. A `cd` may fail, or be undone, so that paths are judged from the work directory
as well: `cd a/b; cat ../../x` reads a file outside where `a/b` is not there. That is reviewed, unless the
script ends where its `cd` fails (`set -e`).
"""

# ruff: noqa: ARG001 - handlers of one table share one signature

from __future__ import annotations

import posixpath
import re
from typing import Final

from tree_sitter import Node

from spanproof.sandbox.scanners.boundary import Action
from spanproof.sandbox.scanners.shell.conditions import ends_where_it_fails
from spanproof.sandbox.scanners.shell.state import (
    NOTHING,
    UNKNOWN_DIRECTORY,
    State,
    Stream,
    Words,
    find_known_text,
)
from spanproof.sandbox.scanners.shell.walk import Handler, Shell

# What may make a directory of the script lie elsewhere.
_ELSEWHERE: Final = re.compile(
    r"CDPATH|\b(?:ln|link|tar|bsdtar|cpio|unzip|7z\w?|git|svn|hg|rsync|cp|mv|patch|mount)\b"
)
# Directories that are kept of a script.
_MOST: Final = 8


def handle_cd(shell: Shell, program: str, arguments: list[Words], stdin: Stream, node: Node) -> Stream:
    """Follow `cd` and `pushd`: judge the directory as read, and begin relative paths there."""
    operands = [one for one in arguments if (find_known_text(one) or "")[:2] not in {"-L", "-P", "-e", "-@"}]
    shell.context.own_files.close()
    for operand in operands or [(("~",),)]:
        if operands and find_known_text(operand) != "-":
            shell.check_path(Action.READ, operand, program, node)
        target = find_known_text(operand)
        if target is not None and _is_sure(shell, program, target, node):
            shell.state.start = posixpath.normpath(posixpath.join(shell.state.start, target))
            continue
        for pieces in operand:
            _record_entered(shell.state, pieces[0] if len(pieces) == 1 else None)
    return NOTHING


def _is_sure(shell: Shell, program: str, target: str, node: Node) -> bool:
    """Whether the script goes on in a directory or not at all: under `set -e`, as a command by itself."""
    is_below = target[:1] not in {"", "-", "~"}
    follows_no_other = not shell.state.directories and is_below and program == "cd"
    lies_here = _ELSEWHERE.search(shell.program_text) is None
    return follows_no_other and lies_here and ends_where_it_fails(shell, node)


def handle_popd(shell: Shell, program: str, arguments: list[Words], stdin: Stream, node: Node) -> Stream:
    """Follow `popd`."""
    shell.context.own_files.close()
    return NOTHING


def _record_entered(state: State, target: str | None) -> None:
    """Note where the script may be: outside, below the work directory, or anywhere."""
    directories = state.directories
    entered = [UNKNOWN_DIRECTORY]
    if target is not None and target != "-":
        certain = [one for one in directories if one != UNKNOWN_DIRECTORY]
        starts = [""] if target.startswith("~") else [state.start, *certain]
        entered = [posixpath.normpath(posixpath.join(one, target)) for one in starts]
    new = [one for one in dict.fromkeys(entered) if one[:1] != "." and one not in directories]
    directories += new[: max(0, _MOST - len(directories))]


HANDLERS: Final[dict[str, Handler]] = {
    "cd": handle_cd, "pushd": handle_cd, "popd": handle_popd,
}  # fmt: skip
