"""Columns of queries held against the tables that a run was shown."""

from __future__ import annotations

import pytest
from agents_of_a_licence_desk import LICENCE_TOOLS
from agents_of_a_shop import traced

from spanproof.evaluators.engine import Engine
from spanproof.reading.described_tables import Result
from spanproof.reading.sql_schema import build_schema
from spanproof.sandbox.scanners.pipeline import Pipeline
from spanproof.trace import Label, Scored, Skipped

SHOWN = [
    "CREATE TABLE orders (\n  id INTEGER PRIMARY KEY,\n  total NUMERIC(10, 2),\n  placed DATE\n)",
    "Tables:\nCREATE TABLE `refunds` (order_id INT, amount DECIMAL(8,2), state VARCHAR(20)) ENGINE=InnoDB;",
    "not a CREATE TABLE ( of anything",
]


@pytest.mark.parametrize(
    ("query", "unknown"),
    [
        ("SELECT SUM(total) FROM orders", ()),
        ("SELECT SUM(totl) FROM orders", ("orders.totl",)),
        ("SELECT o.id, r.amount FROM orders o JOIN refunds r ON r.order_id = o.id", ()),
        ("SELECT o.id, r.sum FROM orders o JOIN refunds r ON r.order_id = o.id", ("sum",)),
        ("SELECT total AS t FROM orders ORDER BY t", ()),
        ('SELECT id FROM orders WHERE placed = "2026-01-01"', ()),
        ("SELECT name FROM customers", ()),
        ("WITH x AS (SELECT id AS n FROM orders) SELECT n FROM x", ()),
        ("SELECT rowid, * FROM orders", ()),
        ("SELEC nothing FROM", ()),
    ],
)
def test_a_column_is_unknown_only_of_tables_that_were_shown(query, unknown):
    assert build_schema(SHOWN).list_unknown_columns(query) == unknown


def test_hostile_text_defines_no_table():
    assert not build_schema(["CREATE TABLE x (" + "(" * 50_000, "CREATE TABLE " * 10_000]).tables


ORDERS = {"orders": frozenset({"id", "total", "placed"})}
CATALOGUE = "SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = 'public'"
PSQL = """                      Table "public.orders"
 Column |     Type      | Collation | Nullable | Default
--------+---------------+-----------+----------+---------
 id     | integer       |           | not null |
 total  | numeric(10,2) |           |          |
 placed | date          |           |          |
Indexes:
    "orders_pkey" PRIMARY KEY, btree (id)
"""
DESCRIBED = [
    Result(
        "[(0, 'id', 'INT', 0, None, 1), (1, 'total', 'REAL', 0, None, 0), (2, 'placed', 'TEXT', 0, None, 0)]",
        "PRAGMA table_info(orders)",
    ),
    Result("0|id|INTEGER|0||1\n1|total|REAL|0||0\n2|placed|TEXT|0||0", "PRAGMA table_info('orders');"),
    Result(
        '[{"cid": 0, "name": "id"}, {"cid": 1, "name": "total"}, {"cid": 2, "name": "placed"}]',
        "pragma table_info(orders)",
    ),
    Result("[('id', 'int'), ('total', 'decimal(10,2)'), ('placed', 'date')]", "DESCRIBE orders;"),
    Result(
        "Field | Type | Null\nid | int | NO\ntotal | decimal | YES\nplaced | date | YES",
        "SHOW COLUMNS FROM shop.orders",
    ),
    Result(
        "| column_name | column_type |\n|---|---|\n| id | BIGINT |\n| total | DOUBLE |\n| placed | DATE |",
        "desc orders",
    ),
    Result("table_name,column_name\norders,id\norders,total\norders,placed", CATALOGUE),
    Result(
        '[{"column_name": "id"}, {"column_name": "total"}, {"column_name": "placed"}]',
        "SELECT column_name FROM information_schema.columns WHERE table_name = 'orders'",
    ),
    Result(PSQL, "", "shell", ("psql -c '\\\\d orders'",)),
    Result(
        '{"table": "orders", "columns": [{"name": "id"}, {"name": "total"}, {"name": "placed"}]}',
        tool="lookup",
    ),
    Result('{"tables": [{"name": "orders", "columns": ["id", "total", "placed"]}]}', "", "list_tables"),
    Result('{"orders": ["id", "total", "placed"]}', "", "get_schema"),
    Result('{"orders": {"id": "INTEGER", "total": "REAL", "placed": "TEXT"}}', "", "get_schema"),
    Result(
        "Columns of orders:\n- id: INTEGER\n- total: REAL\n- placed: TEXT", "", "describe_table", ("orders",)
    ),
    Result("orders: id INTEGER, total REAL, placed TEXT", "", "table_schema", ("orders",)),
    Result("id          int64\ntotal     float64\nplaced     object\ndtype: object", "print(orders.dtypes)"),
]


