"""Models of containers: what lists and dictionaries hold after the calls that fill, turn and walk them.

In: a method or built-in function and abstract arguments. Out: the abstract result; lists are changed in
place, as Python does.
"""

# ruff: noqa: ARG001 - functions of one table share one signature

from __future__ import annotations

import ast
from typing import Final

from spanproof.sandbox.scanners.python import fold
from spanproof.sandbox.scanners.python.machine import Machine, Model, passes_on
from spanproof.sandbox.scanners.reader.state import Arguments
from spanproof.sandbox.scanners.reader.values import (
    MAX_ITEMS,
    MAX_UNROLLED,
    NAME,
    UNKNOWN,
    Const,
    Items,
    Mapping,
    Ref,
    Span,
    Unknown,
    Value,
    bounded,
    elements_of,
    join,
    join_all,
    taint_of,
)


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


MODELS: Final[dict[str, Model]] = {
    "functools.reduce": _reduce, "map": _map, "filter": _filter, "list": _container, "tuple": _container,
    "set": _container, "sorted": _container, "reversed": _container, "iter": _container, "next": _next,
    **dict.fromkeys(
        ["tqdm.tqdm", "tqdm.auto.tqdm", "tqdm.notebook.tqdm", "tqdm.std.tqdm", "rich.progress.track"],
        passes_on("iterable", "sequence"),
    ),
    "max": _extreme, "min": _extreme, "enumerate": _enumerate, "zip": _zip, "dict": _dict,
}  # fmt: skip
"""Models by resolved name."""


METHODS: Final[dict[str, Model]] = {
    "append": _append, "appendleft": _append, "add": _append, "extend": _extend, "insert": _insert,
    "pop": _pop, "reverse": _reverse, "update": _update, "get": mapping_get, "setdefault": mapping_get,
    "values": _values, "items": _values, "keys": _values,
}  # fmt: skip
"""Models of methods, by name, for values whose class the program shows."""
