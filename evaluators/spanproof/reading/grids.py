"""Find tables in lines of text: rows of cells with their places, whatever parts them.

In: lines with their places, and the number of the one where a table may begin. Out: a `Grid`, or None where
no table begins there. Columns are parted by tabs, bars, semicolons or commas (CSV, markdown, psql, MySQL, the
boxes of rich, DuckDB and polars), by blanks that no line writes across (pandas, kubectl, docker, df), or by
single blanks (`print(a, b)`); `ls -l` has columns without names. A list in prose, whose clauses are as long
as sentences, is none.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from spanproof.reading.log_lines import COUNT_OF_ROWS, is_log_line
from spanproof.reading.numbers import list_cached_mentions
from spanproof.reading.values import NUMERIC, Kind, Value, is_year

Cell = tuple[int, int]
"""The place of a cell's characters, without what frames them."""

_DELIMITERS = ("\t", "|", ";", ",")
_DELIMITED = re.compile(r"[\t|;,│┃║┆╎]")
_QUOTED_CELL = {
    delimiter: re.compile(
        rf'\s*"(?P<quoted>(?>(?:[^"]|"")*))"\s*(?:{re.escape(delimiter)}|$)'
        rf"|(?P<plain>[^{re.escape(delimiter)}]*+)(?:{re.escape(delimiter)}|$)"
    )
    for delimiter in _DELIMITERS
}
# What parts the cells of boxes as DuckDB, polars and rich draw them, each as long as its bar.
_BARS = str.maketrans("│┃║┆╎", "|||||")
_BAR = re.compile("[│┃║┆╎]")
RULE = re.compile(r"(?=.*[-=─━═]{2})[\s|+:=\u2500-\u257f-]+\Z")
_RULE_START = frozenset(" |+:=-─━═┌├└┏┡┗╒╞╘╭╰╔╠╚┠┝")
_TYPE = re.compile(
    r"(?:u?int(?:eger)?|[iuf]|float)\d*|(?:big|small|tiny|huge)int|varchar|str(?:ing)?|text|double|numeric|object"
    r"|(?:decimal|date|time|datetime|timestamp|enum|list|struct)(?:[(\[ ].*)?|bool(?:ean)?|cat(?:egorical)?",
    re.IGNORECASE,
)
# What frames the text of a cell: blanks, and markdown's marks.
_FRAME = " \t*`"
_MAX_CLAUSE = 60
_MAX_RULES = 3
_MAX_LINES = 3000
_MAX_ALIGNED_LINES = 2000
_MAX_WIDTH = 400
_MAX_SPACED_CELLS = 12
_SHORT_CELL = 40


class Line(NamedTuple):
    """A line of a source: its text and where it begins."""

    text: str
    start: int


@dataclass(slots=True)
class Grid:
    """A table in text.

    Attributes:
        rows: cells, those of the names of the columns first.
        lines: how many lines it takes.
        names: of the columns where the notation has them in mind and does not write them.
    """

    rows: list[list[Cell]]
    lines: int
    names: tuple[str, ...] = ()


def is_rule(text: str) -> bool:
    """Return whether a line is drawn between the rows of a table."""
    return text[:1] in _RULE_START and bool(text) and RULE.match(text) is not None


def find_delimited(lines: Sequence[Line], at: int, width: int = 0) -> Grid | None:
    """Return the longest table that begins at a line and has the same delimiters in each of its lines.

    One line alone is a table where it has as many cells as its query has columns, `width`.
    """
    first = _get_end_of_rules(lines, at)
    head = lines[first].text
    if not _DELIMITED.search(head):
        return None
    bars = _BARS if _BAR.search(head) is not None else None
    head = head.translate(bars) if bars else head
    best: Grid | None = None
    for delimiter in _DELIMITERS:
        count = _count_fields(head, delimiter)
        if count < 2:
            continue
        rows, texts, used = _read_rows(
            lines, range(first, min(len(lines), at + _MAX_LINES)), delimiter, count, bars
        )
        used += first - at
        is_longest = best is None or used > best.lines
        fewest = 1 if count == width else 2
        if len(rows) < fewest or not is_longest or _is_prose(rows, texts, delimiter, count):
            continue
        # DuckDB and polars write the type of each column below its name.
        if len(rows) > 2 and _are_types(texts[1], delimiter):
            del rows[1]
        best = Grid(rows, used)
        if delimiter == "|":
            break
    return best


