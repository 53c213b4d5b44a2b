"""The reference of the Python API: the names that packages list as public, with signatures and first lines.

Signatures come from the syntax trees, so that every version of Python writes the same page.
"""

from __future__ import annotations

import ast
import inspect
import pkgutil
import sys
import types
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from operator import attrgetter
from pathlib import Path
from typing import Any

import spanproof

_HEAD = """\
# Python API

For those who use Spanproof from Python. The page lists the public names of each package (its `__all__`) with
their signatures and the first line of each docstring; `help(name)` prints the rest. Names that are not listed
may change in any release.

This page is written by `make reference`.
"""
_Function = ast.FunctionDef | ast.AsyncFunctionDef


def render() -> str:
    """Return the page: a section for each package that has public names."""
    return _HEAD + "".join(_package(name) for name in _packages())


def _packages() -> Iterator[str]:
    # The order of the four distributions on the path differs between installations.
    for found in sorted(pkgutil.iter_modules(spanproof.__path__, "spanproof."), key=attrgetter("name")):
        if found.ispkg and getattr(import_module(found.name), "__all__", None):
            yield found.name


def _package(name: str) -> str:
    module = import_module(name)
    public = frozenset(module.__all__)
    entries = "".join(_entry(each, getattr(module, each), public) for each in sorted(public))
    return f"\n## `{name}`\n\n{_first_line(module)}\n\n{entries}"


def _entry(name: str, value: Any, public: frozenset[str]) -> str:
    """Return the lines of one name: a class with its public methods, a function, or another value."""
    if isinstance(value, types.ModuleType):
        return f"- `{name}`, a module: {_first_line(value)}\n"
    node = _definition(value)
    if isinstance(node, ast.ClassDef):
        parts = (node, *_private_bases(value, public))
        return f"- `{_class_line(name, node)}`{_about(node)}\n" + "".join(map("".join, map(_members, parts)))
    if node is not None:
        return f"- `{_call(name, node)}`{_about(node)}\n"
    kind = "a type" if isinstance(value, type) or hasattr(value, "__args__") else "a value"
    return f"- `{name}`, {kind}\n"


def _private_bases(value: type, public: frozenset[str]) -> Iterator[ast.ClassDef]:
    """Yield the bases whose methods no entry of their own lists."""
    for base in value.__mro__[1:]:
        node = _definition(base)
        if base.__name__ not in public and isinstance(node, ast.ClassDef):
            yield node


def _first_line(module: types.ModuleType) -> str:
    return " ".join((inspect.getdoc(module) or "").partition("\n\n")[0].split())


def _definition(value: Any) -> ast.ClassDef | _Function | None:
    """Return the class or function of a value in the source that defines it."""
    module, name = getattr(value, "__module__", None), getattr(value, "__qualname__", None)
    if module not in sys.modules or not str(module).startswith("spanproof."):
        return None
    for node in _tree(str(module)).body:
        if isinstance(node, ast.ClassDef | _Function) and node.name == name:
            return node
    return None


@cache
def _tree(module: str) -> ast.Module:
    return ast.parse(Path(str(sys.modules[module].__file__)).read_text(encoding="utf-8"))


def _about(node: ast.ClassDef | _Function) -> str:
    line = " ".join((ast.get_docstring(node) or "").partition("\n\n")[0].split())
    return f": {line}" if line else ""


def _class_line(name: str, node: ast.ClassDef) -> str:
    """Return how an instance is made: by `__init__`, else by the fields of a dataclass."""
    for each in node.body:
        if isinstance(each, ast.FunctionDef) and each.name == "__init__":
            return _call(name, each, is_method=True, returns=False)
    if any("dataclass" in ast.unparse(each) for each in node.decorator_list):
        return f"{name}({', '.join(_fields(node))})"
    return f"class {name}"


def _fields(node: ast.ClassDef) -> Iterator[str]:
    for each in node.body:
        if isinstance(each, ast.AnnAssign) and "ClassVar" not in ast.unparse(each.annotation):
            optional = "=…" if each.value is not None else ""
            yield f"{ast.unparse(each.target)}{optional}"


def _members(node: ast.ClassDef) -> Iterator[str]:
    for each in node.body:
        if not isinstance(each, _Function) or each.name.startswith("_"):
            continue
        kinds = {ast.unparse(decorator) for decorator in each.decorator_list}
        if any(kind.endswith((".setter", "overload")) for kind in kinds):
            continue
        if kinds & {"property", "cached_property"}:
            returned = f" -> {ast.unparse(each.returns)}" if each.returns else ""
            yield f"    - `.{each.name}{returned}`{_about(each)}\n"
        else:
            yield f"    - `.{_call(each.name, each, is_method='staticmethod' not in kinds)}`{_about(each)}\n"


def _call(name: str, node: _Function, *, is_method: bool = False, returns: bool = True) -> str:
    arguments = ast.unparse(node.args)
    if is_method:
        arguments = arguments.partition(", ")[2]
    returned = f" -> {ast.unparse(node.returns)}" if node.returns and returns else ""
    awaited = "await " if isinstance(node, ast.AsyncFunctionDef) and not is_method else ""
    return f"{awaited}{name}({arguments}){returned}"
