"""Columns of queries held against the tables that a run was shown."""

from __future__ import annotations

import pytest
from agents_of_a_licence_desk import LICENCE_TOOLS
from agents_of_a_shop import traced

from spanproof.evaluators.engine import Engine
from spanproof.evaluators.outcomes.schema import schema_of
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
    assert schema_of(SHOWN).unknown_columns(query) == unknown


def test_hostile_text_defines_no_table():
    assert not schema_of(["CREATE TABLE x (" + "(" * 50_000, "CREATE TABLE " * 10_000]).tables


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
