"""One boundary for SQL: a policy's verbs and tables hold in every language and driver."""

from __future__ import annotations

import pytest

from spanproof.sandbox.policy import Policy
from spanproof.sandbox.scanners.model import Verdict
from spanproof.sandbox.scanners.pipeline import Pipeline

_HOSTS = ("db.example", "localhost")
_PORTS = frozenset({80, 443, 3306, 5432})
_STATED = Pipeline(
    Policy(sql_verbs=frozenset({"select"}), sql_tables=frozenset({"orders"}), hosts=_HOSTS, ports=_PORTS)
)
_DEFAULT = Pipeline(Policy(hosts=_HOSTS, ports=_PORTS))

_SERVERS = {
    ("python", "psycopg"): "import psycopg\nwith psycopg.connect('host=db.example') as c:\n"
    "    with c.cursor() as k:\n        k.execute(STATEMENT)",
    (
        "python",
        "psycopg2",
    ): "import psycopg2\nc = psycopg2.connect(host='db.example')\nc.cursor().execute(STATEMENT)",
    ("python", "asyncpg"): "import asyncpg\nasync def go():\n"
    "    c = await asyncpg.connect('postgresql://db.example/x')\n    return await c.fetch(STATEMENT)",
    ("python", "sqlalchemy"): "from sqlalchemy import create_engine, text\n"
    "e = create_engine('postgresql://db.example/x')\nwith e.connect() as c:\n    c.execute(text(STATEMENT))",
    ("python", "read_sql by URL"): "import pandas as pd\npd.read_sql(STATEMENT, 'postgresql://db.example/x')",
    ("python", "polars"): "import polars as pl\npl.read_database_uri(STATEMENT, 'postgresql://db.example/x')",
    ("bash", "psql"): 'psql -h db.example -c "STATEMENT"',
    ("bash", "psql, a long option"): 'psql -h db.example --command="STATEMENT"',
    ("bash", "psql, a pipe"): 'echo "STATEMENT" | psql -h db.example',
    ("bash", "psql, a here-document"): "psql -h db.example <<E\nSTATEMENT\nE",
    ("bash", "mysql"): "mysql -h db.example -e 'STATEMENT'",
    ("javascript", "pg"): "const { Client } = require('pg'); const c = new Client({ host: 'db.example' });\n"
    "await c.query(STATEMENT)",
    ("javascript", "pg, an object"): "import pg from 'pg'\nconst p = new pg.Pool("
    "{ connectionString: 'postgres://db.example/x' })\nawait p.query({ text: STATEMENT })",
    ("javascript", "mysql2"): "const m = require('mysql2/promise')\n"
    "const c = await m.createConnection({ host: 'db.example' })\nawait c.execute(STATEMENT)",
    ("javascript", "postgres"): "import postgres from 'postgres'\n"
    "const sql = postgres('postgres://db.example/x')\nawait sql.unsafe(STATEMENT)",
    ("javascript", "knex"): "const knex = require('knex')({ client: 'pg' })\nawait knex.raw(STATEMENT)",
}
_FILES = {
    ("python", "sqlite3"): "import sqlite3\nc = sqlite3.connect('shop.db')\nc.execute(STATEMENT)\nc.commit()",
    (
        "python",
        "sqlite3, a script",
    ): "import sqlite3\nsqlite3.connect('shop.db').cursor().executescript(STATEMENT)",
    (
        "python",
        "sqlalchemy",
    ): "from sqlalchemy import create_engine, text\ne = create_engine('sqlite:///shop.db')\n"
    "with e.begin() as c:\n    c.execute(text(STATEMENT))",
    ("python", "duckdb"): "import duckdb\nc = duckdb.connect('shop.duckdb')\nc.sql(STATEMENT)",
    ("python", "read_sql"): "import pandas as pd, sqlite3\npd.read_sql(STATEMENT, sqlite3.connect('a.db'))",
    ("python", "a connection that is given"): "def go(connection):\n    return connection.execute(STATEMENT)",
    ("bash", "sqlite3"): 'sqlite3 shop.db "STATEMENT"',
    ("bash", "sqlite3, a pipe"): "echo 'STATEMENT' | sqlite3 shop.db",
    ("bash", "duckdb"): 'duckdb shop.db -c "STATEMENT"',
    (
        "javascript",
        "better-sqlite3",
    ): "const D = require('better-sqlite3')\nnew D('shop.db').prepare(STATEMENT).run()",
    ("javascript", "sqlite3"): "const s = require('sqlite3')\nnew s.Database('shop.db').run(STATEMENT)",
    ("javascript", "node:sqlite"): "import { DatabaseSync } from 'node:sqlite'\n"
    "new DatabaseSync('shop.db').exec(STATEMENT)",
}
_UNKNOWN = {
    ("python", "spark"): "from pyspark.sql import SparkSession\n"
    "spark = SparkSession.builder.getOrCreate()\nspark.sql(STATEMENT).show()",
    (
        "python",
        "peewee",
    ): "import peewee\npeewee.SqliteDatabase('shop.db').execute_sql(STATEMENT)",
    ("python", "ibis"): "import ibis\nibis.duckdb.connect('shop.duckdb').raw_sql(STATEMENT)",
    (
        "python",
        "sqlmodel",
    ): "import sqlmodel as s\nwith s.Session(e) as c:\n    c.exec(s.text(STATEMENT))",
    ("python", "records"): "import records\nrecords.Database().query(STATEMENT)",
    ("python", "connectorx"): "import connectorx as cx\ncx.read_sql(target, STATEMENT)",
    ("python", "a tool of an agent"): "from shop.tools import run_query\nrun_query(STATEMENT)",
    ("javascript", "typeorm"): "import { DataSource } from 'typeorm'\nnew DataSource({}).query(STATEMENT)",
    ("javascript", "mssql"): "const s = require('mssql')\nawait s.query(STATEMENT)",
    ("javascript", "libsql"): "import { createClient } from '@libsql/client'\n"
    "createClient({}).execute({ sql: STATEMENT })",
    ("javascript", "clickhouse"): "import { createClient } from '@clickhouse/client'\n"
    "createClient().command({ query: STATEMENT })",
    ("javascript", "bun"): "import { Database } from 'bun:sqlite'\nnew Database('shop.db').run(STATEMENT)",
    ("javascript", "a connection that is given"): "db.query(STATEMENT)",
}
"""Calls that the catalogue does not know."""

