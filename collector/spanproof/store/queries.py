"""The SQL the store reads with.

Every value a caller gives goes in as a bound parameter; names of columns come from the schema alone. Rows are
read with FINAL: what a merge has not yet replaced is replaced here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from clickhouse_connect.driver.client import Client

from spanproof.evaluators.run_state import (
    EXTERNAL_PREFIX,
    PERSON_VERDICT,
    is_person_verdict,
    select_layer_outcomes,
)
from spanproof.store.cells import to_storable_time
from spanproof.store.dimensions import OTHERS, get_column
from spanproof.store.external import fetch_external_scores
from spanproof.store.filters import IS_OPEN, Filter, build_verdict_conditions
from spanproof.store.keys import build_key_condition
from spanproof.store.rollups import SUMS, VERDICT_SUMS, build_verdict_source
from spanproof.store.rows import list_failing_layers, parse_score
from spanproof.store.schema import OTEL_TRACES, ROLLUP_SUMS, SCORES, VERDICT_COUNTS
from spanproof.store.values import CauseCount, FailRate, FailsWhen, Group, RunRow
from spanproof.trace import Cause, Layer, Score, State, fold_states
from spanproof.trace.dimensions import is_carried
from spanproof.trace.project import TraceKey, get_score_key

MOST_VALUES = 100
"""Values of a dimension that spans carry; the scores of all others are one group."""

# Endings of one code in one class by one executor that are looked at.
_NEWEST = 5

# Start of the stretch of time that a row is in.
_BUCKET = "intDiv(at, {bucket:Int64}) * {bucket:Int64}"

_SCORE_COLUMNS = ", ".join(name for name in SCORES.names if name not in ("span_time", "is_deleted"))


def iter_score_rows(client: Client, database: str, chosen: Filter) -> Iterator[Mapping[str, Any]]:
    """Yield rows of scores, oldest first, block by block."""
    condition, bound = chosen.build_condition()
    source, keys = chosen.build_source(database)
    with client.query_row_block_stream(
        f"SELECT {_SCORE_COLUMNS} FROM {source} WHERE {condition}"  # noqa: S608
        " ORDER BY scores.span_time, trace_id, span_id, snippet_id, layer, name",
        parameters={**bound, **keys},
    ) as blocks:
        names = blocks.source.column_names
        for block in blocks:
            for row in block:
                yield dict(zip(names, row, strict=True))


def compute_fail_rate(
    client: Client, database: str, chosen: Filter, fails_when: FailsWhen | None = None
) -> FailRate:
    """Return the verdicts counted, without the scores behind them."""
    source, bound = build_verdict_source(client, database, chosen, fails_when)
    return parse_counts(client.query(f"SELECT {VERDICT_SUMS} FROM {source}", parameters=bound).result_rows[0])  # noqa: S608


def fetch_failing_rows(
    client: Client, database: str, chosen: Filter, limit: int, fails_when: FailsWhen | None = None
) -> list[Mapping[str, Any]]:
    """Return rows of the failed scores, newest first."""
    condition, bound = chosen.build_condition()
    source, keys = chosen.build_source(database)
    _, fails, threshold = build_verdict_conditions(fails_when)
    return _fetch_rows(
        client,
        f"SELECT {_SCORE_COLUMNS} FROM {source} WHERE {condition} AND {fails}"  # noqa: S608
        " ORDER BY scores.span_time DESC, id LIMIT {limit:UInt32}",
        {**bound, **keys, **threshold, "limit": limit},
    )


def list_score_columns() -> tuple[str, ...]:
    """Return the columns that `parse_score` reads, in their order."""
    return tuple(_SCORE_COLUMNS.split(", "))


def fetch_verdict_timeline(
    client: Client, database: str, chosen: Filter, bucket_ns: int
) -> list[tuple[Layer, int, FailRate]]:
    """Return verdicts of the layers' own values, by layer and stretch of time, in order of time."""
    source, bound = build_verdict_source(client, database, chosen, bucket_ns=bucket_ns)
    rows = client.query(
        f"SELECT layer, {_BUCKET} AS bucket, {VERDICT_SUMS} FROM {source} WHERE name = layer"  # noqa: S608
        " GROUP BY layer, bucket ORDER BY bucket, layer",
        parameters={**bound, "bucket": bucket_ns},
    ).result_rows
    return [(Layer(row[0]), int(row[1]), parse_counts(row[2:])) for row in rows]


