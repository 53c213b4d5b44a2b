"""Outputs of databases: their own messages for wrong queries, and result tables full of words of failure."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import tempfile
import traceback
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from outcome_sources import DOMAINS, Domain, Output, pick

SQL_TOOLS = ("sql_query", "run_sql", "query_database", "execute_sql", "db_query")
OPEN_TOOLS = ("lookup", "ask_warehouse", "get_data", "run", "data_tool")


def wrong_queries(d: Domain) -> Iterator[str]:
    """Queries that no database accepts."""
    yield f"SELECT SUM({d.number[:-1]}) FROM {d.table}"
    yield f"SELECT * FROM {d.table}_archive"
    yield f"SELEC * FROM {d.table}"
    yield f"SELECT {d.key} FORM {d.table}"
    yield f"SELECT {d.key}, FROM {d.table}"
    yield f"SELECT unheard_of({d.number}) FROM {d.table}"
    yield f"SELECT t.{d.text} FROM {d.table}"
    yield f"SELECT {d.key} FROM {d.table} a JOIN {d.table} b ON a.{d.key} = b.{d.key}"
    yield f"INSERT INTO {d.table} VALUES ({d.rows[0][0]}, 1.0, 'again')"
    yield f"INSERT INTO {d.table} VALUES (900, 1.0)"
    yield f"DROP TABLE {d.table}_old"
    yield f"CREATE TABLE {d.table} (x INTEGER)"
    yield f"SELECT MAX({d.number} FROM {d.table}"
    yield f"SELECT '{d.text} FROM {d.table}"
    yield f"SELECT {d.key} FROM {d.table} GROUP BY {d.text} HAVING nothing > 3"
    yield f"UPDATE {d.table} SET colour = 'red'"
    yield f"ALTER TABLE {d.table} ADD COLUMN {d.text} TEXT"


def right_queries(d: Domain) -> Iterator[str]:
    """Queries whose results speak of failure."""
    yield f"SELECT * FROM {d.table}"
    yield f"SELECT {d.text} AS error, COUNT(*) AS errors FROM {d.table} GROUP BY {d.text} ORDER BY 1"
    yield f"SELECT {d.text} FROM {d.table} WHERE {d.key} = {d.rows[-1][0]}"
    yield f"SELECT {d.key} AS failed, 'Error: disk full' AS message FROM {d.table} ORDER BY 1"
    yield f"SELECT 'no such table: {d.table}' AS last_error, {d.number} FROM {d.table} ORDER BY 2"
    yield f"SELECT COUNT(*) AS error_count FROM {d.table}"
    yield f"SELECT AVG({d.number}) AS mean_absolute_error FROM {d.table}"
    yield f"SELECT 'Traceback (most recent call last)' AS log, {d.key} FROM {d.table} ORDER BY 2"
    yield f"SELECT 404 AS status, 'Not Found' AS reason, COUNT(*) AS n FROM {d.table}"
    kind = f"CASE WHEN {d.number} > 50 THEN 'Exception' ELSE 'fine' END AS kind"
    yield f"SELECT {d.key}, {kind} FROM {d.table} ORDER BY 1"


def no_rows(d: Domain) -> str:
    """A query that finds nothing."""
    return f"SELECT * FROM {d.table} WHERE {d.key} = 99999"


def messages(error: BaseException, query: str) -> Iterator[str]:
    """The ways in which a tool returns what a driver raised."""
    name = type(error).__name__
    full = f"{type(error).__module__}.{name}"
    yield from (
        str(error),
        f"Error: {error}",
        f"{name}: {error}",
        f"Error executing query: {error}",
        f"SQL error: {error}",
        f"Query failed: {error}",
        f"{full}: {error}",
        json.dumps({"error": str(error)}),
        json.dumps({"status": "error", "message": str(error), "query": query}),
        "".join(traceback.format_exception(error)),
        f"ERROR: {error}\n\nQuery: {query}",
    )


def tables(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> Iterator[str]:
    """The ways in which a tool returns rows."""
    yield str([tuple(row) for row in rows])
    yield json.dumps([dict(zip(columns, row, strict=True)) for row in rows], default=str)
    yield "\n".join([",".join(columns), *(",".join(map(str, row)) for row in rows)])
    yield "\n".join(
        [
            f"| {' | '.join(columns)} |",
            f"|{'---|' * len(columns)}",
            *(f"| {' | '.join(map(str, r))} |" for r in rows),
        ]
    )
    yield json.dumps({"columns": list(columns), "rows": [list(row) for row in rows]}, default=str)
    yield "\n".join(f"{name}: {value}" for row in rows for name, value in zip(columns, row, strict=True))
    yield f"Found {len(rows)} rows.\n" + "\n".join("\t".join(map(str, row)) for row in rows)


Run = Callable[[str], tuple[list[str], list[tuple[Any, ...]]]]


def results(name: str, run: Run, hide: Callable[[str], str] = str) -> Iterator[Output]:
    """What one engine gives for all queries of all domains."""
    for d in DOMAINS:
        for query in wrong_queries(d):
            try:
                run(query)
            except Exception as error:
                forms = list(messages(error, query))
                text = hide(pick(forms, name, query))
                yield Output(pick((*SQL_TOOLS, *OPEN_TOOLS[:2]), query), text, "failed", None)
        for query in right_queries(d):
            columns, rows = run(query)
            yield Output(
                pick((*SQL_TOOLS, *OPEN_TOOLS), query), pick(list(tables(columns, rows)), name, query), "ok"
            )
        columns, rows = run(no_rows(d))
        yield Output(
            pick(SQL_TOOLS, name, d.table), pick(("[]", "(0 rows)", "No rows found."), name, d), "empty"
        )


def sqlite() -> Iterator[Output]:
    """SQLite by its Python module."""
    base = sqlite3.connect(":memory:", isolation_level=None)
    for d in DOMAINS:
        base.execute(d.schema)
        base.executemany(f"INSERT INTO {d.table} VALUES (?, ?, ?)", d.rows)

    def run(query: str) -> tuple[list[str], list[tuple[Any, ...]]]:
        cursor = base.execute(query)
        return [each[0] for each in cursor.description or ()], cursor.fetchall()

    yield from results("sqlite", run)


def sqlite_shell() -> Iterator[Output]:
    """SQLite by its shell."""
    with tempfile.TemporaryDirectory() as folder:
        script = "".join(
            f"{d.schema};" + "".join(f"INSERT INTO {d.table} VALUES {row};" for row in d.rows)
            for d in DOMAINS
        )
        subprocess.run(["sqlite3", "shop.db", script], cwd=folder, check=True)
        for d in DOMAINS[:5]:
            for query in (*wrong_queries(d), *right_queries(d), no_rows(d)):
                mode = pick(("list", "box", "column", "json", "markdown", "line"), query)
                done = subprocess.run(
                    ["sqlite3", f"-{mode}", "-header", "shop.db", query],
                    cwd=folder,
                    capture_output=True,
                    text=True,
                )
                text = (done.stdout + done.stderr).strip()
                if text:
                    yield Output(
                        pick(("run_sql", "sqlite"), query), text, "failed" if done.returncode else "ok"
                    )


def duckdb() -> Iterator[Output]:
    """DuckDB by its Python module."""
    import duckdb as engine

    base = engine.connect()
    for d in DOMAINS:
        base.execute(d.schema)
        base.executemany(f"INSERT INTO {d.table} VALUES (?, ?, ?)", [list(row) for row in d.rows])

    def run(query: str) -> tuple[list[str], list[tuple[Any, ...]]]:
        found = base.execute(query)
        return [each[0] for each in found.description or ()], found.fetchall()

    yield from results("duckdb", run)
    for d in DOMAINS:
        for query in right_queries(d):
            yield Output(pick(SQL_TOOLS, query, "box"), str(base.sql(query)), "ok")
        missing = (
            f"SELECT * FROM '{d.table}.parquet'",
            f"SELECT CAST('{d.text}' AS INTEGER)",
            f"COPY {d.table} FROM 'x.csv'",
        )
        for query in missing:
            try:
                base.execute(query).fetchall()
            except engine.Error as error:
                yield Output(pick(SQL_TOOLS, query), pick(list(messages(error, query)), query, 1), "failed")


def pandas_frames() -> Iterator[Output]:
    """Result tables as pandas prints them."""
    import pandas as pd

    for d in DOMAINS:
        frame = pd.DataFrame(d.rows, columns=[d.key, d.number, d.text])
        yield Output(pick(SQL_TOOLS, d), frame.to_string(), "ok")
        yield Output(
            pick(OPEN_TOOLS, d), frame.rename(columns={d.text: "error"}).to_string(index=False), "ok"
        )
        yield Output("python_repl", str(frame[d.text].value_counts()), "ok", "python")
        yield Output(pick(SQL_TOOLS, d, 1), str(frame[frame[d.key] < 0]), "empty")
        yield Output("python_repl", str(frame.describe()), "ok", "python")
        renamed = frame.rename(columns={d.number: "failed", d.text: "Exception"})
        yield Output("run_query", renamed.to_csv(index=False), "ok")
        yield Output("run_query", renamed.to_json(orient="records"), "ok")


def clickhouse() -> Iterator[Output]:
    """ClickHouse's engine, in the process."""
    from chdb import session

    base = session.Session()
    base.query("CREATE DATABASE shop; ")
    base.query("USE shop")
    for d in DOMAINS:
        base.query(
            f"CREATE TABLE {d.table} ({d.key} Int64, {d.number} Float64, {d.text} String)"
            f" ENGINE = MergeTree ORDER BY {d.key}"
        )
        values = ", ".join(map(str, d.rows))
        base.query(f"INSERT INTO {d.table} VALUES {values}")
    for d in DOMAINS:
        for query in wrong_queries(d):
            try:
                base.query(query)
            except Exception as error:
                name = pick((*SQL_TOOLS, "clickhouse", *OPEN_TOOLS[:2]), query)
                yield Output(name, pick(list(messages(error, query)), "clickhouse", query), "failed")
        for query in right_queries(d):
            form = pick(
                ("TSV", "CSVWithNames", "PrettyCompact", "JSON", "Vertical", "Markdown", "Pretty"), query
            )
            yield Output(
                pick((*SQL_TOOLS, "clickhouse", *OPEN_TOOLS), query), str(base.query(query, form)), "ok"
            )
    base.close()


