"""Read XML into the tree that literals are read into: elements are objects, attributes and leaves their fields.

In: a text and where an element begins. Out: a node, or None where no well-formed element with fields begins
there. A page of HTML is a document, and so is an element with long text in it: neither is read. Nothing is
expanded, fetched or validated. One pass, from left to right.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from spanproof.evaluators.layers.groundedness.facts.literals import Node

_ATTRIBUTE = re.compile(r"\s+(?P<name>[\w.:-]+)\s*=\s*(?:\"(?P<double>[^\"<]*)\"|'(?P<single>[^'<]*)')")
_OPENING = re.compile(r"<(?P<name>[A-Za-z_][\w.:-]*)")
_CLOSING = re.compile(r"</(?P<name>[A-Za-z_][\w.:-]*)\s*>")
_ENDS = re.compile(r"\s*(?P<empty>/?)>")
_SKIPPED = (("<?", "?>"), ("<!--", "-->"), ("<!DOCTYPE", ">"))
_DOCUMENTS = frozenset(
    "html head body div span p a b i u ul ol li table tr td th br hr h1 h2 h3 pre code script style form".split()  # noqa: SIM905, E501
)
_MAX_NODES = 20_000
_MAX_DEPTH = 60
_MAX_LEAF = 400


@dataclass(slots=True)
class _Element:
    """An element that is open: its fields so far, and where its text begins."""

    tag: str
    start: int
    inside: int = 0
    pairs: list[tuple[str, tuple[int, int], Node]] = field(default_factory=list)
    has_children: bool = False


def read_element(text: str, at: int) -> tuple[Node, int] | None:
    """Return the element that begins at a place as an object, and where it ends; None where none begins."""
    stack: list[_Element] = []
    for _ in range(_MAX_NODES):
        at = _skip(text, at)
        closing = _CLOSING.match(text, at) if stack else None
        if closing is not None:
            if closing["name"] != stack[-1].tag:
                return None
            node = _close(text, stack.pop(), at)
            at = closing.end()
            if node is None:
                return None
            if not stack:
                return (node, at) if node.is_object else None
            _put(stack[-1], closing["name"], node)
        else:
            opened = _open(text, at)
            if opened is None or len(stack) >= _MAX_DEPTH:
                return None
            element, at, is_empty = opened
            if not is_empty:
                stack.append(element)
            elif not stack:
                return None
            else:
                _put(stack[-1], element.tag, _object(element, at))
        if stack:
            at = text.find("<", at)
            if at < 0:
                return None
    return None


def _skip(text: str, at: int) -> int:
    """Return the next place behind comments, instructions and a document type."""
    while True:
        skipped = next((end for start, end in _SKIPPED if text.startswith(start, at)), None)
        if skipped is None:
            return at
        end = text.find(skipped, at)
        at = text.find("<", end) if end >= 0 else len(text)
        if at < 0:
            return len(text)


def _open(text: str, at: int) -> tuple[_Element, int, bool] | None:
    """Return an element that opens at a place, where its content begins, and whether it has none."""
    opening = _OPENING.match(text, at)
    if opening is None or opening["name"].lower() in _DOCUMENTS:
        return None
    element = _Element(opening["name"], at)
    at = opening.end()
    while (attribute := _ATTRIBUTE.match(text, at)) is not None:
        at = attribute.end()
        if attribute["name"].startswith("xmlns"):
            continue
        quoted = "double" if attribute["double"] is not None else "single"
        value = Node(*attribute.span(quoted), quoted=True)
        element.pairs.append((_local(attribute["name"]), attribute.span("name"), value))
    end = _ENDS.match(text, at)
    if end is None:
        return None
    element.inside = end.end()
    return element, end.end(), bool(end["empty"])


def _close(text: str, element: _Element, end: int) -> Node | None:
    """Return an element's node; None of one with more text in it than a field has."""
    if element.has_children:
        return _object(element, end)
    start = element.inside
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    if end - start > _MAX_LEAF:
        return None
    if not element.pairs:
        return Node(start, end)
    name = (element.start + 1, element.start + 1 + len(element.tag))
    element.pairs.append((_local(element.tag), name, Node(start, end)))
    return _object(element, end)


def _object(element: _Element, end: int) -> Node:
    return Node(element.start, end, pairs=element.pairs, is_object=True)


def _put(parent: _Element, tag: str, node: Node) -> None:
    """Put a child into its parent: the second of one name makes a list of them."""
    parent.has_children = True
    name = _local(tag)
    for at, (known, place, first) in enumerate(parent.pairs):
        if known == name:
            if first.is_list:
                first.items.append(node)
                first.end = node.end
            else:
                several = Node(first.start, node.end, items=[first, node], is_list=True)
                parent.pairs[at] = (name, place, several)
            return
    parent.pairs.append((name, (node.start, node.start), node))


def _local(name: str) -> str:
    """Return a name without its prefix: `itunes:duration` is a duration."""
    return name.rpartition(":")[2]
