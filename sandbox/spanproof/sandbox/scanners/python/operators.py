"""Operators between values that may be known in part.

In: an operator and two abstract values. Out: the abstract result; alternatives are combined, and texts
keep what is known of them.
"""

from __future__ import annotations

import ast

from spanproof.sandbox.scanners.python import attributes, fold
from spanproof.sandbox.scanners.python.machine import Arguments, Machine
from spanproof.sandbox.scanners.python.values import (
    NAME,
    Const,
    Instance,
    Items,
    Mapping,
    Path,
    Ref,
    Text,
    Unknown,
    Value,
    join_all,
    options_of,
    pieces_of,
    taint_of,
    text_value,
    widen,
)


def operate(m: Machine, kind: type[ast.operator], left: Value, right: Value, node: ast.expr) -> Value:
    """What an operator gives, alternatives included."""
    for value in (left, right):
        if isinstance(value, Ref) and value.name == "os.environ":
            m.call(Ref("os.environ.copy"), Arguments([], {}), node)
    lefts, rights = options_of(left), options_of(right)
    if len(lefts) * len(rights) == 1:
        return _operate_one(m, kind, left, right, node)
    if len(lefts) * len(rights) > 36:
        return widen([left, right])
    return join_all(_operate_one(m, kind, one, other, node) for one in lefts for other in rights)


def _operate_one(m: Machine, kind: type[ast.operator], left: Value, right: Value, node: ast.expr) -> Value:
    if isinstance(left, Const) and isinstance(right, Const):
        folded = fold.binary(kind, left, right)
        return folded if folded is not None else Unknown(left.taint | right.taint)
    if isinstance(left, Instance):
        method = attributes.method_of(left, _OPERATOR_METHODS.get(kind, ""))
        if method is not None:
            return m.call(method, Arguments([right], {}), node)
    taint = taint_of(left) | taint_of(right)
    if kind is ast.Div and (isinstance(left, Path) or isinstance(right, Path)):
        return attributes.join_path([left, right], as_path=True)
    if kind is ast.Add:
        return _add(left, right)
    if kind is ast.Mod and isinstance(left, Const | Text) and _is_text(left):
        return percent_format(left, right)
    folded = fold.binary(kind, left, right)
    if folded is not None:
        return folded
    if isinstance(left, Items) and isinstance(right, Const):
        return Items(left.items, left.kind, more=True)
    # `files("package") / "../x"` is a path of a library.
    divides = kind is ast.Div and not (isinstance(left, Ref) and isinstance(right, Const | Ref))
    numeric = divides or kind in (ast.Sub, ast.FloorDiv, ast.Pow) or NAME == left.taint == right.taint
    return Unknown(NAME if numeric and taint <= NAME else taint)


def _is_text(value: Value) -> bool:
    return isinstance(value, Text) or (isinstance(value, Const) and isinstance(value.value, str))


def _add(left: Value, right: Value) -> Value:
    if isinstance(left, Items) and isinstance(right, Items):
        return Items([*left.items, *right.items], left.kind, left.more or right.more)
    taint = taint_of(left) | taint_of(right)
    if _is_text(left) or _is_text(right):
        return text_value((*pieces_of(left), *pieces_of(right)), taint)
    folded = fold.binary(ast.Add, left, right)
    return folded if folded is not None else Unknown(taint)


def percent_format(template: Value, values: Value) -> Value:
    """`%` with values that are known only in part: the text before and between them stays known."""
    head = pieces_of(template)
    if len(head) != 1 or head[0] is None:
        return Unknown(taint_of(template) | taint_of(values))
    arguments = list(values.items) if isinstance(values, Items) else [values]
    pieces: list[str | None] = []
    rest = head[0]
    while "%" in rest:
        before, _, rest = rest.partition("%")
        pieces.append(before)
        if rest.startswith("%"):
            pieces.append("%")
            rest = rest[1:]
            continue
        if rest.startswith("(") and isinstance(values, Mapping):
            key, _, rest = rest[1:].partition(")")
            arguments = [values.entries.get(key, Unknown(taint_of(values)))]
        simple = rest[:1] in {"s", "d", "i"}
        pieces.extend(pieces_of(arguments.pop(0)) if arguments and simple else (None,))
        rest = rest[1:] if simple else rest.lstrip("0123456789.-+ #(abcdefghijklmnopqrstuvwxyz_)")
    pieces.append(rest)
    return text_value(pieces, taint_of(template) | taint_of(values))


_OPERATOR_METHODS = {
    ast.Add: "__add__", ast.Sub: "__sub__", ast.Mult: "__mul__", ast.Div: "__truediv__", ast.Mod: "__mod__",
    ast.BitOr: "__or__", ast.BitAnd: "__and__", ast.BitXor: "__xor__", ast.MatMult: "__matmul__",
    ast.LShift: "__lshift__", ast.RShift: "__rshift__", ast.FloorDiv: "__floordiv__", ast.Pow: "__pow__",
}  # fmt: skip
