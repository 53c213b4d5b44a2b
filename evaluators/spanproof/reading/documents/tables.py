"""Make records of tables in text: CSV and its kin, markdown and boxes, columns aligned with blanks.

In: lines with their places. Out: rows of cells with their places, or None where the lines are no such table.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

from spanproof.reading.documents.prose import add_prose
from spanproof.reading.log_lines import is_log_line
from spanproof.reading.numbers import scan_cached
from spanproof.reading.records import LONG_TEXT, FactBase, Role, extract_years
from spanproof.reading.values import NUMERIC, Kind, is_year

Cell = tuple[int, int]
_DELIMITERS = ("\t", "|", ";", ",")
_CELL = {
    delimiter: re.compile(rf'\s*"(?P<quoted>(?:[^"]|"")*)"\s*(?:{re.escape(delimiter)}|$)|(?P<plain>[^{re.escape(delimiter)}]*?)(?:{re.escape(delimiter)}|$)')  # noqa: E501
    for delimiter in _DELIMITERS
}  # fmt: skip
# What parts the cells of boxes as DuckDB, polars and rich draw them, each as long as its bar.
_BARS = str.maketrans("│┃║┆╎", "|||||")
_BAR = re.compile("[│┃║┆╎]")
_RULE = re.compile(r"^[\s|+:=\u2500-\u257f-]*[-=─━═]{2,}[\s|+:=\u2500-\u257f-]*$")
_TYPE = re.compile(
    r"(?:u?int(?:eger)?|[iuf]|float)\d*|(?:big|small|tiny|huge)int|varchar|str(?:ing)?|text|double|numeric|object"
    r"|(?:decimal|date|time|datetime|timestamp|enum|list|struct)(?:[(\[ ].*)?|bool(?:ean)?|cat(?:egorical)?",
    re.IGNORECASE,
)
_WIDE_GAP = re.compile(r"\s{2,}")
_SCALE = re.compile(
    r"(?:\b(?:in|of|usd|eur|gbp|rmb)\b|[$€£])\W{0,2}(?:us\$\s*|u\.s\.\s*|\$\s*|usd\s*|eur\s*|€\s*)?(?:dollars?\s+|euros?\s+)?"
    r"(?:in\s+)?(?P<scale>thousands?|millions?|billions?|000s?|mn|bn|k|m)\b|(?P<tick>['’]000)",
    re.IGNORECASE,
)
# What a text beside its tables says of all their amounts: "(in millions)", "amounts in thousands".
_SAID_SCALE = re.compile(
    r"(?:\(|\b(?:amounts?|dollars?|figures|values|stated|expressed|shown|reported|presented)\b)\W{0,2}"
    r"(?:[\w.$€£]+\W{1,2}){0,3}?in\s(?:\w+\s){0,2}?(?P<scale>thousands|millions|billions)\b",
    re.IGNORECASE,
)
_CLAUSE = 60
_SCALES = {"t": 1e3, "m": 1e6, "b": 1e9, "0": 1e3, "k": 1e3, "'": 1e3, "’": 1e3}


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a source: its text and where it begins."""

    text: str
    start: int


def find_scale(text: str) -> float | None:
    """Return what a table's or page's words say its numbers are multiples of: "in thousands"."""
    match = _SCALE.search(text)
    if match is None:
        return None
    return _SCALES[(match.group("scale") or "'")[0].lower()]


def find_common_scale(texts: Iterable[str]) -> float | None:
    """Return the one scale that texts say amounts are in, None where they say none or several."""
    found = {match.group("scale")[0].lower() for text in texts for match in _SAID_SCALE.finditer(text)}
    return _SCALES[found.pop()] if len(found) == 1 else None


def read_delimited(lines: list[Line]) -> tuple[list[list[Cell]], int] | None:
    """Return the rows of the longest table at the first line whose delimiter is the same in each, and its lines."""  # noqa: E501
    best: tuple[list[list[Cell]], int] | None = None
    first = next((at for at, line in enumerate(lines) if not _RULE.match(line.text)), 0)
    if _BAR.search(lines[first].text):
        lines = [Line(line.text.translate(_BARS), line.start) for line in lines]
    for delimiter in _DELIMITERS:
        count = _count_fields(lines[first].text, delimiter)
        if count < 2:
            continue
        rows: list[list[Cell]] = []
        used = 0
        for line in lines:
            if _RULE.match(line.text):
                used += 1
                continue
            if _count_fields(line.text, delimiter) != count:
                break
            rows.append(_split(line, delimiter))
            used += 1
        spaced = delimiter in ",;" and sum(f"{delimiter} " in line.text for line in lines[:used]) > used / 2
        # Of a list in prose each line but the last ends in a semicolon.
        listed = delimiter == ";" and count == 2
        unlike = spaced and delimiter == "," and not _has_numbers_in_most(lines[:used])
        sentences = unlike or ((spaced or listed) and _are_clauses(rows))
        if len(rows) >= 2 and not sentences and (best is None or used > best[1]):
            best = (_drop_type_row(rows, lines), used)
            if delimiter == "|":
                break
    return best


