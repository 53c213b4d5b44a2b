"""A person's own SELECT over the tables of a store."""

from __future__ import annotations

from itertools import islice
from typing import Any

import sqlglot
from clickhouse_connect.driver.client import Client
from sqlglot import exp
from sqlglot.errors import SqlglotError

from spanproof.store.errors import StoreError

_READERS = frozenset({"file", "filesystemavailable", "filesystemcapacity", "joinget", "dictget"})
"""Scalar functions that read something else than the tables."""


def select(
    client: Client, database: str, sql: str, limit: int
) -> tuple[tuple[str, ...], list[tuple[Any, ...]]]:
    """Run one SELECT, and return the names of its columns and its first rows.

    Raises:
        StoreError: it is something else than one SELECT over tables.
    """
    with client.query_rows_stream(prepare_select(sql, database)) as rows:
        found = [tuple(row) for row in islice(rows, limit)]
        return tuple(rows.source.column_names), found


def prepare_select(sql: str, database: str) -> str:
    """Return a SELECT whose tables name their database.

    Raises:
        StoreError: it is not one SELECT over tables: it writes, or reads files or other servers.
    """
    try:
        statements = [each for each in sqlglot.parse(sql, dialect="clickhouse") if each is not None]
    except SqlglotError as problem:
        raise StoreError(f"the query cannot be read: {str(problem).partition(chr(10))[0]}") from problem
    if len(statements) != 1 or not isinstance(statements[0], exp.Query):
        raise StoreError("give one SELECT: the store is only read here")
    query = statements[0]
    # `SELECT … INTO OUTFILE` is a clause that sqlglot may keep as a command.
    if query.find(exp.Into, exp.Command):
        raise StoreError("give one SELECT without INTO: the store is only read here")
    for function in query.find_all(exp.Func):
        name = function.name if isinstance(function, exp.Anonymous) else function.sql_name()
        if name.lower().startswith(tuple(_READERS)):
            raise StoreError(f"{name} reads something else than the tables of the store")
    named = {each.alias for each in query.find_all(exp.CTE)}
    for table in query.find_all(exp.Table):
        if not isinstance(table.this, exp.Identifier):
            shown = table.sql(dialect="clickhouse")
            raise StoreError(f"{shown[:60]} is no table of the store: nothing else is read")
        if not table.db and table.name not in named:
            table.set("db", exp.to_identifier(database))
    return query.sql(dialect="clickhouse")