def _get_end_of_rules(lines: Sequence[Line], at: int) -> int:
    last = min(len(lines) - 1, at + _MAX_RULES)
    while at < last and is_rule(lines[at].text):
        at += 1
    return at


def _read_rows(
    lines: Sequence[Line], numbers: range, delimiter: str, count: int, bars: dict[int, int] | None
) -> tuple[list[list[Cell]], list[str], int]:
    """Return the rows of lines with as many cells each, their texts, and how many lines they take."""
    rows: list[list[Cell]] = []
    texts: list[str] = []
    used = 0
    for number in numbers:
        text, start = lines[number]
        if not is_rule(text):
            plain = text.translate(bars) if bars else text
            if _count_fields(plain, delimiter) != count:
                break
            rows.append(_split_cells(plain, start, delimiter))
            texts.append(plain)
        used += 1
    return rows, texts, used


def _are_types(text: str, delimiter: str) -> bool:
    """Return whether the cells of a line are types of columns."""
    return all(_TYPE.fullmatch(cell.strip(_FRAME)) for cell in text.strip().strip("|").split(delimiter))


def _is_prose(rows: list[list[Cell]], texts: list[str], delimiter: str, count: int) -> bool:
    """Return whether lines with as many commas or semicolons each are sentences or clauses."""
    if delimiter not in ",;":
        return False
    spaced = sum(f"{delimiter} " in text for text in texts) > len(texts) / 2
    without_numbers = sum(not any(map(str.isdigit, text)) for text in texts[1:])
    if spaced and delimiter == "," and without_numbers > (len(texts) - 1) / 2:
        return True
    # Of a list in prose each line but the last ends in a semicolon.
    listed = delimiter == ";" and count == 2
    long_rows = sum(max(end - start for start, end in row) > _MAX_CLAUSE for row in rows)
    return (spaced or listed) and long_rows > len(rows) / 2


def _count_fields(text: str, delimiter: str) -> int:
    if delimiter not in text:
        return 0
    if delimiter == "|":
        return text.strip().strip("|").count("|") + 1
    if '"' in text:
        return len(_split_cells(text, 0, delimiter))
    return text.count(delimiter) + 1


def _split_cells(text: str, start: int, delimiter: str) -> list[Cell]:
    """Return the cells of a line without the bars around them."""
    low, high = 0, len(text)
    if delimiter == "|":
        low = high - len(text.lstrip())
        low += text[low : low + 1] == "|"
        high = len(text.rstrip())
        high -= high > low and text[high - 1] == "|"
    cells: list[Cell] = []
    if '"' not in text:
        at = start + low
        for part in text[low:high].split(delimiter):
            kept = part.lstrip(_FRAME)
            begin = at + len(part) - len(kept)
            cells.append((begin, begin + len(kept.rstrip(_FRAME))))
            at += len(part) + 1
        return cells
    at = low
    while at <= high:
        match = _QUOTED_CELL[delimiter].match(text, at, high)
        if match is None:
            break
        begin, end = match.span("quoted") if match["quoted"] is not None else match.span("plain")
        cells.append(_get_trimmed_cell(text, begin, end, start))
        ends_with_cell = match.end() >= high and not text[at:high].endswith(delimiter)
        at = match.end()
        if ends_with_cell:
            break
        if at >= high:
            cells.append((start + high, start + high))
            break
    return cells


def _get_trimmed_cell(text: str, low: int, high: int, start: int) -> Cell:
    """Return the place of what a cell holds without blanks and marks; `start` is that of the line."""
    part = text[low:high]
    kept = part.lstrip(_FRAME)
    begin = start + low + len(part) - len(kept)
    return begin, begin + len(kept.rstrip(_FRAME))


