"""Whether a condition depends on nothing that may change, so that the branch it excludes never runs.

In: the tree of a program and the test of one branch. Out: True where each name of the test has one binding in
its scope, and what can be changed in place is only read by tests and loops. A dry run (`if DRY_RUN: …`) and a
list of allowed hosts are of this kind. A program that reaches names by texts has no such conditions.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from typing import Final

from spanproof.sandbox.scanners.python.parse import list_nodes
from spanproof.sandbox.words import split_words

# What binds names or attributes that the tree does not show.
_REBINDS: Final = split_words(
    "exec eval compile globals locals vars setattr delattr .__dict__ .__setattr__ __import__ import_module"
    " .import_module .modules .run_module .run_path get_ipython * __main__ .__globals__"
    " .__builtins__ .__defaults__ .__kwdefaults__ .__code__ .__closure__ .cell_contents .f_globals .f_locals"
    " .gi_frame .settrace .setprofile"
)
# Names of the module that depend on who runs it.
_OF_THE_MODULE: Final = split_words("__name__ __file__ __doc__ __spec__ __package__")
_TESTED: Final = (ast.If, ast.IfExp, ast.While)
_LOOPS: Final = (ast.For, ast.AsyncFor, ast.comprehension)
_SCOPES: Final = frozenset({ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda})


class Conditions:
    """The conditions of one program."""

    def __init__(self, module: ast.Module) -> None:
        self._module = module

    @cached_property
    def _nodes(self) -> list[ast.AST]:
        return list_nodes(self._module)

    @cached_property
    def _bindings(self) -> dict[str, int]:
        """How often a name is bound in one scope, or an attribute at all."""
        most: Counter[str] = Counter()
        attributes = Counter(
            f".{node.attr}"
            for node in self._nodes
            if isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load)
        )
        for scope in (self._module, *(node for node in self._nodes if node.__class__ in _SCOPES)):
            nodes = [one for child in ast.iter_child_nodes(scope) for one in list_nodes(child, _SCOPES)]
            bound = Counter(name for node in nodes for name in _iter_bound_names(node))
            most |= bound
            if isinstance(scope, ast.ClassDef):
                attributes.update({f".{name}": count for name, count in bound.items()})
        return most | attributes

    @cached_property
    def _changeable(self) -> Counter[str]:
        """How often a name or attribute is read where what it holds may be changed."""
        found = Counter(_iter_read_names(self._nodes))
        for node in self._nodes:
            if isinstance(node, _TESTED):
                found.subtract(_iter_read_names(list_nodes(node.test)))
            elif isinstance(node, _LOOPS):
                found.subtract(_iter_read_names([node.iter]))
        return found

    @cached_property
    def _is_rebound_by_text(self) -> bool:
        imported = {
            alias.name for node in self._nodes if isinstance(node, ast.Import) for alias in node.names
        }
        return not _REBINDS.isdisjoint({*_iter_read_names(self._nodes), *self._bindings, *imported})

    def is_settled(self, test: ast.expr, is_constant: Callable[[str], bool]) -> bool:
        """Whether a test gives the same whenever it is reached with these values.

        Args:
            test: the condition of a branch.
            is_constant: whether a name holds a value that nothing can change.
        """
        nodes = list_nodes(test)
        methods = {
            f".{node.func.attr}"
            for node in nodes
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
        }
        names = set(_iter_read_names(nodes))
        held = {name for name in names - methods if not is_constant(name)}
        if self._is_rebound_by_text or names & _OF_THE_MODULE:
            return False
        # `module.NAME = …` may set a name too.
        has_one_binding = all(
            self._bindings.get(name, 0) + self._bindings.get(f".{name}", 0) <= 1 for name in names
        )
        return has_one_binding and all(self._changeable[name] <= 0 for name in held)


def _iter_read_names(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """Yield the names that these nodes read, and the attributes with a dot before them."""
    for node in nodes:
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            yield node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
            yield f".{node.attr}"


def _iter_bound_names(node: ast.AST) -> Iterator[str]:
    """Yield the names that a node binds by itself."""
    match node:
        case ast.Name(id=name) if not isinstance(node.ctx, ast.Load):
            yield name
        case ast.arg(arg=name) | ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
            yield name
        case ast.ClassDef(name=name) | ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)):
            yield name
        case ast.MatchStar(name=str(name)) | ast.MatchMapping(rest=str(name)):
            yield name
        case ast.alias():
            yield node.asname or node.name.partition(".")[0]
        case ast.Global() | ast.Nonlocal():
            # Bound here and elsewhere.
            yield from node.names * 2
