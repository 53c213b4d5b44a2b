"""What a function in TypeScript or JavaScript imports, read off its syntax.

`import * as _ from "lodash"` gives what `require("lodash")` gives, as TypeScript compiles it and as people
write it; of a package in the older form, Node alone would give a namespace without the package's functions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from spanproof.sandbox.scanners.grammar import find_tree

KNOWN: Final[Mapping[str, str]] = {"lodash": "lodash@4.17.21"}
"""Packages that need not be named in `packages`, with the version that is used then."""

# Node gives an older module's own exports under this name from 23 on; before, as the only name, `default`.
_WHOLE: Final = (
    "((m) => 'module.exports' in m ? m['module.exports']"
    " : Object.keys(m).join() === 'default' ? m.default : m)"
)


def list_import_pins(language: str, source: str) -> tuple[str, ...]:
    """Return the pins of the known packages that a function imports."""
    named = {name.partition("/")[0] for name, _ in _iter_imports(language, source)}
    return tuple(pin for name, pin in KNOWN.items() if name in named)


def format_namespaces(language: str, source: str) -> str:
    """Return the source with every namespace of a package as the package itself; no line moves."""
    data = source.encode("utf-8", "replace")
    found = [
        (name, node) for name, node in _iter_imports(language, source) if not name.startswith((".", "node:"))
    ]
    for _, statement in reversed(found):
        alias = _get_namespace_alias(statement)
        if alias is not None:
            name = data[alias.start_byte : alias.end_byte].decode()
            changed = f"{name}__module".encode()
            after = f"; const {name} = {_WHOLE}({name}__module);".encode()
            data = (
                data[: alias.start_byte]
                + changed
                + data[alias.end_byte : statement.end_byte]
                + after
                + data[statement.end_byte :]
            )
    return data.decode()


def _iter_imports(language: str, source: str) -> Iterator[tuple[str, Any]]:
    """Yield the module's name and the syntax node of each import at the top of a file."""
    data = source.encode("utf-8", "replace")
    tree = find_tree(language, data)
    for node in tree.root_node.children if tree else ():
        module = node.child_by_field_name("source") if node.type == "import_statement" else None
        if module is not None:
            yield data[module.start_byte + 1 : module.end_byte - 1].decode(), node


def _get_namespace_alias(statement: Any) -> Any:
    """Return the name that a namespace is imported under; None of another import, and of types."""
    if any(child.type == "type" for child in statement.children):
        return None
    clauses = (child for child in statement.children if child.type == "import_clause")
    spaces = (node for clause in clauses for node in clause.children if node.type == "namespace_import")
    space = next(spaces, None)
    return None if space is None else next(node for node in space.children if node.type == "identifier")