def postgres() -> Iterator[Output]:
    """psql with a running server (`PGHOST`, `PGPORT`, `PGUSER`), and without one."""
    with tempfile.TemporaryDirectory() as folder:
        here = {**os.environ, "PGDATABASE": "postgres"}

        def psql(query: str, *options: str, env: dict[str, str] = here) -> subprocess.CompletedProcess[str]:
            command = ["psql", "-X", "-v", "ON_ERROR_STOP=1", *options, "-c", query]
            return subprocess.run(command, cwd=folder, capture_output=True, text=True, env=env)

        for d in DOMAINS:
            psql(f"DROP TABLE IF EXISTS {d.table}")
            psql(d.schema)
            psql(f"INSERT INTO {d.table} VALUES {', '.join(map(str, d.rows))}")
        for d in DOMAINS:
            for query in (*wrong_queries(d), *right_queries(d)):
                done = psql(query, *pick(((), ("-A",), ("-x",), ("--csv",), ("-t",)), query))
                text = (done.stdout + done.stderr).strip()
                tool = pick(("psql", "run_sql", "shell", "query_database", *OPEN_TOOLS[:1]), query)
                yield Output(tool, text, "failed" if done.returncode else "ok")
            yield Output("psql", psql(no_rows(d)).stdout.strip(), "empty")
        for host, port in (("db.invalid", "5432"), ("127.0.0.1", "1"), ("/nowhere", "5432")):
            done = psql("SELECT 1", env={**here, "PGHOST": host, "PGPORT": port})
            yield Output(pick(("psql", "query_database"), host), done.stderr.strip(), "failed")
        for env in ({"PGDATABASE": "nowhere"}, {"PGUSER": "stranger"}):
            yield Output("query_database", psql("SELECT 1", env={**here, **env}).stderr.strip(), "failed")


