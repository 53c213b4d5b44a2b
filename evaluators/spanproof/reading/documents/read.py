"""Read the sources into a fact base: literals and XML first, then tables, then pairs and sentences.

In: texts. Out: a `FactBase`. Each line is read by the first notation that fits. Bounded: of a text the first
characters are read, and of a base so many facts; `FactBase.cut` says that there was more.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import islice

from spanproof.reading.documents.labelled import add_labelled, read_labelled
from spanproof.reading.documents.literals import (
    Node,
    add_objects,
    build_node,
    read_literal,
)
from spanproof.reading.documents.prose import add_prose
from spanproof.reading.documents.tables import (
    Line,
    add_table,
    find_common_scale,
    read_aligned,
    read_delimited,
    read_spaced,
)
from spanproof.reading.markup import read_element
from spanproof.reading.records import LONG_TEXT, FactBase, Role

MAX_CHARS = 400_000
# How many lines may be above a table without a blank line between: each costs a look at all that follow.
_MAX_ABOVE = 20
_MAX_BROKEN = 5  # elements that turn out to be none: each is read to where it breaks
_ELEMENT = re.compile(r"<(?=[A-Za-z_?!])")
_OPENS = re.compile(r"(?m)(?:^|[:=>]\s*|^\s+|\s)(?=[{\[]|\w+\(\w+=)")
# The colon of "at 19:45" parts nothing.
_PARTS = r"(?:=|(?<!\d):|:(?!\d))"
_NAME_END = re.compile(rf"\s*{_PARTS}\s*")
_PAIR_LINE = re.compile(rf"^\s*[^\W\d][\w ./()-]{{0,40}}?\s*{_PARTS}\s*\S")


def read_facts(texts: Sequence[str], about: str = "", columns: Sequence[Sequence[str]] = ()) -> FactBase:
    """Return the facts of some texts.

    Args:
        texts: the sources.
        about: what they are said to show, such as a table's title.
        columns: of each text the names of its columns where the query that gave it says them.
    """
    base = FactBase([text[:MAX_CHARS] for text in texts])
    base.cut = any(len(text) > MAX_CHARS for text in texts)
    base.scale = find_common_scale(base.texts)
    left = MAX_CHARS
    for source, text in enumerate(base.texts):
        _read_text(base, source, text[: max(0, left)], about)
        base.cut = base.cut or len(text) > left
        left -= len(text)
    return base


def _read_text(base: FactBase, source: int, text: str, about: str) -> None:
    lines: list[Line] = []
    at = 0
    parent: int | None = None
    broken = 0
    objects: list[Node] = []
    while at < len(text):
        end = text.find("\n", at)
        end = len(text) if end < 0 else end
        opened = None
        if broken < _MAX_BROKEN and (element := _ELEMENT.search(text, at, end)) is not None:
            found = read_element(text, element.start())
            broken += found is None
            opened = (build_node(found), element.start(), found.end) if found is not None else None
        opened = opened or _find_literal(text, at, end)
        if opened is not None:
            node, begin, stop = opened
            if begin > at and text[at:begin].strip():
                lines.append(Line(text[at:begin], at))
            if any(line.text.strip() for line in lines) or not _are_alike(objects, node):
                add_objects(base, source, objects)
                objects = []
            _read_lines(base, source, lines, parent, about)
            lines = []
            objects.append(node)
            at = stop
            continue
        lines.append(Line(text[at:end].rstrip("\r"), at))
        at = end + 1
    add_objects(base, source, objects)
    _read_lines(base, source, lines, parent, about)


def _are_alike(objects: list[Node], node: Node) -> bool:
    """Return whether a node is one more of the objects before it, as in JSON Lines."""
    names = [[name for name, _, _ in each.pairs] for each in (*objects[-1:], node)]
    return bool(objects) and node.is_object and names[0] == names[1]


def _find_literal(text: str, at: int, end: int) -> tuple[Node, int, int] | None:
    """Return a literal with content that begins in a line, with its places; None where there is none."""
    for match in islice(_OPENS.finditer(text, at, end), 3):
        begin = match.end()
        found = read_literal(text, begin)
        if found is not None and (found[0].pairs or len(found[0].items) > 0):
            return found[0], begin, found[1]
    return None


def _read_lines(base: FactBase, source: int, lines: list[Line], parent: int | None, about: str) -> None:
    at = above_table = 0
    first, blocks = "", dict[str, int]()
    named: Counter[str] | None = None
    while at < len(lines):
        if not lines[at].text.strip():
            at += 1
            above_table = 0
            continue
        rest = lines[at : at + 3000]
        labelled = read_labelled(rest)
        if labelled:
            add_labelled(base, source, labelled, parent)
            at += len(labelled)
            continue
        pairs = _count_pairs(rest)
        table = None if pairs >= 2 else read_delimited(rest)
        if table is None and pairs < 2 and above_table < _MAX_ABOVE:
            table = read_spaced(rest) or read_aligned(rest)
            above_table += 1
        if table is not None:
            rows, used = table
            above = lines[at - 1].text if at else ""
            add_table(base, source, rows, parent, f"{about} {above}".strip()[:200])
            at += used
        elif pairs >= 2:
            record = -1
            for line in lines[at : at + pairs]:
                name, value = _NAME_END.split(line.text, maxsplit=1)
                if record < 0 or name == first:
                    # Blocks that begin with the same name are rows: one a person, one a service.
                    first = name if record < 0 else first
                    named = named or Counter(_NAME_END.split(each.text, maxsplit=1)[0] for each in lines)
                    if first not in blocks and named[first] > 1:
                        blocks[first] = base.new_group("")
                    record = base.new_record(
                        source, parent, line.start, lines[at + pairs - 1].start, blocks.get(first)
                    )
                start = line.start + line.text.index(value, len(name)) if value else line.start
                end = start + len(value.rstrip())
                if end - start > LONG_TEXT:
                    add_prose(base, source, start, end, record, (name.strip(),))
                else:
                    base.add_cell(record, (name.strip(" -*•"),), start, end)
            at += pairs
        else:
            line = lines[at]
            add_prose(base, source, line.start, line.start + len(line.text), parent)
            at += 1


def _count_pairs(lines: list[Line]) -> int:
    count = 0
    for line in lines:
        if not _PAIR_LINE.match(line.text) or "|" in line.text:
            break
        count += 1
    return count


def read_records(text: str, columns: Sequence[str] = ()) -> list[dict[str, str]]:
    """Return the rows and objects of a text: the names of their fields with the values as written.

    Args:
        text: in any notation that `read_facts` knows.
        columns: names for rows that have none, as a query says them.
    """
    base = read_facts([text], columns=[columns])
    found: dict[int, dict[str, str]] = {}
    for fact in base.facts:
        if fact.path and fact.role is Role.CELL:
            found.setdefault(fact.record, {})[".".join(fact.path)] = text[slice(*fact.cell)]
    return list(found.values())
