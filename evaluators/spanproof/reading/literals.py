"""Read JSON and Python literals with the places of their characters.

In: a text and where a literal begins. Out: a tree of nodes, or None where no literal begins there. Calls with
named arguments (`Flight(number='X', price=3)`) are read as objects, others as what is in them. A literal that
the end of the text cuts off holds what came before. Bounded in depth and in nodes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

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
# A string without escapes and without quotes of either kind.
_PLAIN_STRING = r"""(?P<{0}_quote>["'])(?P<{0}>[^"'\\]*+)(?P={0}_quote)"""
_PLAIN_SCALAR = rf"(?:{_PLAIN_STRING.format('text')}|(?P<bare>{_NUMBER}|{_CONSTANT}))"
# Most of a document: a name without escapes and a scalar, matched at once.
_SCALAR_PAIR = re.compile(rf"\s*+{_PLAIN_STRING.format('name')}\s*+:\s*+{_PLAIN_SCALAR}\s*+(?:,|(?=\}}))")
_SCALAR_ITEM = re.compile(rf"\s*+{_PLAIN_SCALAR}\s*+(?:,|(?=[\])}}]))")
_TOKEN = re.compile(
    r"""\s*+(?:(?P<str>[rbuf]?"(?>(?:[^"\\]|\\.)*)"|[rbuf]?'(?>(?:[^'\\]|\\.)*)')|(?P<num>[-+]?\d[\w.+-]*+|[-+]?\.\d+)
    |(?P<name>[A-Za-z_][\w.]*+)|(?P<sign>[{}\[\]():,=]))""",
    re.VERBOSE | re.DOTALL,
)
_ROW_GAP = re.compile(r"\s*+,\s*+(?=\{)")
_CONSTANTS = frozenset(_CONSTANT.split("|"))
_CLOSING = {"{": "}", "[": "]", "(": ")"}


class _NoLiteral(Exception):  # noqa: N818 - a state of the text
    """What is here is no literal."""


class _CutOff(Exception):  # noqa: N818 - a state of the text
    """The text ends here."""


# Objects with the same fields, after so many of which a pattern of the whole object pays.
_FEWEST_ALIKE = 4
# A wider object is read field by field: its pattern takes too long to make.
_MAX_PATTERN_FIELDS = 24


@lru_cache(maxsize=256)
def _build_row_pattern(names: tuple[str, ...], quote: str) -> re.Pattern[str]:
    """Return the pattern of an object with these fields: of each its name, and its value, quoted or bare."""
    cell = rf"(?:{quote}([^\"'\\]*+){quote}|({_NUMBER}|{_CONSTANT}))"
    pairs = (rf"\s*+{quote}({re.escape(name)}){quote}\s*+:\s*+{cell}\s*+" for name in names)
    return re.compile(rf"\{{{','.join(pairs)}\}}")


class LiteralReader:
    """Reads the literals of a text, each from left to right.

    Rows that follow each other mostly have the same fields, so that one pattern matches a whole row.
    """

    __slots__ = ("_alike", "_at", "_fields", "_nodes", "_row", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self._at = 0
        self._nodes = 0
        self._row: re.Pattern[str] | None = None
        self._fields: list[str] = []
        self._alike = 0

    def find_literal(self, at: int) -> tuple[Node, int] | None:
        """Return the literal that begins at a place, and where it ends; None where none begins."""
        self._at, self._nodes = at, 0
        try:
            node = self._read_value(0)
        except (_NoLiteral, _CutOff, RecursionError):
            return None
        return node, self._at

    def read_rows_below(self, at: int) -> tuple[list[Node], int]:
        """Return the rows on the lines below a place that have the fields of the last one, and their end."""
        rows: list[Node] = []
        text = self.text
        while text.startswith("\n{", at):
            row = self._find_row(at + 1)
            # An element of XML is read before a literal, and a row with more after it may be something else.
            if row is None or text[row.end : row.end + 1] not in ("", "\n") or "<" in text[at : row.end]:
                break
            rows.append(row)
            at = row.end
        return rows, at

    def _add_following_rows(self, items: list[Node]) -> None:
        """Read the rows that follow in a list and have the fields of the last one."""
        while self._nodes <= MAX_NODES and (gap := _ROW_GAP.match(self.text, self._at)) is not None:
            row = self._find_row(gap.end())
            if row is None:
                return
            # A place in the list and its comma.
            self._nodes += 2
            items.append(row)

    def _find_row(self, start: int) -> Node | None:
        """Return the object that begins at a place, where it has the fields of those before it."""
        match = self._row.match(self.text, start) if self._row is not None else None
        if match is None:
            return None
        places = match.regs
        pairs: list[Pair] = []
        at = 1
        for name in self._fields:
            begin, end = places[at + 1]
            is_text = begin >= 0
            if not is_text:
                begin, end = places[at + 2]
            pairs.append((name, places[at], Node(begin, end, None, None, is_text)))
            at += 3
        self._nodes += len(pairs)
        self._at = match.end()
        return Node(start, self._at, pairs)

    def _update_row_pattern(self, node: Node) -> None:
        """Make a pattern of the objects that are read, where some of the same fields followed each other."""
        pairs = node.pairs or []
        names = [name for name, _, _ in pairs]
        self._alike = self._alike + 1 if names == self._fields else 1
        self._fields, self._row = names, None
        if self._alike >= _FEWEST_ALIKE and len(pairs) <= _MAX_PATTERN_FIELDS:
            quote = self.text[pairs[0][1][0] - 1]
            if quote in "\"'" and all(value.is_scalar for _, _, value in pairs):
                self._row = _build_row_pattern(tuple(names), quote)

    def _read_token(self) -> re.Match[str]:
        match = _TOKEN.match(self.text, self._at)
        if match is None:
            raise _NoLiteral if self.text[self._at :].strip()[:1] not in ("", '"', "'") else _CutOff
        return match

    def _read_value(self, depth: int) -> Node:
        match = self._read_token()
        if match.lastgroup == "str":
            self._at = match.end()
            start, end = match.span("str")
            return Node(start + 1 + (self.text[start] not in "\"'"), end - 1, quoted=True)
        if match.lastgroup == "num":
            self._at = match.end()
            return Node(match.start("num"), match.end("num"))
        if match.lastgroup == "name":
            return self._read_named(match, depth)
        sign = match["sign"]
        if sign not in _CLOSING:
            raise _NoLiteral
        start = match.start("sign")
        if sign != "{":
            self._at = match.end()
            return self._read_container(start, sign, depth)
        row = self._find_row(start)
        if row is None:
            self._at = match.end()
            row = self._read_container(start, sign, depth)
            if row.pairs:
                self._update_row_pattern(row)
        return row

    def _read_named(self, match: re.Match[str], depth: int) -> Node:
        """Return a constant, or a call: Decimal('1.2') and array([…]) are what is in them."""
        self._at = match.end()
        start = match.start("name")
        if self.text[self._at : self._at + 1] == "(":
            self._at += 1
            inner = self._read_container(start, "(", depth)
            if not inner.pairs and inner.items and len(inner.items) == 1:
                return inner.items[0]
            return inner if inner.pairs else Node(start, inner.end)  # date(2024, 5, 1) is its characters
        if match["name"] not in _CONSTANTS:
            raise _NoLiteral
        return Node(start, match.end("name"))

    def _read_container(self, start: int, sign: str, depth: int) -> Node:
        if depth > _MAX_DEPTH:
            raise _NoLiteral
        pairs: list[Pair] = []
        items: list[Node] = []
        closing = _CLOSING[sign]
        try:
            self._add_children(pairs, items, sign, closing, depth)
        except _CutOff:
            # The text ends within it: what came before is there. A part of a scalar is not.
            self._at = len(self.text)
            if not pairs and not items:
                raise
        is_object = bool(pairs) or (sign == "{" and not items)
        return Node(start, self._at, pairs if is_object else None, None if is_object else items)

    def _add_children(
        self, pairs: list[Pair], items: list[Node], sign: str, closing: str, depth: int
    ) -> None:
        """Read pairs and items up to the closing sign."""
        text = self.text
        while True:
            self._nodes += 1
            if self._nodes > MAX_NODES:
                raise _NoLiteral
            if sign == "{":
                fast = _SCALAR_PAIR.match(text, self._at)
                if fast is not None:
                    pairs.append((fast["name"], fast.span("name"), _build_scalar(fast)))
                    self._at = fast.end()
                    continue
            else:
                fast = _SCALAR_ITEM.match(text, self._at)
                if fast is not None:
                    items.append(_build_scalar(fast))
                    self._at = fast.end()
                    continue
            match = self._read_token()
            if match["sign"] == closing:
                self._at = match.end()
                return
            if match["sign"] == ",":
                self._at = match.end()
                continue
            if match["name"] and text[match.end() : match.end() + 1] == "=":
                self._at = match.end() + 1
                pairs.append((match["name"], match.span("name"), self._read_value(depth + 1)))
                continue
            item = self._read_value(depth + 1)
            after = _TOKEN.match(text, self._at) if sign == "{" else None
            if after is not None and after["sign"] == ":":
                self._at = after.end()
                span = (item.start, item.end)
                pairs.append((text[item.start : item.end], span, self._read_value(depth + 1)))
            else:
                items.append(item)
                if item.pairs and sign != "{":
                    self._add_following_rows(items)


def _build_scalar(match: re.Match[str]) -> Node:
    """Return the scalar of a match: a string within its quotes, or a number or constant."""
    is_bare = match.lastgroup == "bare"
    return Node(*match.span("bare" if is_bare else "text"), quoted=not is_bare)