def count_verdicts_by(
    client: Client, database: str, chosen: Filter, dimension: str, limit: int
) -> list[tuple[str, Layer, FailRate]]:
    """Return verdicts of the layers' own values, by value of a dimension; the commonest values."""
    column = get_column(dimension)
    source, bound = build_verdict_source(client, database, chosen, by=(dimension,))
    rows = client.query(
        f"SELECT {column}, layer, {VERDICT_SUMS} FROM {source} WHERE name = layer"  # noqa: S608
        f" GROUP BY {column}, layer ORDER BY {column}, layer",
        parameters=bound,
    ).result_rows
    scores: Counter[str] = Counter()
    for row in rows:
        scores[row[0]] += parse_counts(row[2:]).scores
    commonest = sorted(scores, key=lambda value: (-scores[value], value))[:limit]
    return [(row[0], Layer(row[1]), parse_counts(row[2:])) for row in rows if row[0] in set(commonest)]


def fetch_groups(
    client: Client, database: str, chosen: Filter, by: Sequence[str], bucket_ns: int | None, limit: int
) -> list[Group]:
    """Return one score by dimensions and stretches of time; in order of time, then what fails most."""
    source, bound = build_verdict_source(client, database, chosen, bucket_ns=bucket_ns or 0, by=by)
    keys, commonest = _build_grouping_keys(client, source, bound, by)
    named = "".join(f"{key} AS key_{at}, " for at, key in enumerate(keys))
    grouped = "".join(f"key_{at}, " for at in range(len(keys)))
    start = "toInt64(0)" if bucket_ns is None else _BUCKET
    rows = client.query(
        f"SELECT {SUMS}, max(unit), {start} AS start, {named} sum(failed) AS fails FROM {source}"  # noqa: S608
        f" GROUP BY {grouped} start ORDER BY start, fails DESC, {grouped} start LIMIT {{rows:UInt32}}",
        parameters={**bound, **commonest, "bucket": bucket_ns or 0, "rows": limit},
    ).result_rows
    made = [_build_group(row, by, chosen, bucket_ns) for row in rows]
    # Only the scores themselves have percentiles; most scores are verdicts and have no amounts.
    if any(group.raw_mean is not None for group in made):
        return _add_percentiles(client, database, chosen, by, bucket_ns, made, keys, commonest)
    return made


def _build_grouping_keys(
    client: Client, source: str, bound: Mapping[str, Any], by: Sequence[str]
) -> tuple[list[str], dict[str, Any]]:
    """Return the expression of each dimension, and the parameters in them.

    Attributes have any number of values, so that of those that spans carry the commonest are kept.
    """
    keys: list[str] = []
    commonest: dict[str, Any] = {}
    for name in by:
        column = get_column(name)
        if not is_carried(name):
            keys.append(column)
            continue
        rows = client.query(
            f"SELECT {column} FROM {source} GROUP BY {column} ORDER BY count() DESC, {column}"  # noqa: S608
            " LIMIT {values:UInt32}",
            parameters={**bound, "values": MOST_VALUES},
        ).result_rows
        commonest[f"{column}_common"] = [str(row[0]) for row in rows]
        keys.append(f"if({column} IN {{{column}_common:Array(String)}}, {column}, '{OTHERS}')")
    return keys, commonest


def _build_group(row: Sequence[Any], by: Sequence[str], chosen: Filter, bucket_ns: int | None) -> Group:
    sums = dict(zip(ROLLUP_SUMS, row, strict=False))
    unit, start_ns, *values = row[len(ROLLUP_SUMS) :]
    return Group(
        values=tuple(str(value) for value in values[: len(by)]),
        start_ns=int(start_ns) if bucket_ns is not None else chosen.start_ns or 0,
        verdicts=parse_counts(row),
        mean=_compute_ratio(sums["value_sum"], sums["values"]),
        raw_mean=_compute_ratio(sums["raw_sum"], sums["raws"]),
        raw_p50=None,
        raw_p95=None,
        unit=str(unit),
    )


