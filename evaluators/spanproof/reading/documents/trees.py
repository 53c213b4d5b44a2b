"""Make records of literals and of XML.

In: a tree of nodes. Out: an object is a record; one in a list belongs to the list's group; an object whose
values are objects is a list whose keys name the records. Columns (`{"a": [1, 2], "b": [3, 4]}`), rows beside
their columns (`{"columns": […], "data": […]}`) and tuples whose query names the columns become rows with
named fields.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from spanproof.reading.documents.prose import add_prose
from spanproof.reading.literals import Node, Pair
from spanproof.reading.markup import Element
from spanproof.reading.records import LONG_TEXT, Cell, FactBase, Role

_NAMES_A_THING = re.compile(r".*\d|.*[A-Z].*[ _-]|.*@")
_ROWS = frozenset(("data", "rows", "results", "records"))
# A longer list of scalars is a series, not a row.
_MAX_CELLS = 30

Path = tuple[str, ...]


def build_node(element: Element) -> Node:
    """Return an element of XML as an object of its attributes and children, a leaf as a scalar."""
    leaf = Node(*element.text)
    pairs = [(name, span, Node(*span, quoted=True)) for name, span in element.attributes.items()]
    if not element.children:
        if not element.attributes:
            return leaf
        return Node(element.start, element.end, [*pairs, (element.name, element.text, leaf)])
    several: dict[str, list[Node]] = {}
    for child in element.children:
        several.setdefault(child.name, []).append(build_node(child))
    for name, nodes in several.items():
        first, last = nodes[0].start, nodes[-1].end
        pairs.append((name, (first, first), nodes[0] if len(nodes) == 1 else Node(first, last, items=nodes)))
    return Node(element.start, element.end, pairs)


def add_literals(base: FactBase, source: int, nodes: list[Node], columns: Sequence[str] = ()) -> None:
    """Add the records of literals that follow each other.

    Objects with the same fields, or tuples, are rows.
    """
    reader = _TreeReader(base, source, tuple(columns))
    if len(nodes) > 1:
        reader.add_list(Node(nodes[0].start, nodes[-1].end, items=nodes), None, ())
        return
    for node in nodes:
        reader.add_tree(node, None, ())


def are_alike(nodes: Sequence[Node], node: Node) -> bool:
    """Return whether a node is one more of the objects or tuples before it, one a line."""
    if not nodes:
        return False
    last = nodes[-1]
    if last.pairs is not None and node.pairs is not None:
        return [name for name, _, _ in last.pairs] == [name for name, _, _ in node.pairs]
    return last.items is not None and node.items is not None and len(last.items) == len(node.items) > 1


class _TreeReader:
    """Adds the records of one source's literals."""

    def __init__(self, base: FactBase, source: int, columns: Path) -> None:
        self._base = base
        self._source = source
        self._text = base.texts[source]
        self._columns = columns

    def add_tree(self, node: Node, parent: int | None, path: Path) -> None:
        if node.pairs is not None:
            self._add_object(node, parent, path, None)
        elif node.items is not None:
            self.add_list(node, parent, path)
        else:
            if parent is not None:
                record = parent
            else:
                record = self._add_record(node, None)
            self._add_scalar(node, record, path)

    def _add_record(self, node: Node, parent: int | None, group: int | None = None, name: str = "") -> int:
        return self._base.add_record(self._source, parent, node.start, node.end, group, name)

    def _add_object(
        self,
        node: Node,
        parent: int | None,
        path: Path,
        group: int | None,
        key: tuple[int, int] | None = None,
    ) -> None:
        pairs = node.pairs or []
        name = path[-1] if path else ""
        cells = _find_short_cells(pairs)
        if cells is not None:
            rows = []
        else:
            rows = _list_transposed_rows(node) or self._split_rows(node)
        if rows:
            group = self._base.add_group(name)
            for row in rows:
                self._add_row(node, row, parent, group, name)
            return
        record = self._add_record(node, parent, group, name)
        if key is not None:
            self._base.add_cell(record, (), *key, Role.KEY, quoted=True)
        if cells is not None:
            self._base.add_cells(record, cells)
        elif _holds_things(pairs):
            inner = self._base.add_group(name)
            for _, name_span, value in pairs:
                self._add_object(value, record, path, inner, name_span)
        else:
            for field, _, value in pairs:
                self._add_field(field, value, record)

    def _add_field(self, field: str, value: Node, record: int) -> None:
        if value.items is not None:
            self.add_list(value, record, (field,))
        elif value.pairs is None:
            self._add_scalar(value, record, (field,))
        elif _is_part(value):
            for inside, _, scalar in value.pairs:  # prices.economy
                self._add_scalar(scalar, record, (field, inside))
        else:
            self._add_object(value, record, (field,), None)

    def _add_row(
        self,
        node: Node,
        row: Sequence[tuple[str, Node]],
        parent: int | None,
        group: int | None,
        name: str = "",
    ) -> None:
        """Add a record of a node, with a field for each named cell."""
        record = self._add_record(node, parent, group, name)
        for column, cell in row:
            self._add_scalar(cell, record, (column,))

    def add_list(self, node: Node, parent: int | None, path: Path) -> None:
        """Add the items of a list: objects and tuples as rows, each scalar as a row of its own."""
        items = node.items or []
        name = path[-1] if path else ""
        group = self._base.add_group(name)
        if parent is None and len(items) == len(self._columns) > 1 and _is_row(node):
            self._add_row(node, list(zip(self._columns, items, strict=True)), None, None)
            return
        columns, heads = self._get_columns(items)
        for position, item in enumerate(items):
            if item.pairs is not None:
                self._add_object(item, parent, path, group)
            elif item.items is None:
                record = self._add_record(item, parent, group, name)
                self._add_scalar(item, record, path)
            elif _is_row(item) and len(item.items) == len(columns):
                if position >= heads:
                    row = list(zip(columns, item.items, strict=True))
                    self._add_row(item, row, parent, group, name)
            else:
                self.add_list(item, self._add_record(item, parent, group, name), path)

    def _get_columns(self, items: Sequence[Node]) -> tuple[Path, int]:
        """Return the names of the columns of a list of rows, and how many items of it name them."""
        first = items[0].items if items else None
        if not first or not _is_row(items[0]):
            return (), 0
        texts = tuple(self._text[cell.start : cell.end] for cell in first)
        if len(self._columns) == len(first):
            return self._columns, int(texts == self._columns)
        if len(items) > 1 and _is_head(items[0], items[1]):
            return texts, 1
        if len(first) < 2 or any(len(item.items or ()) != len(first) for item in items):
            return (), 0
        return tuple(f"column {number}" for number in range(1, len(first) + 1)), 0

    def _split_rows(self, node: Node) -> list[list[tuple[str, Node]]]:
        """Return the named rows of `{"columns": […], "data": [[…], …]}`; none of another object."""
        fields = {name: value.items for name, _, value in node.pairs or ()}
        heads = fields.get("columns")
        data = next(filter(None, map(fields.get, _ROWS)), None)
        if not heads or not data or not _are_quoted(heads):
            return []
        names = [self._text[head.start : head.end] for head in heads]
        rows = [row.items or [] for row in data]
        if any(len(row) != len(names) for row in rows):
            return []
        return [list(zip(names, row, strict=True)) for row in rows]

    def _add_scalar(self, node: Node, record: int, path: Path) -> None:
        if node.is_scalar:
            self._add_cell(node, record, path)
        else:
            self.add_tree(node, record, path)

    def _add_cell(self, node: Node, record: int, path: Path) -> None:
        if node.end - node.start > LONG_TEXT:
            add_prose(self._base, self._source, node.start, node.end, record, path)
        else:
            self._base.add_cell(record, path, node.start, node.end, quoted=node.quoted)


