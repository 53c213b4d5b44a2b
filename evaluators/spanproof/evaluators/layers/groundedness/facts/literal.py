"""Read JSON and Python literals together with the places of their characters.

In: a text and where a literal begins. Out: a tree of nodes, or None where no literal begins there. Calls with
named arguments (`Flight(number='X', price=3)`) are read as objects. Bounded in depth and in nodes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

MAX_NODES = 60_000
_MAX_DEPTH = 60
_TOKEN = re.compile(
    r"""[\s]*(?:(?P<str>[rbuf]?"(?:[^"\\]|\\.)*"|[rbuf]?'(?:[^'\\]|\\.)*')|(?P<num>[-+]?\d[\w.+-]*|[-+]?\.\d+)
    |(?P<name>[A-Za-z_][\w.]*)|(?P<sign>[{}\[\]():,=<>|]))""",
    re.VERBOSE | re.DOTALL,
)
_CLOSING = {"{": "}", "[": "]", "(": ")"}


@dataclass(slots=True)
class Node:
    """A literal: pairs of an object, items of a list, or a scalar with neither.

    Attributes:
        start, end: its characters, of a string those within the quotes.
        pairs: each key with its characters, and its node.
    """

    start: int
    end: int
    pairs: list[tuple[str, tuple[int, int], Node]] = field(default_factory=list)
    items: list[Node] = field(default_factory=list)
    is_list: bool = False
    is_object: bool = False
    quoted: bool = False


class _NoLiteral(Exception):  # noqa: N818 - a state of the text
    """What is here is no literal."""


class _Reader:
    """Reads one literal, from left to right."""

    def __init__(self, text: str, at: int) -> None:
        self.text = text
        self.at = at
        self.nodes = 0

    def token(self) -> re.Match[str]:
        match = _TOKEN.match(self.text, self.at)
        if match is None:
            raise _NoLiteral
        return match

    def value(self, depth: int) -> Node:
        self.nodes += 1
        if depth > _MAX_DEPTH or self.nodes > MAX_NODES:
            raise _NoLiteral
        match = self.token()
        if match.group("str"):
            self.at = match.end()
            quote = match.start("str") + match.group("str").index(match.group("str")[-1]) + 1
            return Node(quote, match.end() - 1, quoted=True)
        if match.group("num"):
            self.at = match.end()
            return Node(match.start("num"), match.end("num"))
        if match.group("name"):
            return self._named(match, depth)
        sign = match.group("sign")
        if sign not in _CLOSING:
            raise _NoLiteral
        self.at = match.end()
        return self._container(match.start("sign"), sign, depth)

    def _named(self, match: re.Match[str], depth: int) -> Node:
        self.at = match.end()
        start = match.start("name")
        if self.text[self.at : self.at + 1] == "(":
            self.at += 1
            inner = self._container(start, "(", depth)
            inside = inner.items
            # Decimal('1.2') and array([…]) are what is in them; date(2024, 5, 1) is its characters.
            if not inner.pairs and len(inside) == 1:
                return inside[0]
            return inner if inner.pairs else Node(start, inner.end)
        if match.group("name") not in (
            "true",
            "false",
            "null",
            "True",
            "False",
            "None",
            "NaN",
            "nan",
            "Infinity",
        ):
            raise _NoLiteral
        return Node(start, match.end("name"))

    def _container(self, start: int, sign: str, depth: int) -> Node:
        node = Node(start, start, is_list=True)
        while True:
            match = self.token()
            if match.group("sign") == _CLOSING[sign]:
                self.at = node.end = match.end()
                node.is_object = bool(node.pairs) or (sign == "{" and not node.items)
                node.is_list = not node.is_object
                return node
            if match.group("sign") == ",":
                self.at = match.end()
                continue
            named = match.group("name") and self.text[match.end() : match.end() + 1] == "="
            if named:
                self.at = match.end() + 1
                node.pairs.append((match.group("name"), match.span("name"), self.value(depth + 1)))
                continue
            item = self.value(depth + 1)
            after = _TOKEN.match(self.text, self.at)
            if after is not None and after.group("sign") == ":" and sign == "{":
                self.at = after.end()
                key = self.text[item.start : item.end]
                node.pairs.append((key, (item.start, item.end), self.value(depth + 1)))
            else:
                node.items.append(item)


def read_literal(text: str, at: int) -> tuple[Node, int] | None:
    """Return the literal that begins at a place, and where it ends; None where none begins."""
    reader = _Reader(text, at)
    try:
        node = reader.value(0)
    except (_NoLiteral, RecursionError):
        return None
    return node, reader.at
