"""The SQL the store reads with.

Every value a caller gives goes in as a bound parameter; names of columns come from the schema alone. Rows are
read with FINAL: what a merge has not yet replaced is replaced here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from clickhouse_connect.driver.client import Client

from spanproof.store.errors import StoreError
from spanproof.store.rows import score_of
from spanproof.store.schema import DIMENSIONS, SCORES
from spanproof.store.values import FailRate, FailsWhen, Group, RunRow, TraceRow
from spanproof.trace import Layer, Outcome, Score

_NEWEST = 5
"""Endings of one code in one class by one executor that are looked at."""

_COUNTS = (
    "countIf(label = 'pass'), countIf(label = 'fail'), countIf(outcome = 'errored'),"
    " countIf(outcome = 'skipped'), countIf(outcome = 'scored' AND label NOT IN ('pass', 'fail'))"
)
"""The fields of `FailRate`, in their order, by the verdicts themselves."""

_SCORE_COLUMNS = ", ".join(name for name in SCORES.names if name not in ("span_time", "is_deleted"))


@dataclass(frozen=True, slots=True)
class Filter:
    """Which scores; see `Store.scores`."""

    layer: Layer | None = None
    name: str | None = None
    cohort: Mapping[str, str] = field(default_factory=dict)
    trace_id: str | None = None
    start_ns: int | None = None
    end_ns: int | None = None
    every_version: bool = False

    def where(self) -> tuple[str, dict[str, Any]]:
        """The condition and its parameters.

        Raises:
            StoreError: an unknown dimension.
        """
        terms: list[str] = [] if self.every_version else ["current = 1"]
        bound: dict[str, Any] = {}
        for column, value in self._equalities():
            terms.append(f"{column} = {{{column}:String}}")
            bound[column] = value
        for parameter, comparison, time_ns in (("from_ns", ">=", self.start_ns), ("to_ns", "<", self.end_ns)):
            if time_ns is not None:
                terms.append(f"span_time {comparison} fromUnixTimestamp64Nano({{{parameter}:Int64}}, 'UTC')")
                bound[parameter] = min(max(0, time_ns), 2**63 - 1)
        return " AND ".join(terms) or "1", bound

    def _equalities(self) -> Iterator[tuple[str, str]]:
        for dimension, value in self.cohort.items():
            if dimension not in DIMENSIONS:
                raise StoreError(
                    f"cohort: unknown dimension {dimension!r}; the dimensions are {', '.join(DIMENSIONS)}"
                )
            yield dimension, value
        if self.layer is not None:
            yield "layer", self.layer.value
        if self.name is not None:
            yield "name", self.name
        if self.trace_id is not None:
            yield "trace_id", self.trace_id


def score_rows(client: Client, database: str, chosen: Filter) -> Iterator[Mapping[str, Any]]:
    """Rows of scores, oldest first, block by block."""
    condition, bound = chosen.where()
    with client.query_row_block_stream(
        f"SELECT {_SCORE_COLUMNS} FROM {database}.scores FINAL WHERE {condition}"  # noqa: S608
        " ORDER BY scores.span_time, trace_id, span_id, snippet_id, layer, name",
        parameters=bound,
    ) as blocks:
        names = blocks.source.column_names
        for block in blocks:
            for row in block:
                yield dict(zip(names, row, strict=True))


def counts(client: Client, database: str, chosen: Filter, fails_when: FailsWhen | None = None) -> FailRate:
    """Verdicts counted, without the scores behind them."""
    condition, bound = chosen.where()
    passes, fails, threshold = verdict_conditions(fails_when)
    row = client.query(
        f"SELECT countIf({passes}), countIf({fails}), countIf(outcome = 'errored'),"  # noqa: S608
        f" countIf(outcome = 'skipped'), countIf(outcome = 'scored' AND NOT ({passes}) AND NOT ({fails}))"
        f" FROM {database}.scores FINAL WHERE {condition}",
        parameters={**bound, **threshold},
    ).result_rows[0]
    return counted(row)


def failing_rows(
    client: Client, database: str, chosen: Filter, limit: int, fails_when: FailsWhen | None = None
) -> list[Mapping[str, Any]]:
    """Rows of the failed scores, newest first."""
    condition, bound = chosen.where()
    _, fails, threshold = verdict_conditions(fails_when)
    return _rows(
        client,
        f"SELECT {_SCORE_COLUMNS} FROM {database}.scores FINAL WHERE {condition} AND {fails}"  # noqa: S608
        " ORDER BY scores.span_time DESC, id LIMIT {limit:UInt32}",
        {**bound, **threshold, "limit": limit},
    )


def score_columns() -> tuple[str, ...]:
    """Return the columns that `score_of` reads, in their order."""
    return tuple(_SCORE_COLUMNS.split(", "))


def verdict_conditions(fails_when: FailsWhen | None) -> tuple[str, str, dict[str, Any]]:
    """The conditions for a pass and for a fail, neither of them ever NULL, and their parameters."""
    if fails_when is None:
        return "label = 'pass'", "label = 'fail'", {}
    column = "raw" if fails_when.raw else "value"
    compared = f"ifNull({column} {fails_when.comparison.value} {{fails_at:Float64}}, 0)"
    passes = f"outcome = 'scored' AND {column} IS NOT NULL AND NOT {compared}"
    return passes, f"outcome = 'scored' AND {compared}", {"fails_at": fails_when.threshold}


def verdict_timeline(
    client: Client, database: str, chosen: Filter, bucket_ns: int
) -> list[tuple[Layer, int, FailRate]]:
    """Verdicts of the layers' own values, counted by layer and stretch of time, in order of time."""
    condition, bound = chosen.where()
    rows = client.query(
        "SELECT layer, intDiv(toUnixTimestamp64Nano(span_time), {bucket:Int64}) * {bucket:Int64} AS bucket,"  # noqa: S608
        f" {_COUNTS} FROM {database}.scores FINAL WHERE {condition} AND name = layer"
        " GROUP BY layer, bucket ORDER BY bucket, layer",
        parameters={**bound, "bucket": bucket_ns},
    ).result_rows
    return [(Layer(row[0]), int(row[1]), counted(row[2:7])) for row in rows]


