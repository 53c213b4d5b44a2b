"""Which rows of each table are of one project, as conditions that the database itself adds to every query."""

from __future__ import annotations

from spanproof.store.layout import Layout
from spanproof.store.schema import EXTERNAL_SCORES, LEASES, MIGRATED, ROLLUP_MARKS, TABLES, TRACES
from spanproof.store.table import Table

# Tables without anything from a trace, which queries need.
_OF_ALL = (ROLLUP_MARKS, LEASES, MIGRATED)


def build_project_settings(layout: Layout, project: str) -> dict[str, str]:
    """Return the settings with which a query reads rows of this project alone, whatever it selects.

    A table that does not name whose a row is, such as that of alerts, then has none.
    """
    conditions = {
        f"{layout.database}.{name}": condition
        for table in TABLES
        if (condition := _build_condition(table, layout.database, _format_literal(project)))
        for name in dict.fromkeys((table.name, layout.get_local_name(table.name)))
    }
    pairs = (
        f"{_format_literal(table)}: {_format_literal(condition)}" for table, condition in conditions.items()
    )
    return {"additional_table_filters": f"{{{', '.join(pairs)}}}"}


def _build_condition(table: Table, database: str, project: str) -> str:
    if table in _OF_ALL:
        return ""
    if table is EXTERNAL_SCORES:
        # A score of no project is of every trace with its id.
        own = f"SELECT trace_id FROM {database}.{TRACES.name} WHERE project = {project}"  # noqa: S608
        return f"(project = {project} OR project = '' AND trace_id IN ({own}))"
    column = next((name for name in ("project", "SpanproofProject") if name in table.names), None)
    return f"{column} = {project}" if column is not None else "0"


def _format_literal(text: str) -> str:
    """Return a literal of ClickHouse."""
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"
