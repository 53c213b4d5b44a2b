"""Where the rows of a query go: `--limit`, `--csv`, `--out` and `--json`, else a table for people."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Any

import click

from spanproof.cli.output.console import write_json
from spanproof.cli.output.tables import write_columns, write_csv


@dataclass(frozen=True, slots=True)
class RowsOutput:
    """Where rows go.

    Attributes:
        limit: rows at most.
    """

    limit: int
    as_csv: bool
    out: Path | None
    as_json: bool

    def handle_rows(self, names: Sequence[str], rows: Sequence[dict[str, Any]]) -> bool:
        """Write rows in the form that was chosen; return False where that is the table for people.

        Args:
            names: the columns of CSV and of files.
            rows: as JSON has them.
        """
        if self.as_json:
            for row in rows:
                write_json(row)
        elif self.out is not None:
            write_columns(self.out, names, rows)
        elif self.as_csv:
            write_csv(names, rows)
        return self.as_json or self.as_csv or self.out is not None


def with_rows_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command these options; it is called with `output`, a `RowsOutput`."""
    options = (
        click.option(
            "--limit",
            type=click.IntRange(1, 10_000),
            default=100,
            show_default=True,
            help="Print at most this many rows.",
        ),
        click.option("--csv", "as_csv", is_flag=True, help="CSV on stdout."),
        click.option(
            "--out",
            type=click.Path(path_type=Path, dir_okay=False),
            help="Write the rows to a file: .parquet or .arrow.",
        ),
        click.option("--json", "as_json", is_flag=True, help="One JSON line per row on stdout."),
    )

    @wraps(command)
    def wrapped(*args: Any, limit: int, as_csv: bool, out: Path | None, as_json: bool, **kwargs: Any) -> Any:
        return command(*args, output=RowsOutput(limit, as_csv, out, as_json), **kwargs)

    decorated: Callable[..., Any] = wrapped
    for option in reversed(options):
        decorated = option(decorated)
    return decorated
