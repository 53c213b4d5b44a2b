"""What code prints only because it is written there: `print("$54.00")` supports nothing.

In: an output and the source that gave it. Out: the output without the lines that a `print` of nothing but
literals writes, or of names bound once to a literal. Results of calls and of any computation stay. The source
is parsed, never run; what does not parse is left as it is.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

from spanproof.reading.field_units import FieldUnit, find_field_unit
from spanproof.reading.python_facts import PythonFacts, find_python_facts

# What a snippet printed, its observation and its step's are each read against one source.
_KEPT_SOURCES = 64


def without_echoes(text: str, source: str) -> str:
    """Return the output without the literals its source prints."""
    if "print" not in source or not text.strip():
        return text
    echoes = _list_echoes(source)
    if not echoes:
        return text
    return "\n".join(line for line in text.splitlines() if line.strip() not in echoes)


@lru_cache(maxsize=_KEPT_SOURCES)
def _list_echoes(source: str) -> frozenset[str]:
    """Return every line that a print of literals writes."""
    facts = find_python_facts(source)
    if facts is None:
        return frozenset()
    bound = _get_constants(facts)
    lines: set[str] = set()
    for node in facts.nodes:
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name) or node.func.id != "print":
            continue
        values = [_find_printed_form(argument, bound) for argument in node.args]
        if values and None not in values and not node.keywords:
            lines.update(line.strip() for line in " ".join(map(str, values)).splitlines())
    return frozenset(lines - {""})


def _get_constants(facts: PythonFacts) -> dict[str, ast.expr]:
    """Return the constants by name: of names that are bound exactly once, and to a constant."""
    names = [node for node in facts.nodes if isinstance(node, ast.Name)]
    stored = Counter(name.id for name in names if isinstance(name.ctx, ast.Store))
    constants: dict[str, ast.expr] = {}
    for node in facts.tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant):
            target = node.targets[0]
            if len(node.targets) == 1 and isinstance(target, ast.Name) and stored[target.id] == 1:
                constants[target.id] = node.value
    return constants


def _find_printed_form(node: ast.expr, bound: dict[str, ast.expr]) -> str | None:
    """Return how a literal prints, None for anything that is worked out."""
    if isinstance(node, ast.Name):
        node = bound.get(node.id, node)
    if isinstance(node, ast.Constant):
        return str(node.value)
    if (
        isinstance(node, ast.UnaryOp)
        and isinstance(node.op, ast.USub)
        and isinstance(node.operand, ast.Constant)
    ):
        return f"-{node.operand.value!r}"
    if not isinstance(node, ast.JoinedStr):
        return None
    parts: list[str] = []
    for part in node.values:
        plain = isinstance(part, ast.Constant) or (
            isinstance(part, ast.FormattedValue) and part.format_spec is None and part.conversion == -1
        )
        inner = part.value if isinstance(part, ast.FormattedValue) else part
        found = _find_printed_form(inner, bound) if plain else None
        if found is None:
            return None
        parts.append(found)
    return "".join(parts)


_PRINTED_NAME = re.compile(r"\bprint\(\s*(?P<name>[A-Za-z_]\w*)\s*\)")


def find_printed_unit(code: Sequence[str]) -> FieldUnit | None:
    """Return the unit that the name of the one printed variable with a unit says: `print(total_cents)`."""
    names = {match["name"] for source in code for match in _PRINTED_NAME.finditer(source)}
    units = [unit for name in names if (unit := find_field_unit((name,))) is not None]
    return units[0] if len(units) == 1 else None