def _compute_ratio(total: float, count: float) -> float | None:
    return total / count if count else None


def _add_percentiles(
    client: Client,
    database: str,
    chosen: Filter,
    by: Sequence[str],
    bucket_ns: int | None,
    made: Sequence[Group],
    keys: Sequence[str],
    commonest: Mapping[str, Any],
) -> list[Group]:
    condition, bound = chosen.build_condition()
    source, carried = chosen.build_source(database, by)
    named = "".join(f"{key} AS key_{at}, " for at, key in enumerate(keys))
    grouped = "".join(f"key_{at}, " for at in range(len(keys)))
    if bucket_ns is None:
        start = "toInt64(0)"
    else:
        start = _BUCKET.replace("at", "toUnixTimestamp64Nano(span_time)")
    rows = client.query(
        f"SELECT {start} AS start, {named} quantileExact(0.5)(raw), quantileExact(0.95)(raw)"  # noqa: S608
        f" FROM {source} WHERE {condition} AND raw IS NOT NULL GROUP BY {grouped} start",
        parameters={**bound, **carried, **commonest, "bucket": bucket_ns or 0},
    ).result_rows
    found = {
        (int(row[0]) if bucket_ns is not None else chosen.start_ns or 0, *map(str, row[1:-2])): row[-2:]
        for row in rows
    }
    missing = (None, None)
    return [
        replace(group, raw_p50=p50, raw_p95=p95)
        for group in made
        for p50, p95 in [found.get((group.start_ns, *group.values), missing)]
    ]


CAUSE_KEYS: Final = "layer, outcome, cause, error_type"
"""What outcomes without a verdict are grouped by."""

# An error of an evaluator says more than its class, and rows of an earlier version have no cause.
_DETAIL: Final = "if(cause != '' AND cause_detail != '', cause_detail, explanation)"
_AT: Final = "(scores.span_time, id)"
CAUSE_COLUMNS: Final = (
    f"{CAUSE_KEYS}, count() AS times, argMax({_DETAIL}, {_AT}) AS detail, argMax(trace_id, {_AT}) AS newest"
)
"""What `parse_cause_count` reads."""


def count_causes(client: Client, database: str, chosen: Filter, limit: int) -> list[CauseCount]:
    """Return why layers gave no verdict, the commonest first; see `Store.causes`."""
    condition, bound = chosen.build_condition()
    source, keys = chosen.build_source(database)
    rows = client.query(
        f"SELECT {CAUSE_COLUMNS} FROM {source} WHERE {condition} AND name = layer"  # noqa: S608
        f" AND (outcome IN ('skipped', 'errored') OR {IS_OPEN})"
        f" GROUP BY {CAUSE_KEYS} ORDER BY times DESC, {CAUSE_KEYS} LIMIT {{limit:UInt32}}",
        parameters={**bound, **keys, "limit": limit},
    ).result_rows
    return [parse_cause_count(row) for row in rows]


_STATES: Final = {"scored": State.OPEN, "skipped": State.SKIPPED, "errored": State.ERRORED}


def parse_cause_count(row: Sequence[Any]) -> CauseCount:
    """Return the cause of a row of `CAUSE_COLUMNS`."""
    layer, outcome, cause, error_type, times, detail, trace_id = row
    return CauseCount(
        layer=Layer(layer),
        state=_STATES[str(outcome)],
        cause=Cause(cause) if cause else None,
        error_type=str(error_type),
        count=int(times),
        detail=str(detail),
        trace_id=str(trace_id),
    )


def parse_counts(row: Sequence[Any]) -> FailRate:
    """Return the counts that a row begins with, in the order of the fields of `FailRate`."""
    passed, failed, errored, skipped, left_open, advice = map(int, row[: len(VERDICT_COUNTS)])
    return FailRate(passed, failed, errored, skipped, left_open, advice)


