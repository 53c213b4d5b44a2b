"""Weaknesses of generated code by the numbers of the CWE list: advisory, they never change a verdict.

In: Python, JavaScript, TypeScript or bash. Out: findings with a CWE number and a remedy. Python is read from
its tree with imported names resolved; the others by a few bounded patterns, line by line. What crosses the
boundary is no business of this module.
"""

from __future__ import annotations

import ast
import re
from functools import lru_cache
from typing import Final

from spanproof.sandbox.catalogue import words_of
from spanproof.sandbox.scanners.context import Context
from spanproof.sandbox.scanners.python.parse import column_of, nodes_below
from spanproof.sandbox.scanners.source import Place, Source
from spanproof.sandbox.scanners.weak_python import JUDGES, KNOWLEDGE, WORDS, Names

LANGUAGES: Final = frozenset({"python", "javascript", "typescript", "bash"})

_MESSAGES: Final = KNOWLEDGE["messages"]
_WORDS: Final = words_of(WORDS, "words")


@lru_cache(maxsize=2)
def _patterns(language: str) -> list[tuple[str, re.Pattern[str]]]:
    return [(rule, re.compile(pattern)) for rule, pattern in KNOWLEDGE[language].items()]


def scan(context: Context, source: Source) -> None:
    """Report weaknesses of one source."""
    if source.language == "python":
        if [word for word in _WORDS if word in source.lowered]:
            _scan_python(context, source)
        return
    for rule, pattern in _patterns("bash" if source.language == "bash" else "javascript"):
        context.check_time()
        for found in pattern.finditer(source.text):
            context.add(rule, source.place(*found.span()), _MESSAGES[rule])


def _scan_python(context: Context, source: Source) -> None:
    module = source.python.module
    if module is None:
        return
    nodes = nodes_below(module)
    names = Names(nodes)
    lines = source.text.split("\n")
    for count, node in enumerate(nodes):
        if count % 256 == 0:
            context.check_time()
        for judge in JUDGES.get(node.__class__, ()):
            try:
                found = list(judge(names, node))
            except RecursionError:
                continue  # nests deeper than can be read; the Python scanner reports it
            for rule, message in found:
                context.add(f"python.{rule}", _place(node, lines), message)  # type: ignore[arg-type]


def _place(node: ast.expr | ast.stmt, lines: list[str]) -> Place:
    """A node's place. A definition's place is its first line."""
    end_line = node.end_lineno or node.lineno
    end_offset = node.end_col_offset or 0
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        end_line, end_offset = node.lineno, node.col_offset + 3
    return Place(
        node.lineno,
        column_of(lines, node.lineno, node.col_offset),
        end_line,
        column_of(lines, end_line, end_offset),
    )
