"""Read JSON and Python literals with the places of their characters.

In: a text and where a literal begins. Out: a tree of nodes, or None where no literal begins there. Calls with
named arguments (`Flight(number='X', price=3)`) are read as objects, others as what is in them. A literal that
the end of the text cuts off holds what came before. Bounded in depth and in nodes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

MAX_NODES = 60_000
_MAX_DEPTH = 60

Pair = tuple[str, tuple[int, int], "Node"]
"""The name of a field with its characters, and its value."""


@dataclass(slots=True)
class Node:
    """A literal: an object with pairs, a list with items, or a scalar with neither.

    Attributes:
        start, end: its characters, of a string those within the quotes.
        quoted: whether it is a string.
    """

    start: int
    end: int
    pairs: list[Pair] | None = None
    items: list[Node] | None = None
    quoted: bool = False

    @property
    def is_scalar(self) -> bool:
        """Return whether it is neither an object nor a list."""
        return self.pairs is None and self.items is None


_NUMBER = r"[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?"
_CONSTANT = r"true|false|null|True|False|None|NaN|nan|Infinity|-Infinity"
_PLAIN_STRING = r"""(?:"(?P<{0}>[^"\\]*+)"|'(?P<{1}>[^'\\]*+)')"""
# Most of a document: a name without escapes and a scalar, matched at once.
_SCALAR_PAIR = re.compile(
    rf"\s*+{_PLAIN_STRING.format('name', 'name_single')}\s*+:\s*+"
    rf"(?:{_PLAIN_STRING.format('text', 'text_single')}|(?P<bare>{_NUMBER}|{_CONSTANT}))\s*+(?:,|(?=\}}))"
)
_SCALAR_ITEM = re.compile(
    rf"\s*+(?:{_PLAIN_STRING.format('text', 'text_single')}|(?P<bare>{_NUMBER}|{_CONSTANT}))\s*+(?:,|(?=[\])}}]))"  # noqa: E501
)
_TOKEN = re.compile(
    r"""\s*+(?:(?P<str>[rbuf]?"(?>(?:[^"\\]|\\.)*)"|[rbuf]?'(?>(?:[^'\\]|\\.)*)')|(?P<num>[-+]?\d[\w.+-]*+|[-+]?\.\d+)
    |(?P<name>[A-Za-z_][\w.]*+)|(?P<sign>[{}\[\]():,=]))""",
    re.VERBOSE | re.DOTALL,
)
_CONSTANTS = frozenset(_CONSTANT.split("|"))
_CLOSING = {"{": "}", "[": "]", "(": ")"}


class _NoLiteral(Exception):  # noqa: N818 - a state of the text
    """What is here is no literal."""


class _CutOff(Exception):  # noqa: N818 - a state of the text
    """The text ends here."""


class _Reader:
    """Reads one literal, from left to right."""

    __slots__ = ("at", "nodes", "text")

    def __init__(self, text: str, at: int) -> None:
        self.text = text
        self.at = at
        self.nodes = 0

    def read_token(self) -> re.Match[str]:
        match = _TOKEN.match(self.text, self.at)
        if match is None:
            raise _NoLiteral if self.text[self.at :].strip()[:1] not in ("", '"', "'") else _CutOff
        return match

    def read_value(self, depth: int) -> Node:
        match = self.read_token()
        if match.lastgroup == "str":
            self.at = match.end()
            start, end = match.span("str")
            return Node(start + 1 + (self.text[start] not in "\"'"), end - 1, quoted=True)
        if match.lastgroup == "num":
            self.at = match.end()
            return Node(match.start("num"), match.end("num"))
        if match.lastgroup == "name":
            return self._read_named(match, depth)
        sign = match["sign"]
        if sign not in _CLOSING:
            raise _NoLiteral
        self.at = match.end()
        return self.read_container(match.start("sign"), sign, depth)

    def _read_named(self, match: re.Match[str], depth: int) -> Node:
        """Return a constant, or a call: Decimal('1.2') and array([…]) are what is in them."""
        self.at = match.end()
        start = match.start("name")
        if self.text[self.at : self.at + 1] == "(":
            self.at += 1
            inner = self.read_container(start, "(", depth)
            if not inner.pairs and inner.items and len(inner.items) == 1:
                return inner.items[0]
            return inner if inner.pairs else Node(start, inner.end)  # date(2024, 5, 1) is its characters
        if match["name"] not in _CONSTANTS:
            raise _NoLiteral
        return Node(start, match.end("name"))

    def read_container(self, start: int, sign: str, depth: int) -> Node:
        if depth > _MAX_DEPTH:
            raise _NoLiteral
        pairs: list[Pair] = []
        items: list[Node] = []
        closing = _CLOSING[sign]
        try:
            self._fill(pairs, items, sign, closing, depth)
        except _CutOff:
            # The text ends within it: what came before is there. A part of a scalar is not.
            self.at = len(self.text)
            if not pairs and not items:
                raise
        is_object = bool(pairs) or (sign == "{" and not items)
        return Node(start, self.at, pairs if is_object else None, None if is_object else items)

    def _fill(self, pairs: list[Pair], items: list[Node], sign: str, closing: str, depth: int) -> None:
        """Read pairs and items up to the closing sign."""
        text = self.text
        while True:
            self.nodes += 1
            if self.nodes > MAX_NODES:
                raise _NoLiteral
            if sign == "{":
                fast = _SCALAR_PAIR.match(text, self.at)
                if fast is not None:
                    low, high = fast.span("name")
                    if low < 0:
                        low, high = fast.span("name_single")
                    pairs.append((text[low:high], (low, high), _build_scalar(fast)))
                    self.at = fast.end()
                    continue
            else:
                fast = _SCALAR_ITEM.match(text, self.at)
                if fast is not None:
                    items.append(_build_scalar(fast))
                    self.at = fast.end()
                    continue
            match = self.read_token()
            if match["sign"] == closing:
                self.at = match.end()
                return
            if match["sign"] == ",":
                self.at = match.end()
                continue
            if match["name"] and text[match.end() : match.end() + 1] == "=":
                self.at = match.end() + 1
                pairs.append((match["name"], match.span("name"), self.read_value(depth + 1)))
                continue
            item = self.read_value(depth + 1)
            after = _TOKEN.match(text, self.at) if sign == "{" else None
            if after is not None and after["sign"] == ":":
                self.at = after.end()
                place = (item.start, item.end)
                pairs.append((text[item.start : item.end], place, self.read_value(depth + 1)))
            else:
                items.append(item)


def _build_scalar(match: re.Match[str]) -> Node:
    """Return the scalar of a match: a string within its quotes, or a number or constant."""
    low, high = match.span("bare")
    if low >= 0:
        return Node(low, high)
    low, high = match.span("text")
    if low < 0:
        low, high = match.span("text_single")
    return Node(low, high, quoted=True)


def read_literal(text: str, at: int) -> tuple[Node, int] | None:
    """Return the literal that begins at a place, and where it ends; None where none begins."""
    reader = _Reader(text, at)
    try:
        node = reader.read_value(0)
    except (_NoLiteral, _CutOff, RecursionError):
        return None
    return node, reader.at
