"""What calls outside the program give, where more is known than a constant: reflection, paths, containers.

In: a resolved name and abstract arguments. Out: the abstract result, or None where the call is like any
other.
"""

# ruff: noqa: ARG001 - functions of one table share one signature

from __future__ import annotations

import ast
from string import Formatter
from typing import Final

from spanproof.sandbox.scanners.python import containers, effects, fold, paths, reflection
from spanproof.sandbox.scanners.python.machine import Arguments, Machine, Model
from spanproof.sandbox.scanners.python.values import (
    CLEAN,
    MAX_SIZE,
    UNKNOWN,
    Path,
    Ref,
    Text,
    Unknown,
    Value,
    constant_text,
    elements_of,
    pieces_of,
    taint_of,
    text_value,
)


def _str(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    value = arguments.get(0)
    if isinstance(value, Path | Text):
        return text_value(value.pieces, value.taint)
    if isinstance(value, Ref) and value.name == "os.environ":
        effects.check_environment_escape(m, arguments, node)
    return Unknown(taint_of(value)) if isinstance(value, Unknown) else None


# --- methods of values, by name


def _join(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    owner, value = function.owner, arguments.get(0)
    separator = constant_text(owner)
    if separator is None or value is None:
        return None
    items, whole = elements_of(value)
    if not whole or len(items) > 16_384:
        return Unknown(taint_of(value))
    pieces: list[str | None] = []
    for index, item in enumerate(items):
        if index and separator:
            pieces.append(separator)
        pieces.extend(pieces_of(item))
    return text_value(pieces, taint_of(value))


def _format(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    template = constant_text(function.owner)
    if template is None or len(template) > MAX_SIZE:
        return None
    if ".__" in template or "[__" in template:
        m.add("escape.internals", node, "a format string walks through the attributes of its values")
    folded = fold.fold_method(function.owner or UNKNOWN, "format", arguments.positional, arguments.named)
    if folded is not None:
        return folded
    pieces: list[str | None] = []
    taint = CLEAN
    try:
        for index, (literal, field, specification, conversion) in enumerate(Formatter().parse(template)):
            pieces.append(literal)
            if field is None:
                continue
            value = arguments.get(int(field) if field.isdigit() else index, field)
            taint |= taint_of(value) if value is not None else CLEAN
            plain = value is not None and not specification and not conversion
            pieces.extend(pieces_of(value) if plain and value is not None else (None,))
    except ValueError:
        return UNKNOWN
    return text_value(pieces, taint)


def _text_method(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    """Methods that leave a text what it is, as far as it is known."""
    owner = function.owner
    if isinstance(owner, Text):
        return text_value(owner.pieces, owner.taint)
    return owner if isinstance(owner, Ref) and owner.name == "pickle.dumps()" else None


MODELS: Final[dict[str, Model]] = {
    **reflection.MODELS,
    **containers.MODELS,
    **paths.MODELS,
    "str": _str,
    "os.fspath": _str,
}
"""Models by resolved name."""

METHODS: Final[dict[str, Model]] = {
    **reflection.METHODS,
    **containers.METHODS,
    **paths.METHODS,
    "join": _join,
    "format": _format,
    **dict.fromkeys(("strip", "encode", "decode", "hex", "rstrip"), _text_method),
}
"""Models of methods, by name, for values whose class the program shows."""
