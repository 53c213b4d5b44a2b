"""Which modules a snippet imports and which attributes it takes from them.

Takes Python source and the import aliases of the snippets before it; gives dotted names with their lines.
Only chains that start at an imported name are followed, up to the first call or index: beyond that the type
is not known. Code under `except ImportError` or beside `hasattr` tests for the name itself and is
left out. Never runs anything.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass

from spanproof.evaluators.replay.names import read_names

_GUARDS = frozenset({"ImportError", "ModuleNotFoundError", "AttributeError", "Exception", "BaseException"})


@dataclass(frozen=True, slots=True)
class Use:
    """One dotted name a snippet relies on. `module` is the part it imported; `line` counts from 1."""

    name: str
    module: str
    line: int


def read_uses(source: str, aliases: Mapping[str, str]) -> tuple[list[Use], dict[str, str]]:
    """Return the uses of a snippet, and the aliases that hold after it.

    Args:
        source: Python; source that does not parse uses nothing.
        aliases: local name to dotted name, from earlier snippets of the run.
    """
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return [], dict(aliases)
    rebound = read_names(source).assigned
    collector = _Collector({name: dotted for name, dotted in aliases.items() if name not in rebound})
    collector.rebound = rebound
    try:
        collector.tested = _list_tested_names(tree)
        collector.visit(tree)
    except RecursionError:  # an expression thousands deep: what was found so far is true all the same
        pass
    return collector.uses, collector.aliases


class _Collector(ast.NodeVisitor):
    """Walks in source order, so that an alias is known before it is used."""

    def __init__(self, aliases: dict[str, str]) -> None:
        self.aliases = aliases
        self.rebound: frozenset[str] = frozenset()
        self.tested: frozenset[str] = frozenset()
        self.uses: list[Use] = []

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            self._add(alias.name, alias.name, node.lineno)
            top = alias.name.split(".")[0]
            self._record_alias(alias.asname or top, alias.name if alias.asname else top)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        if node.level or node.module is None or node.module == "__future__":
            return
        self._add(node.module, node.module, node.lineno)
        for alias in node.names:
            if alias.name != "*":
                dotted = f"{node.module}.{alias.name}"
                self._add(dotted, node.module, node.lineno)
                self._record_alias(alias.asname or alias.name, dotted)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        attributes: list[str] = []
        at: ast.expr = node
        while isinstance(at, ast.Attribute):
            attributes.append(at.attr)
            at = at.value
        if isinstance(at, ast.Name) and at.id in self.aliases and isinstance(node.ctx, ast.Load):
            base = self.aliases[at.id]
            self._add(".".join([base, *reversed(attributes)]), base, node.lineno)
        else:
            self.visit(at)

    def visit_Try(self, node: ast.Try) -> None:
        if not any(_handles_missing(handler) for handler in node.handlers):
            self.generic_visit(node)
            return
        seen = len(self.uses)
        for statement in node.body:
            self.visit(statement)
        del self.uses[seen:]  # the aliases stay: what is used after the guard is there
        rest: list[ast.AST] = [*node.handlers, *node.orelse, *node.finalbody]
        for part in rest:
            self.visit(part)

    def _record_alias(self, name: str, dotted: str) -> None:
        if name not in self.rebound:
            self.aliases[name] = dotted

    def _add(self, name: str, module: str, line: int) -> None:
        if not any(name == tested or name.startswith(f"{tested}.") for tested in self.tested):
            self.uses.append(Use(name, module, line))


def _handles_missing(handler: ast.ExceptHandler) -> bool:
    if handler.type is None:
        return True
    if isinstance(handler.type, ast.Tuple):
        types = handler.type.elts
    else:
        types = [handler.type]
    return any(isinstance(type_, ast.Name) and type_.id in _GUARDS for type_ in types)


def _list_tested_names(tree: ast.AST) -> frozenset[str]:
    """Return dotted names given to `hasattr` or, with a default, to `getattr`."""
    tested: set[str] = set()
    for node in ast.walk(tree):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and len(node.args) >= 2):
            continue
        if node.func.id == "hasattr" or (node.func.id == "getattr" and len(node.args) == 3):
            name = node.args[1]
            if isinstance(name, ast.Constant) and isinstance(name.value, str):
                tested.add(f"{ast.unparse(node.args[0])}.{name.value}")
    return frozenset(tested)
