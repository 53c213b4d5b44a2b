"""Facts: one table in any notation gives the same records."""

from __future__ import annotations

import csv
import io
import json

import pandas
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spanproof.evaluators.layers.groundedness.facts.base import MAX_FACTS
from spanproof.evaluators.layers.groundedness.facts.read import MAX_CHARS, read_facts

NAMES = st.sampled_from(["Lamp", "Desk", "Chair", "Kettle", "Mirror", "Carpet", "Shelf", "Clock"])
ROWS = st.lists(
    st.tuples(NAMES, st.integers(10, 999), st.integers(100, 99_999).map(lambda cents: cents / 100)),
    min_size=2, max_size=6, unique_by=lambda row: row[0],
)  # fmt: skip
COLUMNS = ("product", "stock", "price")


def delimited(rows, delimiter):
    out = io.StringIO()
    csv.writer(out, delimiter=delimiter, lineterminator="\n").writerows([COLUMNS, *rows])
    return out.getvalue()


def aligned(rows, gap="   "):
    cells = [list(map(str, row)) for row in [COLUMNS, *rows]]
    widths = [max(len(row[place]) for row in cells) for place in range(3)]
    return "\n".join(
        gap.join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in cells
    )


def boxed(rows):
    lines = aligned(rows, " | ").splitlines()
    return "\n".join([lines[0], "-" * len(lines[0]), *lines[1:]])


def records(rows):
    return [dict(zip(COLUMNS, row, strict=True)) for row in rows]


RENDERINGS = {
    "json": lambda rows: json.dumps(records(rows)),
    "indented json": lambda rows: json.dumps(records(rows), indent=2),
    "json lines": lambda rows: "\n".join(map(json.dumps, records(rows))),
    "python": lambda rows: repr(records(rows)),
    "columns": lambda rows: json.dumps({name: [row[place] for row in rows] for place, name in enumerate(COLUMNS)}),  # noqa: E501
    "csv": lambda rows: delimited(rows, ","),
    "semicolons": lambda rows: delimited(rows, ";"),
    "tabs": lambda rows: delimited(rows, "\t"),
    "markdown": lambda rows: "\n".join(["| product | stock | price |", "|---|--:|--:|", *(f"| {a} | {b} | {c} |" for a, b, c in rows)]),  # noqa: E501
    "pandas": lambda rows: pandas.DataFrame(records(rows)).to_string(),
    "shell": aligned,
    "box": boxed,
}  # fmt: skip


def facts_of(text):
    base = read_facts([text])
    found = {}
    for fact in base.facts:
        if fact.path and fact.role == "cell":
            found.setdefault(fact.record, {})[fact.field] = fact.value.number or fact.value.text
    return sorted(tuple(sorted(row.items())) for row in found.values())


@pytest.mark.parametrize("name", RENDERINGS)
@settings(max_examples=25, deadline=None)
@given(ROWS)
def test_a_table_gives_the_same_records_in_every_notation(name, rows):
    assert facts_of(RENDERINGS[name](rows)) == facts_of(RENDERINGS["json"](rows))


@given(ROWS)
def test_a_fact_knows_its_characters(rows):
    text = RENDERINGS["csv"](rows)
    base = read_facts([text])
    for fact in base.facts:
        if fact.field == "price":
            assert float(text[fact.start : fact.end]) == fact.value.number


def test_a_table_may_name_its_scale():
    base = read_facts(["item,2023,2024\nSales,1200,1310\nCosts,900,870\n"], "Figures in thousands")
    assert {fact.factor for fact in base.facts if fact.field == "2024"} == {1000.0}


def test_reading_is_bounded():
    assert read_facts(["x" * (MAX_CHARS + 1)]).cut
    many = read_facts(["[" + "1," * (MAX_FACTS + 10) + "1]"])
    assert len(many.facts) <= MAX_FACTS
    assert read_facts(["[" * 5000]).facts == []


@pytest.mark.parametrize("above", [0, 1, 12])
def test_an_aligned_table_is_read_below_lines_of_prose(above):
    prose = [f"Refunds_of_order_{number}_were_paid." for number in range(above)]
    base = read_facts(["\n".join([*prose, "item      cents", "Lamp       3000", "Bulb       1500"])])
    assert [base.texts[0][fact.start : fact.end] for fact in base.facts if fact.path[-1:] == ("cents",)] == [
        "3000",
        "1500",
    ]