def psycopg() -> Iterator[Output]:
    """PostgreSQL by its Python drivers, with the server of `postgres`."""
    import psycopg as driver
    import psycopg2

    for name, connect in (("psycopg", driver.connect), ("psycopg2", psycopg2.connect)):
        base = connect("dbname=postgres")
        base.autocommit = True

        def run(query: str, base: Any = base) -> tuple[list[str], list[tuple[Any, ...]]]:
            with base.cursor() as cursor:
                cursor.execute(query)
                columns = [each[0] for each in cursor.description or ()]
                return columns, [tuple(row) for row in cursor.fetchall()] if columns else []

        yield from (out for at, out in enumerate(results(name, run)) if at % 2)
        base.close()
        for text in (
            "host=db.invalid",
            "host=127.0.0.1 port=1",
            "dbname=nowhere",
            "user=stranger dbname=postgres",
        ):
            try:
                connect(text)
            except Exception as error:
                yield Output(pick(SQL_TOOLS, text), pick(list(messages(error, "SELECT 1")), text), "failed")


def sqlalchemy() -> Iterator[Output]:
    """SQLAlchemy over SQLite."""
    import sqlalchemy as sa

    engine = sa.create_engine("sqlite://")
    base = engine.connect()
    for d in DOMAINS:
        base.execute(sa.text(d.schema))
        for row in d.rows:
            base.execute(sa.text(f"INSERT INTO {d.table} VALUES {row}"))

    def run(query: str) -> tuple[list[str], list[tuple[Any, ...]]]:
        found = base.execute(sa.text(query))
        if not found.returns_rows:
            return [], []
        return list(found.keys()), [tuple(row) for row in found.fetchall()]

    yield from (out for at, out in enumerate(results("sqlalchemy", run)) if at % 2)
    for d in DOMAINS:
        for make in (
            lambda d=d: sa.Table(d.table + "_x", sa.MetaData(), autoload_with=engine),
            lambda d=d: base.execute(sa.text(f"SELECT * FROM {d.table} WHERE {d.key} = :key")),
            lambda: sa.create_engine("nosuch://host"),
        ):
            try:
                make()
            except Exception as error:
                yield Output(pick(SQL_TOOLS, d), pick(list(messages(error, "q")), d, str(error)), "failed")