def verdicts_by(
    client: Client, database: str, chosen: Filter, dimension: str, limit: int
) -> list[tuple[str, Layer, FailRate]]:
    """Verdicts of the layers' own values, by value of a dimension of the cohort; the commonest values."""
    check_dimension(dimension)
    condition, bound = chosen.where()
    layers = f"FROM {database}.scores FINAL WHERE {condition} AND name = layer"
    rows = client.query(
        f"SELECT {dimension}, layer, {_COUNTS} {layers} AND {dimension} IN (SELECT {dimension} {layers}"
        f" GROUP BY {dimension} ORDER BY count() DESC, {dimension} LIMIT {{values:UInt32}})"
        f" GROUP BY {dimension}, layer ORDER BY {dimension}, layer",
        parameters={**bound, "values": limit},
    ).result_rows
    return [(row[0], Layer(row[1]), counted(row[2:7])) for row in rows]


def groups(
    client: Client, database: str, chosen: Filter, by: Sequence[str], bucket_ns: int | None, limit: int
) -> list[Group]:
    """One score by dimensions and stretches of time; in order of time, then what fails most."""
    for dimension in by:
        check_dimension(dimension)
    condition, bound = chosen.where()
    times = "toInt64(0)"
    if bucket_ns is not None:
        times = "intDiv(toUnixTimestamp64Nano(span_time), {bucket:Int64}) * {bucket:Int64}"
        bound["bucket"] = bucket_ns
    keys = "".join(f"{dimension}, " for dimension in by)
    rows = client.query(
        f"SELECT {_COUNTS}, avgOrNull(value), avgOrNull(raw), quantileExactOrNull(0.5)(raw),"  # noqa: S608
        f" quantileExactOrNull(0.95)(raw), max(unit), {times} AS start, {keys}"
        " countIf(label = 'fail') AS fails"
        f" FROM {database}.scores FINAL WHERE {condition}"
        f" GROUP BY {keys} start ORDER BY start, fails DESC, {keys} count() DESC LIMIT {{rows:UInt32}}",
        parameters={**bound, "rows": limit},
    ).result_rows
    whole = chosen.start_ns or 0
    return [
        Group(
            values=tuple(str(value) for value in row[11 : 11 + len(by)]),
            start_ns=int(row[10]) if bucket_ns is not None else whole,
            verdicts=counted(row[:5]),
            mean=row[5],
            raw_mean=row[6],
            raw_p50=row[7],
            raw_p95=row[8],
            unit=str(row[9]),
        )
        for row in rows
    ]


