"""Programs that take memory without end: loops that only grow, and values that no machine holds.

In: a loop or the sizes of a value. Out: whether it is one of these. The sandbox bounds memory and time, so
such a program is reviewed, not denied.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
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

REPEATING: Final = "itertools.repeat"
"""What has no end where it gets no count."""

# Methods by which a container grows, and calls that wait, end the program, or raise where nothing is left.
_GROWING: Final = split_words(
    "append appendleft add extend insert write writelines put update start fork submit Popen"
)
_FILLING: Final = split_words("append appendleft extend")
_WAITING: Final = split_words(
    "sleep get recv accept input read readline wait join poll select exit _exit next pop"
)


def grows_without_end(
    loop: ast.While | ast.For | ast.AsyncFor, called_bodies: Sequence[Sequence[ast.stmt]] = ()
) -> bool:
    """Whether a loop has no end but that of the machine: it leaves nowhere, waits for nothing, and adds.

    Args:
        loop: the loop.
        called_bodies: those of the program's functions that it calls.
    """
    nodes = _list_body_nodes(loop)
    called = {_read_called_name(node) for node in nodes if isinstance(node, ast.Call)}
    if _leaves_or_waits(loop, nodes):
        return False
    if any(map(_fills_outer, called_bodies)) and not any(map(_may_end, called_bodies)):
        return True
    if isinstance(loop, ast.While) and all(isinstance(one, ast.Pass | ast.Continue) for one in loop.body):
        return True  # it takes the processor instead
    adds = any(isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add | ast.Mult) for node in nodes)
    return bool(called & _GROWING) or (adds and not called)


def yields_without_end(body: Sequence[ast.stmt]) -> bool:
    """Whether a generator's last statement is a loop without an end that yields, and that nothing leaves."""
    loop = body[-1] if body else None
    if not isinstance(loop, ast.While | ast.For) or not _is_endless_loop(loop):
        return False
    nodes = [node for statement in body for node in list_nodes(statement, without=_SCOPES)]
    leaves = any(isinstance(node, ast.Return | ast.Raise) for node in nodes) or _breaks(loop.body)
    waits = any(isinstance(node, ast.Call) and _read_called_name(node) in _WAITING for node in nodes)
    return any(isinstance(node, ast.Yield) for node in nodes) and not leaves and not waits


def _is_endless_loop(loop: ast.While | ast.For) -> bool:
    """Whether a loop is `while True`, or goes through `itertools.cycle` or `count`, numbered or not."""
    if isinstance(loop, ast.While):
        return isinstance(loop.test, ast.Constant) and bool(loop.test.value)
    iterated = loop.iter
    while isinstance(iterated, ast.Call) and _read_called_name(iterated) == "enumerate" and iterated.args:
        iterated = iterated.args[0]
    return isinstance(iterated, ast.Call) and f"itertools.{_read_called_name(iterated)}()" in ENDLESS


def _fills_outer(body: Sequence[ast.stmt]) -> bool:
    """Whether a function adds to a container that it has not made itself: a list of the module."""
    nodes = [node for statement in body for node in list_nodes(statement, without=_SCOPES)]
    own = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    return any(name not in own for node in nodes for name in _list_filled_names(node))


def _list_filled_names(node: ast.AST) -> list[str]:
    """Return the name whose container a call adds to: `name` of `name.append(…)`."""
    match node:
        case ast.Call(ast.Attribute(ast.Name(name), method)) if method in _FILLING:
            return [name]
    return []


def _may_end(body: Sequence[ast.stmt]) -> bool:
    """Whether a function may raise, or waits."""
    nodes = [node for statement in body for node in list_nodes(statement, without=_SCOPES)]
    waits = any(isinstance(node, ast.Call) and _read_called_name(node) in _WAITING for node in nodes)
    return waits or any(isinstance(node, ast.Raise | ast.Yield | ast.YieldFrom | ast.Await) for node in nodes)


def grows_by_doubling(loop: ast.While) -> bool:
    """Whether each turn of a loop doubles what its condition requires: `while x: x += x`."""
    nodes = _list_body_nodes(loop)
    if _leaves_or_waits(loop, nodes):
        return False
    doubled = {name for statement in loop.body for name in _iter_doubled_names(statement)}
    stored = [node.id for node in nodes if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)]
    kept = {name for name in doubled if stored.count(name) <= 1}
    if isinstance(loop.test, ast.Constant):
        return bool(kept and loop.test.value)
    return _get_required_name(loop.test) in kept


def _list_body_nodes(loop: ast.While | ast.For | ast.AsyncFor) -> list[ast.AST]:
    return [node for statement in loop.body for node in list_nodes(statement, without=_SCOPES)]


def _leaves_or_waits(loop: ast.While | ast.For | ast.AsyncFor, nodes: Iterable[ast.AST]) -> bool:
    calls = {_read_called_name(node) for node in nodes if isinstance(node, ast.Call)}
    return bool(calls & _WAITING) or any(isinstance(node, _LEAVING) for node in nodes) or _breaks(loop.body)


def _iter_doubled_names(statement: ast.stmt) -> Iterator[str]:
    """Yield the name that a statement puts twice its value into: `x += x`, `x = x + x`, `x.extend(x)`."""
    match statement:
        case ast.AugAssign(ast.Name(name), ast.Add(), ast.Name(added)) if name == added:
            yield name
        case ast.AugAssign(ast.Name(name), ast.Mult(), ast.Constant(int(times))) if times > 1:
            yield name
        case ast.Assign([ast.Name(name)], ast.BinOp(ast.Name(left), ast.Add(), ast.Name(right))):
            yield from [name] if name == left == right else []
        case ast.Assign([ast.Name(name)], ast.BinOp(ast.Name(left), ast.Mult(), ast.Constant(int(times)))):
            yield from [name] if name == left and times > 1 else []
        case ast.Assign([ast.Name(name)], ast.List(parts) | ast.Tuple(parts)):
            spread = [ast.unparse(part) for part in parts]
            yield from [name] if spread.count(f"*{name}") > 1 else []
        case ast.Expr(ast.Call(ast.Attribute(ast.Name(name), "extend"), [ast.Name(added)])) if name == added:
            yield name


def _get_required_name(test: ast.expr) -> str:
    """Return the name whose growth keeps a condition true: `x`, `len(x)`, `len(x) > 0`, `x != []`."""
    match test:
        case ast.Name(name) | ast.Call(ast.Name("len" | "bool"), [ast.Name(name)]):
            return name
        case ast.Compare(left, [ast.Gt() | ast.GtE() | ast.NotEq()], [_]):
            return _get_required_name(left)
        case ast.Compare(ast.Name(name), [ast.IsNot()], [_]):
            return name
        case _:
            return ""


def is_too_large(sizes: Iterable[Value]) -> bool:
    """Whether the product of these sizes, where they are known, is more than a machine holds."""
    numbers = [one for size in sizes for one in (size.items if isinstance(size, Items) else [size])]
    factors = [one.value for one in numbers if isinstance(one, Const) and isinstance(one.value, int)]
    return bool(factors) and len(factors) == len(numbers) and prod(factors) > MOST_ITEMS


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
    if isinstance(function, ast.Attribute):
        return function.attr
    return getattr(function, "id", "")