def fetch_documents(
    client: Client, database: str, keys: Sequence[TraceKey]
) -> dict[TraceKey, tuple[str, int]]:
    """Return the newest document of each of these traces, with its format."""
    condition, bound = build_key_condition(keys)
    rows = client.query(
        f"SELECT project, trace_id, document, document_format FROM {database}.traces FINAL"  # noqa: S608
        f" WHERE {condition} ORDER BY evaluated_ns DESC LIMIT 1 BY project, trace_id",
        parameters=bound,
    ).result_rows
    return {TraceKey(row[0], row[1]): (row[2], int(row[3])) for row in rows}


def fetch_keys(
    client: Client, database: str, trace_ids: Sequence[str], project: str | None = None
) -> list[TraceKey]:
    """Return the stored traces with these ids, in their order, of one project or of all."""
    of_project = "" if project is None else " AND project = {project:String}"
    rows = client.query(
        f"SELECT DISTINCT project, trace_id FROM {database}.traces FINAL"  # noqa: S608
        f" WHERE trace_id IN {{ids:Array(String)}}{of_project} ORDER BY project",
        parameters={"ids": list(trace_ids), "project": project or ""},
    ).result_rows
    by_id: dict[str, list[TraceKey]] = {}
    for row in rows:
        by_id.setdefault(row[1], []).append(TraceKey(row[0], row[1]))
    return [key for trace_id in dict.fromkeys(trace_ids) for key in by_id.get(trace_id, ())]


def fetch_parents(
    client: Client, database: str, keys: Sequence[TraceKey]
) -> dict[TraceKey, dict[str, str | None]]:
    """Return the parent that each span of these traces came with, None of a root, by trace and span id."""
    condition, bound = build_key_condition(keys, ("SpanproofProject", "TraceId"))
    rows = client.query(
        "SELECT SpanproofProject, TraceId, SpanId, ParentSpanId"  # noqa: S608
        f" FROM {database}.{OTEL_TRACES.name} FINAL WHERE {condition}",
        parameters=bound,
    ).result_rows
    parents: dict[TraceKey, dict[str, str | None]] = {}
    for project, trace_id, span_id, parent_id in rows:
        parents.setdefault(TraceKey(project, trace_id), {})[span_id] = parent_id or None
    return parents


