"""Lines of logs and of records: what a document is made of, as against a message.

In: lines of a text. Out: whether they are of a log, or fields of records; or a message without its time.
"""

from __future__ import annotations

import re
from collections import Counter

_LEVEL = r"(?:ERROR|WARN(?:ING)?|INFO|DEBUG|FATAL|CRITICAL|TRACE|NOTICE|PANIC|SEVERE)"
_STAMP = r"\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d|(?:[A-Z][a-z]{2} [ \d]\d )?\d\d:\d\d:\d\d\b|\d{10}\.\d{3}"
_LOG_LINE = re.compile(
    rf"\s*(?:[\w./-]+:\d+:\s*)?(?:\[?\s*(?:{_STAMP})|\[?{_LEVEL}\]?:?\s+\[?(?:{_STAMP})|level=\w+\s|ts=\d"
    rf"|{_LEVEL}:[\w.]+:|{{\"(?:ts|time|timestamp|level|severity|@timestamp)\":)"
    rf"|{_LEVEL}:? .*\((?:{_STAMP})[^)]*\)\s*\Z|\s*\S+:\d+:{_LEVEL}\b",
    re.IGNORECASE,
)
COUNT_OF_ROWS = re.compile(r"\s*[\[(]?(?:\d+ rows?\b|Empty set).*", re.IGNORECASE)
"""What is written below a table: `(3 rows)`, `3 rows in set`, `[5 rows x 3 columns]`."""
_FIELD = re.compile(r"\s*(?P<name>[A-Za-z_][\w ]{0,40}?)\s*[:=]\s")
_LEAST_REPEATED = 2
# A time before a message; with a level after it, the line is an entry of a log.
_TIME_BEFORE = re.compile(
    r"\[?\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d(?::\d\d(?:[.,]\d{1,9})?)?(?: ?(?:Z|UTC|[+-]\d\d:?\d\d))?\]?:?\s+"
    rf"(?!\[?{_LEVEL}\b|level=)"
)


def is_log_line(line: str) -> bool:
    """Whether a line begins as those of a log do: with a time, a level and a time, or as a record of one."""
    return _LOG_LINE.match(line[:2_000]) is not None


def without_time(text: str) -> str:
    """Return a message of one line without the time before it; any other text as it is."""
    found = _TIME_BEFORE.match(text) if "\n" not in text else None
    return text if found is None else text[found.end() :]


def is_record_list(lines: list[str]) -> bool:
    """Whether lines are `name: value` of more than one record: the same names come again, in order."""
    names = [found["name"] for line in lines[:200] if (found := _FIELD.match(line))]
    counts = Counter(names)
    return (
        len(counts) >= _LEAST_REPEATED
        and len(names) == len([line for line in lines[:200] if line.strip()])
        and min(counts.values()) >= _LEAST_REPEATED
    )
