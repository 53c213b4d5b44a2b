"""Loops and comprehensions: which elements they are read with, and for how many turns.

In: what is gone through and the loop itself. Out: the elements, and whether they are all. Loops that
count are read for a few turns; only those that put a text together are followed to their end, for that
is how payloads hide.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Final

from spanproof.sandbox.scanners.python import attributes, fold
from spanproof.sandbox.scanners.python.machine import Arguments, Evaluator, Machine
from spanproof.sandbox.scanners.python.values import (
    MAX_UNROLLED,
    NAME,
    UNKNOWN,
    Const,
    Instance,
    Items,
    Mapping,
    Ref,
    Scope,
    Span,
    Unknown,
    Value,
    elements_of,
    join_all,
)
from spanproof.sandbox.words import words

_PLAIN_TURNS = 24
"""Turns over a range that are read one by one where the loop does not put a text together."""


_MANY_TURNS = 256
"""The same over a list that is written out."""


_DECODERS = words("chr ord bytes bytearray int unhexlify fromhex to_bytes unichr")


def _comprehension(m: Machine, node: ast.ListComp | ast.SetComp | ast.GeneratorExp) -> Value:
    items: list[Value] = []
    whole = _iterate(m, node.generators, 0, lambda: items.append(m.evaluate(node.elt)), node.elt)
    return Items(items, "set" if isinstance(node, ast.SetComp) else "list", not whole)


def _dictionary_comprehension(m: Machine, node: ast.DictComp) -> Value:
    entries: dict[object, Value] = {}
    rest: list[Value] = []

    def add() -> None:
        key, value = m.evaluate(node.key), m.evaluate(node.value)
        try:
            entries[fold.concrete(key)] = value
        except (fold.NotKnown, TypeError):
            rest.append(value)

    whole = _iterate(m, node.generators, 0, add, node.value)
    return Mapping(entries, rest if whole else [*rest, UNKNOWN])


def _iterate(
    m: Machine, generators: list[ast.comprehension], index: int, body: Callable[[], None], body_node: ast.expr
) -> bool:
    """Read a comprehension's body once per element; returns whether all elements were known."""
    if index == len(generators):
        body()
        return True
    generator = generators[index]
    value = iterated(m, m.evaluate(generator.iter), generator.iter)
    elements, whole, decoding = turns(m, value, [generator, *generators[index + 1 :], body_node])
    outer = m.scope
    m.scope = Scope(outer, is_comprehension=True)
    try:
        with m.patience(decoding=decoding):
            for element in elements:
                attributes.bind(m, generator.target, element)
                conditions = [fold.truth(m.evaluate(condition)) for condition in generator.ifs]
                if False in conditions:
                    continue
                whole = whole and None not in conditions
                whole = _iterate(m, generators, index + 1, body, body_node) and whole
                if m.exhausted and element is not elements[-1]:
                    # One turn more for all the others.
                    attributes.bind(m, generator.target, join_all(elements))
                    _iterate(m, generators, index + 1, body, body_node)
                    return False
    finally:
        m.scope = outer
    return whole


def turns(m: Machine, value: Value, loop: Sequence[ast.AST]) -> tuple[list[Value], bool, bool]:
    """The elements a loop is read with, whether they are all, and whether it puts a text together.

    Loops that count are read for a few turns; only those that decode are followed to their end.
    """
    is_text = isinstance(value, Const)
    if m.exhausted:
        return _any_turn(value), False, False
    limit = _PLAIN_TURNS if isinstance(value, Span) else MAX_UNROLLED if is_text else _MANY_TURNS
    size = (
        len(value.numbers) if isinstance(value, Span) else len(value.items) if isinstance(value, Items) else 0
    )
    decoding = (is_text or size > 8) and size <= MAX_UNROLLED and puts_text_together(loop)
    if size > limit and not decoding:
        return _any_turn(value), False, False
    elements, whole = elements_of(value)
    return list(elements), whole, decoding


def _any_turn(value: Value) -> list[Value]:
    if isinstance(value, Span):
        return [Unknown(NAME)]
    elements, _ = elements_of(value)
    return [join_all(elements)] if elements else []


def puts_text_together(loop: Sequence[ast.AST]) -> bool:
    """Whether a loop looks like one that decodes: by character codes, or by picking from what it indexes."""
    pending = list(loop)
    looked = 0
    while pending and looked < 400:
        node = pending.pop()
        looked += 1
        if isinstance(node, ast.Name) and node.id in _DECODERS:
            return True
        if isinstance(node, ast.Attribute) and node.attr in _DECODERS:
            return True
        if isinstance(node, ast.AugAssign | ast.BinOp) and isinstance(node.op, ast.Add):
            parts = [node.value] if isinstance(node, ast.AugAssign) else [node.left, node.right]
            if any(isinstance(part, ast.Subscript | ast.Name) for part in parts) and not any(
                isinstance(part, ast.Constant) and not isinstance(part.value, str | bytes)
                for part in ([node.value] if isinstance(node, ast.AugAssign) else parts)
            ):
                return True
        if isinstance(node, ast.BitXor):
            return True
        pending.extend(ast.iter_child_nodes(node))
    return False


def iterated(m: Machine, value: Value, node: ast.expr) -> Value:
    """What a loop over a value goes through."""
    if isinstance(value, Ref) and value.name == "os.environ":
        m.call(Ref("os.environ.__iter__"), Arguments([], {}), node)
    if isinstance(value, Instance):
        method = attributes.method_of(value, "__iter__")
        if method is not None:
            return m.call(method, Arguments([], {}), node)
    return value


COMPREHENSIONS: Final[dict[type, Evaluator]] = {
    ast.ListComp: _comprehension,
    ast.SetComp: _comprehension,
    ast.GeneratorExp: _comprehension,
    ast.DictComp: _dictionary_comprehension,
}
"""The evaluator of each kind of comprehension."""
