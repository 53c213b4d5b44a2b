"""Unpicklers that a program restricts to named classes, as the documentation of `pickle` shows.

In: a class of the program. Out: whether its `find_class` gives nothing but what a list of constants names,
none of which acts, and raises otherwise.
"""

from __future__ import annotations

import ast
import re
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
_REPLACES: Final = re.compile(r"setattr|delattr|__dict__|__bases__|__class__|__getattr|\beval\b|\bexec\b")
_ACTING: Final = frozenset(name.rpartition(".")[2] for name in (*SINKS, *METHOD_SINKS)) | (BUILTINS - _DATA)


def list_outer_bases(klass: Klass) -> list[Ref]:
    """Return the classes of modules that a class has as bases, also through other classes of the program."""
    classes, bases = [klass], list(klass.bases)
    for base in bases:
        if isinstance(base, Klass) and base not in classes:
            classes.append(base)
            bases += base.bases
    return [base for base in bases if isinstance(base, Ref)]


def is_restricted_unpickler(m: Machine, klass: Klass) -> bool:
    """Whether a class is an unpickler that builds no more than the classes of a list."""
    function = klass.attributes.get("find_class")
    is_unpickler = any(base.name == "pickle.Unpickler" for base in list_outer_bases(klass))
    if not is_unpickler or not isinstance(function, Function) or not _is_last_word(m.program_text):
        return False
    return _gives_only_listed(function.node, m)


def _is_last_word(text: str) -> bool:
    """Whether a program has one `find_class`, and neither replaces nor removes it."""
    passed_on = len(re.findall(r"\bsuper\(\)\.find_class\(", text))
    return len(re.findall(r"find_class", text)) == 1 + passed_on and not _REPLACES.search(text)


def note_restricted_unpickler(m: Machine, klass: Klass) -> None:
    """Take the `find_class` of such an unpickler for read: what it takes out of a module is on its list."""
    function = klass.attributes.get("find_class")
    if isinstance(function, Function) and is_restricted_unpickler(m, klass):
        m.called.add(id(function.node))


def _gives_only_listed(node: ast.FunctionDef, m: Machine) -> bool:
    parameters = [one.arg for one in node.args.args]
    if len(parameters) != 3 or not isinstance(node.body[-1], ast.Raise):
        return False
    return all(_is_harmless(m, statement, *parameters[1:]) for statement in node.body)


def _is_harmless(m: Machine, statement: ast.stmt, module: str, name: str) -> bool:
    match statement:
        case ast.Raise() | ast.Expr(ast.Constant()):
            return True
        case ast.If(test, [ast.Return(ast.expr() as given)], []) if _gives_class(given, module, name):
            tests = test.values if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) else [test]
            calls = any(isinstance(one, ast.Call | ast.NamedExpr) for one in ast.walk(test))
            return not calls and any(_lists_harmless(m, one, module, name) for one in tests)
    return False


def _gives_class(given: ast.expr, module: str, name: str) -> bool:
    """Whether an expression takes the named class out of a module: `super().find_class(module, name)`."""
    imports = f"importlib.import_module({module})", f"import_module({module})", f"sys.modules[{module}]"
    forms = [f"super().find_class({module}, {name})", *(f"getattr({one}, {name})" for one in imports)]
    match given:
        case ast.Call(ast.Name("getattr"), [ast.Name(), ast.Name(named)], []):
            return named == name
    return ast.unparse(given) in forms


def _lists_harmless(m: Machine, test: ast.expr, module: str, name: str) -> bool:
    """Whether a test holds only for names of a list, none of which acts."""
    if not isinstance(test, ast.Compare) or len(test.ops) != 1:
        return False
    compared = f"({module}, {name})", f"f'{{{module}}}.{{{name}}}'", f"{module} + '.' + {name}", name
    if ast.unparse(test.left) not in compared or not isinstance(test.ops[0], ast.In | ast.Eq):
        return False
    try:
        listed = fold.to_concrete(m.evaluate(test.comparators[0]))
    except fold.NotKnown:
        return False
    # A name that is in a text may be any part of it.
    kinds = (list, set, tuple, dict) if isinstance(test.ops[0], ast.In) else (str, tuple)
    return isinstance(listed, kinds) and _ACTING.isdisjoint(_list_texts(listed))


def _list_texts(listed: Any) -> list[str]:
    """Return the names in a text or a collection; the last one of a pair or of a dotted name."""
    items = [listed] if isinstance(listed, str) else list(listed)
    names = [item[-1] if isinstance(item, tuple) and item else item for item in items]
    return [str(name).rpartition(".")[2] for name in names]