def langchain_sql() -> Iterator[Output]:
    """The SQL tools of LangChain, with their own wording."""
    from langchain_community.tools.sql_database.tool import (
        InfoSQLDatabaseTool,
        ListSQLDatabaseTool,
        QuerySQLDatabaseTool,
    )
    from langchain_community.utilities import SQLDatabase

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "shop.db"
        with sqlite3.connect(path) as connection:
            for d in DOMAINS:
                connection.execute(d.schema)
                connection.executemany(f"INSERT INTO {d.table} VALUES (?, ?, ?)", d.rows)
        base = SQLDatabase.from_uri(f"sqlite:///{path}")
        query_tool, info = QuerySQLDatabaseTool(db=base), InfoSQLDatabaseTool(db=base)
        yield Output("sql_db_list_tables", ListSQLDatabaseTool(db=base).invoke(""), "ok")
        for d in DOMAINS:
            for query in wrong_queries(d):
                text = query_tool.invoke(query)
                if text.startswith("Error"):
                    yield Output("sql_db_query", text, "failed")
            for query in right_queries(d):
                yield Output("sql_db_query", query_tool.invoke(query), "ok")
            yield Output("sql_db_query", query_tool.invoke(no_rows(d)), "empty")
            yield Output("sql_db_schema", info.invoke(d.table), "ok")
            yield Output("sql_db_schema", info.invoke(f"{d.table}s, {d.table}_x"), "failed")
