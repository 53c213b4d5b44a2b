"""Exceptions that code caught and printed: the code went on, and what it was after did not come.

In: the source and what it printed. Out: the line that reports the exception, or None. It counts only where
nothing was printed after it: code that reports a failure and then prints a result got over it by itself.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from spanproof.evaluators.outcomes.failing import parse_python

_ADMITS = re.compile(r"\b(?:error|exception|fail\w*|unable|could ?n[o']t|cannot|can't)\b", re.IGNORECASE)


def find_printed_exception(source: str, printed: str) -> str | None:
    """Return the last line printed where a handler of the code printed it, None otherwise."""
    lines = [line for line in printed.splitlines() if line.strip()]
    tree = parse_python(source)
    if not lines or tree is None:
        return None
    forms = list(_build_patterns(tree))
    return (
        lines[-1].strip() if any(re.fullmatch(form, lines[-1].strip(), re.DOTALL) for form in forms) else None
    )


def _build_patterns(tree: ast.Module) -> Iterator[str]:
    """Yield what the handlers of the code print, as regular expressions."""
    for handler in (node for node in ast.walk(tree) if isinstance(node, ast.ExceptHandler)):
        for call in (node for part in handler.body for node in ast.walk(part) if isinstance(node, ast.Call)):
            if not isinstance(call.func, ast.Name) or call.func.id != "print" or not call.args:
                continue
            named = {node.id for given in call.args for node in ast.walk(given) if isinstance(node, ast.Name)}
            texts = " ".join(
                node.value
                for given in call.args
                for node in ast.walk(given)
                if isinstance(node, ast.Constant) and isinstance(node.value, str)
            )
            if (handler.name is not None and handler.name in named) or _ADMITS.search(texts):
                yield r"\s*".join(map(_build_pattern, call.args))


def _build_pattern(given: ast.expr) -> str:
    if isinstance(given, ast.Constant):
        return re.escape(str(given.value).strip())
    if isinstance(given, ast.JoinedStr):
        return "".join(
            _build_pattern(part) if isinstance(part, ast.Constant) else ".*" for part in given.values
        )
    return ".*"
