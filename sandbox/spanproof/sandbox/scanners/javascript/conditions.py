"""Conditions of a script that are known before it runs: `if (DRY_RUN)` where `const DRY_RUN = true`.

In: a node. Out: whether it is true, and whether a block goes on behind it. Only constants of the script
itself count that hold a flag or a text, and whose names are nowhere but where they are read.
"""

from __future__ import annotations

import re
from typing import Final

from tree_sitter import Node

from spanproof.sandbox.scanners.javascript.script import Script

# What may give a name another meaning inside a block; an escape may write any name.
_HIDES: Final = re.compile(r"\\u|\b(?:eval|with)\b")
_READS: Final = frozenset(
    {"parenthesized_expression", "unary_expression", "binary_expression", "ternary_expression", "arguments"}
    | {"template_substitution"}
)
# Characters of a script that is looked through once more for each condition.
_LONGEST: Final = 8_000
_Literal = bool | str


def find_truth(script: Script, node: Node) -> bool | None:
    """Return whether an expression is true; None where that is not known, or may change."""
    if len(script.program_text) > _LONGEST or _HIDES.search(script.program_text):
        return None
    value = _read_value(script, node)
    return None if value is None else bool(value)


def ends_block(script: Script, node: Node) -> bool:
    """Whether nothing behind a statement of a block runs: it returns or throws, or surely does so."""
    match node.type:
        case "return_statement" | "throw_statement":
            return True
        case "if_statement":
            chosen = find_chosen(script, node)
            return chosen is not None and ends_block(script, chosen)
        case "statement_block" | "else_clause":
            return any(ends_block(script, child) for child in node.named_children)
    return False


def find_chosen(script: Script, node: Node) -> Node | None:
    """Return the part of an `if` or of `a ? b : c` that runs; None where none does, or that is not known."""
    condition = node.child_by_field_name("condition")
    truth = find_truth(script, condition) if condition is not None else None
    if truth is None:
        return None
    return node.child_by_field_name("consequence" if truth else "alternative")


def _read_value(script: Script, node: Node) -> _Literal | None:
    match node.type:
        case "parenthesized_expression" if node.named_child_count == 1:
            return _read_value(script, node.named_children[0])
        case "true" | "false":
            return node.type == "true"
        case "string":
            text = script.text(node)
            return None if "\\" in text else text[1:-1]
        case "identifier":
            return _read_constant(script, node)
        case "unary_expression" if script.text(node).startswith("!"):
            inner = _read_value(script, node.named_children[0])
            return None if inner is None else not inner
        case "binary_expression":
            return _read_operation(script, node)
    return None


def _read_operation(script: Script, node: Node) -> _Literal | None:
    operator = node.child_by_field_name("operator")
    first, second = (_read_value(script, one) for one in node.named_children[:2])
    kind = operator.type if operator is not None else ""
    if kind in {"&&", "||"} and first is not None:
        return first if bool(first) is (kind == "||") else second
    is_comparable = first is not None and type(first) is type(second)
    if not is_comparable or kind not in {"==", "===", "!=", "!=="}:
        return None
    return (first == second) is kind.startswith("=")


def _read_constant(script: Script, node: Node) -> _Literal | None:
    """Return what `const NAME = …` of the script itself holds, where the name is only read."""
    name, root = script.text(node), node
    while root.parent is not None:
        root = root.parent
    found = [] if root.has_error else _list_other_uses(script, root, name)
    declaration = found[0].parent if len(found) == 1 else None
    if declaration is None or declaration.parent != root or not script.text(declaration).startswith("const"):
        return None
    value = found[0].child_by_field_name("value")
    is_literal = value is not None and value.type in {"true", "false", "string"}
    if value is not None and is_literal:
        return _read_value(script, value)
    return None


def _list_other_uses(script: Script, root: Node, name: str) -> list[Node]:
    """Return what holds a name where it is not only read, such as what declares it."""
    found: list[Node] = []
    pending = [root]
    while pending:
        one = pending.pop()
        pending += one.named_children
        above = one.parent
        is_name = (
            one.type.endswith(("identifier", "identifier_pattern")) and one.type != "property_identifier"
        )
        if is_name and above is not None and above.type not in _READS and script.text(one) == name:
            found.append(above)
    return found