def check_dimension(dimension: str) -> None:
    """Raise StoreError where there is no such dimension."""
    if dimension not in DIMENSIONS:
        known = ", ".join(DIMENSIONS)
        raise StoreError(f"cohort: unknown dimension {dimension!r}; the dimensions are {known}")


def reasons_not_judged(
    client: Client, database: str, chosen: Filter, limit: int
) -> list[tuple[str, str, int]]:
    """Why layers gave no verdict: outcome, reason, and how often; the commonest first."""
    condition, bound = chosen.where()
    rows = client.query(
        "SELECT outcome, if(outcome = 'errored', error_type, explanation) AS reason, count() AS times"  # noqa: S608
        f" FROM {database}.scores FINAL WHERE {condition} AND name = layer"
        " AND outcome IN ('skipped', 'errored')"
        " GROUP BY outcome, reason ORDER BY times DESC, reason LIMIT {limit:UInt32}",
        parameters={**bound, "limit": limit},
    ).result_rows
    return [(str(row[0]), str(row[1]), int(row[2])) for row in rows]


def counted(row: Sequence[Any]) -> FailRate:
    """Return the counts of a row, in the order of the fields of `FailRate`."""
    passed, failed, errored, skipped, undecided = (int(count) for count in row)
    return FailRate(passed, failed, errored, skipped, undecided)


def documents(client: Client, database: str, trace_ids: Sequence[str]) -> dict[str, tuple[str, int]]:
    """The newest document of each of these traces, with its format, by trace id."""
    rows = client.query(
        f"SELECT trace_id, document, document_format FROM {database}.traces FINAL"  # noqa: S608
        " WHERE trace_id IN {ids:Array(String)} ORDER BY evaluated_ns DESC LIMIT 1 BY trace_id",
        parameters={"ids": list(trace_ids)},
    ).result_rows
    return {row[0]: (row[1], int(row[2])) for row in rows}


def traces_of_changed_code(
    client: Client, database: str, *, project: str | None, since_ns: int | None, limit: int
) -> list[str]:
    """Traces that hold code of which not all recorded outcomes are of one class; the newest code first.

    Of each code, class and executor the newest few.
    """
    where, bound = ["1"], {}
    if project is not None:
        where.append("project = {project:String}")
        bound["project"] = project
    if since_ns is not None:
        where.append("span_time >= fromUnixTimestamp64Nano({since:Int64}, 'UTC')")
        bound["since"] = str(min(max(0, since_ns), 2**63 - 1))
    chosen = " AND ".join(where)
    rows = client.query(
        "WITH endings AS (SELECT trace_id, executor, span_time, class, code"  # noqa: S608
        " FROM (SELECT trace_id, span_id, snippet_id, executor, span_time,"
        f" JSONExtractString(evidence, 1, 'recorded') AS class FROM {database}.scores FINAL"
        f" WHERE {chosen} AND layer = 'execution' AND name = 'outcome' AND current = 1) AS outcomes"
        " INNER JOIN (SELECT trace_id, span_id, snippet_id, SHA256(trimBoth(source)) AS code"
        f" FROM {database}.snippets FINAL WHERE {chosen} AND executed = 1) AS sources"
        " USING (trace_id, span_id, snippet_id) WHERE class != '')"
        " SELECT trace_id FROM endings WHERE code IN (SELECT code FROM endings GROUP BY code"
        " HAVING uniqExact(class) > 1 ORDER BY max(span_time) DESC LIMIT {limit:UInt32})"
        f" ORDER BY span_time DESC LIMIT {_NEWEST} BY code, class, executor",
        parameters={**bound, "limit": limit},
    ).result_rows
    return list(dict.fromkeys(row[0] for row in rows))