def _drop_type_row(rows: list[list[Cell]], lines: list[Line]) -> list[list[Cell]]:
    """Return rows without the one below the names that says the type of each column."""
    if len(rows) < 3:
        return rows
    line = next(each for each in lines if each.start <= rows[1][0][0] <= each.start + len(each.text))
    cells = [line.text[low - line.start : high - line.start] for low, high in rows[1]]
    return [rows[0], *rows[2:]] if all(map(_TYPE.fullmatch, cells)) else rows


def _are_clauses(rows: list[list[Cell]]) -> bool:
    """Return whether most rows have a cell as long as a part of a sentence."""
    return sum(max(end - start for start, end in row) > _CLAUSE for row in rows) > len(rows) / 2


def _has_numbers_in_most(lines: list[Line]) -> bool:
    return sum(any(ch.isdigit() for ch in line.text) for line in lines[1:]) >= (len(lines) - 1) / 2


def _count_fields(line: str, delimiter: str) -> int:
    if delimiter not in line:
        return 0
    if delimiter == "|":
        return line.strip().strip("|").count("|") + 1
    if '"' in line:
        return len(_split(Line(line, 0), delimiter))
    return line.count(delimiter) + 1


def _split(line: Line, delimiter: str) -> list[Cell]:
    text = line.text
    low, high = 0, len(text)
    if delimiter == "|":
        low = len(text) - len(text.lstrip())
        low += text[low : low + 1] == "|"
        high = len(text.rstrip())
        high -= text[high - 1 : high] == "|" and high > low
    cells: list[Cell] = []
    at = low
    while at <= high:
        match = _CELL[delimiter].match(text, at, high)
        if match is None:
            break
        start, end = match.span("quoted") if match.group("quoted") is not None else match.span("plain")
        cells.append(_trim_cell(text, start, end, line.start))
        ended = match.end() >= high and not text[at:high].endswith(delimiter)
        at = match.end()
        if ended or (at >= high and match.end() == match.start()):
            break
        if at >= high:
            cells.append((line.start + high, line.start + high))
            break
    return cells


def _trim_cell(text: str, start: int, end: int, offset: int) -> Cell:
    while start < end and text[start] in " \t*`":
        start += 1
    while end > start and text[end - 1] in " \t*`":
        end -= 1
    return offset + start, offset + end


# A field with its value, as above and below a table of an invoice: no row of one.
_FIELD = re.compile(r"\s*[A-Za-z][\w-]*(?: [\w-]+){0,3}: \S+(?: \S+)*\s*")


def read_aligned(lines: list[Line]) -> tuple[list[list[Cell]], int] | None:
    """Return the rows of a table whose columns are set apart by two or more blanks, and its lines."""
    taken: list[Line] = []
    for line in lines:
        if not line.text.strip() or _FIELD.fullmatch(line.text):
            break
        # What is said right above or below a table has no columns: `$ kubectl get pods`, `4 rows in all`.
        wide = len(taken) > 1 and min(_count_gaps(taken[0]), _count_gaps(taken[1])) > 1
        if wide and not _count_gaps(line) and " " in line.text.strip() and not _RULE.match(line.text):
            break
        taken.append(line)
    if (
        len(taken) > 2
        and not _count_gaps(taken[0])
        and " " in taken[0].text.strip()
        and min(map(_count_gaps, taken[1:3])) > 1
    ):
        return None
    body = [line for line in taken if not _RULE.match(line.text)]
    # The lines of a log line up by their times, and the first of them names nothing.
    if len(body) < 2 or is_log_line(body[0].text):
        return None
    starts = _find_columns([line.text for line in body])
    if starts is None:
        return None
    rows = []
    for line in body:
        cells = []
        for low, high in starts:
            cells.append(
                _trim_cell(line.text, min(low, len(line.text)), min(high, len(line.text)), line.start)
            )
        rows.append(cells)
    return rows, len(taken)


_MOST_CELLS = 12
_TOKEN = re.compile(r"\S+")
_NO_TOKEN = re.compile(r".*[:=;,]|[:=(\[{].*")
_NOTHING = frozenset(("-", "none", "null", "nan", "n/a", "<na>", "(null)"))


