"""What a statement's text holds: strings reach nothing, and `EXPLAIN` is judged by what it explains."""

from __future__ import annotations

import pytest

from spanproof.sandbox.policy import Policy
from spanproof.sandbox.scanners.model import Verdict
from spanproof.sandbox.scanners.pipeline import Pipeline

_DEFAULT = Pipeline()
_STATED = Pipeline(Policy(sql_verbs=frozenset({"select", "explain"}), sql_tables=frozenset({"orders"})))


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT 'into outfile' FROM t",
        "SELECT * FROM t WHERE a = 'copy x to program ''y''' OR tag IN ('xp_cmdshell', 'load data')",
        "EXPLAIN (ANALYZE, BUFFERS) SELECT * FROM orders",
        "EXPLAIN QUERY PLAN SELECT * FROM t WHERE a = 1",
        "EXPLAIN DELETE FROM t",
    ],
)
def test_a_text_that_runs_nothing_is_allowed(statement: str) -> None:
    scan = _DEFAULT.scan("sql", statement)

    assert scan.verdict is Verdict.ALLOW, scan.findings


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT * FROM t INTO OUTFILE '/tmp/x'",
        r"SELECT 'a\'' INTO OUTFILE '/x'",
        "SELECT `a'b` INTO OUTFILE '/x'",
        "SELECT 1 # it's\nINTO OUTFILE '/x'",
        "/* /* */ ' */ COPY t TO PROGRAM 'id'",
        "SELECT * FROM t WHERE a = '/* it' INTO OUTFILE 'x' -- */'",
        "EXPLAIN ANALYZE DELETE FROM t",
        "EXPLAIN (VERBOSE, ANALYZE) UPDATE t SET a = 1",
        "EXPLAIN ANALYZE SELECT pg_read_file('/etc/passwd')",
        "explain analyze with x as (delete from y returning 1) select * from x",
    ],
)
def test_what_reaches_out_or_writes_is_denied(statement: str) -> None:
    scan = _DEFAULT.scan("sql", statement)

    assert scan.verdict is Verdict.DENY, scan.findings


@pytest.mark.parametrize("statement", ["EXPLAIN SELECT * FROM users", "EXPLAIN ANALYZE SELECT * FROM users"])
def test_tables_of_an_explained_statement_are_judged(statement: str) -> None:
    assert _STATED.scan("sql", statement).verdict is Verdict.DENY
    assert _STATED.scan("sql", statement.replace("users", "orders")).verdict is Verdict.ALLOW


@pytest.mark.parametrize(
    ("language", "source"),
    [
        ("javascript", "import { send } from './db.js'; await send('DROP TABLE customers')"),
        ("javascript", "queue.send('DELETE FROM customers')"),
        ("javascript", "await this.db.execute('TRUNCATE customers')"),
        ("python", "from db import send\nsend('TRUNCATE customers')"),
    ],
)
def test_a_bare_call_that_gets_a_statement_is_judged_where_the_policy_states_verbs(
    language: str, source: str
) -> None:
    assert _STATED.scan(language, source).verdict is Verdict.DENY
    assert _DEFAULT.scan(language, source).verdict is Verdict.ALLOW


def test_prose_that_is_sent_is_no_statement() -> None:
    source = "res.send('DROP us a line when the table is ready')"

    assert _STATED.scan("javascript", source).verdict is Verdict.ALLOW
