r"""Commands of the shells of SQLite and PostgreSQL in a text of SQL: `.import data.csv t`, `\copy`.

In: the text, which a program on a command line gets, or which is a snippet itself. Out: findings. A file that
a command of SQLite names is judged like any other; of a snippet itself it is not known what reads it.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from typing import Final

from spanproof.sandbox.scanners.boundary import Action
from spanproof.sandbox.scanners.context import Context
from spanproof.sandbox.scanners.source import Source

_COMMANDS: Final = re.compile(
    r"(?im)^\s*+(?:\.(shell|system|import|output|once|read|load|open|save|backup|restore|excel|dump|clone|log)\b"
    r"|\\(?:!|copy|i|ir|o|g\s*\||w|c|connect|lo_import|lo_export)(?=\s|$))([^\n]*+)"
)
# What a command does with the last of its operands that is a file.
_FILES: Final = {
    "import": Action.READ, "restore": Action.READ, "output": Action.WRITE, "once": Action.WRITE,
    "save": Action.WRITE, "backup": Action.WRITE, "open": Action.WRITE, "dump": None,
}  # fmt: skip
# Options of `.once` that open what is written.
_PROGRAM_OPTION: Final = re.compile(r"(?:^|\s)--?[ewx]\b")

PathJudge = Callable[[Context, str, Action, str], None]
"""Judges a path, which may have holes, for what is called by the last argument."""


def check_commands(context: Context, source: Source, unblanked: str, judge_path: PathJudge) -> None:
    """Judge the commands in a text whose literals are blanked; `unblanked` is the text as it is."""
    for found in _COMMANDS.finditer(source.text):
        name = (found[1] or "").lower()
        path = _find_path(name, unblanked[slice(*found.span(2))]) if context.depth else None
        action = _FILES.get(name)
        if path is None:
            command = found[0].removesuffix(found[2]).strip()
            context.add("sql.function.outside", source.place(*found.span()), f"the shell command {command}")
        elif path and action is not None:
            judge_path(context, path, action, f".{name}")


def _find_path(name: str, line: str) -> str | None:
    """Return the path of the file that a command of SQLite names, or nothing where it names none.

    None where the command runs a program, or is not followed.
    """
    try:
        operands = [one for one in shlex.split(line) if not one.startswith("-")]
    except ValueError:
        return None
    has_program = any(one.startswith("|") for one in operands) or _PROGRAM_OPTION.search(line)
    if name not in _FILES or has_program:
        return None
    if name == "import":
        return operands[-2] if len(operands) > 1 else None
    return operands[-1] if operands and name != "dump" else ""
