"""What calls outside the program give, where more is known than a constant.

In: a resolved name and abstract arguments. Out: the abstract result, or None where the call is like any
other: of texts, containers and paths. Lists are changed in place, as Python does; what a
method of pathlib does to a path is judged on the way.
"""

# ruff: noqa: ARG001 - functions of one table share one signature

from __future__ import annotations

import ast
import posixpath
import re
from string import Formatter, Template
from typing import Final

from spanproof.sandbox.catalogue import build_word_index
from spanproof.sandbox.scanners.boundary import Action
from spanproof.sandbox.scanners.python import attributes, changes, effects, fold
from spanproof.sandbox.scanners.python.machine import Machine, Model, make_constant_model, make_pass_through
from spanproof.sandbox.scanners.python.names import KNOWLEDGE, SINKS
from spanproof.sandbox.scanners.python.own_files import find_content, model_file_method, note_written
from spanproof.sandbox.scanners.python.reflection import REFLECTION, model_call_method, model_mapping_get
from spanproof.sandbox.scanners.reader.effects import ENVIRONMENT, FILE
from spanproof.sandbox.scanners.reader.state import Arguments
from spanproof.sandbox.scanners.reader.values import (
    CALLABLE,
    CLEAN,
    MAX_SIZE,
    MAX_UNROLLED,
    NAME,
    UNKNOWN,
    Const,
    Items,
    Mapping,
    Path,
    Ref,
    Span,
    Text,
    Unknown,
    Value,
    build_text,
    collect_taint,
    join,
    join_all,
    limit_values,
    list_elements,
    list_options,
    read_constant_text,
    to_pieces,
)


