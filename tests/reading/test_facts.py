"""Facts: one table in any notation gives the same records."""

from __future__ import annotations

import csv
import io
import json

import pandas
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spanproof.reading.documents.read import MAX_CHARS, read_facts
from spanproof.reading.records import MAX_FACTS

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


def drawn(rows, bars, types=None):
    """A box as a program draws it: top, sides, cross, bottom and the bars between cells."""
    (left, middle, right), (side, inner), rule = bars
    cells = [list(map(str, row)) for row in [COLUMNS, *([types] if types else []), *rows]]
    widths = [max(len(row[place]) for row in cells) for place in range(3)]
    lines = [
        side + inner.join(f" {cell.ljust(width)} " for cell, width in zip(row, widths, strict=True)) + side
        for row in cells
    ]
    bar = left + middle.join(rule * (width + 2) for width in widths) + right
    heads = 2 if types else 1
    return "\n".join([bar, *lines[:heads], bar, *lines[heads:], bar])


def xml(rows):
    items = "".join(
        f'<item stock="{stock}"><product>{product}</product><price>{price}</price></item>'
        for product, stock, price in rows
    )
    return f'<?xml version="1.0"?>\n<x:items xmlns:x="urn:x">{items}</x:items>'


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
    "duckdb": lambda rows: drawn(rows, ("┌┬┐", "││", "─"), ("varchar", "int64", "double")),
    "polars": lambda rows: drawn(rows, ("╞╪╡", "│┆", "═")),
    "rich": lambda rows: drawn(rows, ("┏┳┓", "┃┃", "━")),
    "mysql": lambda rows: drawn(rows, ("+++", "||", "-")),
    "xml": xml,
    "single blanks": lambda rows: "\n".join(" ".join(map(str, row)) for row in [COLUMNS, *rows]),
    "equations": lambda rows: "\n".join(f"product={a} stock={b} price={c}" for a, b, c in rows),
    "blocks": lambda rows: "\n---\n".join(f"product: {a}\nstock: {b}\nprice: {c}" for a, b, c in rows),
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


@pytest.mark.parametrize(
    "text",
    [
        "<a>" * 2000,
        "<a>\n" * 2000,
        "<html><body><p>12 euros</p></body></html>",
        "<note>The price was 12 euros.</note>",
        f"<page><title>Prices</title><text>{'It costs 12 euros. ' * 40}</text></page>",
        "<a><b>12</c></a>",
        "<!-- " * 2000,
    ],
)
def test_what_is_no_data_in_xml_is_read_as_before(text):
    assert not any(fact.path for fact in read_facts([text]).facts)


def test_an_attribute_is_a_field_beside_the_text_of_its_element():
    text = '<total currency="EUR"><net>10.50</net><vat rate="19">2.00</vat></total> Done.'
    found = {fact.path: text[fact.start : fact.end] for fact in read_facts([text]).facts if fact.path}
    assert found == {
        ("currency",): "EUR",
        ("net",): "10.50",
        ("vat", "rate"): "19",
        ("vat", "vat"): "2.00",
    }


@pytest.mark.parametrize(
    ("name", "written", "unit", "amount"),
    [
        ("bitrate_kbps", "128", "bitrate", 128_000),
        ("duration_s", "3310", "time", 3310),
        ("battery_mv", "12650", "voltage", 12.65),
        ("pressure_hpa", "1013", "pressure", 1.013),
        ("s", "12", "", 12),
    ],
)
def test_the_end_of_a_field_names_its_unit(name, written, unit, amount):
    (fact,) = read_facts([f'{{"{name}": {written}}}']).facts
    assert (fact.value.unit, round(fact.value.number, 6)) == (unit, amount)


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("Oak: mean 64.9, n=25, failed=6\nElm: mean 71.3, n=28, failed=2", [
            {"mean": 64.9, "n": 25, "failed": 6}, {"mean": 71.3, "n": 28, "failed": 2}]),
        ("Oak: 12 tall, 3 felled - sold", [{"tall": 12, "felled": 3, "column 3": "sold"}]),
        ("Oak - pickup 08:15 - $34.50, 2 pieces", [{"pickup": (8, 15, None), "column 2": 34.5, "pieces": 2}]),
        ("== 4 failed, 212 passed ==", [{"failed": 4, "passed": 212}]),
        ("Sat 19:30 stalls 42 circle 18 balcony 77", [{"stalls": 42, "circle": 18, "balcony": 77}]),
        ('id=7 name="Ann Lee" share=0.25', [{"id": 7, "name": "ann lee", "share": 0.25}]),
        ("Oak 12 3.5\nElm 9 2.5", [
            {"column 1": "oak", "column 2": 12, "column 3": 3.5},
            {"column 1": "elm", "column 2": 9, "column 3": 2.5}]),
    ],
)  # fmt: skip
def test_lines_of_named_values_are_rows(text, rows):
    base = read_facts([text])
    found = {}
    for fact in base.facts:
        if fact.path and fact.role == "cell":
            value = fact.value
            found.setdefault(fact.record, {})[fact.field] = value.time or value.number or value.text
    assert list(found.values()) == rows


@pytest.mark.parametrize(
    "text",
    [
        "On Monday we sold 3 chairs, and 4 lamps; the rest is left.",
        "2026-03-01 10:00:00 INFO loaded 12 rows, 3 skipped, none lost",
        "We have 12 orders, 3 returns and 5 refunds.",
    ],
)
def test_prose_is_no_row_of_named_values(text):
    assert not [fact for fact in read_facts([text]).facts if fact.path and fact.role == "cell"]


def test_what_is_said_above_and_below_an_aligned_table_is_no_row():
    table = "NAME     READY   STATUS\ncart-1   1/1     Running\nmail-2   0/1     Failed"
    text = f"$ list pods now\n{table}\n2 pods in all"
    base = read_facts([text])
    found = [text[fact.start : fact.end] for fact in base.facts if fact.path == ("STATUS",)]
    assert found == ["Running", "Failed"]


def test_blocks_that_begin_with_one_name_are_rows_of_one_table():
    base = read_facts(["name: Ann\nage: 31\nname: Bo\nage: 40"])
    assert [len(records) for records in base.groups.values()] == [2]
