"""The text of a script, as the grammar reads it, and the place of each node.

In: any text. Out: its tree over bytes the grammar can bear. What the grammar reads wrongly or crashes on is
put in other words of the same length first, so that places stay those of the text.
"""

from __future__ import annotations

import re

from tree_sitter import Node

from spanproof.sandbox.scanners import grammar
from spanproof.sandbox.scanners.source import START, Place

_BRACED_COMMAND = re.compile(r"(?m)(?:^|(?<=[;&|(]))([ \t]{0,8}+)\{([^\s{}]{1,400}+)\}(?=[\s;&|)]|$)")
"""A command that is one brace expansion, `{cat,file}`: the shell runs it, the grammar does not read it."""

_ESCAPED_COMMAND = re.compile(r"\n([ \t]{0,8}+)\\(?=\w)")
"""A line that begins with an escaped name: the grammar takes it for the end of the line before."""

_WIDE = re.compile(r"[^\x00-\xff]")
"""Characters the grammar's own scanner hands to `isalpha`, which reads outside its table for them and may end
the process; each is replaced by one letter, so that columns stay."""


class Script:
    """A parsed script: its bytes, its tree."""

    __slots__ = ("_lines", "data", "root")

    def __init__(self, text: str) -> None:
        text = _ESCAPED_COMMAND.sub(r"\n\1 ", _WIDE.sub("é", text.replace("\0", " ")))
        self.data = text.encode("utf-8", "replace")
        self.root = _parse(self.data)
        if self.root.has_error and "{" in text:
            self.data = _BRACED_COMMAND.sub(_spelled_out, text).encode("utf-8", "replace")
            self.root = _parse(self.data)
        self._lines = self.data.split(b"\n")

    def place(self, node: Node) -> Place:
        """The place of a node, in characters."""
        return grammar.place_of(node, self._lines)

    def first_error(self) -> Place | None:
        """Where the script first fails to parse; None where it parses."""
        pending = [self.root] if self.root.has_error else []
        while pending:
            node = pending.pop()
            if node.type == "ERROR" or node.is_missing:
                return self.place(node)
            pending.extend(child for child in reversed(node.children) if child.has_error)
        return START if self.root.has_error else None


class TooSlow(Exception):  # noqa: N818 - named after what happened
    """The grammar needs more time than is given."""


def _parse(data: bytes) -> Node:
    tree = grammar.parse("bash", data)
    if tree is None:
        raise TooSlow
    return tree.root_node


def _spelled_out(found: re.Match[str]) -> str:
    """The words of a brace expansion, in as many characters, so that places stay."""
    inner = found[2]
    return f"{found[1]} {inner.replace(',', ' ')} " if "," in inner else found[0]
