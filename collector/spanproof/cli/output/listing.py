"""Tables for a terminal, without lines: a cell that is too wide is folded, and nothing is cut to an ellipsis.

rich cuts a word that is wider than its column. In a pipe and at 80 columns that loses ids and names.
"""

from __future__ import annotations

from collections.abc import Collection

from rich.table import Table

MOST_GREEN_ROWS = 2
"""Of more rows than this that all pass only the number is printed: a green run takes at most three lines."""


def build_listing(
    *names: str,
    right: Collection[str] = (),
    title: str | None = None,
    gap: int = 1,
    header_style: str = "bold",
) -> Table:
    """Return an empty table with these columns.

    Args:
        names: heads of the columns, left to right.
        right: heads of those that are aligned to the right.
        title: a line above the table.
        gap: blanks between two columns.
        header_style: style of the heads.
    """
    table = Table(
        title=title,
        title_justify="left",
        box=None,
        pad_edge=False,
        padding=(0, gap, 0, 0),
        header_style=header_style,
    )
    for name in names:
        table.add_column(name, justify="right" if name in right else "left", overflow="fold")
    return table


def build_pairs(columns: int = 2, *, style: str = "") -> Table:
    """Return an empty table without heads, whose first column holds short names in this style."""
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(no_wrap=True, style=style)
    for _ in range(columns - 1):
        grid.add_column(overflow="fold")
    return grid
