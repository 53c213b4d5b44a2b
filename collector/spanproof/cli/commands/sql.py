"""`spanproof sql`: a query over the store's tables, read-only, also while the collector runs."""

from __future__ import annotations

import sys
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import click

from spanproof.cli.exit_codes import EXIT_PASS
from spanproof.cli.options.store import opened_store, store_option
from spanproof.cli.output.console import console, write_json, write_remark
from spanproof.cli.output.hostile import format_line
from spanproof.cli.output.listing import build_listing
from spanproof.cli.output.tables import write_columns, write_csv
from spanproof.cli.problems import UsageProblem


@click.command("sql")
@click.argument("query", required=False)
@click.option(
    "--limit", type=click.IntRange(1), default=1000, show_default=True, help="Print at most this many rows."
)
@click.option("--csv", "as_csv", is_flag=True, help="CSV on stdout.")
@click.option("--json", "as_json", is_flag=True, help="One JSON line per row on stdout.")
@click.option(
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write the rows to a file: .parquet or .arrow.",
)
@store_option
def command(
    query: str | None, limit: int, as_csv: bool, as_json: bool, out: Path | None, location: str
) -> int:
    """Run one SELECT over the store's tables.

    QUERY is ClickHouse's SQL; without it, or as -, it is read from stdin. Nothing can be changed, and the
    collector may run meanwhile.
    """
    text = sys.stdin.read() if query in (None, "-") else query
    if not text or not text.strip():
        raise UsageProblem(
            "there is no query", "For example: spanproof sql 'SELECT count() FROM scores FINAL'"
        )
    with opened_store(location) as store:
        names, rows = store.select(text, limit + 1)
    if len(rows) > limit:
        write_remark(f"the first {limit} rows; --limit gives more")
    found = [dict(zip(names, map(_to_json_value, row), strict=True)) for row in rows[:limit]]
    if out is not None:
        write_columns(out, names, found)
    elif as_json:
        for row in found:
            write_json(row)
    elif as_csv:
        write_csv(names, found)
    else:
        table = build_listing(*names)
        for row in found:
            table.add_row(*(format_line("–" if value is None else str(value)) for value in row.values()))
        console.print(table)
    return EXIT_PASS


def _to_json_value(value: Any) -> Any:
    """Return a value in a form that JSON has."""
    if isinstance(value, datetime | date):
        return value.isoformat()
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, dict):
        return {str(key): _to_json_value(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_to_json_value(item) for item in value]
    if value is None or isinstance(value, bool | int | float):
        return value
    return str(value)
