"""SQL in the jail: both engines, what they refuse, and what each failure is called."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import duckdb
import pytest

from spanproof.sandbox import (
    Clock,
    Database,
    DatabaseEngine,
    Execution,
    FailureClass,
    Fixtures,
    Limits,
    Program,
    Sandbox,
    UnsupportedFixtures,
)
from spanproof.sandbox.registry import open_sandbox

SCRIPT = {
    "base.sql": b"create table t (a int primary key, b text);\ninsert into t values (1, 'x'), (2, null);"
}
SQLITE, DUCKDB = DatabaseEngine


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with open_sandbox() as opened:
        yield opened


@pytest.fixture(params=list(DatabaseEngine))
def engine(request: pytest.FixtureRequest) -> DatabaseEngine:
    return DatabaseEngine(request.param)


def run(
    sandbox: Sandbox, engine: DatabaseEngine, source: str, file: str | None = "base.sql", **how: object
) -> Execution:
    files = how.pop("files", SCRIPT)
    writable = bool(how.pop("writable", False))
    how.setdefault("limits", Limits(wall_s=120.0, cpu_s=120.0))
    fixtures = Fixtures(database=Database(engine, file, writable))
    return sandbox.run(Program("sql", source, files=files, fixtures=fixtures, **how))  # type: ignore[arg-type]


def test_rows_are_printed_and_given_as_the_result(sandbox: Sandbox, engine: DatabaseEngine) -> None:
    execution = run(sandbox, engine, "select 0; select a, b from t order by a;")
    assert execution.failure_class is FailureClass.OK
    assert execution.stdout == "0\n1|x\n2|\n"
    assert execution.result == {"columns": ["a", "b"], "rows": [[1, "x"], [2, None]], "cut": False}


@pytest.mark.parametrize("clock", [None, Clock(1_700_000_000.0, 0)])
def test_duckdb_gives_times_with_a_zone_and_the_time_is_the_program_s(
    sandbox: Sandbox, clock: Clock | None
) -> None:
    source = (
        "select now(), current_timestamp, [now()], timestamptz '2024-01-01 00:00:00+02', now()::timestamp"
    )
    fixtures = Fixtures(database=Database(DUCKDB, None), clock=clock)
    before_s = time.time()
    execution = sandbox.run(Program("sql", source, fixtures=fixtures))
    assert execution.failure_class is FailureClass.OK, execution
    assert isinstance(execution.result, dict)
    (now, current, listed, zoned, plain) = execution.result["rows"][0]
    assert (now, zoned) == (current, "2023-12-31 22:00:00+00:00")
    assert now == f"{plain}+00:00"
    assert "tzinfo=<UTC>" in listed
    shown_s = datetime.fromisoformat(now).timestamp()
    if clock is None:
        assert before_s - 0.001 <= shown_s <= time.time()
    else:
        assert shown_s == clock.start_s


def test_a_script_without_a_query_has_no_result(sandbox: Sandbox, engine: DatabaseEngine) -> None:
    execution = run(sandbox, engine, "create table n (a int); insert into n values (1)", None)
    assert (execution.failure_class, execution.result, execution.stdout) == (FailureClass.OK, None, "")


def test_a_long_result_is_cut_and_says_so(sandbox: Sandbox, engine: DatabaseEngine) -> None:
    numbers = (
        "with recursive r(n) as (select 1 union all select n + 1 from r where n < 50000) select n from r"
    )
    execution = run(sandbox, engine, numbers)
    assert isinstance(execution.result, dict)
    rows = execution.result["rows"]
    assert isinstance(rows, list)
    assert execution.result["cut"] is True
    assert 1000 < len(rows) < 50000


def test_values_without_a_json_form_are_text(sandbox: Sandbox, engine: DatabaseEngine) -> None:
    source = "select cast('x' as blob), 1e308 * 10" if engine is SQLITE else "select 'x'::blob, 'inf'::double"
    execution = run(sandbox, engine, source)
    assert isinstance(execution.result, dict)
    assert execution.result["rows"] == [["78", "inf"]]


READ_ONLY = [
    "insert into t values (9, 'q')",
    "update t set b = 'z'",
    "delete from t",
    "drop table t",
    "create table y (a int)",
    "alter table t add column c int",
    "begin; delete from t; commit",
]


@pytest.mark.parametrize("source", READ_ONLY)
def test_a_database_is_read_only_unless_it_is_said_to_be_writable(
    sandbox: Sandbox, engine: DatabaseEngine, source: str
) -> None:
    assert run(sandbox, engine, source).failure_class is FailureClass.PERMISSION_DENIED
    assert run(sandbox, engine, source, writable=True).failure_class is FailureClass.OK


def test_a_temporary_table_may_be_made_beside_a_read_only_database(
    sandbox: Sandbox, engine: DatabaseEngine
) -> None:
    execution = run(sandbox, engine, "create temp table n as select * from t; select count(*) from n")
    assert (execution.failure_class, execution.stdout) == (FailureClass.OK, "2\n")


REFUSED = [
    (SQLITE, "attach '/etc/passwd' as x"),
    (SQLITE, "attach 'other.db' as x"),
    (SQLITE, "attach 'o' || 'ther.db' as x"),
    (SQLITE, "vacuum into '/usr/x.db'"),
    (SQLITE, "vacuum into 'x.db'"),
    (SQLITE, "select load_extension('x.so')"),
    (SQLITE, "pragma writable_schema = 1"),
    (SQLITE, "pragma query_only = off"),
    (SQLITE, "pragma trusted_schema = on"),
    (SQLITE, "pragma hard_heap_limit = 0"),
    (DUCKDB, "attach '/etc/passwd' as x"),
    (DUCKDB, "attach 'other.db' as x"),
    (DUCKDB, "select * from read_csv('/etc/passwd')"),
    (DUCKDB, "select content from read_text('base.sql')"),
    (DUCKDB, "select * from glob('/etc/*')"),
    (DUCKDB, "copy t to 'x.csv'"),
    (DUCKDB, "copy t from '/etc/passwd'"),
    (DUCKDB, "export database 'e'"),
    (DUCKDB, "install httpfs"),
    (DUCKDB, "load httpfs"),
    (DUCKDB, "set enable_external_access = true"),
    (DUCKDB, "set memory_limit = '100GB'"),
    (DUCKDB, "pragma threads = 64"),
]


@pytest.mark.parametrize(("engine", "source"), REFUSED)
@pytest.mark.parametrize("writable", [False, True])
def test_what_reaches_out_of_the_database_is_denied_by_the_engine(
    sandbox: Sandbox, engine: DatabaseEngine, source: str, writable: bool
) -> None:
    execution = run(sandbox, engine, source, writable=writable)
    assert execution.failure_class is FailureClass.PERMISSION_DENIED, execution
    assert not [attempt for attempt in execution.attempts if attempt.allowed]


def test_python_variables_are_no_tables(sandbox: Sandbox) -> None:
    assert run(sandbox, DUCKDB, "select * from database").failure_class is FailureClass.EXCEPTION


CLASSES = [
    ("selec 1", FailureClass.SYNTAX_ERROR, 1),
    ("select 1;\n\nselec 1", FailureClass.SYNTAX_ERROR, 3),
    ("select 'a", FailureClass.SYNTAX_ERROR, 1),
    ("select '\ud800'", FailureClass.SYNTAX_ERROR, None),
    ('select * from "syntax error"', FailureClass.EXCEPTION, 1),
    ("select 1;\n\nselect * from absent", FailureClass.EXCEPTION, 3),
    ("select missing_column from t", FailureClass.EXCEPTION, 1),
    ("select no_such_function(1)", FailureClass.EXCEPTION, 1),
    ("create temp table n (a int not null);\ninsert into n values (null)", FailureClass.EXCEPTION, 2),
]


@pytest.mark.parametrize(("source", "wanted", "line"), CLASSES)
def test_failures_have_their_class_and_line(
    sandbox: Sandbox, engine: DatabaseEngine, source: str, wanted: FailureClass, line: int | None
) -> None:
    execution = run(sandbox, engine, source)
    assert execution.failure_class is wanted, execution
    assert execution.raised is not None
    assert execution.raised.line == line


def test_a_query_without_an_end_is_a_timeout(sandbox: Sandbox, engine: DatabaseEngine) -> None:
    endless = "with recursive r(n) as (select 1 union all select n + 1 from r) select max(n) from r"
    short = Limits(wall_s=0.5, cpu_s=0.5)
    assert run(sandbox, engine, endless, limits=short).failure_class is FailureClass.TIMEOUT


def test_a_query_that_needs_too_much_is_out_of_memory(sandbox: Sandbox, engine: DatabaseEngine) -> None:
    doubled = (
        "with recursive r(x) as (select 'aaaaaaaaaaaaaaaa' union all select x || x from r) select * from r"
    )
    execution = run(sandbox, engine, doubled, limits=Limits(output_kill_bytes=1 << 40))
    assert execution.failure_class is FailureClass.OUT_OF_MEMORY, execution


def test_a_database_file_of_the_engine_is_read(
    sandbox: Sandbox, engine: DatabaseEngine, tmp_path: Path
) -> None:
    path = tmp_path / "my data.db"
    connection = (sqlite3 if engine is SQLITE else duckdb).connect(str(path))  # type: ignore[attr-defined]
    connection.execute("create table t (a int)")
    connection.execute("insert into t values (5)")
    connection.commit()
    connection.close()
    files = {path.name: path.read_bytes()}
    assert run(sandbox, engine, "select a from t", path.name, files=files).stdout == "5\n"


@pytest.mark.parametrize("content", [b"create tabel", b"\xff", b"select * from absent"])
def test_a_fixture_that_cannot_be_made_is_no_failure_of_the_program(
    sandbox: Sandbox, engine: DatabaseEngine, content: bytes
) -> None:
    with pytest.raises(UnsupportedFixtures, match=r"base\.sql.*cannot be made"):
        run(sandbox, engine, "select 1", files={"base.sql": content})


def test_a_file_that_is_no_database_is_no_failure_of_the_program(
    sandbox: Sandbox, engine: DatabaseEngine
) -> None:
    with pytest.raises(UnsupportedFixtures, match=r"x\.db.*cannot be made"):
        run(sandbox, engine, "select 1", "x.db", files={"x.db": b"no database at all " * 100})
    with pytest.raises(UnsupportedFixtures, match="not among the program's files"):
        run(sandbox, engine, "select 1", "y.db")
