"""From text to a tree, where it can be had: magics, prompts and broken lines do not hide the rest.

In: any text. Out: a module tree and what had to be left out, or nothing. Lines keep their numbers.
"""

from __future__ import annotations

import ast
import re
import textwrap
import warnings
from dataclasses import dataclass, field

_MAGIC = re.compile(r"^[ \t]*(?:[\w, ]+=[ \t]*)?([!%])(.*)$")
_PROMPT = re.compile(r"^(?:>>>|\.\.\.)(?: |$)")
_MAX_REPAIRS = 24


@dataclass(slots=True)
class Parsed:
    """A tree, and what is not in it.

    Attributes:
        commands: shell commands of a notebook (`!ls`), by line number.
        dropped: lines that did not parse.
        too_deep: whether the text nests deeper than the parser goes.
    """

    module: ast.Module | None
    commands: dict[int, str] = field(default_factory=dict)
    dropped: list[int] = field(default_factory=list)
    too_deep: bool = False


def parse(text: str) -> Parsed:
    """Parse a program; lines that do not parse are left out, as few as can be found quickly."""
    try:
        return Parsed(_tree(text))
    except (RecursionError, MemoryError):
        return Parsed(None, too_deep=True)
    except (SyntaxError, ValueError):
        return _repaired(text)


def parse_strictly(text: str) -> ast.Module | None:
    """Parse nested source; None where it does not parse."""
    try:
        return _tree(_clean(text))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _tree(text: str) -> ast.Module:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(text)


def _clean(text: str) -> str:
    """Characters no parser takes, replaced one for one so that columns stay."""
    text = text.replace("\0", " ")
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def _repaired(text: str) -> Parsed:
    lines = _clean(text).split("\n")
    if any(_PROMPT.match(line) for line in lines):
        lines = [_PROMPT.sub("", line) if _PROMPT.match(line) else "" for line in lines]
    commands: dict[int, str] = {}
    for index, line in enumerate(lines):
        magic = _MAGIC.match(line)
        if magic is not None:
            indent = line[: len(line) - len(line.lstrip())]
            if magic[1] == "!":
                commands[index + 1] = magic[2]
            lines[index] = indent + "pass"
    if lines and lines[0][:1].isspace():
        lines = textwrap.dedent("\n".join(lines)).split("\n")
    dropped: list[int] = []
    for _ in range(_MAX_REPAIRS):
        try:
            return Parsed(_tree("\n".join(lines)), commands, dropped)
        except SyntaxError as problem:
            at = min(max(problem.lineno or 1, 1), len(lines)) - 1
        except (ValueError, RecursionError, MemoryError):
            return Parsed(None, commands, dropped, too_deep=True)
        while at >= 0 and not lines[at].strip():
            at -= 1
        if at < 0:
            break
        dropped.append(at + 1)
        lines[at] = _stand_in(lines[at])
    return Parsed(None, commands, dropped)


def _stand_in(line: str) -> str:
    """What keeps a block whole where a line is left out; a second failure empties the line."""
    indent = line[: len(line) - len(line.lstrip())]
    return "" if line.strip() == "pass" else indent + "pass"
