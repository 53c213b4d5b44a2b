"""Files that a Python program writes itself: what it writes to them, and what it gets when it reads them.

In: paths, files that `open` gave, and what is written. Out: the text or the objects of a file, where
that is known; see `scanners.own_files`.
"""

# ruff: noqa: ARG001 - models share one signature

from __future__ import annotations

import ast
import re
from typing import Final

from spanproof.sandbox.scanners.boundary import Pieces
from spanproof.sandbox.scanners.python.machine import Machine
from spanproof.sandbox.scanners.python.names import BUILTINS
from spanproof.sandbox.scanners.reader.state import Arguments
from spanproof.sandbox.scanners.reader.values import (
    CLEAN,
    Const,
    Path,
    Ref,
    Text,
    Value,
    join_all,
    to_pieces,
)
from spanproof.sandbox.words import split_words

# The names of files that `open` and its like gave; their owner is the path, where that is known.
_HANDLES: Final = frozenset({"open()", "gzip.open()", "bz2.open()", "lzma.open()"})

_BUFFER: Final = "io.BytesIO()"

_PICKLE: Final = "pickle.dumps()"


def find_path(m: Machine, value: Value) -> str | None:
    """Return the absolute path of a file, or of what `open` gave for it; None where it is not known.

    A path in a folder that the program made for itself (`tempfile`) is known by its value alone.
    """
    if _is_buffer(value):
        return m.name_unknown_path(value)
    if isinstance(value, Ref):
        if value.name in _HANDLES and value.owner is not None:
            return find_path(m, value.owner)
        return None
    pieces = to_pieces(value)
    if len(pieces) == 1 and pieces[0] is not None:
        return m.context.boundary.work_path(pieces[0])
    if isinstance(value, Path | Text):
        return m.name_unknown_path(value)
    return None


def _is_buffer(value: Value) -> bool:
    return isinstance(value, Ref) and value.name == _BUFFER and value.owner is None


def note_overwritten(m: Machine, file: Value) -> str | None:
    """Note a write to a path, which may be that of other files too; gives the path, None if not known."""
    path = find_path(m, file)
    if path is None:
        m.context.own_files.forget(None)
    elif not path.startswith("/") and not _is_buffer(file):
        pieces = to_pieces(file.owner if isinstance(file, Ref) and file.owner is not None else file)
        m.context.own_files.forget_like(path, *_find_ends(m, pieces))
    return path


def _find_ends(m: Machine, pieces: Pieces) -> tuple[str, str]:
    """Return how the absolute form of a path that is known in part begins, and how it ends."""
    start, end = pieces[0] or "", pieces[-1] or ""
    if start and not start.startswith(("/", "~")):
        start = f"{m.context.boundary.work_path('')}/{start}"
    is_normal = not _UNNORMAL.search(start) and not _UNNORMAL.search(end)
    if is_normal and not start.startswith("~"):
        return (start, end)
    return ("", "")


# Parts of a path that its normal form does not have.
_UNNORMAL: Final = re.compile(r"//|(?:^|/)\.{1,2}(?:/|$)")


def list_own_objects(m: Machine, value: Value) -> list[Value]:
    """Return the objects one of which a file holds; none where the program did not write them."""
    path = find_path(m, value)
    if path is not None:
        return m.context.own_files.list_objects(path)
    return []


def note_written(m: Machine, file: Value, written: Value | None) -> None:
    """Note a text or a pickle that is written to a file; anything else makes its content unknown."""
    path = note_overwritten(m, file)
    if path is None:
        return
    if isinstance(written, Ref) and written.name == _PICKLE and written.owner is not None:
        m.context.own_files.add_object(path, written.owner)
    elif isinstance(written, Const) and isinstance(written.value, str):
        m.context.own_files.add_text(path, written.value)
    else:
        m.context.own_files.forget(path)


# Methods of a file that put nothing there, besides `write`, which is followed.
_HARMLESS_METHODS: Final = split_words("write read readline readlines seek close flush")


def forget_handed_files(m: Machine, function: Ref, arguments: Arguments) -> None:
    """Note that a file may hold anything: it is given to code that is not followed, or a method writes it.

    A file is given as what `open` gave for it, or by its path, which a builtin only holds or shows.
    """
    called_on, _, method = function.name.rpartition(".")
    if called_on in _HANDLES and function.owner is not None and method not in _HARMLESS_METHODS:
        m.context.own_files.forget(find_path(m, function.owner))
    may_be_own = function.name not in BUILTINS and not m.context.own_files.is_empty
    for value in arguments.all():
        is_handle = isinstance(value, Ref) and value.name in _HANDLES
        is_path = may_be_own and isinstance(value, Const | Text | Path)
        if is_handle or (is_path and m.context.own_files.holds(find_path(m, value) or "")):
            m.context.own_files.forget(find_path(m, value))


def find_content(m: Machine, file: Value) -> Value | None:
    """Return what reading a file gives that the program wrote itself; None where that is not known."""
    path = find_path(m, file)
    if path is None:
        return None
    objects = m.context.own_files.list_objects(path)
    if objects:
        return join_all(Ref(_PICKLE, CLEAN, one) for one in objects)
    text = m.context.own_files.find_text(path)
    return Const(text, frozenset({"file"})) if text is not None else None


def model_file_method(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    """Return what `read` of an open file gives, and note what `write` puts there."""
    called_on, _, method = function.name.rpartition(".")
    if function.owner is None or called_on not in _HANDLES:
        return None
    if method == "read":
        if not arguments.positional:
            return find_content(m, function.owner)
        return None
    note_written(m, function.owner, arguments.get(0))
    return None