def read_spaced(lines: list[Line]) -> tuple[list[list[Cell]], int] | None:
    """Return the rows of lines of as many words each, set apart by one blank: those of `print(a, b, c)`."""
    rows: list[list[Cell]] = []
    for line in lines:
        row = [
            (line.start + low, line.start + high)
            for low, high in (m.span() for m in _TOKEN.finditer(line.text))
        ]
        if (
            len(row) != len(rows[0] if rows else row)
            or not 2 <= len(row) <= _MOST_CELLS
            or is_log_line(line.text)
        ):
            break
        if any(_NO_TOKEN.fullmatch(line.text[low - line.start : high - line.start]) for low, high in row):
            break
        rows.append(row)
    if len(rows) < 2:
        return None
    texts = {
        cell: line.text[cell[0] - line.start : cell[1] - line.start]
        for line, row in zip(lines, rows, strict=False)
        for cell in row
    }
    named = not any(_is_value(texts[cell]) for cell in rows[0])
    columns = [[texts[cell] for cell in column] for column in zip(*rows[named:], strict=True)]
    values = [[_is_value(text) for text in column if text.lower() not in _NOTHING] for column in columns]
    even = all(all(each) or not any(each) for each in values)
    # A first word that is always the same names no row: "Epoch 1 loss 0.5".
    varied = named or len(set(columns[0])) == len(columns[0]) > 1
    if len(columns[0]) < 2 or not even or not varied or not any(all(each) and each for each in values):
        return None
    return (rows, len(rows)) if named or not all(values[0]) else None


def _count_gaps(line: Line) -> int:
    """Return how often two blanks or more part the words of a line."""
    return len(_WIDE_GAP.findall(line.text.strip()))


def _find_columns(texts: list[str]) -> list[tuple[int, int]] | None:
    """Return the columns that no line writes across: between them every line has a blank."""
    width = max(map(len, texts))
    if width > 400 or len(texts) > 2000:
        return None
    used = [False] * (width + 1)
    for text in texts:
        for place, character in enumerate(text):
            if character != " ":
                used[place] = True
    spans: list[tuple[int, int]] = []
    at: int | None = None
    for place, full in enumerate(used):
        if full and at is None:
            at = place
        elif not full and at is not None:
            spans.append((at, place))
            at = None
    # One blank may part columns only where most lines have a gap there: names of two words line up by chance.
    merged: list[tuple[int, int]] = []
    for span in spans:
        if merged and span[0] - merged[-1][1] < 2 and not _is_gap(texts, merged[-1], span):
            merged[-1] = (merged[-1][0], span[1])
        else:
            merged.append(span)
    filled = Counter(sum(bool(text[low:high].strip()) for low, high in merged) for text in texts)
    if len(merged) < 2 or filled.most_common(1)[0][0] < 2:
        return None
    return merged


def _is_gap(texts: list[str], left: tuple[int, int], right: tuple[int, int]) -> bool:
    """Whether the values left or right of one blank are numbers, or differ in length as columns do."""
    body = texts[1:] or texts
    numbers = sum(
        _is_number(text[right[0] : right[1]]) or _is_number(text[left[0] : left[1]]) for text in body
    )
    return numbers >= 0.6 * len(body)


def _is_number(text: str) -> bool:
    found = scan_cached(text.strip()) if text.strip() else ()
    return (
        len(found) == 1
        and found[0].value.kind is not Kind.TEXT
        and found[0].end - found[0].start >= len(text.strip()) - 2
    )


