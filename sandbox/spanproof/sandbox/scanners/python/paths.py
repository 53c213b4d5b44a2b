"""Models of paths: pathlib, os.path, glob and tempfile.

In: a call and abstract arguments. Out: the path it gives, as far as it is known; what a pathlib method does
to a path is judged on the way.
"""

# ruff: noqa: ARG001 - functions of one table share one signature

from __future__ import annotations

import ast
import posixpath
import re
from typing import Final

from spanproof.sandbox.catalogue import by_word
from spanproof.sandbox.scanners.boundary import Action
from spanproof.sandbox.scanners.python import attributes, effects, fold
from spanproof.sandbox.scanners.python.machine import Machine, Model, gives, passes_on
from spanproof.sandbox.scanners.python.names import KNOWLEDGE, SINKS
from spanproof.sandbox.scanners.reader.state import Arguments
from spanproof.sandbox.scanners.reader.values import (
    NAME,
    UNKNOWN,
    Const,
    Items,
    Path,
    Ref,
    Text,
    Unknown,
    Value,
    constant_text,
    join,
    join_all,
    options_of,
    pieces_of,
    taint_of,
    text_value,
)


def _path(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    if not arguments.positional:
        return Path((".",))
    return attributes.join_path(arguments.positional, as_path=True)


def _here(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    directory = m.context.boundary.work_path(".")
    return Const(directory) if function.name == "os.getcwd" else Path((directory,))


def _path_method(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    owner = function.owner
    if not isinstance(owner, Path):
        return None
    method = function.name.rpartition(".")[2]
    who = f"pathlib.Path.{method}"
    action = ACTIONS.get(method)
    if action is not None:
        m.judge_path(action, owner, who, node)
    if method == "open":
        return m.call(Ref("open"), Arguments([owner, *arguments.positional], arguments.named), node)
    if method in {"rename", "replace", "symlink_to", "hardlink_to", "link_to"}:
        target = arguments.get(0, "target")
        if target is not None:
            reads = method in {"symlink_to", "hardlink_to"}
            m.judge_path(Action.READ if reads else Action.WRITE, target, who, node)
        return target
    if method in {"iterdir", "glob", "rglob", "walk"}:
        below = text_value((*owner.pieces, "" if owner.pieces[-1] == "/" else "/", None), NAME)
        return Items([Path(pieces_of(below), NAME)], "list", more=True)
    if method in {"joinpath", "with_name", "with_suffix", "with_stem"}:
        return _sibling(m, owner, method, arguments, node)
    if method in {"expanduser", "relative_to"}:
        return owner
    if method in {"resolve", "absolute"}:
        return _normal(m, owner)
    if method in {"as_posix", "__str__", "__fspath__", "as_uri"}:
        return text_value(owner.pieces, owner.taint)
    if method in {"read_text", "read_bytes"}:
        return Unknown(frozenset({"file"}))
    return None


def _sibling(m: Machine, owner: Path, method: str, arguments: Arguments, node: ast.expr) -> Value:
    if method == "joinpath":
        return attributes.join_path([owner, *arguments.positional], as_path=True)
    parent = attributes.load(m, owner, "parent", node)
    names = arguments.positional if method == "with_name" else [Unknown(NAME)]
    return attributes.join_path([parent, *names], as_path=True)


ACTIONS: Final = {method: Action(action) for method, action in by_word(KNOWLEDGE["pathlib"]).items()}
"""What methods of pathlib do to their path."""


def _normal(m: Machine, value: Value) -> Value:
    pieces = pieces_of(value)
    if len(pieces) == 1 and pieces[0] is not None:
        text = m.context.boundary.work_path(pieces[0])
        return Path((text,), value.taint) if isinstance(value, Path) else Const(text, value.taint)
    return value


def _path_join(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    if arguments.more:
        return Unknown()
    return join_all(
        attributes.join_path(parts, as_path=False) for parts in _combinations(arguments.positional)
    )


def _combinations(values: list[Value]) -> list[list[Value]]:
    rows: list[list[Value]] = [[]]
    for value in values:
        rows = [[*row, option] for row in rows for option in options_of(value)]
        rows = rows if len(rows) <= _MAX_ROWS else [*rows[:_MAX_ROWS], [UNKNOWN]]
    return rows


_MAX_ROWS: Final = 36
"""Combinations of alternatives that are joined; a path that is not known takes the place of the rest."""


_DIRECTIVE: Final = re.compile(r"%[-_0^#]?[A-Za-z%]")


def split_date_format(template: str) -> list[str | None]:
    """A format of dates as pieces: each directive gives a number or a plain name."""
    parts = _DIRECTIVE.split(template)
    return [piece for part in parts for piece in (part, None)][:-1]


def _date_text(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    template = constant_text(arguments.get(0, "format"))
    return text_value(split_date_format(template), NAME) if template is not None else None


def _abspath(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    value = arguments.get(0)
    return None if value is None else join_all(_normal(m, option) for option in options_of(value))


def _expandvars(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    value = arguments.get(0)
    text = constant_text(value)
    if text is not None and "$" not in text:
        return value
    return m.call(Ref("os.getenv"), Arguments([UNKNOWN], {}), node)


def _dirname(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    value = arguments.get(0)
    if value is None:
        return None
    found: list[Value] = []
    for option in options_of(value):
        pieces = pieces_of(option)
        if len(pieces) == 1 and pieces[0] is not None:
            found.append(Const(posixpath.dirname(pieces[0])))
        elif pieces[0] is not None and "/" in pieces[0]:
            found.append(text_value((pieces[0].rpartition("/")[0] + "/", None), taint_of(option)))
        else:
            found.append(Unknown(taint_of(option)))
    return join_all(found)


def _basename(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    value = arguments.get(0)
    text = constant_text(value)
    return Const(posixpath.basename(text)) if text is not None else Unknown(NAME)


def _split_extension(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    value = arguments.get(0)
    text = constant_text(value)
    if text is None:
        return Items([value or UNKNOWN, Unknown(NAME)], "tuple")
    return fold.abstract((posixpath.splitext if "ext" in function.name else posixpath.split)(text))


def _listing(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    _sink(m, function, arguments, node)
    if function.name == "os.walk":
        top = arguments.get(0, "top") or Const(".")
        names = Items([Unknown(NAME)], "list", more=True)
        below = text_value((*pieces_of(top), "/", None), NAME)
        return Items([Items([join(top, below), names, names], "tuple")], "list", more=True)
    return Items([Unknown(NAME)], "list", more=True)


def _glob(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    _sink(m, function, arguments, node)
    pattern = arguments.get(0, "pathname") or UNKNOWN
    pieces: list[str | None] = []
    for piece in pieces_of(pattern):
        if piece is None:
            pieces.append(None)
            continue
        head, star, tail = piece.partition("*")
        pieces.extend([head, None, tail.replace("*", "")] if star else [head])
    known = pieces and pieces[0] is not None
    return Items([text_value(pieces, NAME) if known else Unknown(taint_of(pattern))], "list", more=True)


def _sink(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> None:
    effects.apply(m, function, SINKS.get(function.name, ()), arguments, node)


def _temporary(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    _sink(m, function, arguments, node)
    return Text(("/tmp/", None), NAME)  # noqa: S108 - inside the sandbox


MODELS: Final[dict[str, Model]] = {
    "pathlib.Path": _path, "pathlib.Path.home": gives(Path(("~",))),
    "pathlib.Path.cwd": _here, "os.getcwd": _here, "os.path.join": _path_join,
    "os.path.abspath": _abspath, "os.path.realpath": _abspath, "os.path.normpath": _abspath,
    "os.path.expanduser": passes_on(""), "os.path.expandvars": _expandvars, "os.path.dirname": _dirname,
    "os.path.basename": _basename, "os.path.splitext": _split_extension, "os.path.split": _split_extension,
    "os.listdir": _listing, "os.walk": _listing, "glob.glob": _glob, "glob.iglob": _glob,
    "tempfile.mkdtemp": _temporary, "tempfile.TemporaryDirectory": _temporary,
    "tempfile.mktemp": _temporary, "time.strftime": _date_text,
    "tempfile.gettempdir": gives(Const("/tmp")),  # noqa: S108 - inside the sandbox
}  # fmt: skip
"""Models by resolved name."""


METHODS: Final[dict[str, Model]] = {
    **dict.fromkeys(
        [*ACTIONS, "open", "joinpath", "with_name", "with_suffix", "with_stem", "resolve", "absolute",
         "expanduser", "as_posix", "relative_to", "link_to", "__str__", "__fspath__"],
        _path_method,
    ),
    "strftime": _date_text,
}  # fmt: skip
"""Models of methods, by name, for values whose class the program shows."""
