"""What calls outside the program give, where more is known than a constant.

In: a resolved name and abstract arguments. Out: the abstract result, or None where the call is like any
other: of texts, containers, paths and reflection. Lists are changed in place, as Python does; what a
method of pathlib does to a path is judged on the way.
"""

# ruff: noqa: ARG001 - functions of one table share one signature

from __future__ import annotations

import ast
import posixpath
import re
from string import Formatter, Template
from typing import Final

from spanproof.sandbox.catalogue import by_word
from spanproof.sandbox.scanners.boundary import Action
from spanproof.sandbox.scanners.python import attributes, effects, fold
from spanproof.sandbox.scanners.python.machine import Machine, Model, gives, passes_on
from spanproof.sandbox.scanners.python.names import KNOWLEDGE, SINKS, canonical
from spanproof.sandbox.scanners.reader.state import Arguments
from spanproof.sandbox.scanners.reader.values import (
    CALLABLE,
    CLEAN,
    MAX_ITEMS,
    MAX_SIZE,
    MAX_UNROLLED,
    NAME,
    UNKNOWN,
    Const,
    Instance,
    Items,
    Klass,
    Mapping,
    Partial,
    Path,
    Ref,
    Span,
    Text,
    Unknown,
    Value,
    bounded,
    constant_text,
    elements_of,
    join,
    join_all,
    options_of,
    pieces_of,
    taint_of,
    text_value,
)


