"""Modules that a program writes itself and imports: their code runs at the import, and their names are used.

In: the name of a module that is imported. Out: the findings of the files that were written for it, at the
place of the import; what they define is then known by the module's name.
"""

from __future__ import annotations

import ast
from typing import Final

from spanproof.sandbox.scanners.context import MAX_NESTING
from spanproof.sandbox.scanners.python.machine import Machine
from spanproof.sandbox.scanners.python.names import normalise_name
from spanproof.sandbox.scanners.reader.values import Scope

# A module deeper below packages is not followed, and is reviewed.
_MOST_PARTS: Final = 16


def check_own_modules(m: Machine, module: str, node: ast.stmt | ast.expr) -> None:
    """Read the files that an import runs and that the program wrote, those of packages on the way too."""
    files = m.context.own_files
    if not files.list_written():
        return
    parts = module.split(".")
    if len(parts) > _MOST_PARTS:
        m.add("exec.dynamic", node, "imports a module deeper below packages than is followed")
        return
    for count in range(1, len(parts) + 1):
        name = ".".join(parts[:count])
        for path in files.list_modules(name):
            text = files.find_text(path)
            if text is None:
                m.add("exec.dynamic", node, f"imports {name}, which the program wrote, with unknown content")
            elif (path, text) not in m.imported_files:
                m.imported_files.add((path, text))
                _check_module(m, name, text, node)


def _check_module(m: Machine, name: str, text: str, node: ast.stmt | ast.expr) -> None:
    """Read a module's code in a scope of its own, and keep its names as those of the module."""
    parsed = m.parse(text)
    if parsed is None or m.context.depth >= MAX_NESTING or m.exhausted:
        m.add("exec.dynamic", node, f"imports {name}, which cannot be read")
        return
    for part in ast.walk(parsed):  # what is found in it later is at the import as well
        ast.copy_location(part, node)
    outer, context = m.scope, m.context
    m.scope, m.context = Scope(), context.build_nested(m.get_place(node), f"imports {name}: ")
    try:
        m.read_block(parsed.body)
        for defined, value in m.scope.names.items():
            m.write_value(m.overrides, normalise_name(f"{name}.{defined}"), value)
    finally:
        m.scope, m.context = outer, context
