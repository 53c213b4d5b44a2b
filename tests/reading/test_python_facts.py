"""One parse of a snippet gives its names, its handlers and what it prints of an exception."""

from __future__ import annotations

from spanproof.reading.python_facts import find_failing_statement, find_python_facts

SOURCE = """
import pandas as pd
from json import loads

total = 4
rows = []
for row in loads(text):
    rows.append(row["fee"])
try:
    price = get_price(9)
except KeyError as error:
    print(f"failed: {error}")
    price = 12.5
print(sum(rows) + total)
"""


def test_the_facts_of_a_snippet():
    facts = find_python_facts(SOURCE)
    assert facts is find_python_facts(SOURCE)
    assert facts.imports == {"pd": "pandas", "loads": "json"}
    assert {"loads", "append", "get_price", "print", "sum"} <= facts.called_names
    assert facts.bound_names >= {"total", "rows", "row", "price"}
    assert facts.filled_names == {"rows", "row"}
    assert facts.literal_names == {"total", "rows"}
    assert facts.shows_value
    assert [handler.has_own_value for handler in facts.handlers] == [(True,)]
    assert facts.guarded[0].names == {"price", "get_price"}


def test_a_printed_exception_is_the_last_line():
    facts = find_python_facts(SOURCE)
    assert facts.find_printed_exception("failed: 'x'") == "failed: 'x'"
    assert facts.find_printed_exception("failed: 'x'\n31.0") is None


def test_what_is_no_python_has_no_facts():
    assert find_python_facts("SELECT 1 FROM x") is None
    assert find_python_facts("x = (" * 10_000) is None


def test_the_statement_that_raised_is_found_by_what_the_error_names():
    facts = find_python_facts(SOURCE)
    found = find_failing_statement(facts.tree, SOURCE, "KeyError: 'fee'", frozenset({"fee"}))
    assert found is facts.tree.body[4]
