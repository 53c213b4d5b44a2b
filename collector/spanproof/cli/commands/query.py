"""`spanproof query SCORE`: a score counted and measured over a window, by cohort and time."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import click
from rich.table import Table
from rich.text import Text

from spanproof.cli.exit_codes import EXIT_PASS
from spanproof.cli.options.cohort import with_by_option, with_where_option
from spanproof.cli.options.rows import RowsOutput, with_rows_options
from spanproof.cli.options.store import opened_store, parse_span, store_option
from spanproof.cli.output.console import console, write_remark
from spanproof.cli.output.hostile import format_line
from spanproof.cli.output.listing import build_listing
from spanproof.cli.output.verdicts import STATE_STYLES
from spanproof.cli.output.words import format_amount, format_time
from spanproof.cli.problems import UsageProblem
from spanproof.evaluators.intervals import compute_difference_interval, compute_wilson_interval
from spanproof.gate import ScoreRef, parse_score
from spanproof.store import Group, Store
from spanproof.store.values import FailRate
from spanproof.trace import State


class Rate(StrEnum):
    """A share of the judgements of a score."""

    FAIL = "fail"
    """Of the verdicts, those that are fail."""
    OPEN = "open"
    """Of what could have a verdict, what is open."""
    ERROR = "error"
    """Of what was tried, what errored; skipped ones are left out."""
    SKIP = "skip"
    """Of all, what was skipped."""
    PRESENCE = "presence"
    """Of all, what was neither skipped nor errored."""

    def count_parts(self, verdicts: FailRate) -> tuple[int, int]:
        """Return the part and the whole."""
        match self:
            case Rate.FAIL:
                return verdicts.failed, verdicts.judged
            case Rate.ERROR:
                return verdicts.errored, verdicts.scored + verdicts.errored
            case Rate.OPEN:
                return verdicts.open, verdicts.judgeable
            case Rate.SKIP:
                return verdicts.skipped, verdicts.scores
            case Rate.PRESENCE:
                return verdicts.scored, verdicts.scores


@dataclass(frozen=True, slots=True)
class _Row:
    """One group, and the same group of the window before where it is compared.

    Attributes:
        rate: which one is compared.
    """

    group: Group
    before: Group | None = None
    rate: Rate = Rate.FAIL


@dataclass(frozen=True, slots=True)
class _Column:
    """A column of the table: its head, and the cell of a row."""

    name: str
    format: Callable[[_Row], Text | str]


_MOST_CAUSES = 5
_MOST_FORMER_GROUPS = 10_000

# What the part and the whole of a rate are called in the table.
_PARTS = {
    Rate.FAIL: ("failed", "judged"),
    Rate.OPEN: ("open", "judged or open"),
    Rate.ERROR: ("errored", "tried"),
    Rate.SKIP: ("skipped", "all"),
    Rate.PRESENCE: ("scored", "all"),
}


@click.command("query")
@click.argument("score")
@with_by_option("Count by this dimension: agent, user, attribute:tenant.id; may be given several times.")
@click.option(
    "--rate",
    type=click.Choice([rate.value for rate in Rate]),
    default=Rate.FAIL.value,
    show_default=True,
    help="Which rate the table shows and --compare compares.",
)
@with_where_option
@click.option(
    "--since", default="24h", show_default=True, help="Length of the window that ends now: 90s, 15m, 24h, 7d."
)
@click.option("--every", help="Print a row per interval: 5m, 1h, 1d.")
@click.option("--compare", is_flag=True, help="Compare with the window of the same length before it.")
@with_rows_options
@store_option
def command(
    score: str,
    by: tuple[str, ...],
    rate: str,
    cohort: dict[str, str],
    since: str,
    every: str | None,
    compare: bool,
    output: RowsOutput,
    location: str,
) -> int:
    """Count and measure a score over a window, by cohort and time.

    SCORE is written as in the gate: groundedness.score, trajectory.steps. The fail rate is the share of
    verdicts that are fail, with its 95 % Wilson interval; metrics also have a mean and percentiles. Example:
    spanproof query groundedness.score --by prompt_version --since 7d
    """
    if compare and every:
        raise UsageProblem("--compare is given with --every", "Compare whole windows, or show one over time.")
    wanted = parse_score(score)
    length, step = parse_span("--since", since), parse_span("--every", every) if every else None
    end = time.time_ns() + 1

    def read_groups(store: Store, end_ns: int, limit: int) -> list[Group]:
        return store.groups(
            wanted.layer,
            wanted.row_name,
            by,
            start_ns=max(0, end_ns - length),
            end_ns=end_ns,
            bucket_ns=step,
            cohort=cohort,
            limit=limit,
        )

    with opened_store(location) as store:
        found = read_groups(store, end, output.limit)
        former = read_groups(store, end - length, _MOST_FORMER_GROUPS) if compare else []
        # A layer's own outcomes have causes; sub-scores are parts of them.
        if wanted.name == wanted.layer.value:
            causes = store.causes(wanted.layer, start_ns=max(0, end - length), end_ns=end, cohort=cohort)
        else:
            causes = []
    before = {group.values: group for group in former}
    rows = [_Row(group, before.get(group.values), Rate(rate)) for group in found if group.verdicts.scores]
    written = [_as_json(row, by, timed=step is not None) for row in rows]
    names = [name for name in (written[0] if written else {}) if name not in ("before", "change")]
    if output.handle_rows(names, written):
        return EXIT_PASS
    if rows:
        console.print(_build_table(rows, by, wanted, Rate(rate), timed=step is not None, compare=compare))
        for cause in causes[:_MOST_CAUSES]:
            console.print(Text(f"  {cause.state.value}: {format_line(cause.words)}"))
    else:
        write_remark(f"no {wanted} in the last {since}")
    return EXIT_PASS


def _compute_rates(group: Group) -> dict[str, float | None]:
    """Return each rate with its interval; that of fail rates has the plain names."""
    found: dict[str, float | None] = {}
    for rate in Rate:
        part, whole = rate.count_parts(group.verdicts)
        interval = compute_wilson_interval(part, whole)
        prefix = "" if rate is Rate.FAIL else f"{rate.value}_"
        found[f"{rate.value}_rate"] = part / whole if whole else None
        found[f"{prefix}low"] = interval.low if interval else None
        found[f"{prefix}high"] = interval.high if interval else None
    return found


def _as_json(row: _Row, by: Sequence[str], *, timed: bool) -> dict[str, Any]:
    group, counted = row.group, row.group.verdicts
    found: dict[str, Any] = dict(zip(by, group.values, strict=True))
    if timed:
        found["start_unix_ns"] = group.start_ns
    found |= {
        "passed": counted.passed,
        "failed": counted.failed,
        "errored": counted.errored,
        "skipped": counted.skipped,
        "open": counted.open,
        "advice": counted.advice,
        **_compute_rates(group),
        "mean": group.mean,
        "raw_mean": group.raw_mean,
        "raw_p50": group.raw_p50,
        "raw_p95": group.raw_p95,
        "unit": group.unit or None,
    }
    if row.before is not None:
        change = _compute_change(row)
        found["before"] = _compute_rates(row.before) | {"n": row.before.verdicts.judged}
        found["change"] = (
            None if change is None else {"low": change[1], "value": change[0], "high": change[2]}
        )
    return found


def _compute_change(row: _Row) -> tuple[float, float, float] | None:
    """Return the difference of the rates, now less before, with its interval."""
    if row.before is None:
        return None
    now, before = row.rate.count_parts(row.group.verdicts), row.rate.count_parts(row.before.verdicts)
    interval = compute_difference_interval(before, now)
    if interval is None:
        return None
    return now[0] / now[1] - before[0] / before[1], interval.low, interval.high


def _build_table(
    rows: Sequence[_Row], by: Sequence[str], score: ScoreRef, rate: Rate, *, timed: bool, compare: bool
) -> Table:
    measured = score.is_raw and rate is Rate.FAIL
    if timed:
        columns = [_Column("start (UTC)", lambda row: format_time(row.group.start_ns))]
    else:
        columns = []
    columns += [_build_cohort_column(name, position) for position, name in enumerate(by)]
    columns += _list_amount_columns() if measured else _list_rate_columns(rate)
    columns.append(_Column("not judged", lambda row: f"{_count_unjudged(row, measured=measured):,}"))
    if compare and not measured:
        columns += [_Column("before", _format_rate_before), _Column("change", _format_change)]
    table = build_listing(*(column.name for column in columns))
    for row in rows:
        table.add_row(*(column.format(row) for column in columns))
    return table


def _build_cohort_column(name: str, position: int) -> _Column:
    return _Column(name.replace("_", " "), lambda row: format_line(row.group.values[position] or "(none)"))


def _list_amount_columns() -> list[_Column]:
    return [
        _Column("mean", lambda row: _format_amount(row.group.raw_mean, row.group.unit)),
        _Column("p50", lambda row: _format_amount(row.group.raw_p50, row.group.unit)),
        _Column("p95", lambda row: _format_amount(row.group.raw_p95, row.group.unit)),
        _Column("n", lambda row: f"{row.group.verdicts.scored:,}"),
    ]


def _list_rate_columns(rate: Rate) -> list[_Column]:
    part, whole = _PARTS[rate]
    columns = [
        _Column(f"{rate.value} rate", _format_rate),
        _Column("95% interval", _format_interval),
        _Column(part, lambda row: f"{rate.count_parts(row.group.verdicts)[0]:,}"),
        _Column(whole, lambda row: f"{rate.count_parts(row.group.verdicts)[1]:,}"),
    ]
    if rate is not Rate.OPEN:
        columns.append(_Column("open", _format_open))
    return columns


def _format_amount(amount: float | None, unit: str) -> str:
    return "–" if amount is None else format_amount(amount, unit)


def _format_rate(row: _Row) -> Text:
    counted = row.group.verdicts
    return Text(_format_share(*row.rate.count_parts(counted)), style=_get_style(row.rate, counted))


def _format_interval(row: _Row) -> str:
    interval = compute_wilson_interval(*row.rate.count_parts(row.group.verdicts))
    if interval is None:
        return "–"
    return f"{interval.low:.1%} to {interval.high:.1%}"


def _format_open(row: _Row) -> Text:
    count = row.group.verdicts.open
    return Text(f"{count:,}", style=STATE_STYLES[State.OPEN] if count else "")


def _count_unjudged(row: _Row, *, measured: bool) -> int:
    """Return the verdicts without a result; an advice has an amount, and no result."""
    counted = row.group.verdicts
    unjudged = counted.errored + counted.skipped
    if measured:
        return unjudged
    return unjudged + counted.advice


def _format_rate_before(row: _Row) -> str:
    if row.before is None:
        return "–"
    return _format_share(*row.rate.count_parts(row.before.verdicts))


def _get_style(rate: Rate, counted: FailRate) -> str:
    """Return how a rate is shown: green only where nothing speaks against it and nothing is open."""
    part, whole = rate.count_parts(counted)
    is_bad = part < whole if rate is Rate.PRESENCE else part > 0
    if not whole and not counted.open:
        return ""
    if is_bad:
        return STATE_STYLES[State.OPEN if rate is Rate.OPEN else State.FAIL]
    is_open = rate is Rate.FAIL and counted.open > 0
    return STATE_STYLES[State.OPEN if is_open else State.PASS]


def _format_share(part: int, whole: int) -> str:
    return f"{part / whole:.1%}" if whole else "–"


def _format_change(row: _Row) -> Text:
    change = _compute_change(row)
    if change is None:
        return Text("–")
    value, low, high = change
    worse, better = (high < 0, low > 0) if row.rate is Rate.PRESENCE else (low > 0, high < 0)
    if worse:
        style = "bold red"
    elif better:
        style = "green"
    else:
        style = "dim"
    return Text(f"{value:+.1%} ({low:+.1%} to {high:+.1%})", style=style)
