"""`spanproof breakdown FACT`: failure classes, attempts, denials and weaknesses of code by cohort."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import click
from rich.table import Table

from spanproof.cli.exit_codes import EXIT_PASS
from spanproof.cli.options.cohort import with_by_option, with_where_option
from spanproof.cli.options.rows import RowsOutput, with_rows_options
from spanproof.cli.options.store import opened_store, parse_span, store_option
from spanproof.cli.output.console import console, write_remark
from spanproof.cli.output.hostile import format_line
from spanproof.cli.output.listing import build_listing
from spanproof.evaluators.intervals import compute_wilson_interval
from spanproof.store.breakdown import Breakdown, Fact


@click.command("breakdown")
@click.argument("fact", metavar="FACT", type=click.Choice([fact.value for fact in Fact]))
@with_by_option("Count by this dimension: agent, user, attribute:tenant.id; may be given several times.")
@with_where_option
@click.option(
    "--since", default="24h", show_default=True, help="Length of the window that ends now: 90s, 15m, 24h, 7d."
)
@with_rows_options
@store_option
def command(
    fact: str,
    by: tuple[str, ...],
    cohort: dict[str, str],
    since: str,
    output: RowsOutput,
    location: str,
) -> int:
    """Count what happened to the code of agents over a window, by cohort.

    FACT is failure_class (how replays ended), attempt (what they tried beyond the sandbox), blocked (rules
    that denied the code) or cwe (weaknesses that were found). A share is of the snippets that were replayed
    or scanned, with its 95 % Wilson interval.
    """
    end = time.time_ns() + 1
    start = max(0, end - parse_span("--since", since))
    with opened_store(location) as store:
        found = store.break_down(
            Fact(fact), by, start_ns=start, end_ns=end, cohort=cohort, limit=output.limit
        )
    rows = [_as_json(item, by, fact) for item in found]
    names = [*by, fact, "snippets", "whole", "share", "low", "high"]
    if output.handle_rows(names, rows):
        return EXIT_PASS
    if rows:
        console.print(_build_table(rows, names))
    else:
        write_remark(f"no {fact} in the last {since}")
    return EXIT_PASS


def _as_json(found: Breakdown, by: Sequence[str], fact: str) -> dict[str, Any]:
    interval = compute_wilson_interval(found.snippets, found.whole)
    return {
        **dict(zip(by, found.values, strict=True)),
        fact: found.item,
        "snippets": found.snippets,
        "whole": found.whole,
        "share": found.snippets / found.whole,
        "low": interval.low if interval else None,
        "high": interval.high if interval else None,
    }


def _build_table(rows: Sequence[dict[str, Any]], names: Sequence[str]) -> Table:
    table = build_listing(*(name.replace("_", " ") for name in (*names[:-2], "95% interval")))
    for row in rows:
        table.add_row(
            *(format_line(row[name] or "(none)") for name in names[:-5]),
            f"{row['snippets']:,}",
            f"{row['whole']:,}",
            f"{row['share']:.1%}",
            f"{row['low']:.1%} to {row['high']:.1%}",
        )
    return table