def list_traces_of_changed_code(
    client: Client, database: str, *, project: str | None, since_ns: int | None, limit: int
) -> list[str]:
    """Return traces with code of which not all recorded outcomes are of one class; the newest first.

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
        "WITH endings AS (SELECT project, trace_id, executor, span_time, class, code"  # noqa: S608
        " FROM (SELECT project, trace_id, span_id, snippet_id, executor, span_time,"
        f" JSONExtractString(evidence, 1, 'recorded') AS class FROM {database}.scores FINAL"
        f" WHERE {chosen} AND layer = 'execution' AND name = 'outcome' AND current = 1) AS outcomes"
        " INNER JOIN (SELECT project, trace_id, span_id, snippet_id, SHA256(trimBoth(source)) AS code"
        f" FROM {database}.snippets FINAL WHERE {chosen} AND executed = 1) AS sources"
        " USING (project, trace_id, span_id, snippet_id) WHERE class != '')"
        " SELECT trace_id FROM endings WHERE code IN (SELECT code FROM endings GROUP BY code"
        " HAVING uniqExact(class) > 1 ORDER BY max(span_time) DESC LIMIT {limit:UInt32})"
        f" ORDER BY span_time DESC LIMIT {_NEWEST} BY code, class, executor",
        parameters={**bound, "limit": limit},
    ).result_rows
    return list(dict.fromkeys(row[0] for row in rows))


def update_states(client: Client, database: str, keys: Sequence[TraceKey], written_ns: int) -> None:
    """Write the state and the failing layers of these traces anew, from the scores that count now.

    The rows get this version, or the one after theirs where that is later.
    """
    by_verdict: dict[tuple[State, tuple[str, ...]], list[TraceKey]] = {}
    runs = fetch_runs(client, database, keys)
    for key in keys:
        of_trace = runs.get(key, ())
        state = fold_states(run.state for run in of_trace)
        failing = tuple(list_failing_layers(run.layers for run in of_trace))
        by_verdict.setdefault((state, failing), []).append(key)
    for (state, failing), of_verdict in by_verdict.items():
        condition, bound = build_key_condition(of_verdict)
        client.command(
            f"INSERT INTO {database}.traces SELECT * REPLACE ("  # noqa: S608
            "{failing:Array(String)} AS failing, {state:String} AS state,"
            " greatest({written:UInt64}, evaluated_ns + 1) AS evaluated_ns)"
            # Within: outside, the columns are what takes their place.
            f" FROM (SELECT * FROM {database}.traces FINAL WHERE {condition})",
            parameters={
                **bound,
                "failing": list(failing),
                "state": state.value,
                "written": written_ns,
            },
        )


def fetch_runs(
    client: Client, database: str, keys: Sequence[TraceKey], within_ns: tuple[int, int] | None = None
) -> dict[TraceKey, list[RunRow]]:
    """Return runs by trace, with the outcome of each layer: that of a person before ours.

    Args:
        client: of the store.
        database: of the store.
        keys: of these traces.
        within_ns: the time that all of them lie in, Unix nanoseconds, where it is known.
    """
    if not keys:
        return {}
    condition, bound = build_key_condition(keys)
    first_ns, last_ns = within_ns or (0, 2**63 - 1)
    rows = _fetch_rows(
        client,
        f"SELECT {_SCORE_COLUMNS} FROM {database}.scores FINAL"  # noqa: S608
        f" WHERE {condition} AND current = 1"
        " AND (name = layer OR name = {person:String} AND startsWith(evaluator, {external:String}))"
        " AND span_time >= fromUnixTimestamp64Nano({first:Int64}, 'UTC')"
        " AND span_time <= fromUnixTimestamp64Nano({last:Int64}, 'UTC')"
        " ORDER BY scores.span_time, run_span_id, layer",
        {
            **bound,
            "person": PERSON_VERDICT,
            "external": EXTERNAL_PREFIX,
            "first": to_storable_time(first_ns),
            "last": to_storable_time(last_ns),
        },
    )
    by_run: dict[tuple[TraceKey, str], list[Score]] = {}
    for score in _list_in_given_order(client, database, map(parse_score, rows)):
        by_run.setdefault((get_score_key(score), score.run_span_id), []).append(score)
    by_trace: dict[TraceKey, list[RunRow]] = {}
    for (key, run_span_id), scores in by_run.items():
        layers = select_layer_outcomes(run_span_id, scores)
        cohort = scores[0].cohort
        by_trace.setdefault(key, []).append(RunRow(run_span_id, cohort.agent, cohort.model, layers))
    return by_trace


def _list_in_given_order(client: Client, database: str, scores: Iterable[Score]) -> list[Score]:
    """Return the scores with people's verdicts at the end, the one that was given last as the last."""
    ours: list[Score] = []
    people: list[Score] = []
    for score in scores:
        (people if is_person_verdict(score) else ours).append(score)
    if not people:
        return ours
    external = fetch_external_scores(client, database, sorted({get_score_key(score) for score in people}))
    order = {
        (key, score.layer, f"{EXTERNAL_PREFIX}{score.source}", score.span_id or "", score.name): score
        for key, of_trace in external.items()
        for score in of_trace
    }

    def get_given_ns(score: Score) -> int:
        # One that names no span is of the first run.
        for span_id in (score.span_id, ""):
            found = order.get((get_score_key(score), score.layer, score.evaluator, span_id, score.name))
            if found is not None:
                return found.given_ns
        return 0

    return ours + sorted(people, key=get_given_ns)


def get_row_key(row: Mapping[str, Any]) -> TraceKey:
    """Return what identifies the trace of a row."""
    return TraceKey(row["project"], row["trace_id"])


def _fetch_rows(client: Client, sql: str, bound: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return list(client.query(sql, parameters=dict(bound)).named_results())