def trace_ids(
    client: Client, database: str, prefix: str, limit: int, *, project: str | None, since_ns: int | None
) -> list[str]:
    """Ids that start with a prefix, newest first; see `Store.trace_ids`."""
    condition, bound = _which_traces(database, project, since_ns, None)
    rows = client.query(
        f"SELECT trace_id FROM {database}.traces FINAL WHERE {condition}"  # noqa: S608
        " AND startsWith(trace_id, {prefix:String}) ORDER BY start DESC, trace_id LIMIT {limit:UInt32}",
        parameters={**bound, "prefix": prefix, "limit": limit},
    ).result_rows
    return [row[0] for row in rows]


def traces(
    client: Client,
    database: str,
    *,
    project: str | None,
    since_ns: int | None,
    failing: Layer | bool | None,
    limit: int,
    cohort: Mapping[str, str] = MappingProxyType({}),
    before: tuple[int, str] | None = None,
) -> list[TraceRow]:
    """Traces with the verdicts of their runs; see `Store.traces`."""
    condition, bound = _which_traces(database, project, since_ns, failing)
    if cohort:
        of_cohort, values = Filter(cohort=cohort).where()
        condition += f" AND trace_id IN (SELECT trace_id FROM {database}.scores FINAL WHERE {of_cohort})"  # noqa: S608
        bound |= values
    if before is not None:
        # In the order of the rows: newer first, then by id.
        condition += (
            " AND (start_ns < {before_ns:UInt64}"
            " OR start_ns = {before_ns:UInt64} AND trace_id > {before_id:String})"
        )
        bound |= {"before_ns": before[0], "before_id": before[1]}
    rows = _rows(
        client,
        "SELECT project, trace_id, start_ns, end_ns, spans, defects"  # noqa: S608
        f" FROM {database}.traces FINAL WHERE {condition}"
        " ORDER BY start DESC, trace_id LIMIT {limit:UInt32}",
        {**bound, "limit": limit},
    )
    runs = _runs(client, database, [row["trace_id"] for row in rows])
    return [
        TraceRow(**{**row, "defects": tuple(row["defects"])}, runs=tuple(runs.get(row["trace_id"], ())))
        for row in rows
    ]


def _which_traces(
    database: str, project: str | None, since_ns: int | None, failing: Layer | bool | None
) -> tuple[str, dict[str, Any]]:
    terms: list[str] = ["1"]
    failed: list[str] = ["label = 'fail'", "current = 1", "name = layer"]
    bound: dict[str, Any] = {}
    if project is not None:
        terms.append("project = {project:String}")
        bound["project"] = project
    if since_ns is not None:
        terms.append("start >= fromUnixTimestamp64Nano({since:Int64}, 'UTC')")
        # No span of a trace starts before the trace.
        failed.append("span_time >= fromUnixTimestamp64Nano({since:Int64}, 'UTC')")
        bound["since"] = min(max(0, since_ns), 2**63 - 1)
    if isinstance(failing, Layer):
        failed.append("layer = {layer:String}")
        bound["layer"] = failing.value
    if failing is not None:
        terms.append(
            f"trace_id {'NOT IN' if failing is False else 'IN'} (SELECT trace_id"  # noqa: S608
            f" FROM {database}.scores FINAL WHERE {' AND '.join(failed)})"
        )
    return " AND ".join(terms), bound


def _runs(client: Client, database: str, ids: Sequence[str]) -> dict[str, list[RunRow]]:
    """Runs by trace, with the own value of each layer."""
    rows = _rows(
        client,
        f"SELECT {_SCORE_COLUMNS} FROM {database}.scores FINAL"  # noqa: S608
        " WHERE trace_id IN {ids:Array(String)} AND name = layer AND current = 1"
        " ORDER BY scores.span_time, run_span_id, layer",
        {"ids": list(ids)},
    )
    by_run: dict[tuple[str, str], list[Score]] = {}
    for row in rows:
        score = score_of(row)
        by_run.setdefault((score.trace_id, score.run_span_id), []).append(score)
    by_trace: dict[str, list[RunRow]] = {}
    for (trace_id, run_span_id), scores in by_run.items():
        layers: dict[Layer, Outcome] = {score.layer: score.outcome for score in scores}
        cohort = scores[0].cohort
        by_trace.setdefault(trace_id, []).append(RunRow(run_span_id, cohort.agent, cohort.model, layers))
    return by_trace


def _rows(client: Client, sql: str, bound: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return list(client.query(sql, parameters=dict(bound)).named_results())
