"""Programs that take memory without end: loops that only grow, and values that no machine holds.

In: a loop or the sizes of a value. Out: whether it is one of these. The sandbox bounds memory and time, so
such a program is reviewed, not denied.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from math import prod
from typing import Final

from spanproof.sandbox.scanners.python.parse import list_nodes
from spanproof.sandbox.scanners.reader.values import Const, Items, Value
from spanproof.sandbox.words import split_words

MOST_ITEMS: Final = 1_000_000_000
"""Items or characters of one value: 8 GB of numbers, more than a sandbox has by default."""

_SCOPES: Final = frozenset({ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda})
_LOOPS: Final = (ast.While, ast.For, ast.AsyncFor)
# What leaves a loop for good; `break` does in the loop itself alone.
_LEAVING: Final = (ast.Return, ast.Raise, ast.Yield, ast.YieldFrom, ast.Await)
ENDLESS: Final = split_words("itertools.count() itertools.cycle()")
"""What a loop goes through without an end."""

# Methods by which a container grows, and calls that wait, end the program, or raise where nothing is left.
_GROWING: Final = split_words(
    "append appendleft add extend insert write writelines put update start fork submit Popen"
)
_WAITING: Final = split_words(
    "sleep get recv accept input read readline wait join poll select exit _exit next pop"
)


def grows_without_end(loop: ast.While | ast.For | ast.AsyncFor) -> bool:
    """Whether a loop has no end but that of the machine: it leaves nowhere, waits for nothing, and adds."""
    nodes = [node for statement in loop.body for node in list_nodes(statement, without=_SCOPES)]
    if any(isinstance(node, _LEAVING) for node in nodes) or _breaks(loop.body):
        return False
    called = {_read_called_name(node) for node in nodes if isinstance(node, ast.Call)}
    if called & _WAITING:
        return False
    doubles = any(
        isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add | ast.Mult) for node in nodes
    )
    return bool(called & _GROWING) or (doubles and not called)


def is_too_large(sizes: Iterable[Value]) -> bool:
    """Whether the product of these sizes, where they are known, is more than a machine holds."""
    numbers = [one for size in sizes for one in (size.items if isinstance(size, Items) else [size])]
    known = [one.value for one in numbers if isinstance(one, Const) and isinstance(one.value, int)]
    return bool(known) and len(known) == len(numbers) and prod(known) > MOST_ITEMS


def _breaks(nodes: Iterable[ast.AST]) -> bool:
    """Whether one of these leaves the loop around it by `break`."""
    for node in nodes:
        if isinstance(node, ast.Break):
            return True
        if node.__class__ in _SCOPES:
            continue
        inner = node.orelse if isinstance(node, _LOOPS) else ast.iter_child_nodes(node)
        if isinstance(node, ast.stmt | ast.ExceptHandler | ast.match_case) and _breaks(inner):
            return True
    return False


def _read_called_name(call: ast.Call) -> str:
    function = call.func
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