def add_table(base: FactBase, source: int, rows: list[list[Cell]], parent: int | None, about: str) -> None:
    """Add a record for each row; leading rows without values of their own name the columns."""
    text = base.texts[source]
    width = max(map(len, rows))
    heads = count_header_rows(text, rows)
    if heads == 0 and width == 2:
        for row in rows:
            record = base.new_record(source, parent, row[0][0], row[-1][1])
            base.add_cell(record, (), *row[0], Role.KEY)
            if len(row) > 1:
                base.add_cell(record, (text[slice(*row[0])],), *row[1])
        return
    names = _build_column_names(text, rows[:heads], width)
    group = base.new_group(about)
    heading = " ".join(text[slice(*cell)] for row in rows[:heads] for cell in row)
    scale = find_scale(heading) or find_scale(about) or base.scale
    if scale is not None:
        base.scales[group] = scale
    header = base.new_record(source, parent, rows[0][0][0], rows[max(heads, 1) - 1][-1][1])
    for row in rows[:heads]:
        for cell in row:
            base.add_cell(header, (), *cell, Role.HEADER)
    index = bool(names) and not names[0] and _numbers_rows(text, rows[heads:])
    sections = _find_sections(text, rows[heads:])
    above, period = parent, ""
    for row in rows[heads:]:
        if not any(text[slice(*cell)] for cell in row):
            continue
        label = text[slice(*row[0])]
        if row[0] in sections:
            above = base.new_record(source, parent, row[0][0], row[-1][1])
            base.add_cell(above, (), *row[0], Role.KEY)
            period = label if extract_years((label,)) else ""
            continue
        record = base.new_record(source, above, row[0][0], row[-1][1], group, about)
        for position, cell in enumerate(row):
            if text[slice(*cell)].strip() and not (index and position == 0):
                name = names[position] if position < len(names) else ""
                # Where a column names the row, its label is a name of the row's values as well.
                labelled = position > 0 and label and not _is_number(label)
                path = (label, name) if labelled and _is_matrix(names) else (name,)
                path = (period, *path) if period and position else path
                path = path if heads else (f"column {position + 1}",)
                if cell[1] - cell[0] > LONG_TEXT:
                    add_prose(base, source, *cell, record, path)
                else:
                    base.add_cell(record, path, *cell)


def _find_sections(text: str, rows: list[list[Cell]]) -> frozenset[Cell]:
    """Return the first cells of rows that head those below: a name alone, as the first row or more than once."""  # noqa: E501
    found = [
        number
        for number, row in enumerate(rows[:-1])
        if len(row) > 2
        and text[slice(*row[0])].strip()
        and not any(text[slice(*cell)].strip() for cell in row[1:])
        and any(text[slice(*cell)].strip() for cell in rows[number + 1][1:])
    ]
    if not found or (len(found) == 1 and found[0]):
        return frozenset()
    return frozenset(rows[number][0] for number in found)


def _is_matrix(names: list[str]) -> bool:
    """Whether the columns are years or periods: then a row's label, not a column, says what its values are."""  # noqa: E501
    return sum(any(ch.isdigit() for ch in name) for name in names[1:]) >= max(1, (len(names) - 1) / 2)


def _numbers_rows(text: str, rows: list[list[Cell]]) -> bool:
    labels = [text[slice(*row[0])] for row in rows]
    return (
        len(labels) >= 2
        and all(label.isdigit() for label in labels)
        and all(int(b) - int(a) == 1 for a, b in pairwise(labels))
    )


def count_header_rows(text: str, rows: list[list[Cell]]) -> int:
    """Return how many leading rows name the columns: at most four, none of them a row of values."""
    heads = 0
    for row in rows[:4]:
        cells = [text[slice(*cell)] for cell in row]
        values = [cell for cell in cells[1:] if cell.strip() and _is_value(cell)]
        if values and (cells[0].strip() or len(values) > len(cells) / 2 > 1):
            break
        if heads and cells[0].strip():
            # "(in millions) | 2019 | 2018" below "June 30," names columns as well; a name alone heads rows.
            scaled = find_scale(cells[0]) is not None
            if any(cells[1:]):
                heads += scaled or all(_is_period(cell) for cell in cells[1:] if cell.strip())
                break
            if len(cells) > 2 and not scaled:
                break
        heads += 1
        if cells[0].strip() and any(cells[1:]) and not all(cell == cells[0] for cell in cells):
            break
    if heads == len(rows) or heads == 0:
        first = [text[slice(*cell)] for cell in rows[0]]
        return 0 if any(_is_value(cell) for cell in first) and heads == 0 else 1
    return heads


def _is_value(cell: str) -> bool:
    found = scan_cached(cell.strip()) if len(cell) < 40 else ()
    if len(found) != 1 or found[0].spelled or found[0].end - found[0].start < len(cell.strip()) - 2:
        return False
    return found[0].value.kind in NUMERIC and not is_year(found[0].value)


def _is_period(cell: str) -> bool:
    found = scan_cached(cell.strip()) if len(cell) < 40 else ()
    return len(found) == 1 and (found[0].value.kind is Kind.DATE or is_year(found[0].value))


def _build_column_names(text: str, heads: list[list[Cell]], width: int) -> list[str]:
    names = [""] * width
    for row in heads:
        last = ""
        for position in range(width):
            cell = text[slice(*row[position])] if position < len(row) else ""
            last = cell or (last if position and len(heads) > 1 and row is not heads[-1] else "")
            if last and last not in names[position]:
                names[position] = f"{names[position]} {last}".strip()
    return names
