"""A private constant is explained in a comment above it; only public ones have a docstring."""

from __future__ import annotations

import ast
from itertools import pairwise

from . import function_names


def _find_strings(source: str) -> list[int]:
    """Return the lines of strings behind assignments to private names, or within functions."""
    found = []
    for node in ast.walk(ast.parse(source)):
        for block in (getattr(node, name, None) for name in ("body", "orelse", "finalbody")):
            for assignment, after in pairwise(block if isinstance(block, list) else []):
                if _is_string(after) and _is_private(assignment, node):
                    found.append(after.lineno)
    return found


def _is_string(node: ast.stmt) -> bool:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def _is_private(node: ast.stmt, around: ast.AST) -> bool:
    if not isinstance(node, ast.Assign | ast.AnnAssign):
        return False
    target = ast.unparse(node.targets[0] if isinstance(node, ast.Assign) else node.target)
    return target.strip("(").startswith("_") or not isinstance(around, ast.Module | ast.ClassDef)


def test_a_string_behind_a_private_constant_is_found() -> None:
    assert _find_strings('_A = 1\n"""Of it."""') == [2]
    assert _find_strings('class A:\n    def __init__(self):\n        self.b = 1\n        """Of it."""') == [4]
    assert (
        _find_strings('A = 1\n"""Of it."""\nclass B:\n    c: int\n    """Of it."""\n# Of it.\n_D = 1') == []
    )


def test_private_constants_have_comments() -> None:
    found = {
        name: lines
        for name in function_names.product_files()
        if (lines := _find_strings((function_names.ROOT / name).read_text(encoding="utf-8")))
    }
    assert not found, f"write these strings as comments above the assignments: {found}"