_LISTED = re.compile(
    r"(?P<mode>[-dlbcps][-rwxsStT]{9}[.+@]?)\s+(?P<links>\d+)\s+(?P<owner>\S+)\s+(?P<group>\S+)\s+(?P<size>[\d.,]+[KMGT]?)\s+"
    r"(?P<modified>[A-Z][a-z]{2}\s+\d{1,2}\s+(?:\d\d:\d\d|\d{4})|\d{4}-\d\d-\d\d \d\d:\d\d(?::\d\d\S*(?: [+-]\d{4})?)?)"  # noqa: E501
    r"\s+(?P<name>\S.*?)\s*\Z"
)


_TOTAL = re.compile(r"total [\d.,]+[KMGT]?\s*")


def find_listing(lines: Sequence[Line], at: int) -> Grid | None:
    """Return the files that `ls -l` lists from a line on, below the line of their total."""
    rows = []
    first = at + bool(_TOTAL.fullmatch(lines[at].text))
    for number in range(first, min(len(lines), first + _MAX_LINES)):
        text, start = lines[number]
        match = _LISTED.match(text) if text[:1] in "-dlbcps" else None
        if match is None:
            break
        rows.append([(start + low, start + high) for low, high in map(match.span, _LISTED.groupindex)])
    if rows:
        return Grid(rows, first - at + len(rows), tuple(_LISTED.groupindex))
    return None


# A field with its value, as above and below a table of an invoice: no row of one.
_FIELD = re.compile(r"\s*[A-Za-z][\w-]*(?: [\w-]+){0,3}: \S+(?: \S+)*\s*")
_WIDE_GAP = re.compile(r"\S\s{2,}(?=\S)")
_MAX_PARTS = 20
_USED = bytes(48 if code in (9, 32) else 49 for code in range(256))


def find_aligned(lines: Sequence[Line], at: int) -> Grid | None:
    """Return the table at a line whose columns are parted by blanks that no line writes across.

    pandas wraps a wide frame: the names of each part but the last end with a backslash.
    """
    grid = _find_aligned_part(lines, at)
    head = lines[at].text
    for _ in range(_MAX_PARTS):
        following = at + grid.lines if grid is not None else len(lines)
        if grid is None or not head.rstrip().endswith("\\") or following >= len(lines) - 1:
            break
        head = lines[following + 1].text
        more = _find_aligned_part(lines, following + 1)
        if more is None or len(more.rows) != len(grid.rows):
            break
        has_index = more.rows[0][0][0] == more.rows[0][0][1]
        rows = [[*row, *others[has_index:]] for row, others in zip(grid.rows, more.rows, strict=True)]
        grid = Grid(rows, grid.lines + 1 + more.lines)
    return grid


def _find_aligned_part(lines: Sequence[Line], at: int) -> Grid | None:
    taken = _list_aligned_lines(lines, at)
    body = [line for line in taken if not is_rule(line.text)]
    # The lines of a log line up by their times, and the first of them names nothing.
    if len(body) < 2 or is_log_line(body[0].text):
        return None
    if body[0].text.rstrip().endswith("\\"):
        body[0] = Line(body[0].text.rstrip()[:-1], body[0].start)
    spans = _find_columns([line.text for line in body])
    if spans is None:
        return None
    rows = [[_get_trimmed_cell(text, low, high, start) for low, high in spans] for text, start in body]
    return Grid(rows, len(taken))


def _list_aligned_lines(lines: Sequence[Line], at: int) -> list[Line]:
    """Return the lines from one on that may be of one table; none where the first one is above it."""
    taken: list[Line] = []
    gaps: list[int] = []
    for number in range(at, min(len(lines), at + _MAX_ALIGNED_LINES)):
        text = lines[number].text
        if not text.strip() or COUNT_OF_ROWS.fullmatch(text) or _FIELD.fullmatch(text):
            break
        gap = len(_WIDE_GAP.findall(text))
        # What is written right above or below a table has no columns: `$ kubectl get pods`, `4 rows in all`.
        is_wide = len(taken) > 1 and min(gaps[:2]) > 1
        if is_wide and gap == 0 and _is_phrase(text) and not is_rule(text):
            break
        taken.append(lines[number])
        gaps.append(gap)
    if len(taken) > 2 and gaps[0] == 0 and min(gaps[1:3]) > 1 and _is_phrase(taken[0].text):
        return []
    return taken