def _model_str(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    value = arguments.get(0)
    if isinstance(value, Path | Text):
        return build_text(value.pieces, value.taint)
    if isinstance(value, Unknown):
        return Unknown(collect_taint(value))
    return None


# --- methods of values, by name


def _model_text_join(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    owner, value = function.owner, arguments.get(0)
    separator = read_constant_text(owner)
    if separator is None or value is None:
        return None
    items, whole = list_elements(value)
    if not whole or len(items) > 16_384:
        return Unknown(collect_taint(value))
    pieces: list[str | None] = []
    for index, item in enumerate(items):
        if index and separator:
            pieces.append(separator)
        pieces.extend(to_pieces(item))
    return build_text(pieces, collect_taint(value))


def _model_format(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    template = read_constant_text(function.owner)
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
            value = _read_field(m, arguments, index, field, node)
            taint |= collect_taint(value) if value is not None else CLEAN
            plain = value is not None and not specification and not conversion
            pieces.extend(to_pieces(value) if plain and value is not None else (None,))
    except ValueError:
        return UNKNOWN
    return build_text(pieces, taint)


# A field of a format string, and one of the attributes and items that it goes on with.
_FIELD: Final = re.compile(r"(\w*)((?:\.\w+|\[[^\]]*\])*)\Z")
_FIELD_PART: Final = re.compile(r"\.(\w+)|\[([^\]]*)\]")


def _read_field(m: Machine, arguments: Arguments, index: int, field: str, node: ast.expr) -> Value | None:
    """Return what a field of a format string shows: an argument, or what `{e[HOME]}` reaches in it."""
    found = _FIELD.match(field)
    if found is None:
        return None
    value = arguments.get(int(found[1]) if found[1].isdigit() else index, found[1])
    for part in _FIELD_PART.finditer(found[2]):
        if value is None or (part[1] or "").startswith("__"):
            return None
        if part[1]:
            value = attributes.load_attribute(m, value, part[1], node)
        else:
            key = int(part[2]) if part[2].isdigit() else part[2]
            value = attributes.load_item(m, value, Const(key), node)
    if value is not None:
        m.read_environment(value, node)
    return value


def _model_text_method(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    """Return a text as it is, as far as it is known, for methods that leave it what it is."""
    owner = function.owner
    if isinstance(owner, Text):
        return build_text(owner.pieces, owner.taint)
    if isinstance(owner, Ref) and owner.name == "pickle.dumps()":
        return owner
    return None


def _model_template_substitute(
    m: Machine, function: Ref, arguments: Arguments, node: ast.expr
) -> Value | None:
    """Return what `string.Template(…).substitute(…)` gives."""
    template = read_constant_text(function.owner)
    if template is None or not function.name.startswith("string.Template()"):
        return None
    given = arguments.get(0)
    named = dict(given.entries) if isinstance(given, Mapping) else {}
    named.update(arguments.named)
    texts = {
        str(key): text for key, value in named.items() if (text := read_constant_text(value)) is not None
    }
    if len(texts) == len(named):
        return Const(Template(template).safe_substitute(texts))
    return None


# --- containers


def _model_reduce(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    if len(arguments.positional) < 2:
        return None
    items, whole = list_elements(arguments.positional[1])
    start = arguments.get(2)
    values = [start, *items] if start is not None else list(items)
    if not whole or not values or len(values) > 4096:
        return None
    result = values[0]
    for value in values[1:]:
        if m.exhausted:
            return None
        result = m.call(arguments.positional[0], Arguments([result, value], {}), node)
    return result


def _model_map(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    if len(arguments.positional) < 2:
        return None
    columns = [list_elements(value) for value in arguments.positional[1:]]
    rows = list(zip(*[items for items, _ in columns], strict=False))
    whole = all(complete for _, complete in columns)
    results: list[Value] = []
    for index, row in enumerate(rows):
        if m.exhausted or index == MAX_UNROLLED:
            # One call for all the others, with what covers their arguments.
            whole, row = False, tuple(join_all(column) for column in zip(*rows[index:], strict=True))
        results.append(m.call(arguments.positional[0], Arguments(list(row), {}), node))
        if m.exhausted or index == MAX_UNROLLED:
            return Items([*results, UNKNOWN] if index + 1 < len(rows) else results, "list", more=True)
    return Items(results, "list", not whole)


def _model_filter(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    if len(arguments.positional) != 2:
        return None
    items, whole = list_elements(arguments.positional[1])
    kept: list[Value] = []
    for item in [join_all(items)] if m.exhausted and items else limit_values(items, MAX_UNROLLED):
        keep = fold.evaluate_truth(item)
        if not isinstance(arguments.positional[0], Const):
            keep = fold.evaluate_truth(m.call(arguments.positional[0], Arguments([item], {}), node))
        whole = whole and keep is not None
        if keep is not False:
            kept.append(item)
    return Items(kept, "list", not whole)


def _model_container(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    value = arguments.get(0)
    if value is None:
        return Items([], "list" if function.name in {"list", "sorted"} else function.name)
    if function.name == "sorted" and "key" in arguments.named:
        m.call(arguments.named["key"], Arguments([join_all(list_elements(value)[0])], {}), node)
    if isinstance(value, Ref) and value.name == "os.environ":
        return None
    if isinstance(value, Items | Mapping | Const | Span):
        items, whole = list_elements(value)
        kind = function.name if function.name in {"list", "tuple", "set"} else "list"
        if function.name == "reversed":
            return Items(list(reversed(items)), "list", not whole)
        if function.name == "sorted":
            folded = fold.fold(sorted, [value], arguments.named)
            if folded is not None:
                return folded
            return Items(list(items), "list", not whole)
        return Items(list(items), kind, not whole)
    if function.name in {"iter", "next"}:
        return join_all(list_elements(value)[0])
    return None


def _model_next(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    value = arguments.get(0)
    if isinstance(value, Items) and value.items:
        # How many items were taken before is not followed.
        default = arguments.get(1)
        return join_all(value.items if default is None else [*value.items, default])
    return value


def _model_extreme(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    """Return one of what `max` and `min` are given, where what they compare is not known."""
    given = arguments.positional
    folded = fold.fold(max if function.name == "max" else min, given, arguments.named)
    if folded is not None or not given:
        return folded
    items = list_elements(given[0])[0] if len(given) == 1 else list(given)
    key = arguments.named.get("key")
    if key is not None:
        m.call(key, Arguments([join_all(items)], {}), node)
    return join_all([*items, *([arguments.named["default"]] if "default" in arguments.named else [])])


def _model_enumerate(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    value = arguments.get(0)
    if value is None:
        return None
    items, whole = list_elements(value)
    if whole and len(items) <= 4096:
        start = arguments.get(1, "start")
        if isinstance(start, Const) and isinstance(start.value, int):
            first = start.value
        else:
            first = 0
        return Items([_make_pair(Const(first + index), item) for index, item in enumerate(items)])
    return Items([_make_pair(Unknown(NAME), join_all(items))], "list", more=True)


def _make_pair(first: Value, second: Value) -> Value:
    return Items([first, second], "tuple")


def _model_zip(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    columns = [list_elements(value) for value in arguments.positional]
    if not columns or not all(whole for _, whole in columns):
        return Items([Items([join_all(items) for items, _ in columns], "tuple")], "list", more=True)
    rows = zip(*[items for items, _ in columns], strict=False)
    zipped: list[Value] = [Items(list(row), "tuple") for row in rows]
    return Items(zipped)


def _model_dict(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    value = arguments.get(0)
    if isinstance(value, Mapping):
        return Mapping({**value.entries, **arguments.named}, list(value.rest), list(value.keys))
    if isinstance(value, Ref) and value.name == "os.environ":
        read = m.read_all_variables(value.name, node)
        return Mapping(dict(arguments.named), [Unknown(ENVIRONMENT if read else CLEAN)])
    return Mapping(dict(arguments.named)) if value is None else None


def _model_values(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    owner = function.owner
    if not isinstance(owner, Mapping):
        return None
    method = function.name.rpartition(".")[2]
    if method == "values":
        return Items([*owner.entries.values(), *owner.rest], "list", bool(owner.rest))
    if method == "items":
        pairs: list[Value] = [Items([Const(key), value], "tuple") for key, value in owner.entries.items()]
        if owner.rest:
            pairs.append(_make_pair(join_all(owner.other_keys), join_all(owner.rest)))
        return Items(pairs, "list", bool(owner.rest))
    return Items([*(Const(key) for key in owner.entries), *owner.other_keys], "list", bool(owner.rest))


def _model_series(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    """Return a column that is made of a list: its methods call functions with the list's items."""
    value = arguments.get(0, "data")
    if not isinstance(value, Items):
        return None
    return Ref(f"{function.name}()", collect_taint(value) - NAME, value)


# --- paths


def _model_path(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    if not arguments.positional:
        return Path((".",))
    return attributes.join_path(arguments.positional, as_path=True)


def _model_work_directory(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    directory = m.context.boundary.work_path(".")
    if function.name == "os.getcwd":
        return Const(directory)
    return Path((directory,))


def _model_path_method(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
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
        m.context.own_files.forget(None)
        if (target := arguments.get(0, "target")) is not None:
            reads = method in {"symlink_to", "hardlink_to"}
            m.judge_path(Action.READ if reads else Action.WRITE, target, who, node)
        return target
    if method in {"iterdir", "glob", "rglob", "walk"}:
        below = build_text((*owner.pieces, "" if owner.pieces[-1] == "/" else "/", None), NAME)
        return Items([Path(to_pieces(below), NAME)], "list", more=True)
    if method in {"joinpath", "with_name", "with_suffix", "with_stem"}:
        return _derive_path(m, owner, method, arguments, node)
    if method in {"expanduser", "relative_to"}:
        return owner
    if method in {"resolve", "absolute"}:
        return _normalise_path(m, owner)
    if method in {"as_posix", "__str__", "__fspath__", "as_uri"}:
        return build_text(owner.pieces, owner.taint)
    return _model_path_content(m, owner, method, arguments)


def _model_path_content(m: Machine, owner: Path, method: str, arguments: Arguments) -> Value | None:
    """Return what a file holds that a path reads, and note what it writes there."""
    if method in {"read_text", "read_bytes"}:
        return find_content(m, owner) or Unknown(frozenset({"file"}))
    if method in {"write_text", "write_bytes"}:
        note_written(m, owner, arguments.get(0, "data"))
    return None


def _derive_path(m: Machine, owner: Path, method: str, arguments: Arguments, node: ast.expr) -> Value:
    if method == "joinpath":
        return attributes.join_path([owner, *arguments.positional], as_path=True)
    parent = attributes.load_attribute(m, owner, "parent", node)
    names = arguments.positional if method == "with_name" else [Unknown(NAME)]
    return attributes.join_path([parent, *names], as_path=True)


ACTIONS: Final = {method: Action(action) for method, action in build_word_index(KNOWLEDGE["pathlib"]).items()}
"""What methods of pathlib do to their path."""


def _normalise_path(m: Machine, value: Value) -> Value:
    pieces = to_pieces(value)
    if len(pieces) == 1 and pieces[0] is not None:
        text = m.context.boundary.work_path(pieces[0])
        if isinstance(value, Path):
            return Path((text,), value.taint)
        return Const(text, value.taint)
    return value


def _model_path_join(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    if arguments.more:
        return Unknown()
    return join_all(
        attributes.join_path(parts, as_path=False) for parts in _list_combinations(arguments.positional)
    )


def _list_combinations(values: list[Value]) -> list[list[Value]]:
    rows: list[list[Value]] = [[]]
    for value in values:
        rows = [[*row, option] for row in rows for option in list_options(value)]
        if len(rows) > _MAX_ROWS:
            rows = [*rows[:_MAX_ROWS], [UNKNOWN]]
    return rows


# Combinations of alternatives that are joined; a path that is not known takes the place of the rest.
_MAX_ROWS: Final = 36


_DIRECTIVE: Final = re.compile(r"%[-_0^#]?[A-Za-z%]")


def split_date_format(template: str) -> list[str | None]:
    """Split a format of dates into pieces: each directive gives a number or a plain name."""
    parts = _DIRECTIVE.split(template)
    return [piece for part in parts for piece in (part, None)][:-1]


def _model_date_text(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    template = read_constant_text(arguments.get(0, "format"))
    if template is not None:
        return build_text(split_date_format(template), NAME)
    return None


def _model_abspath(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    value = arguments.get(0)
    if value is None:
        return None
    return join_all(_normalise_path(m, option) for option in list_options(value))


def _model_expandvars(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    value = arguments.get(0)
    text = read_constant_text(value)
    if text is None:
        return m.call(Ref("os.getenv"), Arguments([UNKNOWN], {}), node)
    pieces: list[str | None] = []
    taint = CLEAN
    end = 0
    for found in _VARIABLE.finditer(text):
        name = found[1] or found[2]
        held = m.call(Ref("os.getenv"), Arguments([Const(name)], {}), node)
        if name in m.context.variables:
            return UNKNOWN  # the program has set it, to any text
        pieces += [text[end : found.start()], *to_pieces(held)]
        taint |= held.taint
        end = found.end()
    return build_text([*pieces, text[end:]], taint)


# A variable in a text, as a shell writes it.
_VARIABLE: Final = re.compile(r"\$(?:(\w+)|\{([^}]*)\})")


def _model_dirname(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    value = arguments.get(0)
    if value is None:
        return None
    found: list[Value] = []
    for option in list_options(value):
        pieces = to_pieces(option)
        if len(pieces) == 1 and pieces[0] is not None:
            found.append(Const(posixpath.dirname(pieces[0])))
        elif pieces[0] is not None and "/" in pieces[0]:
            found.append(build_text((pieces[0].rpartition("/")[0] + "/", None), collect_taint(option)))
        else:
            found.append(Unknown(collect_taint(option)))
    return join_all(found)


def _model_basename(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    value = arguments.get(0)
    text = read_constant_text(value)
    if text is not None:
        return Const(posixpath.basename(text))
    return Unknown(NAME)


def _model_split_extension(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    value = arguments.get(0)
    text = read_constant_text(value)
    if text is None:
        return Items([value or UNKNOWN, Unknown(NAME)], "tuple")
    return fold.to_abstract((posixpath.splitext if "ext" in function.name else posixpath.split)(text))


def _model_listing(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    _apply_sink(m, function, arguments, node)
    if function.name == "os.walk":
        top = arguments.get(0, "top") or Const(".")
        names = Items([Unknown(NAME)], "list", more=True)
        below = build_text((*to_pieces(top), "/", None), NAME)
        return Items([Items([join(top, below), names, names], "tuple")], "list", more=True)
    return Items([Unknown(NAME)], "list", more=True)


def _model_glob(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    _apply_sink(m, function, arguments, node)
    pattern = arguments.get(0, "pathname") or UNKNOWN
    pieces: list[str | None] = []
    for piece in to_pieces(pattern):
        if piece is None:
            pieces.append(None)
            continue
        head, star, tail = piece.partition("*")
        pieces.extend([head, None, tail.replace("*", "")] if star else [head])
    known = pieces and pieces[0] is not None
    return Items([build_text(pieces, NAME) if known else Unknown(collect_taint(pattern))], "list", more=True)


def _apply_sink(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> None:
    effects.apply(m, function, SINKS.get(function.name, ()), arguments, node)


def _model_temporary_file(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    _apply_sink(m, function, arguments, node)
    path = Text(("/tmp/", None), NAME)  # noqa: S108 - inside the sandbox
    if function.name.endswith(".mkstemp"):
        return Items([Ref(f"{function.name}()", FILE), path], "tuple")
    return path


# What the kinds in `data/python.txt` mean.
_MODELS: Final[dict[str, Model]] = {
    **REFLECTION,
    "absolute": _model_abspath,
    "base": _model_basename,
    "container": _model_container,
    "date": _model_date_text,
    "dict": _model_dict,
    "directory": _model_dirname,
    "enumerate": _model_enumerate,
    "expand": _model_expandvars,
    "extreme": _model_extreme,
    "filter": _model_filter,
    "glob": _model_glob,
    "here": _model_work_directory,
    "join": _model_path_join,
    "list": _model_listing,
    "map": _model_map,
    "next": _model_next,
    "pass": make_pass_through("source", "iterable", "sequence"),
    "path": _model_path,
    "reduce": _model_reduce,
    "series": _model_series,
    "split": _model_split_extension,
    "temporary": _model_temporary_file,
    "text": _model_str,
    "zip": _model_zip,
}

MODELS: Final[dict[str, Model]] = {
    **{name: _MODELS[kind] for name, kind in build_word_index(KNOWLEDGE["models"]).items()},
    **changes.FUNCTIONS,
    "globals": make_constant_model(Ref("globals()", CALLABLE)),
    "locals": make_constant_model(Ref("locals()", CALLABLE)),
    "input": make_constant_model(Unknown(frozenset({"input"}))),
    "getpass.getpass": make_constant_model(Unknown(frozenset({"secret"}))),
    **dict.fromkeys(("urllib.parse.urlparse", "urllib.parse.urlsplit"), attributes.model_parsed_url),
    "pathlib.Path.home": make_constant_model(Path(("~",))),
    "tempfile.gettempdir": make_constant_model(Const("/tmp")),  # noqa: S108 - inside the sandbox
}
"""Models by resolved name."""

METHODS: Final[dict[str, Model]] = {
    "substitute": _model_template_substitute, "safe_substitute": _model_template_substitute,
    "__call__": model_call_method, **changes.METHODS, "get": model_mapping_get,
    "setdefault": model_mapping_get, "values": _model_values, "items": _model_values, "keys": _model_values,
    **dict.fromkeys(
        [*ACTIONS, "open", "joinpath", "with_name", "with_suffix", "with_stem", "resolve", "absolute",
         "expanduser", "as_posix", "relative_to", "link_to", "__str__", "__fspath__"],
        _model_path_method,
    ),
    "read": model_file_method, "write": model_file_method,
    "strftime": _model_date_text, "join": _model_text_join, "format": _model_format,
    **dict.fromkeys(("strip", "encode", "decode", "hex", "rstrip"), _model_text_method),
}  # fmt: skip
"""Models of methods, by name, for values whose class the program shows."""
