"""A person's own SELECT over the tables of a store."""

from __future__ import annotations

import re
from itertools import islice
from typing import Any

import sqlglot
from clickhouse_connect.driver.client import Client
from clickhouse_connect.driver.exceptions import DatabaseError
from sqlglot import exp
from sqlglot.errors import ParseError, SqlglotError

from spanproof.store.errors import QueryRefused

# Scalar functions that read something else than the tables.
_READERS = frozenset({"file", "filesystemavailable", "filesystemcapacity", "joinget", "dictget"})

# What the database says of a query, without the query itself and the name of the error.
_SAID = re.compile(r"DB::Exception: (?P<what>.*?)(?: In scope .*?)? \([A-Z_]+\)", re.DOTALL)


def run_select(
    client: Client, database: str, sql: str, limit: int
) -> tuple[tuple[str, ...], list[tuple[Any, ...]]]:
    """Run one SELECT, and return the names of its columns and its first rows.

    Raises:
        QueryRefused: it is something else than one SELECT over tables, or the database does not take it.
        ClickHouseError: the database cannot be reached.
    """
    prepared = build_select(sql, database)
    try:
        with client.query_rows_stream(prepared) as rows:
            found = [tuple(row) for row in islice(rows, limit)]
            return tuple(rows.source.column_names), found
    except DatabaseError as problem:
        match = _SAID.search(str(problem))
        if match is None:
            raise
        raise QueryRefused(f"the query cannot be run: {match['what']}") from problem


def build_select(sql: str, database: str) -> str:
    """Return a SELECT whose tables name their database.

    Raises:
        QueryRefused: it is not one SELECT over tables: it writes, or reads files or other servers.
    """
    try:
        statements = [
            statement for statement in sqlglot.parse(sql, dialect="clickhouse") if statement is not None
        ]
    except SqlglotError as problem:
        raise QueryRefused(f"the query cannot be read{_describe_place(problem)}") from problem
    if len(statements) != 1 or not isinstance(statements[0], exp.Query):
        raise QueryRefused("give one SELECT: the store is only read here")
    query = statements[0]
    # `SELECT … INTO OUTFILE` is a clause that sqlglot may keep as a command.
    if query.find(exp.Into, exp.Command):
        raise QueryRefused("give one SELECT without INTO: the store is only read here")
    for function in query.find_all(exp.Func):
        if isinstance(function, exp.Anonymous):
            name = function.name
        else:
            name = function.sql_name()
        if name.lower().startswith(tuple(_READERS)):
            raise QueryRefused(f"{name} reads something else than the tables of the store")
    named = {expression.alias for expression in query.find_all(exp.CTE)}
    for table in query.find_all(exp.Table):
        if not isinstance(table.this, exp.Identifier):
            shown = table.sql(dialect="clickhouse")
            raise QueryRefused(f"{shown[:60]} is no table of the store: nothing else is read")
        if not table.db and table.name not in named:
            table.set("db", exp.to_identifier(database))
    return query.sql(dialect="clickhouse")


def _describe_place(problem: SqlglotError) -> str:
    """Return where a query cannot be read: the parser's own words are for those who know it."""
    if isinstance(problem, ParseError) and problem.errors:
        first = problem.errors[0]
        return f" at {first['highlight']!r}, line {first['line']}, column {first['col']}"
    return f": {str(problem).partition(chr(10))[0]}"