def _is_phrase(text: str) -> bool:
    return " " in text.strip()


def _find_columns(texts: list[str]) -> list[Cell] | None:
    """Return the columns that no line writes across: between them every line has a blank."""
    width = max(map(len, texts))
    if width > _MAX_WIDTH:
        return None
    used = 0
    for text in texts:
        used |= int(text.encode("latin-1", "replace").translate(_USED).ljust(width, b"0"), 2)
    spans = [match.span() for match in re.finditer("1+", f"{used:0{width}b}")]
    # One blank may part columns only where most lines have a number next to it: names of two words line up by
    # chance.
    merged: list[Cell] = []
    for span in spans:
        if merged and span[0] - merged[-1][1] < 2 and not _has_numbers_beside(texts, merged[-1], span):
            merged[-1] = (merged[-1][0], span[1])
        else:
            merged.append(span)
    filled = Counter(sum(bool(text[low:high].strip()) for low, high in merged) for text in texts)
    if len(merged) > 1 and filled.most_common(1)[0][0] > 1:
        return merged
    return None


_MOSTLY = 0.6


def _has_numbers_beside(texts: list[str], left: Cell, right: Cell) -> bool:
    """Return whether the cells left or right of a blank are numbers in most lines below the first."""
    body = texts[1:] or texts
    numbers = sum(is_number(text[slice(*right)]) or is_number(text[slice(*left)]) for text in body)
    return numbers >= _MOSTLY * len(body)


_PLAIN_NUMBER = re.compile(r"-?\d{1,8}(?:\.\d{1,8})?%?")
_TOKEN = re.compile(r"\S+")
_NO_CELL = re.compile(r".*[:=;,]\Z|[:=(\[{].*")
_NOTHING = frozenset(("-", "none", "null", "nan", "n/a", "<na>", "(null)"))


def find_spaced(lines: Sequence[Line], at: int) -> Grid | None:
    """Return the table of lines of as many words each, parted by one blank: those of `print(a, b, c)`."""
    rows, texts = _read_spaced_rows(lines, at)
    if len(rows) < 2:
        return None
    named = not any(map(is_value, texts[0]))
    columns = list(zip(*texts[named:], strict=True))
    # A first word that is always the same names no row: "Epoch 1 loss 0.5".
    varied = named or len(set(columns[0])) == len(columns[0]) > 1
    if len(columns[0]) < 2 or not varied:
        return None
    kinds = [{is_value(text) for text in column if text.lower() not in _NOTHING} for column in columns]
    # Each column has values or words, and some column has values.
    is_even = all(len(kind) < 2 for kind in kinds)
    if not is_even or {True} not in kinds:
        return None
    return Grid(rows, len(rows)) if named or False in kinds[0] else None


def _read_spaced_rows(lines: Sequence[Line], at: int) -> tuple[list[list[Cell]], list[list[str]]]:
    """Return the cells and the words of lines of as many words each."""
    rows: list[list[Cell]] = []
    texts: list[list[str]] = []
    for number in range(at, min(len(lines), at + _MAX_LINES)):
        text, start = lines[number]
        words = text.split()
        count = len(texts[0]) if texts else len(words)
        if len(words) != count or not 2 <= len(words) <= _MAX_SPACED_CELLS:
            break
        if words[-1] == "\\" or any(map(_NO_CELL.match, words)) or is_log_line(text):
            break
        rows.append([(start + match.start(), start + match.end()) for match in _TOKEN.finditer(text)])
        texts.append(words)
    return rows, texts


def is_number(text: str) -> bool:
    """Return whether a cell is one value that is no text: a number, a date, an identifier."""
    stripped = text.strip()
    if _PLAIN_NUMBER.fullmatch(stripped):
        return True
    found = list_cached_mentions(stripped) if 0 < len(stripped) < _SHORT_CELL else ()
    return len(found) == 1 and found[0].end - found[0].start >= len(stripped) - 2