@pytest.mark.parametrize("result", [pytest.param(each, id=each.source or each.tool) for each in DESCRIBED])
def test_a_table_is_known_by_a_list_of_its_columns(result):
    schema = build_schema([], [result])
    assert schema.tables == ORDERS
    assert schema.list_unknown_columns("SELECT discount FROM orders") == ("orders.discount",)
    assert not schema.list_unknown_columns("SELECT SUM(total) FROM orders WHERE placed > '2026-01-01'")


@pytest.mark.parametrize(
    "result",
    [
        Result("table_name,column_name\norders,id\norders,total", f"{CATALOGUE} LIMIT 2"),
        Result(
            "column_name\nid", "SELECT column_name FROM information_schema.columns WHERE data_type = 'int'"
        ),
        Result("column_name\nid", "SELECT column_name FROM information_schema.columns"),
        Result("id, total\n1, 20.5", "SELECT * FROM orders"),
        Result(
            '{"name": "orders", "columns": ["id", "total"], "rows": [[1, 20.5]]}',
            "SELECT id, total FROM orders",
        ),
        Result("- id: INTEGER\n- total: REAL\n...", "", "describe_table", ("orders",)),
        Result("The orders of a shop, by day", "", "describe_table", ("orders",)),
        Result("Error: no such table orders", "DESCRIBE orders"),
        Result('[{"id": 1, "total": 20.5}]', "", "describe_orders", ("orders",)),
    ],
)
def test_a_part_of_the_columns_describes_no_table(result):
    assert not build_schema([], [result]).tables


def test_a_column_that_a_query_used_well_is_known():
    schema = build_schema([], DESCRIBED[:1], ["SELECT note FROM orders"])
    assert not schema.list_unknown_columns("SELECT note FROM orders WHERE id = 2")


def test_columns_of_tables_that_were_not_shown_are_not_said_to_need_python():
    with traced() as run:
        query = {"query_registry": {"sql": "SELECT fee FROM licences"}}
        trace = run("langgraph", "What are the fees?", [query, "The fees are listed."], LICENCE_TOOLS)
    evaluation = Engine(pipeline=Pipeline(), sandbox=None).evaluate(trace)
    (outcome,) = (score.outcome for score in evaluation.scores if score.name == "attributes_exist")
    assert isinstance(outcome, Skipped)
    assert outcome.reason == "none of its columns can be looked up in tables that the run was shown"


def test_a_made_up_column_is_found_without_a_database():
    with traced() as run:
        trace = run(
            "langgraph",
            "What is the discount of Draftsman?",
            [
                {"describe_table": {"name": "licences"}},
                {"query_registry": {"sql": "SELECT discount FROM licences"}},
                {"query_registry": {"sql": "SELECT fee FROM licences"}},
                "There is no discount; the fees are listed.",
            ],
            LICENCE_TOOLS,
        )
    evaluation = Engine(pipeline=Pipeline(), sandbox=None).evaluate(trace)
    found = [score.outcome for score in evaluation.scores if score.name == "attributes_exist"]
    scored = [outcome for outcome in found if isinstance(outcome, Scored)]
    assert [outcome.label for outcome in scored] == [Label.FAIL, Label.PASS], found
    assert "licences.discount" in scored[0].explanation
    assert not any(isinstance(outcome, Skipped) for outcome in found), found
