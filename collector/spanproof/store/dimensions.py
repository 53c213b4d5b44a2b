"""What rows are grouped and chosen by: the columns of a cohort, and what spans carry beside them.

`session`, `user` and `attribute:KEY` are dimensions of no column: their value is read from the spans in
`otel_traces`. It is that of the judged span, else of its run, else of the root of its trace; of each, an
attribute of the span is taken before one of its resource.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b
from typing import Any, Final

from spanproof.store.errors import StoreError
from spanproof.store.schema import OTEL_TRACES
from spanproof.trace.dimensions import ATTRIBUTE, Subject, get_dimension, is_carried

OTHERS: Final = "(others)"
"""The value of rows whose own value is not among the commonest of a dimension that spans carry."""


SUBJECT_KEYS: Final = {
    Subject.SESSION: (
        "session.id",
        "gen_ai.conversation.id",
        "langfuse.session.id",
        "langsmith.trace.session_id",
        "traceloop.association.properties.session_id",
    ),
    Subject.USER: (
        "user.id",
        "enduser.id",
        "langfuse.user.id",
        "traceloop.association.properties.user_id",
    ),
}
"""Attributes of a span or its resource that name a session or a user, in the conventions that have one."""


def get_column(name: str) -> str:
    """Return the column of a dimension: its own, or the one that `with_carried` adds.

    Raises:
        StoreError: there is no such dimension.
    """
    try:
        get_dimension(name)
    except ValueError as problem:
        raise StoreError(f"cohort: {problem}") from problem
    if not is_carried(name):
        return name
    # Keys are free text, which no name of a column is.
    return f"carried_{blake2b(name.encode('utf-8', 'replace'), digest_size=6).hexdigest()}"


def with_carried(
    database: str, rows: str, alias: str, names: Iterable[str], condition: str
) -> tuple[str, dict[str, Any]]:
    """Return rows with columns for the dimensions that spans carry, and parameters.

    Args:
        database: of the spans.
        rows: what follows FROM; a row names a trace, a run and a span.
        alias: of these rows.
        names: dimensions; where spans carry none of them, the rows are read as they are.
        condition: which rows are wanted: spans of no others are read.
    """
    carried = sorted({name for name in names if is_carried(name)})
    if not carried:
        return rows, {}
    bound: dict[str, Any] = {}
    columns, values, wanted = [], [], []
    for name in carried:
        column = get_column(name)
        bound[f"{column}_keys"] = _list_keys(name)
        keys = f"{{{column}_keys:Array(String)}}"
        values.append(f"{_build_first_value('SpanAttributes', keys, 'ResourceAttributes')} AS {column}_value")
        wanted.append(f"{column}_value != ''")
        places = ", ".join(f"nullIf({column_place}, {_NONE})" for column_place in _list_value_places(column))
        columns.append(f"coalesce({places}, '') AS {column}")
    grouped = ", ".join(
        f"mapFromArrays(groupArray(SpanId), groupArray({column}_value)) AS {column}_by_span,"
        f" argMinIf({column}_value, (Timestamp, SpanId), ParentSpanId = '') AS {column}_root"
        for column in map(get_column, carried)
    )
    spans = (
        f"SELECT SpanproofProject AS carried_project, TraceId AS carried_trace, {grouped}"  # noqa: S608
        " FROM (SELECT SpanproofProject, TraceId, SpanId, ParentSpanId, Timestamp,"
        f" {', '.join(values)} FROM {database}.{OTEL_TRACES.name} FINAL"
        f" WHERE TraceId IN (SELECT trace_id FROM {rows} WHERE {condition}) AND ({' OR '.join(wanted)}))"
        " GROUP BY SpanproofProject, TraceId"
    )
    wider = (
        f"(SELECT {alias}.*, {', '.join(columns)} FROM (SELECT * FROM {rows} WHERE {condition}) AS {alias}"  # noqa: S608
        f" LEFT JOIN ({spans}) AS carried ON {alias}.project = carried.carried_project"
        f" AND {alias}.trace_id = carried.carried_trace) AS {alias}"
    )
    return wider, bound


_NONE = "''"


def _list_value_places(column: str) -> tuple[str, str, str]:
    """Return where a value is looked for, the nearest first."""
    return f"{column}_by_span[span_id]", f"{column}_by_span[run_span_id]", f"{column}_root"


def _build_first_value(first: str, keys: str, second: str) -> str:
    """Return the first value of these keys in either of two maps."""
    found = ", ".join(f"arrayMap(key -> {attributes}[key], {keys})" for attributes in (first, second))
    return f"arrayFirst(value -> value != '', arrayConcat({found}))"


def _list_keys(name: str) -> list[str]:
    if name.startswith(ATTRIBUTE):
        return [name.removeprefix(ATTRIBUTE)]
    return list(SUBJECT_KEYS[Subject(name)])
