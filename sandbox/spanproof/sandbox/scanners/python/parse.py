"""From text to a tree, where it can be had: magics, prompts and broken lines do not hide the rest.

In: any text. Out: a module tree and what had to be left out, or nothing. Lines keep their numbers.
"""

from __future__ import annotations

import ast
import re
import textwrap
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

_MAGIC = re.compile(r"^[ \t]*(?:[\w, ]+=[ \t]*)?([!%]{1,2})(.*)$")
# Magics that make a shell script of the rest of the cell.
_CELL_MAGICS = re.compile(r"(?:bash|sh|script\s+(?:ba|z|da)?sh)\b")

# Magics that mean a command; others change how things are shown or timed.
_AS_COMMANDS = {
    "sx": "", "system": "", "run": "python ", "load": "cat ", "loadpy": "cat ", "pycat": "cat ",
    "pfile": "cat ", "writefile": "tee ", "file": "tee ", "save": "tee ", "notebook": "tee ",
    "alias": "eval ", "edit": "vi -c edit ", **{name: f"{name} " for name in
       ("cat", "cd", "conda", "cp", "less", "ls", "man", "mkdir", "more", "mv", "pip", "rm", "rmdir", "uv")},
}  # fmt: skip

_PROMPT = re.compile(r"^(?:>>>|\.\.\.)(?: |$)")
_MAX_REPAIRS = 24

# What the parser names in its warnings about a snippet; a filter keeps these, and no others, quiet.
_FILE: Final = "<snippet under scan>"

# Fields of nodes that hold no node anyone looks for.
_NOT_NODES: Final = frozenset(
    {"ctx", "op", "ops", "id", "attr", "kind", "conversion", "type_comment", "level", "module", "is_async"}
)

_NODE_FIELDS: Final[dict[type[ast.AST], tuple[str, ...]]] = {ast.Constant: ()}


@dataclass(slots=True)
class Parsed:
    """A tree, and what is not in it.

    Attributes:
        commands: shell commands of a notebook (`!ls`), by line number.
        dropped: lines that did not parse.
        too_deep: whether the text nests deeper than the parser goes.
        is_repaired: whether the tree is not that of the whole text.
    """

    module: ast.Module | None
    commands: dict[int, str] = field(default_factory=dict)
    dropped: list[int] = field(default_factory=list)
    too_deep: bool = False
    is_repaired: bool = False


def parse(text: str) -> Parsed:
    """Parse a program; lines that do not parse are left out, as few as can be found quickly."""
    try:
        return Parsed(_parse_tree(text))
    except (RecursionError, MemoryError):
        return Parsed(None, too_deep=True)
    except (SyntaxError, ValueError):
        return _parse_repaired(text)


def parse_strictly(text: str) -> ast.Module | None:
    """Parse nested source; None where it does not parse."""
    try:
        return _parse_tree(_clean(text))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def list_nodes(root: ast.AST, without: frozenset[type[ast.AST]] = frozenset()) -> list[ast.AST]:
    """Return a tree's nodes, breadth first: `ast.walk` in a third of the time, no operators or contexts.

    Args:
        root: where to begin.
        without: kinds of nodes that are listed and not gone into.
    """
    found = [root]
    fields_of, add = _NODE_FIELDS, found.append
    for node in found:
        kind = node.__class__
        if kind in without:
            continue
        fields = fields_of.get(kind)
        if fields is None:
            fields = fields_of[kind] = tuple(name for name in kind._fields if name not in _NOT_NODES)
        for name in fields:
            value = getattr(node, name, None)
            if value.__class__ is list:
                for one in value:
                    if isinstance(one, ast.AST):
                        add(one)
            elif isinstance(value, ast.AST):
                add(value)
    return found


def compute_column(lines: Sequence[str], line: int, offset: int) -> int:
    """Return the column, from 1, at which people see a byte of a line; the parser counts bytes."""
    text = lines[line - 1] if 0 < line <= len(lines) else ""
    if text.isascii():
        return offset + 1
    return len(text.encode("utf-8", "replace")[:offset].decode("utf-8", "ignore")) + 1


def _parse_tree(text: str) -> ast.Module:
    # Not `catch_warnings`: it swaps the filters of the whole process, which other threads may be reading.
    if not warnings.filters or warnings.filters[0] is not _own_filter[0]:
        warnings.filterwarnings("ignore", module=re.escape(_FILE))
        _own_filter[0] = warnings.filters[0]
    return ast.parse(text, _FILE)


# The entry of `warnings.filters` that holds for snippets, once it is set.
_own_filter: list[object] = [None]


def _clean(text: str) -> str:
    """Replace characters no parser takes, one for one so that columns stay."""
    text = text.replace("\0", " ")
    if text.isascii():
        return text
    return text.encode("utf-8", "replace").decode("utf-8")


def _parse_repaired(text: str) -> Parsed:
    lines = _clean(text).split("\n")
    if any(_PROMPT.match(line) for line in lines):
        lines = [_PROMPT.sub("", line) if _PROMPT.match(line) else "" for line in lines]
    commands = _read_magics(lines)
    if lines and lines[0][:1].isspace():
        lines = textwrap.dedent("\n".join(lines)).split("\n")
    dropped: list[int] = []
    for _ in range(_MAX_REPAIRS):
        try:
            return Parsed(_parse_tree("\n".join(lines)), commands, dropped, is_repaired=True)
        except SyntaxError as problem:
            at = min(max(problem.lineno or 1, 1), len(lines)) - 1
        except (ValueError, RecursionError, MemoryError):
            return Parsed(None, commands, dropped, too_deep=True)
        while at >= 0 and not lines[at].strip():
            at -= 1
        if at < 0:
            break
        dropped.append(at + 1)
        lines[at] = _make_stand_in(lines[at])
    return Parsed(None, commands, dropped)


def _read_magics(lines: list[str]) -> dict[int, str]:
    """Return the shell commands of a notebook by line; in the lines, Python takes their place."""
    commands: dict[int, str] = {}
    for index, line in enumerate(lines):
        magic = _MAGIC.match(line)
        if magic is None:
            continue
        indent = line[: len(line) - len(line.lstrip())]
        command = _derive_command(magic[1], magic[2].strip())
        if magic[1] == "%%" and _CELL_MAGICS.match(magic[2]):
            commands[index + 1] = "\n".join(lines[index + 1 :])
            lines[index + 1 :] = [""] * len(lines[index + 1 :])
        elif command is not None:
            commands[index + 1] = command
        timed = _TIMED.match(magic[2]) if command is None else None
        python = timed[1] if timed is not None else ""
        lines[index] = indent + (python or "pass")
    return commands


# Magics whose argument is Python.
_TIMED = re.compile(r"(?:timeit|time|prun|debug)\b(?:\s+-\w+(?:\s+\d+)?)*\s*(.*)$")


def _derive_command(mark: str, text: str) -> str | None:
    """Return the shell command that a line of a notebook means."""
    if mark.startswith("!"):
        return text
    name, _, rest = text.partition(" ")
    return _AS_COMMANDS[name] + rest if name in _AS_COMMANDS else None


def _make_stand_in(line: str) -> str:
    """Return what keeps a block whole where a line is left out; a second failure empties the line."""
    indent = line[: len(line) - len(line.lstrip())]
    return "" if line.strip() == "pass" else indent + "pass"
