"""Make a record of each line of a log, with its time, its level and the values of its message.

In: lines of a text, and the first of them that may be of a log. Out: how many lines were read.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from spanproof.reading.documents.prose import add_values
from spanproof.reading.grids import Line
from spanproof.reading.log_lines import is_log_line
from spanproof.reading.records import FactBase, Role

_MAX_LINES = 20_000
_LEVEL = re.compile(r"\b(?:ERROR|WARN(?:ING)?|INFO|DEBUG|FATAL|CRITICAL|TRACE|NOTICE|PANIC|SEVERE)\b")
# A level is written at the beginning of a line; further on the word belongs to the message.
_LEVEL_WITHIN = 80


def add_log_lines(base: FactBase, source: int, lines: Sequence[Line], at: int) -> int:
    """Add the records of the lines of a log that begin at a line; return how many these are."""
    used = 0
    group: int | None = None
    for number in range(at, min(len(lines), at + _MAX_LINES)):
        line = lines[number]
        if not is_log_line(line.text):
            break
        if group is None:
            group = base.add_group("")
        start, end = line.start, line.start + len(line.text)
        record = base.add_record(source, None, start, end, group)
        level = _LEVEL.search(line.text, 0, _LEVEL_WITHIN)
        if level is not None:
            base.add_cell(record, ("level",), start + level.start(), start + level.end(), Role.PROSE)
        add_values(base, record, line.text, start)
        used += 1
    return used