def _find_short_cells(pairs: Sequence[Pair]) -> list[Cell] | None:
    """Return the cells of an object that holds short scalars only; None of another."""
    cells: list[Cell] = []
    for name, _, node in pairs:
        start, end = node.start, node.end
        if node.pairs is not None or node.items is not None or end - start > LONG_TEXT:
            return None
        cells.append(((name,), start, end, node.quoted))
    return cells


def _holds_things(pairs: Sequence[Pair]) -> bool:
    """Return whether the fields of an object are things by their names, each an object."""
    if not all(value.pairs is not None for _, _, value in pairs):
        return False
    return len(pairs) > 1 or _NAMES_A_THING.match(pairs[0][0]) is not None


def _is_head(row: Node, following: Node) -> bool:
    """Return whether a row of quoted texts is above one of as many cells that are not all quoted."""
    first, second = row.items or [], following.items or []
    is_like = _is_row(following) and len(first) == len(second)
    return is_like and _are_quoted(first) and not _are_quoted(second)


def _are_quoted(nodes: Sequence[Node]) -> bool:
    return all(node.quoted for node in nodes)


def _is_part(node: Node) -> bool:
    """Return whether a flat object is a part of the record around it: its names name no things."""
    pairs = node.pairs or []
    return all(value.is_scalar for _, _, value in pairs) and not any(
        _NAMES_A_THING.match(name) for name, _, _ in pairs
    )


def _is_row(node: Node) -> bool:
    """Return whether a list is as short as a row and holds scalars only."""
    items = node.items
    return items is not None and 0 < len(items) <= _MAX_CELLS and all(item.is_scalar for item in items)


def _list_transposed_rows(node: Node) -> list[list[tuple[str, Node]]]:
    """Return the rows of an object whose fields are equally long lists of scalars; none of another object.

    A frame's `to_dict()` has objects in place of the lists, with the numbers of the rows as their names.
    """
    pairs = node.pairs or []
    if len(pairs) < 2 or pairs[0][2].is_scalar:
        return []
    is_frame = all(_numbers_rows(value) for _, _, value in pairs)
    columns: list[list[tuple[str, Node]]] = []
    for name, _, value in pairs:
        cells = _list_column(value, is_frame=is_frame)
        if not cells or (columns and len(cells) != len(columns[0])):
            return []
        columns.append([(name, cell) for cell in cells])
    return [list(row) for row in zip(*columns, strict=True)]


def _list_column(node: Node, *, is_frame: bool) -> list[Node]:
    """Return the scalars of a list, or of an object of a frame; none where there is another, or one alone."""
    cells = node.items or []
    if is_frame:
        cells = [cell for _, _, cell in node.pairs or ()]
    if len(cells) > 1 and all(cell.is_scalar for cell in cells):
        return cells
    return []


def _numbers_rows(node: Node) -> bool:
    """Return whether the names of an object's fields are 0, 1, 2 and so on."""
    pairs = node.pairs or []
    return bool(pairs) and all(name == str(number) for number, (name, _, _) in enumerate(pairs))
