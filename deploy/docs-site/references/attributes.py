"""The reference of the attributes that the dialects read, from the code that reads them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path

from tables import table

from spanproof.trace import dialects

_FOLDER = Path(dialects.__file__).parent
_NAME = re.compile(r"[a-zA-Z_]\w*(?:\.\w+)+")
_CONVENTIONS = "spanproof.semconv"
_FOR_ALL = {"failures", "frameworks", "siblings", "wrapped"}
"""Modules that read what spans of any dialect may have."""


def render() -> str:
    """Return a table: each module, and the attributes, events and operations whose names it has."""
    rows = []
    for path in sorted(_FOLDER.glob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        if names := sorted(set(_names(tree, dict(_constants(tree))))):
            module = f"`{path.stem}`, for any dialect" if path.stem in _FOR_ALL else f"`{path.stem}`"
            rows.append((module, ", ".join(f"`{name}`" for name in names)))
    return table(("module", "attributes, events and operations"), rows)


def _constants(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Yield how the file writes the names that the conventions define (`oi.INPUT_VALUE`), and the names."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.ImportFrom) or not (node.module or "").startswith(_CONVENTIONS):
            continue
        for alias in node.names:
            source = import_module(str(node.module))
            value = getattr(source, alias.name)
            if isinstance(value, str):
                yield alias.asname or alias.name, value
            else:
                for name, each in vars(value).items():
                    if isinstance(each, str):
                        yield f"{alias.asname or alias.name}.{name}", each


def _names(tree: ast.AST, constants: Mapping[str, str]) -> Iterator[str]:
    """Yield the names in a tree; how a dialect is recognised (`Dialect(…)`) is left out."""
    if isinstance(tree, ast.Call) and ast.unparse(tree.func) == "Dialect":
        return
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            found = node.value
        elif isinstance(node, ast.Attribute | ast.Name):
            found = constants.get(ast.unparse(node), "")
        else:
            found = ""
        if _NAME.fullmatch(found):
            yield found
        yield from _names(node, constants)
