"""Parsing with the tree-sitter grammars.

In: a language and bytes. Out: the tree, or None for a text that is too long to be parsed here. The grammars
recover from errors in time that grows with the square of the length, and nothing can interrupt them. So a
long text is parsed only in the process of `long_sources`, which is ended when its time is up.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

import tree_sitter

from spanproof.sandbox.scanners.source import LONG, Place

_limit: float = LONG


def lift_limit() -> None:
    """Parse texts of any length from now on: this process can be ended."""
    global _limit
    _limit = math.inf


def parse(language: str, data: bytes) -> tree_sitter.Tree | None:
    """Parse a text; None where it is too long for this process."""
    if len(data) > _limit:
        return None
    return tree_sitter.Parser(_load_language(language)).parse(data)


def place_of(node: tree_sitter.Node, lines: Sequence[bytes]) -> Place:
    """Return the place of a node in characters; the grammars count bytes."""
    (row, column), (end_row, end_column) = node.start_point, node.end_point
    return Place(
        row + 1,
        _to_character_column(lines, row, column),
        end_row + 1,
        _to_character_column(lines, end_row, end_column),
    )


def _to_character_column(lines: Sequence[bytes], row: int, column: int) -> int:
    line = lines[row] if row < len(lines) else b""
    if line.isascii():
        return column + 1
    return len(line[:column].decode("utf-8", "ignore")) + 1


@lru_cache(maxsize=4)
def _load_language(name: str) -> tree_sitter.Language:
    if name == "bash":
        import tree_sitter_bash

        return tree_sitter.Language(tree_sitter_bash.language())
    if name == "typescript":
        import tree_sitter_typescript

        return tree_sitter.Language(tree_sitter_typescript.language_typescript())
    import tree_sitter_javascript

    return tree_sitter.Language(tree_sitter_javascript.language())