_MEMORY = {
    (
        "python",
        "sqlite3",
    ): "import sqlite3\nwith sqlite3.connect(':memory:') as c:\n    c.cursor().execute(STATEMENT)",
    ("python", "duckdb"): "import duckdb\nduckdb.sql(STATEMENT)",
    ("python", "a connection of duckdb"): "import duckdb\nduckdb.connect().execute(STATEMENT)",
    ("python", "sqlalchemy"): "from sqlalchemy import create_engine, text\n"
    "with create_engine('sqlite://').connect() as c:\n    c.execute(text(STATEMENT))",
    ("bash", "sqlite3"): 'sqlite3 :memory: "STATEMENT"',
    ("bash", "duckdb"): 'duckdb -c "STATEMENT"',
    (
        "javascript",
        "better-sqlite3",
    ): "const D = require('better-sqlite3')\nnew D(':memory:').exec(STATEMENT)",
}
_OUTSIDE = ["DROP TABLE orders", "SELECT * FROM salaries", "DELETE FROM orders WHERE id = 1"]
_INSIDE = ["SELECT * FROM orders", "BEGIN", "WITH o AS (SELECT 1) SELECT * FROM o"]


def _verdict(pipeline: Pipeline, language: str, form: str, statement: str) -> Verdict:
    quoted = statement if language == "bash" else repr(statement)
    return pipeline.scan(language, form.replace("STATEMENT", quoted)).verdict


def _cases(*tables: dict[tuple[str, str], str]) -> pytest.MarkDecorator:
    rows = [
        pytest.param(language, form, id=f"{language}: {name}")
        for table in tables
        for (language, name), form in table.items()
    ]
    return pytest.mark.parametrize(("language", "form"), rows)


@_cases(_SERVERS, _FILES)
def test_a_policys_verbs_and_tables_hold(language: str, form: str) -> None:
    for statement in _OUTSIDE:
        assert _verdict(_STATED, language, form, statement) is Verdict.DENY, statement
    for statement in _INSIDE:
        assert _verdict(_STATED, language, form, statement) is Verdict.ALLOW, statement


@_cases(_UNKNOWN)
def test_a_policys_verbs_and_tables_hold_for_a_call_that_is_not_known(language: str, form: str) -> None:
    for statement in _OUTSIDE:
        assert _verdict(_STATED, language, form, statement) is Verdict.DENY, statement
    for statement in ("SELECT * FROM orders", "Select the best offers from the list", "Update: set to 3"):
        assert _verdict(_STATED, language, form, statement) is Verdict.ALLOW, statement


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT " + "1, " * 5_000 + "2 FROM salaries",
        "/* " + "a" * 5_000 + " */ drop Table orders",
        "-- a\n" * 2_000 + "DELETE FROM orders",
        "sElEcT * FrOm salaries",
    ],
    ids=["columns", "a comment", "lines", "cases"],
)
def test_no_length_hides_a_statement_from_a_call_that_is_not_known(statement: str) -> None:
    assert _verdict(_STATED, "python", "from a import run\nrun(STATEMENT)", statement) is not Verdict.ALLOW
    assert _verdict(_STATED, "javascript", "require('a').run(STATEMENT)", statement) is not Verdict.ALLOW


