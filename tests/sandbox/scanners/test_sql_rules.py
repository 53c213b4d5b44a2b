"""What statements may do on single connections, by `sql_rules` of a policy."""

from __future__ import annotations

from pathlib import Path

import pytest

from spanproof.sandbox.errors import PolicyError
from spanproof.sandbox.policy_file import parse_policy
from spanproof.sandbox.scanners.model import Verdict
from spanproof.sandbox.scanners.pipeline import Pipeline

_DOCUMENT = {
    "hosts": ["db.example", "other.example"],
    "sql_tables": ["orders"],
    "sql_rules": [
        {
            "host": "db.example",
            "database": "shop",
            "verbs": ["select", "insert"],
            "tables": ["orders", "log"],
        },
        {"file": "/work/scratch*.db"},
        {"memory": True, "verbs": ["select"]},
    ],
}
_PIPELINE = Pipeline(parse_policy(_DOCUMENT, "test"))

_PSYCOPG = "import psycopg2\nc = psycopg2.connect('host={} dbname={}')\nc.cursor().execute('{}')"
_PSQL = 'psql -h {} -d {} -c "{}"'
_NODE = "const pg = require('pg'); const c = new pg.Client({{host: '{}', database: '{}'}}); c.query('{}');"
_SERVERS = [("python", _PSYCOPG), ("bash", _PSQL), ("javascript", _NODE)]
_FORMS = {
    "python": "import sqlite3\nsqlite3.connect('{}').execute('{}')",
    "bash": 'sqlite3 {} "{}"',
    "javascript": "const D = require('better-sqlite3'); new D('{}').exec('{}');",
}


@pytest.mark.parametrize(("language", "form"), _SERVERS)
@pytest.mark.parametrize(
    ("host", "database", "statement", "wanted"),
    [
        ("db.example", "shop", "INSERT INTO log VALUES (1)", Verdict.ALLOW),
        ("db.example", "shop", "SELECT * FROM salaries", Verdict.DENY),
        ("db.example", "shop", "DROP TABLE log", Verdict.DENY),
        ("db.example", "hr", "INSERT INTO orders VALUES (1)", Verdict.DENY),
        ("other.example", "shop", "INSERT INTO orders VALUES (1)", Verdict.DENY),
        ("other.example", "shop", "SELECT * FROM orders", Verdict.ALLOW),
    ],
)
def test_a_rule_holds_for_its_server_and_database(
    language: str, form: str, host: str, database: str, statement: str, wanted: Verdict
) -> None:
    scan = _PIPELINE.scan(language, form.format(host, database, statement))

    assert scan.verdict is wanted, scan.findings


@pytest.mark.parametrize("language", sorted(_FORMS))
@pytest.mark.parametrize(
    ("file", "statement", "wanted"),
    [
        ("scratch1.db", "DROP TABLE log", Verdict.ALLOW),
        ("/work/shop.db", "DROP TABLE log", Verdict.DENY),
        (":memory:", "SELECT * FROM anything", Verdict.ALLOW),
        (":memory:", "DROP TABLE anything", Verdict.DENY),
    ],
)
def test_a_rule_holds_for_its_file_or_memory(
    language: str, file: str, statement: str, wanted: Verdict
) -> None:
    scan = _PIPELINE.scan(language, _FORMS[language].format(file, statement))

    assert scan.verdict is wanted, scan.findings


def test_connections_of_one_driver_are_each_judged() -> None:
    source = (
        "import psycopg2\nfor host in ['db.example', 'other.example']:\n"
        "    psycopg2.connect(host=host, dbname='shop').cursor().execute('INSERT INTO log VALUES (1)')"
    )

    assert _PIPELINE.scan("python", source).verdict is Verdict.DENY


@pytest.mark.parametrize("rule", [{}, {"verbs": ["select"]}, {"hots": "a"}, {"file": "shop.db"}])
def test_a_rule_for_nothing_is_refused(rule: object, tmp_path: Path) -> None:
    with pytest.raises(PolicyError, match=r"sql_rules|SQL rule"):
        parse_policy({"sql_rules": [rule]}, "test", tmp_path)


def test_several_statements_are_reviewed_where_one_of_them_writes() -> None:
    pipeline = Pipeline(parse_policy({"sql_verbs": ["select", "insert"]}, "test"))

    scan = pipeline.scan("sql", "SELECT 1; INSERT INTO t VALUES (1)")

    assert [finding.rule for finding in scan.findings] == ["sql.statement.several"]
    assert scan.verdict is Verdict.REVIEW
    assert pipeline.scan("sql", "BEGIN; SELECT 1; SELECT 2; COMMIT").verdict is Verdict.ALLOW
