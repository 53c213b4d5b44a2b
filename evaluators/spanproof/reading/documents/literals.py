"""Read JSON and Python literals with the places of their characters, and make records of them.

In: a text and where a literal begins. Out: a tree of nodes, or None where no literal begins there. Calls with
named arguments (`Flight(number='X', price=3)`) are read as objects. Bounded in depth and in nodes.

An object is a record; one in a list belongs to the list's group; an object whose values are objects is a list
whose keys name the records. Columns (`{"a": [1, 2], "b": [3, 4]}`) become rows.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from spanproof.reading.documents.prose import add_prose
from spanproof.reading.markup import Element
from spanproof.reading.records import FactBase, Role

MAX_NODES = 60_000
_MAX_DEPTH = 60
_TOKEN = re.compile(
    r"""[\s]*(?:(?P<str>[rbuf]?"(?:[^"\\]|\\.)*"|[rbuf]?'(?:[^'\\]|\\.)*')|(?P<num>[-+]?\d[\w.+-]*|[-+]?\.\d+)
    |(?P<name>[A-Za-z_][\w.]*)|(?P<sign>[{}\[\]():,=<>|]))""",
    re.VERBOSE | re.DOTALL,
)
_LONG = 90
_NAMES_A_THING = re.compile(r".*\d|.*[A-Z].*[ _-]|.*@")
_CONSTANTS = frozenset(str.split("true false null True False None NaN nan Infinity"))
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
            return self._read_named(match, depth)
        sign = match.group("sign")
        if sign not in _CLOSING:
            raise _NoLiteral
        self.at = match.end()
        return self._read_container(match.start("sign"), sign, depth)

    def _read_named(self, match: re.Match[str], depth: int) -> Node:
        self.at = match.end()
        start = match.start("name")
        if self.text[self.at : self.at + 1] == "(":
            self.at += 1
            inner = self._read_container(start, "(", depth)
            inside = inner.items
            # Decimal('1.2') and array([…]) are what is in them; date(2024, 5, 1) is its characters.
            if not inner.pairs and len(inside) == 1:
                return inside[0]
            return inner if inner.pairs else Node(start, inner.end)
        if match.group("name") not in _CONSTANTS:
            raise _NoLiteral
        return Node(start, match.end("name"))

    def _read_container(self, start: int, sign: str, depth: int) -> Node:
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


def build_node(element: Element) -> Node:
    """Return an element of XML as an object of its attributes and children, a leaf as a scalar."""
    leaf = Node(*element.text)
    node = Node(element.start, element.end, is_object=True)
    node.pairs = [(name, place, Node(*place, quoted=True)) for name, place in element.attributes.items()]
    if not element.children:
        node.pairs.append((element.name, element.text, leaf))
        return node if element.attributes else leaf
    several: dict[str, list[Node]] = {}
    for child in element.children:
        several.setdefault(child.name, []).append(build_node(child))
    for name, nodes in several.items():
        first, last = nodes[0].start, nodes[-1].end
        listed = nodes[0] if len(nodes) == 1 else Node(first, last, items=nodes, is_list=True)
        node.pairs.append((name, (first, first), listed))
    return node


def add_tree(base: FactBase, source: int, node: Node, parent: int | None, path: tuple[str, ...] = ()) -> None:
    """Add the records of a literal."""
    if node.is_object:
        _add_object(base, source, node, parent, path, None)
    elif node.is_list:
        _add_list(base, source, node, parent, path)
    else:
        record = parent if parent is not None else base.new_record(source, None, node.start, node.end)
        _add_scalar(base, source, node, record, path)


def add_objects(base: FactBase, source: int, nodes: list[Node]) -> None:
    """Add literals that follow each other: objects with the same fields, one a line, are rows of one list."""
    if len(nodes) < 2:
        for node in nodes:
            add_tree(base, source, node, None)
        return
    group = base.new_group("")
    for node in nodes:
        _add_object(base, source, node, None, (), group)


def _add_object(
    base: FactBase, source: int, node: Node, parent: int | None, path: tuple[str, ...], group: int | None,
    key: tuple[int, int] | None = None,
) -> None:  # fmt: skip
    rows = _transpose_columns(node)
    if rows:
        number = base.new_group(path[-1] if path else "")
        for row in rows:
            record = base.new_record(source, parent, node.start, node.end, number, path[-1] if path else "")
            for name, cell in row:
                _add_scalar(base, source, cell, record, (name,))
        return
    record = base.new_record(source, parent, node.start, node.end, group, path[-1] if path else "")
    if key is not None:
        base.add_cell(record, (), *key, Role.KEY, quoted=True)
    children = [value for _, _, value in node.pairs]
    named = len(children) >= 1 and all(child.is_object for child in children)
    named = named and (len(children) >= 2 or all(_NAMES_A_THING.match(name) for name, _, _ in node.pairs))
    inner = base.new_group(path[-1] if path else "") if named else None
    for name, place, value in node.pairs:
        if named:
            _add_object(base, source, value, record, path, inner, place)
        elif (
            value.is_object
            and all(not each.is_list and not each.is_object for _, _, each in value.pairs)
            and not any(_NAMES_A_THING.match(each) for each, _, _ in value.pairs)
        ):
            # A flat object is a part of its record: prices.economy.
            for inside, _, scalar in value.pairs:
                _add_scalar(base, source, scalar, record, (name, inside))
        elif value.is_object:
            _add_object(base, source, value, record, (name,), None)
        elif value.is_list:
            _add_list(base, source, value, record, (name,))
        else:
            _add_scalar(base, source, value, record, (name,))


def _transpose_columns(node: Node) -> list[list[tuple[str, Node]]]:
    columns = [(name, value.items) for name, _, value in node.pairs if value.is_list]
    length = len(columns[0][1]) if columns else 0
    plain = len(columns) == len(node.pairs) >= 2 and length >= 2
    if not plain or any(
        len(items) != length or any(each.is_list or each.is_object for each in items) for _, items in columns
    ):
        return []
    return [[(name, items[row]) for name, items in columns] for row in range(length)]


def _add_list(base: FactBase, source: int, node: Node, parent: int | None, path: tuple[str, ...]) -> None:
    name = path[-1] if path else ""
    group = base.new_group(name)
    header = node.items[0].items if node.items and node.items[0].is_list else []
    for position, item in enumerate(node.items):
        if item.is_object:
            _add_object(base, source, item, parent, path, group)
        elif (
            item.is_list
            and header
            and position
            and all(each.quoted for each in header)
            and len(header) == len(item.items)
        ):
            record = base.new_record(source, parent, item.start, item.end, group, name)
            for column, cell in zip(header, item.items, strict=True):
                _add_scalar(base, source, cell, record, (base.texts[source][column.start : column.end],))
        elif item.is_list:
            _add_list(
                base, source, item, base.new_record(source, parent, item.start, item.end, group, name), path
            )
        else:
            # A scalar in a list is a row of its own, and a value of the record around it.
            record = base.new_record(source, parent, item.start, item.end, group, name)
            _add_scalar(base, source, item, record, path)


def _add_scalar(base: FactBase, source: int, node: Node, record: int, path: tuple[str, ...]) -> None:
    if node.is_list or node.is_object:
        add_tree(base, source, node, record, path)
    elif node.end - node.start > _LONG:
        add_prose(base, source, node.start, node.end, record, path)
    else:
        base.add_cell(record, path, node.start, node.end, quoted=node.quoted)
