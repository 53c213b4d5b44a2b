"""Unpicklers that a program restricts to named classes, as the documentation of `pickle` shows.

In: a class of the program. Out: whether its `find_class` gives nothing but what a list of constants names,
none of which acts, and raises otherwise.
"""

from __future__ import annotations

import ast
from typing import Any, Final

from spanproof.sandbox.scanners.python import fold
from spanproof.sandbox.scanners.python.machine import Machine
from spanproof.sandbox.scanners.python.names import BUILTINS, METHOD_SINKS, SINKS
from spanproof.sandbox.scanners.reader.values import Function, Klass, Ref

# Built-in classes that only hold what they are made of; other built-in names are not given out.
_DATA: Final = frozenset(
    {"bool", "bytes", "bytearray", "complex", "dict", "float", "frozenset", "int", "list", "range", "set"}
    | {"slice", "str", "tuple"}
)
_ACTING: Final = frozenset(name.rpartition(".")[2] for name in (*SINKS, *METHOD_SINKS)) | (BUILTINS - _DATA)


def is_restricted_unpickler(m: Machine, klass: Klass) -> bool:
    """Whether a class is an unpickler that builds no more than the classes of a list."""
    function = klass.attributes.get("find_class")
    is_unpickler = any(isinstance(base, Ref) and base.name == "pickle.Unpickler" for base in klass.bases)
    return is_unpickler and isinstance(function, Function) and _gives_only_listed(m, function.node)


def note_restricted_unpickler(m: Machine, klass: Klass) -> None:
    """Take the `find_class` of such an unpickler for read: what it takes out of a module is on its list."""
    function = klass.attributes.get("find_class")
    if isinstance(function, Function) and is_restricted_unpickler(m, klass):
        m.called.add(id(function.node))


def _gives_only_listed(m: Machine, node: ast.FunctionDef) -> bool:
    parameters = [one.arg for one in node.args.args]
    if len(parameters) != 3 or not isinstance(node.body[-1], ast.Raise):
        return False
    return all(_is_harmless(m, statement, parameters[2]) for statement in node.body)


def _is_harmless(m: Machine, statement: ast.stmt, name: str) -> bool:
    match statement:
        case ast.Raise() | ast.Expr(ast.Constant()):
            return True
        case ast.If(test, [ast.Return()], []):
            tests = test.values if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) else [test]
            return any(_lists_harmless(m, one, name) for one in tests)
    return False


def _lists_harmless(m: Machine, test: ast.expr, name: str) -> bool:
    """Whether a test holds only for names of a list, none of which acts."""
    if not isinstance(test, ast.Compare) or not isinstance(test.ops[0], ast.In | ast.Eq):
        return False
    compares_name = any(isinstance(one, ast.Name) and one.id == name for one in ast.walk(test.left))
    try:
        listed = fold.to_concrete(m.evaluate(test.comparators[0]))
    except fold.NotKnown:
        return False
    if not isinstance(listed, str | list | set | tuple | dict):
        return False
    return compares_name and len(test.ops) == 1 and _ACTING.isdisjoint(_list_texts(listed))


def _list_texts(listed: Any) -> list[str]:
    """Return the names in a text or a collection; the last one of a pair or of a dotted name."""
    items = [listed] if isinstance(listed, str) else list(listed)
    names = [item[-1] if isinstance(item, tuple) and item else item for item in items]
    return [str(name).rpartition(".")[2] for name in names]