def _str(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    value = arguments.get(0)
    if isinstance(value, Path | Text):
        return text_value(value.pieces, value.taint)
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


# --- containers


def mapping_get(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    """What `dict.get` and its kin give."""
    owner = function.owner
    key = arguments.get(0)
    if not isinstance(owner, Mapping) or key is None:
        return None
    try:
        found = owner.entries.get(fold.concrete(key))
    except (fold.NotKnown, TypeError):
        return join_all([*owner.entries.values(), *owner.rest, arguments.get(1) or Const(None)])
    if found is not None:
        return found
    default = arguments.get(1) or Const(None)
    return join(default, join_all(owner.rest)) if owner.rest else default


def _reduce(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    if len(arguments.positional) < 2:
        return None
    items, whole = elements_of(arguments.positional[1])
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


def _map(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    if len(arguments.positional) < 2:
        return None
    columns = [elements_of(value) for value in arguments.positional[1:]]
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


def _filter(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    if len(arguments.positional) != 2:
        return None
    items, whole = elements_of(arguments.positional[1])
    kept: list[Value] = []
    for item in [join_all(items)] if m.exhausted and items else bounded(items, MAX_UNROLLED):
        keep = fold.truth(item)
        if not isinstance(arguments.positional[0], Const):
            keep = fold.truth(m.call(arguments.positional[0], Arguments([item], {}), node))
        whole = whole and keep is not None
        if keep is not False:
            kept.append(item)
    return Items(kept, "list", not whole)


def _container(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    value = arguments.get(0)
    if value is None:
        return Items([], "list" if function.name in {"list", "sorted"} else function.name)
    if function.name == "sorted" and "key" in arguments.named:
        m.call(arguments.named["key"], Arguments([join_all(elements_of(value)[0])], {}), node)
    if isinstance(value, Ref) and value.name == "os.environ":
        return None
    if isinstance(value, Items | Mapping | Const | Span):
        items, whole = elements_of(value)
        kind = function.name if function.name in {"list", "tuple", "set"} else "list"
        if function.name == "reversed":
            return Items(list(reversed(items)), "list", not whole)
        if function.name == "sorted":
            folded = fold.fold(sorted, [value], arguments.named)
            return folded if folded is not None else Items(list(items), "list", not whole)
        return Items(list(items), kind, not whole)
    if function.name in {"iter", "next"}:
        return join_all(elements_of(value)[0])
    return None


def _next(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    value = arguments.get(0)
    if isinstance(value, Items) and value.items:
        # How many items were taken before is not followed.
        default = arguments.get(1)
        return join_all(value.items if default is None else [*value.items, default])
    return value


def _extreme(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    """`max` and `min`, where what they compare is not known: one of what they are given."""
    given = arguments.positional
    folded = fold.fold(max if function.name == "max" else min, given, arguments.named)
    if folded is not None or not given:
        return folded
    items = elements_of(given[0])[0] if len(given) == 1 else list(given)
    key = arguments.named.get("key")
    if key is not None:
        m.call(key, Arguments([join_all(items)], {}), node)
    return join_all([*items, *([arguments.named["default"]] if "default" in arguments.named else [])])


def _enumerate(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    value = arguments.get(0)
    if value is None:
        return None
    items, whole = elements_of(value)
    if whole and len(items) <= 4096:
        start = arguments.get(1, "start")
        first = start.value if isinstance(start, Const) and isinstance(start.value, int) else 0
        return Items([_pair(Const(first + index), item) for index, item in enumerate(items)])
    return Items([_pair(Unknown(NAME), join_all(items))], "list", more=True)


def _pair(first: Value, second: Value) -> Value:
    return Items([first, second], "tuple")


def _zip(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    columns = [elements_of(value) for value in arguments.positional]
    if not columns or not all(whole for _, whole in columns):
        return Items([Items([join_all(items) for items, _ in columns], "tuple")], "list", more=True)
    rows = zip(*[items for items, _ in columns], strict=False)
    zipped: list[Value] = [Items(list(row), "tuple") for row in rows]
    return Items(zipped)


def _dict(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    value = arguments.get(0)
    if isinstance(value, Mapping):
        return Mapping({**value.entries, **arguments.named}, list(value.rest), list(value.keys))
    return Mapping(dict(arguments.named)) if value is None else None


def _append(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    owner, value = function.owner, arguments.get(0)
    if isinstance(owner, Items) and value is not None:
        m.add_items(owner, [value])
        return Const(None)
    return None


def _extend(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    owner, value = function.owner, arguments.get(0)
    if isinstance(owner, Items) and value is not None:
        items, whole = elements_of(value)
        m.add_items(owner, items)
        owner.more = owner.more or not whole
        return Const(None)
    return None


def _insert(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    owner, index, value = function.owner, arguments.get(0), arguments.get(1)
    if isinstance(owner, Items) and value is not None:
        at = index.value if isinstance(index, Const) and isinstance(index.value, int) else 0
        if len(owner.items) < MAX_ITEMS:
            m.change_items(owner, [value])
            owner.items.insert(at, value)
            owner.more = owner.more or not isinstance(index, Const)
        else:
            m.add_items(owner, [value])
        return Const(None)
    return None


def _pop(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    owner = function.owner
    if isinstance(owner, Items):
        m.change_items(owner)
    if isinstance(owner, Items) and owner.items and not owner.more:
        index = arguments.get(0)
        at = index.value if isinstance(index, Const) and isinstance(index.value, int) else -1
        if -len(owner.items) <= at < len(owner.items):
            return owner.items.pop(at)
    if isinstance(owner, Mapping):
        return mapping_get(m, function, arguments, node)
    return None


def _reverse(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    if isinstance(function.owner, Items):
        m.change_items(function.owner)
        function.owner.items.reverse()
        return Const(None)
    return None


def _update(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    owner, value = function.owner, arguments.get(0)
    if isinstance(owner, Mapping):
        given = {**value.entries, **arguments.named} if isinstance(value, Mapping) else arguments.named
        for name, entry in given.items():
            m.store(owner.entries, name, entry)
        rest = (
            value.rest if isinstance(value, Mapping) else [] if value is None else [Unknown(taint_of(value))]
        )
        for entry in rest:
            m.store_anywhere(owner, entry)
        return Const(None)
    return None


def _values(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    owner = function.owner
    if not isinstance(owner, Mapping):
        return None
    method = function.name.rpartition(".")[2]
    if method == "values":
        return Items([*owner.entries.values(), *owner.rest], "list", bool(owner.rest))
    if method == "items":
        pairs: list[Value] = [Items([Const(key), value], "tuple") for key, value in owner.entries.items()]
        if owner.rest:
            pairs.append(_pair(join_all(owner.other_keys), join_all(owner.rest)))
        return Items(pairs, "list", bool(owner.rest))
    return Items([*(Const(key) for key in owner.entries), *owner.other_keys], "list", bool(owner.rest))


# --- paths


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


# --- reflection: names reached by text, calls made by other calls, objects made without a class


def _getattr(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    owner, name = arguments.get(0), arguments.get(1)
    if owner is None or name is None:
        return None
    found: list[Value] = []
    for option in options_of(name):
        text = constant_text(option)
        if text is not None:
            found.append(attributes.load(m, owner, text, node))
        elif isinstance(owner, Ref) and owner.name in m.sensitive:
            m.add("attribute.dynamic", node, f"takes an attribute that is not known out of {owner.name}")
            found.append(UNKNOWN)
        else:
            found.append(Unknown(taint_of(owner)))
    return join_all(found)


def _bound_getattribute(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    owner = function.name.rpartition(".")[0]
    if owner in {"object", "type", "super()"}:
        return _getattr(m, function, arguments, node)
    return _getattr(m, function, Arguments([Ref(owner), *arguments.positional], {}), node)


def _setattr(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    owner, name, value = arguments.get(0), constant_text(arguments.get(1)), arguments.get(2)
    if owner is not None and name is not None and value is not None:
        attributes.store_attribute(m, owner, name, value, node)
    return Const(None)


def _import_module(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    name = arguments.get(0, "name")
    if name is None:
        return None
    found: list[Value] = []
    for option in options_of(name):
        text = constant_text(option)
        if text is None:
            m.add("attribute.dynamic", node, f"{function.name} imports a module that is not known")
            found.append(UNKNOWN)
            continue
        top = text.partition(".")[0]
        plain = function.name == "__import__" and arguments.get(3, "fromlist") is None
        found.append(Ref(canonical(top if plain else text)))
        if top in m.context.boundary.policy.denied_modules:
            m.add("module.odd", node, f"imports {text}, whose calls the policy denies")
    return join_all(found)


def _vars(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    owner = arguments.get(0)
    if owner is None:
        return Ref("vars()", CALLABLE)
    if isinstance(owner, Ref):
        return Ref(f"{owner.name}.__dict__", CALLABLE)
    if isinstance(owner, Instance | Klass):
        return Mapping(dict(owner.attributes))
    return None


def _namespace_get(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    owner = function.name.rpartition(".")[0]
    key = arguments.get(0)
    if key is None:
        return None
    if owner in {"globals()", "locals()", "vars()", "sys.modules"} or owner.endswith(".__dict__"):
        return attributes.item(m, Ref(owner), key, node)
    if function.owner is not None and isinstance(function.owner, Mapping):
        return mapping_get(m, function, arguments, node)
    return None


def _getter(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    """`attrgetter`, `itemgetter` and `methodcaller`: what they make is called with its owner."""
    return Partial(Ref(f"{function.name}()"), list(arguments.positional), dict(arguments.named))


def _attrgetter_call(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    name, owner = constant_text(arguments.get(0)), arguments.get(1)
    if name is None or owner is None:
        return None
    for part in name.split("."):
        owner = attributes.load(m, owner, part, node)
    return owner


def _itemgetter_call(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    key, owner = arguments.get(0), arguments.get(1)
    return None if key is None or owner is None else attributes.item(m, owner, key, node)


def _methodcaller_call(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    name = constant_text(arguments.get(0))
    if name is None or len(arguments.positional) < 2:
        return None
    owner = arguments.positional[-1]
    method = attributes.load(m, owner, name, node)
    return m.call(method, Arguments(arguments.positional[1:-1], arguments.named, arguments.more), node)


def _partial(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    if not arguments.positional:
        return None
    return Partial(arguments.positional[0], arguments.positional[1:], arguments.named)


def _keeps_owner(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    value = arguments.get(0)
    return Ref(f"{function.name}()", CLEAN, value) if value is not None else None


def _substitute(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    """`string.Template(…).substitute(…)`."""
    template = constant_text(function.owner)
    if template is None or not function.name.startswith("string.Template()"):
        return None
    given = arguments.get(0)
    named = dict(given.entries) if isinstance(given, Mapping) else {}
    named.update(arguments.named)
    texts = {str(key): text for key, value in named.items() if (text := constant_text(value)) is not None}
    return Const(Template(template).safe_substitute(texts)) if len(texts) == len(named) else None


def _named_tuple(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    given = arguments.get(1, "field_names")
    text = constant_text(given)
    names: list[str | None] = list(text.replace(",", " ").split()) if text is not None else []
    if isinstance(given, Items):
        names = [constant_text(item) for item in given.items]
    return Klass(constant_text(arguments.get(0)) or "?", [], {}, [name for name in names if name is not None])


def _loaded_module(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    """`find_spec('os').loader.load_module()`."""
    return Ref(canonical(function.name.partition(".loader")[0]))


def _dumps(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    value = arguments.get(0)
    return Ref("pickle.dumps()", CLEAN, value) if value is not None else None


def _transparent(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    """Encoding and compressing a pickle the program made: loading it gives the same object."""
    value = arguments.get(0)
    return value if isinstance(value, Ref) and value.name == "pickle.dumps()" else None


def _super(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    for frame in reversed(m.frames):
        receiver = m.scope.find("self")
        if isinstance(receiver, Instance) and frame is not None:
            for base in receiver.klass.bases:
                if isinstance(base, Klass):
                    proxy = Instance(base)
                    proxy.attributes = receiver.attributes
                    return proxy
    return None


def _type(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    if len(arguments.positional) == 3 and isinstance(arguments.positional[2], Mapping):
        name = constant_text(arguments.positional[0]) or "?"
        bases, _ = elements_of(arguments.positional[1])
        members = {str(key): value for key, value in arguments.positional[2].entries.items()}
        return Klass(name, list(bases), members, [])
    value = arguments.get(0)
    if isinstance(value, Instance):
        return value.klass
    return Ref("type") if value is not None else None


def _resolve_name(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    text = constant_text(arguments.get(0))
    return None if text is None else Ref(canonical(text.replace(":", ".")))


def _simple_namespace(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    instance = Instance(Klass("SimpleNamespace", [], {}, []))
    instance.attributes.update(arguments.named)
    return instance


def _call_method(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    """`f.__call__(…)`."""
    owner = function.owner
    if owner is not None and function.name == "?.__call__":
        return m.call(owner, arguments, node)
    name = function.name.removesuffix(".__call__")
    return m.call(Ref(name, function.taint, function.owner), arguments, node)


_MODELS: Final[dict[str, Model]] = {
    "absolute": _abspath, "attribute": _getattr, "attribute-of": _attrgetter_call, "base": _basename,
    "container": _container, "date": _date_text, "dict": _dict, "directory": _dirname, "dump": _dumps,
    "encode": _transparent, "enumerate": _enumerate, "expand": _expandvars, "extreme": _extreme,
    "filter": _filter, "getter": _getter, "glob": _glob, "here": _here, "import": _import_module,
    "item-of": _itemgetter_call, "join": _path_join, "keep": _keeps_owner, "list": _listing, "map": _map,
    "method-of": _methodcaller_call, "named-tuple": _named_tuple, "namespace": _simple_namespace,
    "next": _next, "partial": _partial, "pass": passes_on("source", "iterable", "sequence"), "path": _path,
    "reduce": _reduce, "resolve": _resolve_name, "set-attribute": _setattr, "split": _split_extension,
    "super": _super, "temporary": _temporary, "text": _str, "type": _type, "vars": _vars, "zip": _zip,
}  # fmt: skip
"""What the kinds in `data/python.txt` mean."""

MODELS: Final[dict[str, Model]] = {
    **{name: _MODELS[kind] for name, kind in by_word(KNOWLEDGE["models"]).items()},
    "globals": gives(Ref("globals()", CALLABLE)),
    "locals": gives(Ref("locals()", CALLABLE)),
    "input": gives(Unknown(frozenset({"input"}))),
    "getpass.getpass": gives(Unknown(frozenset({"secret"}))),
    "pathlib.Path.home": gives(Path(("~",))),
    "tempfile.gettempdir": gives(Const("/tmp")),  # noqa: S108 - inside the sandbox
}
"""Models by resolved name."""

METHODS: Final[dict[str, Model]] = {
    "substitute": _substitute, "safe_substitute": _substitute,
    "__call__": _call_method,
    "append": _append, "appendleft": _append, "add": _append, "extend": _extend, "insert": _insert,
    "pop": _pop, "reverse": _reverse, "update": _update, "get": mapping_get, "setdefault": mapping_get,
    "values": _values, "items": _values, "keys": _values,
    **dict.fromkeys(
        [*ACTIONS, "open", "joinpath", "with_name", "with_suffix", "with_stem", "resolve", "absolute",
         "expanduser", "as_posix", "relative_to", "link_to", "__str__", "__fspath__"],
        _path_method,
    ),
    "strftime": _date_text, "join": _join, "format": _format,
    **dict.fromkeys(("strip", "encode", "decode", "hex", "rstrip"), _text_method),
}  # fmt: skip
"""Models of methods, by name, for values whose class the program shows."""


def reflective(name: str) -> Model | None:
    """Models whose name ends in a reflective method: `os.__getattribute__`, `sys.modules.get`."""
    if name.endswith(".__getattribute__"):
        return _bound_getattribute
    if name.endswith((".get", ".pop", ".__getitem__")) and (
        name.startswith(("globals()", "locals()", "vars()", "sys.modules")) or ".__dict__" in name
    ):
        return _namespace_get
    if name.endswith(".loader.load_module"):
        return _loaded_module
    return _call_method if name.endswith(".__call__") else None
