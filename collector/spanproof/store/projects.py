"""Which rows of each table are of one project, as conditions that the database itself adds to every query."""

from __future__ import annotations

from collections.abc import Iterator

from spanproof.store.layout import Layout
from spanproof.store.schema import LEASES, MIGRATED, ROLLUP_MARKS, TABLES, TRACES, Table

# Tables without anything from a trace, which queries need.
_OF_ALL = (ROLLUP_MARKS, LEASES, MIGRATED)


def build_project_settings(layout: Layout, project: str) -> dict[str, str]:
    """Return the settings with which a query reads rows of this project alone, whatever it selects.

    A table that does not name whose a row is, such as that of alerts, then has none.
    """
    conditions = {
        f"{layout.database}.{name}": condition
        for table in TABLES
        if (condition := _build_condition(table, layout.database, _quote(project)))
        for name in dict.fromkeys((table.name, layout.kept_in(table.name)))
    }
    pairs = (f"{_quote(table)}: {_quote(condition)}" for table, condition in conditions.items())
    return {"additional_table_filters": f"{{{', '.join(pairs)}}}"}


def _build_condition(table: Table, database: str, project: str) -> str:
    return "" if table in _OF_ALL else next(_build_conditions(table, database, project))


def _build_conditions(table: Table, database: str, project: str) -> Iterator[str]:
    for column in ("project", "SpanproofProject"):
        if column in table.names:
            yield f"{column} = {project}"
    for column in ("trace_id", "TraceId"):
        if column in table.names:
            yield f"{column} IN (SELECT trace_id FROM {database}.{TRACES.name} WHERE project = {project})"  # noqa: S608
    yield "0"


def _quote(text: str) -> str:
    """Return a literal of ClickHouse."""
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"
