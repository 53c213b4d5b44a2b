"""What calls put into the program's own lists, sets and dictionaries.

In: a method of a known container, or a function that gets one. Out: the container changed, as the calls after
it find it. What is stored at a place that is not known may be at any.
"""

# ruff: noqa: ARG001 - models share one signature

from __future__ import annotations

import ast
from typing import Final

from spanproof.sandbox.scanners.python import attributes
from spanproof.sandbox.scanners.python.machine import Machine, Model
from spanproof.sandbox.scanners.python.reflection import model_mapping_get
from spanproof.sandbox.scanners.reader.state import Arguments
from spanproof.sandbox.scanners.reader.values import (
    MAX_ITEMS,
    Const,
    Items,
    Mapping,
    Ref,
    Unknown,
    Value,
    collect_taint,
    list_elements,
)
from spanproof.sandbox.words import split_words


def _model_append(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    owner, value = function.owner, arguments.get(0)
    if isinstance(owner, Items) and value is not None:
        m.add_items(owner, [value])
        return Const(None)
    return None


def _model_extend(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    owner, value = function.owner, arguments.get(0)
    if isinstance(owner, Items) and value is not None:
        items, whole = list_elements(value)
        m.add_items(owner, items)
        owner.more = owner.more or not whole
        return Const(None)
    return None


def _model_insert(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
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


def _model_pop(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    owner = function.owner
    if isinstance(owner, Items):
        m.change_items(owner)
    if isinstance(owner, Items) and owner.items and not owner.more:
        index = arguments.get(0)
        at = index.value if isinstance(index, Const) and isinstance(index.value, int) else -1
        if -len(owner.items) <= at < len(owner.items):
            return owner.items.pop(at)
    if isinstance(owner, Mapping):
        return model_mapping_get(m, function, arguments, node)
    return None


def _model_reverse(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    if isinstance(function.owner, Items):
        m.change_items(function.owner)
        function.owner.items.reverse()
        return Const(None)
    return None


def _model_update(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    owner, value = function.owner, arguments.get(0)
    if isinstance(owner, Items):  # a set
        return _model_extend(m, function, arguments, node)
    if isinstance(owner, Mapping):
        given = arguments.named
        rest: list[Value] = []
        if isinstance(value, Mapping):
            given, rest = {**value.entries, **arguments.named}, value.rest
        elif value is not None:
            rest = [Unknown(collect_taint(value))]
        for name, entry in given.items():
            m.store(owner.entries, name, entry)
        for entry in rest:
            m.store_anywhere(owner, entry)
        return Const(None)
    return None


def _model_set_item(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    owner, key, value = function.owner, arguments.get(0), arguments.get(1)
    if owner is None or key is None or value is None:
        return None
    attributes.store_item(m, owner, key, value, node)
    return Const(None)


def _make_unbound(method: Model) -> Model:
    """Return the model of a function that does what a method of its first argument does."""

    def model(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
        if not arguments.positional:
            return None
        owner, *rest = arguments.positional
        bound = Ref(function.name, function.taint, owner)
        return method(m, bound, Arguments(rest, arguments.named, arguments.more), node)

    return model


METHODS: Final[dict[str, Model]] = {
    "append": _model_append, "appendleft": _model_append, "add": _model_append, "extend": _model_extend,
    "extendleft": _model_extend, "insert": _model_insert, "pop": _model_pop, "reverse": _model_reverse,
    "update": _model_update, "__setitem__": _model_set_item, "__iadd__": _model_extend,
    "__ior__": _model_update, "put": _model_append, "put_nowait": _model_append,
    "get_nowait": model_mapping_get,
}  # fmt: skip
"""Models of methods, by name."""


def _model_queue(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    """Return a new queue, which gives what is put into it in an order that is not followed."""
    return Items([], "list", more=True)


_QUEUES: Final = (
    "asyncio.Queue", "multiprocessing.Queue", "queue.LifoQueue", "queue.Queue", "queue.SimpleQueue"
)  # fmt: skip
_KINDS: Final = split_words("list dict set collections.deque collections.OrderedDict collections.defaultdict")

FUNCTIONS: Final[dict[str, Model]] = {
    **{f"{kind}.{name}": _make_unbound(model) for kind in _KINDS for name, model in METHODS.items()},
    **dict.fromkeys(_QUEUES, _model_queue),
    **dict.fromkeys(("operator.setitem", "operator.__setitem__"), _make_unbound(_model_set_item)),
    **dict.fromkeys(("operator.iadd", "operator.iconcat", "operator.__iadd__"), _make_unbound(_model_extend)),
    **dict.fromkeys(("operator.ior", "operator.__ior__"), _make_unbound(_model_update)),
    **dict.fromkeys(
        ("bisect.insort", "bisect.insort_left", "bisect.insort_right", "heapq.heappush", "heapq.heappushpop",
         "heapq.heapreplace"),
        _make_unbound(_model_append),
    ),
}  # fmt: skip
"""Models of functions, by resolved name."""
