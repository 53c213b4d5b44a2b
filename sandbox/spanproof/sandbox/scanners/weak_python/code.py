"""Text that becomes a command, code or a statement (CWE-78, 94, 89).

In: a call. Out: rule and message. A constant is never a weakness here.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Final

from spanproof.sandbox.catalogue import words_of
from spanproof.sandbox.scanners.weak_python.names import WORDS, Names, argument, is_true, keyword

_SHELLS: Final = words_of(WORDS, "shells")
_SUBPROCESS: Final = words_of(WORDS, "subprocess")
_STATEMENTS: Final = words_of(WORDS, "statements")
_VERB: Final = re.compile(
    r"(?i)^\s{0,20}(?:select|insert|update|delete|replace|drop|create|alter|with|merge|call)\b"
)


def judge_code(names: Names, call: ast.Call) -> Iterator[tuple[str, str]]:
    """Commands, code and statements that are put together."""
    name = names.dotted(call.func)
    first = argument(call, 0)
    if first is None:
        first = keyword(call, "args") or keyword(call, "sql") or keyword(call, "cmd")
    if first is None:
        return
    behind = names.behind(first)
    shell = name in _SHELLS or (
        name.startswith("subprocess.") and name[11:] in _SUBPROCESS and is_true(keyword(call, "shell"))
    )
    if shell and not names.is_literal(behind):
        yield "weakness.shell-command", f"{name} hands a shell a command that is put together"
    if name in {"eval", "exec", "compile", "builtins.eval", "builtins.exec"} and not names.is_literal(behind):
        yield "weakness.code-from-text", f"{name} runs text that is put together"
    if name.rpartition(".")[2] in _STATEMENTS or name in {"sqlalchemy.text", "sqlalchemy.sql.text"}:
        if isinstance(behind, ast.Call) and names.dotted(behind.func).endswith("text") and behind.args:
            behind = names.behind(behind.args[0])
        if is_statement_of_text(names, behind):
            yield "weakness.sql-text", "a statement is put together from text and values"


def is_statement_of_text(names: Names, node: ast.expr) -> bool:
    """Whether an expression puts SQL together with values that are not constants."""
    head: ast.expr | None = None
    if isinstance(node, ast.JoinedStr):
        if any(isinstance(part, ast.FormattedValue) for part in node.values):
            head = node.values[0]
    elif (
        isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Mod) and not names.is_literal(node)
    ):
        head = node
        while isinstance(head, ast.BinOp):
            head = head.left
        if isinstance(head, ast.JoinedStr) and head.values:
            head = head.values[0]
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "format":
        head = node.func.value
    return isinstance(head, ast.Constant) and isinstance(head.value, str) and bool(_VERB.match(head.value))
