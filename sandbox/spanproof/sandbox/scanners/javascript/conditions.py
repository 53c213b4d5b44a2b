"""Conditions of a script that are known before it runs: `if (DRY_RUN)` where `const DRY_RUN = true`.

In: a node. Out: whether it is true, and whether a block goes on behind it. Only names that one assignment
sets count, and none where the script makes code of text or changes objects by computed names.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Final

from tree_sitter import Node

from spanproof.sandbox.scanners.javascript.script import Script
from spanproof.sandbox.scanners.javascript.values import FALSE, TRUE
from spanproof.sandbox.scanners.reader.values import Const, Value, read_constant_text

# What gives names or entries values that no assignment by their name shows.
_REBINDS: Final = re.compile(
    r"\b(?:eval|Function|with|runIn\w+|vm|assign|defineProperty|defineProperties|Reflect|Proxy|setPrototypeOf"
    r"|__proto__|constructor)\b|\]\s*+=(?![=>])"
)
# Declarations and defaults of parameters that take objects and lists apart; any other one assigns to names.
_TAKES_APART: Final = re.compile(
    r"\b(?:const|let|var)\s++[\[{][^\[\]{}]*+[\]}]\s*+=(?!=)|\{[^{}=]*+=[^{}]*+\}\s*+=\s*+\{\s*+\}"
)
_ASSIGNS_PARTS: Final = re.compile(r"[\]}]\s*+=(?![=>])")
_EXIT_SET: Final = re.compile(r"\bexit\b\s*+[:=]|\bprocess\b\s*+=")
_NAME: Final = r"[A-Za-z_$][\w$]*+"
# Of a node that binds a name, the field that has it; empty where each of its names is bound.
_BINDING_FIELDS: Final = {
    "variable_declarator": "name", "function_declaration": "name", "generator_function_declaration": "name",
    "class_declaration": "name", "assignment_expression": "left", "augmented_assignment_expression": "left",
    "assignment_pattern": "left", "update_expression": "argument", "for_in_statement": "left",
    "catch_clause": "parameter", "arrow_function": "parameter", "pair_pattern": "value",
    "formal_parameters": "", "array_pattern": "", "rest_pattern": "", "import_clause": "",
    "import_specifier": "", "namespace_import": "",
}  # fmt: skip
# Texts that may be numbers, of which `===` says another thing than of texts.
_NUMERIC: Final = re.compile(r"[\d.]")

# Characters of a script that is looked through once more for each condition.
_LONGEST: Final = 8_000


def find_truth(script: Script, node: Node) -> bool | None:
    """Return whether an expression is true; None where that is not known, or may change."""
    text = script.program_text
    if len(text) > _LONGEST or not _are_set_once(script.text(node), text):
        return None
    bound = Counter(_iter_bound_names(script, node))
    names = re.findall(_NAME, script.text(node))
    return _find_truth(script, node) if all(bound[name] <= 1 for name in names) else None


def _iter_bound_names(script: Script, node: Node) -> Iterator[str]:
    """Yield the names that a script binds, each as often: in declarations, assignments, loops, parameters."""
    while node.parent is not None:
        node = node.parent
    nodes = [node]
    while nodes:
        one = nodes.pop()
        nodes += one.named_children
        above = one.parent
        if one.type == "shorthand_property_identifier_pattern":
            yield script.text(one)
        elif one.type == "identifier" and above is not None:
            field = _BINDING_FIELDS.get(above.type)
            if field == "" or (field is not None and above.child_by_field_name(field) == one):
                yield script.text(one)


def ends_block(script: Script, node: Node) -> bool:
    """Whether nothing behind a statement of a block runs: it returns, throws or exits, or surely does so."""
    match node.type:
        case "return_statement" | "throw_statement":
            return True
        case "expression_statement":
            is_exit = script.text(node).startswith("process.exit(")
            return is_exit and not _EXIT_SET.search(script.program_text)
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


def _find_truth(script: Script, node: Node) -> bool | None:
    match node.type:
        case "parenthesized_expression" if node.named_child_count == 1:
            return _find_truth(script, node.named_children[0])
        case "unary_expression":
            argument, operator = node.child_by_field_name("argument"), node.child_by_field_name("operator")
            if argument is None or operator is None or operator.type != "!":
                return None
            inner = _find_truth(script, argument)
            return None if inner is None else not inner
        case "binary_expression":
            return _find_truth_of_two(script, node)
        case "true" | "false":
            return node.type == "true"
        case "identifier" | "member_expression":
            return _read_flag(script.evaluate(node))
    return None


def _find_truth_of_two(script: Script, node: Node) -> bool | None:
    operator, left, right = (node.child_by_field_name(name) for name in ("operator", "left", "right"))
    if operator is None or left is None or right is None:
        return None
    if operator.type in {"&&", "||"}:
        stops_at = operator.type == "||"
        first, second = _find_truth(script, left), _find_truth(script, right)
        if stops_at in (first, second):
            return stops_at
        return None if first is None or second is None else not stops_at
    if operator.type not in {"===", "!==", "==", "!="}:
        return None
    texts = [_read_text(script.evaluate(one)) for one in (left, right)]
    return None if None in texts else (texts[0] == texts[1]) is operator.type.startswith("=")


def _read_flag(value: Value) -> bool | None:
    return True if value is TRUE else False if value is FALSE else None


def _read_text(value: Value) -> str | None:
    """Return a text that is surely none of a number or a flag."""
    text = read_constant_text(value) if value.__class__ is Const else None
    return text if text is not None and not _NUMERIC.match(text) else None


def _are_set_once(condition: str, script: str) -> bool:
    if _REBINDS.search(script) or _ASSIGNS_PARTS.search(_TAKES_APART.sub("", script)):
        return False
    return all(_is_set_once(name, script) for name in set(re.findall(_NAME, condition)))


def _is_set_once(name: str, script: str) -> bool:
    one = re.escape(name)
    assigned = rf"(?<![\w$]){one}\s*+(?:[-+*/%&|?^]{{0,3}}=(?![=>])|\+\+|--)|(?:\+\+|--)\s*+{one}(?![\w$])"
    return len(re.findall(assigned, script)) <= 1
