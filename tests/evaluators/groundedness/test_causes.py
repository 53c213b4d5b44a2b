"""A cause is an enum: nothing reads the sentences that are made of causes for people."""

from __future__ import annotations

import ast
from pathlib import Path

import spanproof.evaluators

PACKAGE = Path(spanproof.evaluators.__file__).parent
SENTENCES = frozenset(("reason", "explanation", "why", "detail"))
READERS = frozenset(
    ("startswith", "endswith", "find", "search", "match", "fullmatch", "split", "partition", "removeprefix")
)


def names_a_sentence(node):
    return any(isinstance(each, ast.Attribute) and each.attr in SENTENCES for each in ast.walk(node))


def reads_a_sentence(node):
    if isinstance(node, ast.Compare):
        operators = ast.In | ast.NotIn | ast.Eq | ast.NotEq
        return names_a_sentence(node) and any(isinstance(each, operators) for each in node.ops)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in READERS:
        return names_a_sentence(node.func.value) or any(map(names_a_sentence, node.args))
    return False


def test_no_evaluator_reads_what_is_written_for_people():
    found = [
        f"{path.relative_to(PACKAGE)}:{node.lineno}: {ast.unparse(node)}"
        for path in sorted(PACKAGE.rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if reads_a_sentence(node)
    ]
    assert not found, "branch on an enum instead of a sentence: " + "; ".join(found)
