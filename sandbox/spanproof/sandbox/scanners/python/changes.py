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
from spanproof.sandbox.scanners.python.reflection import evaluate_mapping_get
from spanproof.sandbox.scanners.reader.state import Arguments
from spanproof.sandbox.scanners.reader.values import (
    MAX_ITEMS,
    Const,
    Items,
    Mapping,
    Ref,
    Unknown,
    Value,
    compute_taint,
    list_elements,
)
from spanproof.sandbox.words import split_words


def _evaluate_append(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    owner, value = function.owner, arguments.find(0)
    if isinstance(owner, Items) and value is not None:
        m.add_items(owner, [value])
        return Const(None)
    return None


def _evaluate_extend(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    owner, value = function.owner, arguments.find(0)
    if isinstance(owner, Items) and value is not None:
        items, whole = list_elements(value)
        m.add_items(owner, items)
        owner.more = owner.more or not whole
        return Const(None)
    return None


def _evaluate_insert(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    owner, index, value = function.owner, arguments.find(0), arguments.find(1)
    if isinstance(owner, Items) and value is not None:
        at = index.value if isinstance(index, Const) and isinstance(index.value, int) else 0
        if len(owner.items) < MAX_ITEMS:
            m.record_list_change(owner, [value])
            owner.items.insert(at, value)
            owner.more = owner.more or not isinstance(index, Const)
        else:
            m.add_items(owner, [value])
        return Const(None)
    return None


def _evaluate_pop(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    owner = function.owner
    if isinstance(owner, Items):
        m.record_list_change(owner)
    if isinstance(owner, Items) and owner.items and not owner.more:
        index = arguments.find(0)
        at = index.value if isinstance(index, Const) and isinstance(index.value, int) else -1
        if -len(owner.items) <= at < len(owner.items):
            return owner.items.pop(at)
    if isinstance(owner, Mapping):
        return evaluate_mapping_get(m, function, arguments, node)
    return None


def _evaluate_reverse(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    if isinstance(function.owner, Items):
        m.record_list_change(function.owner)
        function.owner.items.reverse()
        return Const(None)
    return None


def _evaluate_update(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    owner, value = function.owner, arguments.find(0)
    if isinstance(owner, Items):  # a set
        return _evaluate_extend(m, function, arguments, node)
    if isinstance(owner, Mapping):
        added = arguments.named
        rest: list[Value] = []
        if isinstance(value, Mapping):
            added, rest = {**value.entries, **arguments.named}, value.rest
        elif value is not None:
            rest = [Unknown(compute_taint(value))]
        for name, entry in added.items():
            m.write_value(owner.entries, name, entry)
        for entry in rest:
            m.write_to_unknown_key(owner, entry)
        return Const(None)
    return None


def _evaluate_set_item(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    owner, key, value = function.owner, arguments.find(0), arguments.find(1)
    if owner is None or key is None or value is None:
        return None
    attributes.write_item(m, owner, key, value, node)
    return Const(None)


def _build_unbound(method: Model) -> Model:
    """Return the model of a function that does what a method of its first argument does."""

    def model(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
        if not arguments.positional:
            return None
        owner, *rest = arguments.positional
        bound = Ref(function.name, function.taint, owner)
        return method(m, bound, Arguments(rest, arguments.named, arguments.more), node)

    return model


METHODS: Final[dict[str, Model]] = {
    "append": _evaluate_append, "appendleft": _evaluate_append, "add": _evaluate_append,
    "extend": _evaluate_extend,
    "extendleft": _evaluate_extend, "insert": _evaluate_insert, "pop": _evaluate_pop,
    "reverse": _evaluate_reverse,
    "update": _evaluate_update, "__setitem__": _evaluate_set_item, "__iadd__": _evaluate_extend,
    "__ior__": _evaluate_update, "put": _evaluate_append, "put_nowait": _evaluate_append,
    "get_nowait": evaluate_mapping_get,
}  # fmt: skip
"""Models of methods, by name."""


def _evaluate_queue(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    """Return a new queue, which gives what is put into it in an order that is not followed."""
    return Items([], "list", more=True)


_QUEUES: Final = (
    "asyncio.Queue", "multiprocessing.Queue", "queue.LifoQueue", "queue.Queue", "queue.SimpleQueue"
)  # fmt: skip
_KINDS: Final = split_words("list dict set collections.deque collections.OrderedDict collections.defaultdict")

FUNCTIONS: Final[dict[str, Model]] = {
    **{f"{kind}.{name}": _build_unbound(model) for kind in _KINDS for name, model in METHODS.items()},
    **dict.fromkeys(_QUEUES, _evaluate_queue),
    **dict.fromkeys(("operator.setitem", "operator.__setitem__"), _build_unbound(_evaluate_set_item)),
    **dict.fromkeys(("operator.iadd", "operator.iconcat", "operator.__iadd__"),
    _build_unbound(_evaluate_extend)),
    **dict.fromkeys(("operator.ior", "operator.__ior__"), _build_unbound(_evaluate_update)),
    **dict.fromkeys(
        ("bisect.insort", "bisect.insort_left", "bisect.insort_right", "heapq.heappush", "heapq.heappushpop",
         "heapq.heapreplace"),
        _build_unbound(_evaluate_append),
    ),
}  # fmt: skip
"""Models of functions, by resolved name."""
