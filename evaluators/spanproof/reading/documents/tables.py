"""Make records of tables in text: a record for each row, with fields named by the columns.

In: a grid of cells. Out: records in one group. Leading rows without values of their own name the columns; a
row of one name heads the rows below it; a table of two columns without names has its first column as keys.
"""

from __future__ import annotations

from itertools import chain, pairwise

from spanproof.reading.documents.prose import add_prose
from spanproof.reading.grids import Cell, Grid, count_heads, find_scale, is_number, list_column_names
from spanproof.reading.records import LONG_TEXT, FactBase, Role, list_years

_ONLY_DOTS = frozenset((".", "…", " "))


def add_table(base: FactBase, source: int, grid: Grid, about: str, columns: tuple[str, ...] = ()) -> None:
    """Add a record for each row of a table.

    Args:
        base: takes the records.
        source: the text that the table is in.
        grid: its cells.
        about: what it shows, as the line above it says.
        columns: the names of its columns, where a query names them and no row does.
    """
    text = base.texts[source]
    rows = grid.rows
    texts = [[text[low:high].strip() for low, high in row] for row in rows]
    width = max(map(len, rows))
    heads = 0 if grid.names else count_heads(texts)
    if grid.names or heads:
        names = list(grid.names) or list_column_names(texts[:heads], width)
    elif len(columns) == width:
        names = list(columns)
    elif width == 2:
        _add_keys(base, source, rows, texts)
        return
    else:
        names = [""] * width
    group = base.add_group(about)
    heading = " ".join(chain.from_iterable(texts[:heads]))
    scale = find_scale(heading) or find_scale(about) or base.scale
    if scale is not None:
        base.scales[group] = scale
    _add_header(base, source, rows, heads)
    has_names = heads > 0 or any(names)
    _TableRows(base, source, names, has_names).add(rows, texts, heads, group, about)


def _add_header(base: FactBase, source: int, rows: list[list[Cell]], heads: int) -> None:
    header = base.add_record(source, None, rows[0][0][0], rows[max(heads, 1) - 1][-1][1])
    for row in rows[:heads]:
        for cell in row:
            if cell[0] < cell[1]:
                base.add_cell(header, (), *cell, Role.HEADER)


class _TableRows:
    """Adds the rows of one table, in order.

    Attributes:
        is_matrix: its columns are years or periods, so that a row's label says what its values are.
        period: the year or period that heads the rows which follow, empty where none does.
    """

    def __init__(self, base: FactBase, source: int, names: list[str], has_names: bool) -> None:
        self.base = base
        self.source = source
        self.names = names
        self.has_names = has_names
        dated = sum(any(map(str.isdigit, name)) for name in names[1:])
        self.is_matrix = dated >= max(1, (len(names) - 1) / 2)
        self.period = ""

    def add(self, rows: list[list[Cell]], texts: list[list[str]], heads: int, group: int, about: str) -> None:
        """Add the rows below the header; a row that heads others is the record that they are in."""
        base, source = self.base, self.source
        numbers_rows = bool(self.names) and not self.names[0]
        has_index = numbers_rows and _are_consecutive([row[0] for row in texts[heads:]])
        sections = _list_sections(texts, heads)
        above: int | None = None
        for number in range(heads, len(rows)):
            row, cells = rows[number], texts[number]
            if all(_ONLY_DOTS.issuperset(cell) for cell in cells):
                continue
            start, end = row[0][0], row[-1][1]
            if number in sections:
                above = base.add_record(source, None, start, end)
                base.add_cell(above, (), *row[0], Role.KEY)
                self.period = cells[0] if list_years((cells[0],)) else ""
                continue
            record = base.add_record(source, above, start, end, group, about)
            for position, cell in enumerate(row):
                if cells[position] and not (has_index and position == 0):
                    self._add_value(record, cell, self._build_path(cells[0], position))

    def _build_path(self, label: str, position: int) -> tuple[str, ...]:
        """Return the names that lead to a cell: its period, its row's label and its column."""
        if not self.has_names:
            return (f"column {position + 1}",)
        path: tuple[str, ...] = (self.names[position] if position < len(self.names) else "",)
        is_labelled = bool(label) and self.is_matrix and not is_number(label)
        if is_labelled and position:
            path = (label, *path)
        if self.period and position:
            path = (self.period, *path)
        return path

    def _add_value(self, record: int, cell: Cell, path: tuple[str, ...]) -> None:
        if cell[1] - cell[0] > LONG_TEXT:
            add_prose(self.base, self.source, *cell, record, path)
        else:
            self.base.add_cell(record, path, *cell)


def _add_keys(base: FactBase, source: int, rows: list[list[Cell]], texts: list[list[str]]) -> None:
    """Add a record for each row of two columns without names: the first is the key, and names the second."""
    for row, cells in zip(rows, texts, strict=True):
        record = base.add_record(source, None, row[0][0], row[-1][1])
        base.add_cell(record, (), *row[0], Role.KEY)
        if len(row) > 1:
            base.add_cell(record, (cells[0],), *row[1])


def _list_sections(texts: list[list[str]], heads: int) -> frozenset[int]:
    """Return the numbers of rows that head those below: a name alone, as the first row or more than once."""
    sections = []
    for number in range(heads, len(texts) - 1):
        label, *others = texts[number]
        if len(others) > 1 and label and not any(others) and any(texts[number + 1][1:]):
            sections.append(number)
    if len(sections) == 1 and sections[0] > heads:
        return frozenset()
    return frozenset(sections)


def _are_consecutive(labels: list[str]) -> bool:
    """Return whether labels are the numbers of rows; pandas leaves out the middle of a long frame."""
    numbers = [int(label) for label in labels if label.isdecimal()]
    steps = [after - before for before, after in pairwise(numbers)]
    dots = sum(_ONLY_DOTS.issuperset(label) for label in labels)
    return (
        len(numbers) > 1 and len(numbers) + dots == len(labels) and sum(step != 1 for step in steps) <= dots
    )
