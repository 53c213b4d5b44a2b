"""Make records of a literal's tree.

An object is a record; one in a list belongs to the list's group; an object whose values are objects is a list
whose keys name the records. Columns (`{"a": [1, 2], "b": [3, 4]}`) become rows.
"""

from __future__ import annotations

import re

from spanproof.evaluators.layers.groundedness.facts.base import FactBase, Role
from spanproof.evaluators.layers.groundedness.facts.literal import Node
from spanproof.evaluators.layers.groundedness.facts.prose import add_prose

_LONG = 90
_NAMES_A_THING = re.compile(r".*\d|.*[A-Z].*[ _-]|.*@")


def add_tree(base: FactBase, source: int, node: Node, parent: int | None, path: tuple[str, ...] = ()) -> None:
    """Add the records of a literal."""
    if node.is_object:
        _add_object(base, source, node, parent, path, None)
    elif node.is_list:
        _add_list(base, source, node, parent, path)
    else:
        record = parent if parent is not None else base.new_record(source, None, node.start, node.end)
        _add_scalar(base, source, node, record, path)


def _add_object(
    base: FactBase, source: int, node: Node, parent: int | None, path: tuple[str, ...], group: int | None,
    key: tuple[int, int] | None = None,
) -> None:  # fmt: skip
    rows = _rows_of_columns(node)
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


def _rows_of_columns(node: Node) -> list[list[tuple[str, Node]]]:
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