def is_value(text: str) -> bool:
    """Return whether a cell is one amount, and no year: what the cells below a name are."""
    stripped = text.strip()
    if stripped.isalpha():
        return False
    if _PLAIN_NUMBER.fullmatch(stripped):
        return not (stripped.isdigit() and is_year(Value(Kind.NUMBER, float(stripped), 1.0)))
    found = list_cached_mentions(stripped) if 0 < len(stripped) < _SHORT_CELL else ()
    if len(found) != 1 or found[0].spelled or found[0].end - found[0].start < len(stripped) - 2:
        return False
    return found[0].value.kind in NUMERIC and not is_year(found[0].value)


def _is_period(text: str) -> bool:
    found = list_cached_mentions(text.strip()) if len(text) < _SHORT_CELL else ()
    return len(found) == 1 and (found[0].value.kind is Kind.DATE or is_year(found[0].value))


_MAX_HEADS = 4


def count_heads(rows: Sequence[Sequence[str]]) -> int:
    """Return how many leading rows name the columns: at most four, none of them a row of values."""
    heads = 0
    for cells in rows[:_MAX_HEADS]:
        if _is_row_of_values(cells):
            break
        label, others = cells[0], list(filter(None, cells[1:]))
        if heads and label:
            # "(in millions) | 2019 | 2018" below "June 30," names columns as well; a name alone heads rows.
            is_scaled = find_scale(label) is not None
            if others:
                heads += is_scaled or all(map(_is_period, others))
                break
            if len(cells) > 2 and not is_scaled:
                break
        heads += 1
        if label and others and set(cells) != {label}:
            break
    if heads == 0:
        return 0 if any(map(is_value, rows[0])) else 1
    return 1 if heads == len(rows) else heads


def _is_row_of_values(cells: Sequence[str]) -> bool:
    """Return whether a row has a label and values, or values in most of several columns."""
    count = sum(is_value(cell) for cell in cells[1:] if cell)
    return count > 0 and (bool(cells[0]) or count > len(cells) / 2 > 1)


def list_column_names(heads: Sequence[Sequence[str]], width: int) -> list[str]:
    """Return the names of columns that one or more rows write.

    An empty cell above another repeats the last name.
    """
    names = [""] * width
    for row in heads:
        last = ""
        is_last_row = row is heads[-1]
        for position in range(width):
            cell = row[position] if position < len(row) else ""
            if not cell and position and not is_last_row:
                cell = last
            last = cell
            if cell and cell not in names[position]:
                names[position] = f"{names[position]} {cell}".strip()
    return names


_SCALE = re.compile(
    r"(?:\b(?:in|of|usd|eur|gbp|rmb)\b|[$€£])\W{0,2}(?:us\$\s*|u\.s\.\s*|\$\s*|usd\s*|eur\s*|€\s*)?(?:dollars?\s+|euros?\s+)?"
    r"(?:in\s+)?(?P<scale>thousands?|millions?|billions?|000s?|mn|bn|k|m)\b|(?P<tick>['’]000)",
    re.IGNORECASE,
)
# What a text around its tables says of all their amounts: "(in millions)", "amounts in thousands".
_COMMON_SCALE = re.compile(
    r"(?:\(|\b(?:amounts?|dollars?|figures|values|stated|expressed|shown|reported|presented)\b)\W{0,2}"
    r"(?:[\w.$€£]+\W{1,2}){0,3}?in\s(?:\w+\s){0,2}?(?P<scale>thousands|millions|billions)\b",
    re.IGNORECASE,
)
_SCALES = {"t": 1e3, "m": 1e6, "b": 1e9, "0": 1e3, "k": 1e3, "'": 1e3, "’": 1e3}


def find_scale(text: str) -> float | None:
    """Return what a table's or page's words say its numbers are multiples of: "in thousands"."""
    match = _SCALE.search(text)
    if match is None:
        return None
    return _SCALES[(match["scale"] or "'")[0].lower()]


def find_common_scale(texts: Iterable[str]) -> float | None:
    """Return the one scale that texts say amounts are in, None where they say none or several."""
    found = {
        match["scale"][0].lower()
        for text in texts
        if "thousands" in text or "illions" in text
        for match in _COMMON_SCALE.finditer(text)
    }
    return _SCALES[found.pop()] if len(found) == 1 else None
