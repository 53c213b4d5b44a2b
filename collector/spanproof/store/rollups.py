"""Verdicts counted ahead, by hour and by day, so that a window of a month is read from a few thousand rows.

A write marks the hours whose scores it changes as dirty, before and after; `write_rollups` counts dirty hours
again and removes the marks it has seen. Counts are exact at any time: a query takes whole clean days and
hours from here, and the rest of its window, dirty hours among it, from the scores themselves.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from clickhouse_connect.driver.client import Client

from spanproof.store.dimensions import get_column
from spanproof.store.filters import IS_OPEN, Filter, build_verdict_conditions
from spanproof.store.keys import build_key_condition
from spanproof.store.schema import (
    ROLLUP_MARKS,
    ROLLUP_SUMS,
    SCORES,
    VERDICT_COUNTS,
    VERDICT_DAYS,
    VERDICT_HOURS,
)
from spanproof.store.table import Table
from spanproof.store.values import FailsWhen
from spanproof.trace.dimensions import DIMENSIONS, is_carried
from spanproof.trace.project import TraceKey

HOUR_S = 3600
_HOUR_NS = HOUR_S * 10**9
_DAY_HOURS = 24
_DAY_S = _DAY_HOURS * HOUR_S
# Tables order times up to 2100; see `cells.to_storable_time`.
_LATEST_HOUR = 4_102_444_800 // HOUR_S

# A window with more pieces of dirty time than this is read from the scores alone.
_MOST_RANGES = 64
# Dirty hours that are counted in one statement, so that a backfill is worked through in pieces.
_REFRESH_HOURS = 240

# An hour that is dirty for so many times the settling time is counted although it is still written to.
_NEVER_SETTLES = 15

# Marks of one statement.
_MARKS = 10_000

_GROUP = ("layer", "name", *DIMENSIONS)

SUMS = ", ".join(f"sum({name})" for name in ROLLUP_SUMS)
"""What a query over `build_verdict_source` selects, in the order of `ROLLUP_SUMS`."""

VERDICT_SUMS = ", ".join(f"sum({name})" for name in VERDICT_COUNTS)
"""The same without values and amounts, where verdicts alone are counted: fewer columns are read."""


def write_marks(client: Client, database: str, hours: Iterable[int]) -> None:
    """Mark Unix hours as dirty: their scores are about to change, or have changed."""
    now_ns, mark = time.time_ns(), uuid.uuid4().hex
    _write_marks(client, database, [(hour * HOUR_S, mark) for hour in sorted(set(hours))], now_ns)


def list_trace_hours(client: Client, database: str, keys: Sequence[TraceKey]) -> set[int]:
    """Return the Unix hours in which these traces have scores."""
    if not keys:
        return set()
    condition, bound = build_key_condition(keys)
    rows = client.query(
        f"SELECT DISTINCT toUnixTimestamp(toStartOfHour(span_time)) FROM {database}.{SCORES.name}"  # noqa: S608
        f" WHERE {condition}",
        parameters=bound,
    ).result_rows
    return {int(row[0]) // HOUR_S for row in rows}


def write_rollups(client: Client, database: str, settled_s: float = 0.0) -> int:
    """Count dirty hours again, the newest first and a bounded number; returns how many there were.

    One process does this at a time: of two counts of an hour the one that began later is taken.

    Args:
        client: of the store.
        database: with the tables.
        settled_s: an hour is counted once it was not marked for so long, or is dirty for so long that it
            never settles. Counting reads the whole hour, so that counting it after each write would cost a
            busy hour the square of its traces.
    """
    began_ns = time.time_ns()
    marks = client.query(
        f"SELECT toUnixTimestamp(hour) AS at, groupArray(mark) FROM {database}.{ROLLUP_MARKS.name} FINAL"  # noqa: S608
        " GROUP BY at HAVING max(evaluated_ns) <= {settled:UInt64} OR min(evaluated_ns) <= {never:UInt64}"
        " ORDER BY at DESC LIMIT {hours:UInt32}",
        parameters={
            "hours": _REFRESH_HOURS,
            "settled": began_ns - int(settled_s * 1e9),
            "never": began_ns - int(_NEVER_SETTLES * settled_s * 1e9),
        },
    ).result_rows
    hours = sorted(int(row[0]) // HOUR_S for row in marks)
    if not hours:
        return 0
    _write_hours(client, database, hours, began_ns)
    _write_days(client, database, sorted({hour // _DAY_HOURS for hour in hours}), began_ns)
    seen = [(int(row[0]), mark) for row in marks for mark in row[1]]
    _write_marks(client, database, seen, began_ns, removed=True)
    return len(hours)


def build_verdict_source(
    client: Client,
    database: str,
    chosen: Filter,
    fails_when: FailsWhen | None = None,
    bucket_ns: int = 0,
    by: Sequence[str] = (),
) -> tuple[str, dict[str, Any]]:
    """Return a subquery of counts, and its parameters: `ROLLUP_SUMS`, `unit`, the group and `at` (Unix ns).

    Rows are of scores or of many of them added up, so that all of them are to be summed. Where `bucket_ns` is
    given, a row is of one stretch of that length. Dimensions of `by` that spans carry have a column as well.
    """
    start_ns, end_ns = max(0, chosen.start_ns or 0), _get_end_ns(chosen)
    first, last = -(-start_ns // _HOUR_NS), min(end_ns // _HOUR_NS, _LATEST_HOUR)
    counted_ahead = fails_when is None and not chosen.every_version and chosen.trace_id is None
    carried = [name for name in (*by, *chosen.cohort) if is_carried(name)]
    if not counted_ahead or carried or bucket_ns % _HOUR_NS or first >= last:
        return _build_raw_source(database, chosen, [(start_ns, end_ns)], fails_when, carried)
    dirty = _read_dirty_hours(client, database, first, last)
    pieces = [(start_ns, first * _HOUR_NS), *((hour * _HOUR_NS, (hour + 1) * _HOUR_NS) for hour in dirty)]
    pieces = _list_merged_pieces([*pieces, (last * _HOUR_NS, end_ns)])
    if len(pieces) > _MOST_RANGES:
        return _build_raw_source(database, chosen, [(start_ns, end_ns)])
    if bucket_ns % (_DAY_S * 10**9) == 0:
        days = _list_whole_days(first, last)
    else:
        days = (0, 0)
    ahead, bound = _build_counted_source(database, chosen, (first, last), days, dirty)
    raw, more = _build_raw_source(database, chosen, pieces)
    return f"({ahead} UNION ALL {raw.removeprefix('(').removesuffix(')')})", bound | more


def _build_counted_source(
    database: str, chosen: Filter, hours: tuple[int, int], days: tuple[int, int], dirty: Sequence[int]
) -> tuple[str, dict[str, Any]]:
    """Return the part of a window that is counted: its whole clean days, and clean hours beside those."""
    condition, bound = replace(chosen, start_ns=None, end_ns=None, every_version=True).build_condition()
    dirty_days = sorted({hour // _DAY_HOURS * _DAY_S for hour in dirty})
    of_days = _build_range_condition("hour", days[0] * _DAY_S, days[1] * _DAY_S)
    tables = [(VERDICT_HOURS, "hour", hours, HOUR_S, [hour * HOUR_S for hour in dirty])]
    more = f" AND NOT ({of_days} AND toStartOfDay(hour) NOT IN ({_format_times(dirty_days)}))"
    if days[0] < days[1]:
        tables.append((VERDICT_DAYS, "day", days, _DAY_S, dirty_days))
    parts = []
    for table, column, (first, last), length_s, left_out in tables:
        parts.append(
            f"SELECT {', '.join((*_GROUP, *ROLLUP_SUMS))}, unit,"  # noqa: S608
            f" toInt64(toUnixTimestamp({column})) * 1000000000 AS at FROM {database}.{table.name} FINAL"
            f" WHERE {condition} AND {_build_range_condition(column, first * length_s, last * length_s)}"
            f" AND {column} NOT IN ({_format_times(left_out)})" + (more if table is VERDICT_HOURS else "")
        )
    return " UNION ALL ".join(parts), bound


def _build_raw_source(
    database: str,
    chosen: Filter,
    pieces: Sequence[tuple[int, int]],
    fails_when: FailsWhen | None = None,
    carried: Sequence[str] = (),
) -> tuple[str, dict[str, Any]]:
    """Return pieces of time, each from its first nanosecond to before its last, out of the scores."""
    condition, bound = replace(chosen, start_ns=None, end_ns=None).build_condition()
    within, times = _build_piece_condition(pieces)
    passes, fails, threshold = build_verdict_conditions(fails_when)
    rows, keys = chosen.build_source(database, carried)
    columns = ", ".join((*_GROUP, *dict.fromkeys(get_column(name) for name in carried)))
    source = (
        f"(SELECT {columns}, {_build_raw_sums(passes, fails)}, unit,"  # noqa: S608
        f" toUnixTimestamp64Nano(span_time) AS at FROM {rows} WHERE {condition} AND ({within}))"
    )
    return source, bound | times | threshold | keys


def _build_raw_sums(passes: str, fails: str) -> str:
    """Return `ROLLUP_SUMS` of a single score."""
    sums = {
        "passed": f"toUInt64({passes})",
        "failed": f"toUInt64({fails})",
        "errored": "toUInt64(outcome = 'errored')",
        "skipped": "toUInt64(outcome = 'skipped')",
        "open": f"toUInt64({IS_OPEN})",
        "advice": f"toUInt64(outcome = 'scored' AND NOT {IS_OPEN} AND NOT ({passes}) AND NOT ({fails}))",
        "values": f"toUInt64(value IS NOT NULL AND NOT {IS_OPEN})",
        "value_sum": f"if({IS_OPEN}, 0, ifNull(value, 0))",
        "raws": "toUInt64(raw IS NOT NULL)",
        "raw_sum": "ifNull(raw, 0)",
    }
    return ", ".join(f"{sums[name]} AS {name}" for name in ROLLUP_SUMS)


def _write_hours(client: Client, database: str, hours: Sequence[int], version_ns: int) -> None:
    """Count the scores of these hours."""
    pieces = _list_merged_pieces([(hour * _HOUR_NS, (hour + 1) * _HOUR_NS) for hour in hours])
    if hours[-1] >= _LATEST_HOUR:
        pieces[-1] = (pieces[-1][0], 2**63 - 1)
    raw, bound = _build_raw_source(database, Filter(), pieces)
    fresh = f"SELECT toStartOfHour(fromUnixTimestamp64Nano(at, 'UTC')) AS hour, * EXCEPT (at) FROM {raw}"  # noqa: S608
    times = [hour * HOUR_S for hour in hours]
    _write_counts(client, database, VERDICT_HOURS, fresh, times, bound, version_ns)


def _write_days(client: Client, database: str, days: Sequence[int], version_ns: int) -> None:
    """Add up the hours of these days."""
    times = [day * _DAY_S for day in days]
    fresh = (
        f"SELECT toStartOfDay(hour) AS day, {', '.join((*_GROUP, *ROLLUP_SUMS))}, unit"  # noqa: S608
        f" FROM {database}.{VERDICT_HOURS.name} FINAL WHERE toStartOfDay(hour) IN ({_format_times(times)})"
    )
    _write_counts(client, database, VERDICT_DAYS, fresh, times, {}, version_ns)


def _write_counts(
    client: Client,
    database: str,
    table: Table,
    fresh: str,
    times: Sequence[int],
    bound: dict[str, Any],
    version_ns: int,
) -> None:
    """Write the sums of rows as the counts of these times; a group without any row is deleted there."""
    at = table.names[0]
    group = ", ".join((at, *_GROUP))
    before = ", ".join((*(f"0 AS {name}" for name in ROLLUP_SUMS), "'' AS unit", "0 AS present"))
    client.command(
        f"INSERT INTO {database}.{table.name} ({group}, {', '.join(ROLLUP_SUMS)}, unit, evaluated_ns,"  # noqa: S608
        f" is_deleted) SELECT {group}, {SUMS}, max(unit), {{version:UInt64}}, max(present) = 0 FROM"
        f" (SELECT {group}, {', '.join(ROLLUP_SUMS)}, unit, 1 AS present FROM ({fresh}) UNION ALL"
        f" SELECT {group}, {before} FROM {database}.{table.name} FINAL"
        f" WHERE {at} IN ({_format_times(times)}))"
        f" GROUP BY {group}",
        parameters={**bound, "version": version_ns},
    )


MARK = (
    f"INSERT INTO {{database}}.{ROLLUP_MARKS.name} (hour, mark, marked, evaluated_ns, is_deleted)"  # noqa: S608
    " SELECT toDateTime(marks.1, 'UTC'), marks.2, now(), {written:UInt64}, {removed:UInt8} FROM"
    " (SELECT arrayJoin(arrayZip({hours:Array(UInt32)}, {marks:Array(String)})) AS marks)"
)
"""How marks are written; `{database}` is replaced by its name."""


def _write_marks(
    client: Client, database: str, marks: Sequence[tuple[int, str]], written_ns: int, *, removed: bool = False
) -> None:
    for first in range(0, len(marks), _MARKS):
        some = marks[first : first + _MARKS]
        client.command(
            MARK.replace("{database}", database),
            parameters={
                "hours": [hour_s for hour_s, _ in some],
                "marks": [mark for _, mark in some],
                "written": written_ns,
                "removed": int(removed),
            },
        )


def _read_dirty_hours(client: Client, database: str, first: int, last: int) -> list[int]:
    rows = client.query(
        f"SELECT DISTINCT toUnixTimestamp(hour) AS at FROM {database}.{ROLLUP_MARKS.name} FINAL"  # noqa: S608
        f" WHERE {_build_range_condition('hour', first * HOUR_S, last * HOUR_S)} ORDER BY at"
    ).result_rows
    return [int(row[0]) // HOUR_S for row in rows]


def _list_whole_days(first_hour: int, last_hour: int) -> tuple[int, int]:
    """Return the first whole day of these hours and the one after the last; none is (0, 0)."""
    first, last = -(-first_hour // _DAY_HOURS), last_hour // _DAY_HOURS
    return (first, last) if first < last else (0, 0)


def _list_merged_pieces(pieces: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return pieces of time in order, those that touch as one, without empty ones."""
    merged: list[tuple[int, int]] = []
    for first, last in sorted(pieces):
        if merged and first <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(last, merged[-1][1]))
        elif first < last:
            merged.append((first, last))
    return merged


def _build_piece_condition(pieces: Sequence[tuple[int, int]]) -> tuple[str, dict[str, Any]]:
    terms = ["0"]
    bound: dict[str, Any] = {}
    for number, (first, last) in enumerate(pieces):
        terms.append(
            f"span_time >= fromUnixTimestamp64Nano({{from_{number}:Int64}}, 'UTC')"
            f" AND span_time < fromUnixTimestamp64Nano({{to_{number}:Int64}}, 'UTC')"
        )
        bound |= {f"from_{number}": first, f"to_{number}": last}
    return " OR ".join(terms), bound


def _build_range_condition(column: str, first_s: int, last_s: int) -> str:
    return f"{column} >= toDateTime({first_s}, 'UTC') AND {column} < toDateTime({last_s}, 'UTC')"


def _format_times(seconds: Sequence[int]) -> str:
    """Return the elements of a set of times; there is one more that no row has, as a set is never empty."""
    return ", ".join(f"toDateTime({second}, 'UTC')" for second in (*seconds, 2**32 - 1))


def _get_end_ns(chosen: Filter) -> int:
    return min(max(0, 2**63 - 1 if chosen.end_ns is None else chosen.end_ns), 2**63 - 1)