@_cases(_SERVERS)
def test_on_a_server_the_default_verbs_hold(language: str, form: str) -> None:
    assert _verdict(_DEFAULT, language, form, "DROP TABLE orders") is Verdict.DENY
    assert _verdict(_DEFAULT, language, form, "SELECT * FROM salaries") is Verdict.ALLOW


@_cases(_FILES)
def test_a_file_is_changed_freely_by_default(language: str, form: str) -> None:
    for statement in ("UPDATE orders SET state = 1 WHERE id = 2", "DROP TABLE IF EXISTS orders"):
        assert _verdict(_DEFAULT, language, form, statement) is Verdict.ALLOW, statement


@_cases(_FILES)
def test_a_table_of_a_file_that_the_program_does_not_fill_is_not_emptied(language: str, form: str) -> None:
    for statement in ("DROP TABLE orders", "DELETE FROM orders"):
        assert _verdict(_DEFAULT, language, form, statement) is Verdict.REVIEW, statement


@_cases(_MEMORY)
def test_memory_is_the_programs_own(language: str, form: str) -> None:
    for statement in (*_OUTSIDE, *_INSIDE):
        assert _verdict(_STATED, language, form, statement) is Verdict.ALLOW, statement


@_cases(_SERVERS, _FILES, _MEMORY)
def test_what_reaches_out_is_never_allowed(language: str, form: str) -> None:
    for pipeline in (_STATED, _DEFAULT):
        statement = (
            "SELECT pg_read_file($$/etc/passwd$$)" if language != "bash" else "SELECT load_extension(1)"
        )
        assert _verdict(pipeline, language, form, statement) is not Verdict.ALLOW


@pytest.mark.parametrize(
    "source",
    [
        "import sqlite3\nsqlite3.connect('a.db').execute(f'SELECT * FROM {input()}')",
        "import sqlite3\nsqlite3.connect('a.db').execute(input())",
        "from sqlalchemy import delete\ndef go(session):\n    session.execute(delete(Order))",
    ],
)
def test_a_statement_that_is_not_known_is_reviewed_where_verbs_hold(source: str) -> None:
    assert _STATED.scan("python", source).verdict is Verdict.REVIEW
    assert _DEFAULT.scan("python", source).verdict is Verdict.ALLOW


@pytest.mark.parametrize(
    ("source", "verdict"),
    [
        ("pd.read_sql_table('orders', con)", Verdict.ALLOW),
        ("pd.read_sql_table('salaries', con)", Verdict.DENY),
        ("df.to_sql('orders', con)", Verdict.DENY),
        ("df.to_sql('orders', con, if_exists='replace')", Verdict.DENY),
    ],
)
def test_whole_tables_are_judged(source: str, verdict: Verdict) -> None:
    assert _STATED.scan("python", f"import pandas as pd\n{source}").verdict is verdict


@pytest.mark.parametrize(
    ("statement", "verdict"),
    [
        ("SELECT * FROM read_csv('https://' || 'evil.test/x')", Verdict.REVIEW),
        ("SELECT * FROM read_text(chr(47) || 'etc/passwd')", Verdict.REVIEW),
        ("SELECT * FROM read_csv(['a.csv', '/etc/passwd'])", Verdict.DENY),
        ("SELECT getenv('HOME')", Verdict.DENY),
        ("SELECT * FROM read_csv('a.csv', header = true, delim = ',')", Verdict.ALLOW),
    ],
)
def test_what_a_table_function_reads_is_judged(statement: str, verdict: Verdict) -> None:
    assert _DEFAULT.scan("sql", statement).verdict is verdict


def test_hosts_of_nodes_drivers_are_judged() -> None:
    for source in (
        "const pg = require('pg'); new pg.Client({ host: 'evil.example' })",
        "require('mysql2').createPool('mysql://evil.example/x')",
        "const D = require('better-sqlite3'); new D('/var/lib/app.db')",
    ):
        assert _DEFAULT.scan("javascript", source).verdict is Verdict.DENY, source
