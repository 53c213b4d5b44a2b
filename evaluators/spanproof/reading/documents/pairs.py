"""Make records of lines of `name: value`: settings, YAML, and blocks of one record each.

In: lines of a text, and the first of them that may be such a pair. Out: how many lines were read. A name that
comes again begins the next record, and so do `- `, `---`, `-[ RECORD 2 ]-` of psql and `*** 2. row ***` of
MySQL. Deeper indentation is a part of the record.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from spanproof.reading.documents.prose import add_prose, add_values
from spanproof.reading.grids import Line
from spanproof.reading.log_lines import without_time
from spanproof.reading.records import LONG_TEXT, FactBase

_MAX_LINES = 3000
# One such line alone is prose: "Note: the store is closed".
_MIN_PAIRS = 2
# The colon of "at 19:45" parts nothing.
_PAIR = re.compile(
    r"(?P<indent>[ \t]*)(?P<item>[-*•]\s+)?(?:\*\*|[\"'])?(?P<name>[^\W\d][^:=|\n]{0,47}?)(?:\*\*|[\"'])?\s*"
    r"(?:=|(?<!\d):(?![/\d])|:(?=\d+\s*\Z)|\s\|\s)(?:\*\*)?\s*(?P<value>.*?)\s*\Z"
)
_NAME = re.compile(r"[\w ./()%°#&'-]+\Z")
# A field of a record, as against words of an event: `Started: worker 5`.
_FIELD = re.compile(r"(?P<name>[a-z_][a-z0-9_]*)\s*[:=]\s*\S")
_PARTING = re.compile(r"\s*(?:-{3,}|={3,}|-\[ RECORD \d+ \][-+]*|\*{3,} \d+\. row \*{3,}|#{1,3}\s.*)\s*\Z")
_SQL_RECORD = re.compile(r"\s*(?:-\[ RECORD \d+ \][-+]*|\*{3,} \d+\. row \*{3,})\s*\Z")


def add_pairs(base: FactBase, source: int, lines: Sequence[Line], at: int) -> int:
    """Add the records of the pairs at a line.

    Return how many lines they take, 0 where there are fewer than two.
    """
    taken: list[tuple[Line, re.Match[str] | None]] = []
    pairs = 0
    in_sql = False
    for number in range(at, min(len(lines), at + _MAX_LINES)):
        line = lines[number]
        text = line.text
        if _SQL_RECORD.match(text):
            in_sql = True
            taken.append((line, None))
            continue
        match = _PAIR.match(text) if len(text) < _MAX_LINE else None
        if match is None or not _NAME.match(match["name"]) or ("|" in text and not in_sql):
            # Between blocks there may be a rule or an empty line, if a block follows.
            if taken and (not text.strip() or _PARTING.match(text)):
                taken.append((line, None))
                continue
            break
        taken.append((line, match))
        pairs += 1
    while taken and taken[-1][1] is None:
        taken.pop()
    if pairs < _MIN_PAIRS:
        return 0
    _add_blocks(base, source, taken)
    return len(taken)


_MAX_LINE = 2000


def add_timed_pairs(base: FactBase, source: int, lines: Sequence[Line], at: int) -> int:
    """Add the record of the pairs with a time before each at a line, and the times.

    Return how many lines they take. Where a name comes again each value needs its time: that is a log.
    """
    pairs: list[Line] = []
    for line in lines[at : at + _MAX_LINES]:
        rest = without_time(line.text)
        if rest == line.text:
            break
        pairs.append(Line(rest, line.start + len(line.text) - len(rest)))
    names = [found["name"] for pair in pairs if (found := _FIELD.match(pair.text)) is not None]
    is_record = len(set(names)) == len(pairs)
    used = add_pairs(base, source, pairs, 0) if is_record else 0
    if used:
        group = base.add_group("")
        for line, pair in zip(lines[at : at + used], pairs, strict=False):
            record = base.add_record(source, None, line.start, pair.start, group)
            add_values(base, record, line.text[: pair.start - line.start], line.start)
    return used


def _add_blocks(base: FactBase, source: int, taken: list[tuple[Line, re.Match[str] | None]]) -> None:
    """Add a record for each block of pairs, in one group where blocks have the same first name."""
    matches = [(line, match) for line, match in taken if match is not None]
    names = [match["name"].strip() for _, match in matches]
    first = names[0]
    group = base.add_group("") if names.count(first) > 1 else None
    block = record = row = -1
    depth, listed = 0, -1
    # Names that lead to deeper lines, and their indentations; `- ` counts as indentation.
    above: list[str] = []
    indents: list[int] = []
    end = taken[-1][0].start + len(taken[-1][0].text)
    for (line, match), name in zip(matches, names, strict=True):
        indent = len(match["indent"]) + len(match["item"] or "")
        while indents and indents[-1] >= indent:
            indents.pop()
            above.pop()
        if name == first and not above:
            block = record = base.add_record(source, None, line.start, end, group)
        elif not above:
            record = block
        elif match["item"]:
            # An item of a list below a name is a row of that list.
            depth = len(above)
            listed = listed if row >= 0 else base.add_group(above[-1])
            record = row = base.add_record(source, block, line.start, end, listed, above[-1])
        if not match["value"]:
            row = -1
            indents.append(indent)
            above.append(name)
            continue
        outer = above if record == block else above[depth:]
        _add_value(base, source, line, match, record, (*outer, name))


def _add_value(
    base: FactBase, source: int, line: Line, match: re.Match[str], record: int, path: tuple[str, ...]
) -> None:
    """Add the value of a pair, without the quotes around it."""
    low, high = match.span("value")
    value = match["value"]
    if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'":
        low, high = low + 1, high - 1
    start, stop = line.start + low, line.start + high
    if stop - start > LONG_TEXT:
        add_prose(base, source, start, stop, record, path)
    else:
        base.add_cell(record, path, start, stop)
