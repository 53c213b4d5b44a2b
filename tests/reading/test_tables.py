"""A text that is one table, with the names of its columns and typed values."""

from __future__ import annotations

import pytest

from spanproof.reading.documents.read import read_records
from spanproof.reading.sql_facts import list_columns
from spanproof.reading.tables import find_table

COLUMNS = ("city", "people")


@pytest.mark.parametrize(
    "text",
    [
        '[{"city": "Oslo", "people": 717710}, {"city": "Bergen", "people": 291940}]',
        "[{'city': 'Oslo', 'people': 717710}, {'city': 'Bergen', 'people': 291940}]",
        '{"columns": ["city", "people"], "rows": [["Oslo", 717710], ["Bergen", 291940]]}',
        '{"city": ["Oslo", "Bergen"], "people": [717710, 291940]}',
        '[["city", "people"], ["Oslo", 717710], ["Bergen", 291940]]',
        "city,people\nOslo,717710\nBergen,291940\n",
        " city   | people\n--------+--------\n Oslo   | 717710\n Bergen | 291940\n(2 rows)\n",
        "+--------+--------+\n| city   | people |\n+--------+--------+\n| Oslo   | 717710 |\n| Bergen | 291940 |\n+--------+--------+",  # noqa: E501
        "  city    people\n  Oslo    717710\n  Bergen  291940",
        (
            "<table><tr><th>city</th><th>people</th></tr><tr><td>Oslo</td><td>717710</td></tr>"
            "<tr><td>Bergen</td><td>291940</td></tr></table>"
        ),
    ],
)
def test_a_table_has_its_columns_and_rows(text):
    table = find_table(text)
    assert table is not None
    assert table.columns == COLUMNS
    assert [(city, str(people)) for city, people in table.rows] == [("Oslo", "717710"), ("Bergen", "291940")]


@pytest.mark.parametrize(
    "text",
    [
        "[('Oslo', 717710), ('Bergen', 291940)]",
        "Oslo|717710\nBergen|291940",
        "city|people\nOslo|717710\nBergen|291940",
    ],
)
def test_a_query_names_the_columns_of_rows_without_names(text):
    table = find_table(text, list_columns("SELECT c.name AS city, people FROM cities c"))
    assert table is not None
    assert (table.columns, len(table.rows), table.rows[0][0]) == (COLUMNS, 2, "Oslo")


@pytest.mark.parametrize(
    "text", ["", "The city has 5 people.", "[1, 2, 3]", "{}", "[]", "a,b\n1,2,3\n", "[{}, 3]", '["a", "b"]']
)
def test_what_is_no_table_is_none(text):
    assert find_table(text) is None


def test_rounded_print_is_no_exact_table():
    text = "city      share\nOslo      0.333333\nBergen    0.666667"
    assert find_table(text) is not None
    assert find_table(text, exact=True) is None


@pytest.mark.parametrize(
    ("query", "columns"),
    [
        ("SELECT a, t.b AS c FROM t", ("a", "c")),
        ("select count(*), max(x) as top from t group by y", ("COUNT(*)", "top")),
        ("WITH q AS (SELECT 1 AS z) SELECT z, z + 1 AS after FROM q", ("z", "after")),
        ("SELECT * FROM t", ()),
        ("SELECT DISTINCT a FROM t", ("a",)),
        ("DELETE FROM t", ()),
        ("no query", ()),
        ("SELECT (" * 3000, ()),
    ],
)
def test_the_columns_of_a_query_have_the_names_of_its_select(query, columns):
    assert list_columns(query) == columns


def test_records_are_named_values_as_written():
    assert read_records("Result:\n| name | amount |\n|---|---|\n| **Ann** | $1,200 |\n| Bo | n/a |") == [
        {"name": "Ann", "amount": "$1,200"},
        {"name": "Bo", "amount": "n/a"},
    ]
