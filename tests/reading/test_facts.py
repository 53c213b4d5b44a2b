"""Facts: one table in any notation gives the same records."""

from __future__ import annotations

import csv
import io
import json
import sys
from typing import NamedTuple

import pandas
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spanproof.reading.documents.read import MAX_CHARS, read_facts
from spanproof.reading.records import MAX_FACTS
from spanproof.reading.sql_facts import list_columns

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


class Product(NamedTuple):
    product: str
    stock: int
    price: float


def html(rows):
    head = "".join(f"<th>{name}</th>" for name in COLUMNS)
    body = "".join(
        "<tr>" + "".join(f"<td class=x><b>{cell}</b></td>\n" for cell in row) + "</tr>" for row in rows
    )
    return f"<html><body><h1>Stock</h1>\n<table border='1'><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"  # noqa: E501


def ruled(rows):
    lines = aligned(rows).splitlines()
    return "\n".join([lines[0], "  ".join(["-" * 8] * 3), *lines[1:]])


def wrapped(rows):
    """A frame as pandas writes it where a line is too short for it."""
    with pandas.option_context("display.width", 20, "display.max_columns", 10):
        return repr(pandas.DataFrame(records(rows)))


def blocks(rows, head, sign):
    return "\n".join(
        "\n".join(
            [head.format(number), *(f"{name}{sign}{cell}" for name, cell in zip(COLUMNS, row, strict=True))]
        )
        for number, row in enumerate(rows, 1)
    )


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
    "frame in print": lambda rows: pandas.DataFrame(records(rows)).to_string(index=False),
    "wrapped frame": lambda rows: wrapped(rows),
    "psql": lambda rows: f"{boxed(rows).replace('-' * 5, '-+---')}\n({len(rows)} rows)\n",
    "psql, expanded": lambda rows: blocks(rows, "-[ RECORD {0} ]------", " | "),
    "mysql, vertical": lambda rows: blocks(rows, "*************************** {0}. row ***************************", ": "),  # noqa: E501
    "sqlite": lambda rows: delimited(rows, "|"),
    "tabulate grid": lambda rows: drawn(rows, ("+++", "||", "-")).replace("\n|", "\n+====+====+\n|"),
    "tabulate simple": ruled,
    "html": html,
    "json, split": lambda rows: json.dumps({"columns": COLUMNS, "index": list(range(len(rows))), "data": rows}),  # noqa: E501
    "json, columns by row": lambda rows: pandas.DataFrame(records(rows)).to_json(),
    "lists below their names": lambda rows: json.dumps([COLUMNS, *rows]),
    "yaml": lambda rows: "\n".join(f"- product: {a}\n  stock: {b}\n  price: {c}" for a, b, c in rows),
    "yaml below a name": lambda rows: "items:\n" + "\n".join(f"  - product: {a}\n    stock: {b}\n    price: {c}" for a, b, c in rows),  # noqa: E501
    "constructors": lambda rows: repr([Product(*row) for row in rows]),
    "blocks between blank lines": lambda rows: "\n\n".join(f"product: {a}\nstock: {b}\nprice: {c}" for a, b, c in rows),  # noqa: E501
    "blocks": lambda rows: "\n---\n".join(f"product: {a}\nstock: {b}\nprice: {c}" for a, b, c in rows),
}  # fmt: skip


# The names of the columns are in the query: SELECT product, stock, price FROM items.
BESIDE_A_QUERY = {
    "tuples": lambda rows: repr(rows),
    "tuples, one a line": lambda rows: "\n".join(map(repr, rows)),
    "lists in json": lambda rows: json.dumps(rows),
    "bars without a head": lambda rows: "\n".join("|".join(map(str, row)) for row in rows),
    "tabs without a head": lambda rows: "\n".join("\t".join(map(str, row)) for row in rows),
}


def facts_of(text, columns=()):
    base = read_facts([text], columns=[columns])
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


@pytest.mark.parametrize("name", BESIDE_A_QUERY)
@settings(max_examples=25, deadline=None)
@given(ROWS)
def test_rows_without_names_get_those_of_the_query(name, rows):
    columns = list_columns("SELECT i.product, stock, ROUND(price, 2) AS price FROM items i WHERE stock > 0")
    assert facts_of(BESIDE_A_QUERY[name](rows), columns) == facts_of(RENDERINGS["json"](rows))


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


@given(ROWS, ROWS)
def test_sources_that_are_read_together_have_the_records_that_each_has_alone(first, second):
    texts = [
        RENDERINGS["csv"](first),
        "Revenue was $5 million.",
        RENDERINGS["json"](second),
        RENDERINGS["yaml"](first),
    ]
    base = read_facts(texts)
    for source, text in enumerate(texts):
        alone, together = read_facts([text]).facts, base.list_by_source(source)
        assert [(fact.value, fact.path, fact.start) for fact in alone] == [
            (fact.value, fact.path, fact.start) for fact in together
        ]
    for fact in base.facts:
        record = base.records[fact.record]
        assert (record.id, record.source) == (fact.record, fact.source)
        assert record.group is None or record.id in base.groups[record.group]


def fields_of(text):
    return [
        {name: text[slice(*fact.cell)] for name, fact in row.items()}
        for row in (
            {fact.field: fact for fact in facts if fact.path}
            for facts in read_facts([text]).by_record.values()
        )
        if row
    ]


def test_the_files_that_ls_lists_have_fields():
    text = "total 12\n-rw-r--r-- 1 ann staff 4096 Nov 28 20:35 my report.csv\ndrwxr-x--- 2 bo staff 64 Mar  3  2024 data"  # noqa: E501
    first, second = fields_of(text)
    assert (first["name"], first["size"], first["owner"]) == ("my report.csv", "4096", "ann")
    assert (second["name"], second["modified"]) == ("data", "Mar  3  2024")


@pytest.mark.parametrize(
    ("text", "field", "cells"),
    [
        (
            (
                "NAME          READY   STATUS             RESTARTS      AGE\n"
                "shop-5d-x1    1/1     Running            0             4d2h\n"
                "mail-7f-b2    0/1     CrashLoopBackOff   12 (3m ago)   26h"
            ),
            "RESTARTS",
            ["0", "12 (3m ago)"],
        ),
        (
            (
                "CONTAINER ID   IMAGE     COMMAND         STATUS                    NAMES\n"
                'b1c2d3e4f5a6   redis:7   "redis-server"  Up 2 hours                cache\n'
                'c9d8e7f6a5b4   app:3     "python m.py"   Exited (1) 4 hours ago    worker'
            ),
            "STATUS",
            ["Up 2 hours", "Exited (1) 4 hours ago"],
        ),
        (
            (
                "Filesystem      Size  Used Avail Use% Mounted on\n"
                "/dev/sdb1       100G   91G  9.0G  91% /\n"
                "tmpfs           3.9G     0  3.9G   0% /run/shm"
            ),
            "Mounted on",
            ["/", "/run/shm"],
        ),
        (
            "USER         PID %CPU COMMAND\nroot           1  0.0 /sbin/init splash\nann         4242 12.5 python -m job",  # noqa: E501
            "COMMAND",
            ["/sbin/init splash", "python -m job"],
        ),
    ],
)
def test_columns_of_programs_of_the_shell_are_fields(text, field, cells):
    assert [row[field] for row in fields_of(text)] == cells


def test_a_frame_that_leaves_out_its_middle_has_no_row_of_dots():
    text = "    product  stock\n0      Lamp     12\n..      ...    ...\n99     Desk     40\n\n[100 rows x 2 columns]"  # noqa: E501
    assert fields_of(text) == [{"product": "Lamp", "stock": "12"}, {"product": "Desk", "stock": "40"}]


def test_a_line_of_a_log_is_one_record_with_its_time_and_level():
    text = (
        "2026-03-01 10:22:33,123 INFO charged 45.10 EUR. Then sent mail 7\n"
        "2026-03-01 10:22:34.456 ERROR card of A-18 declined after 3 tries"
    )
    base = read_facts([text])
    first, second = base.by_record.values()
    assert [fact.value.time for fact in first if fact.value.time] == [(10, 22, 33)]
    assert [fact.value.number for fact in first if fact.value.kind == "money"] == [45.1]
    assert [text[fact.start : fact.end] for fact in second if fact.field == "level"] == ["ERROR"]
    assert len(base.groups) == 1


def test_a_date_that_python_writes_as_a_call_is_a_date():
    base = read_facts(
        ["[('A-1', datetime.date(2024, 5, 1)), ('A-2', datetime.datetime(2024, 6, 2, 10, 30))]"]
    )
    dates = [fact.value.date for fact in base.facts if fact.value.date]
    assert dates == [(2024, 5, 1), (2024, 6, 2)]
    assert [fact.value.time for fact in base.facts if fact.value.time] == [(10, 30, None)]


def test_a_document_that_is_cut_off_keeps_what_it_holds():
    assert fields_of('[{"id": 1, "name": "x"}, {"id": 2, "name": "y"}, {"id": 3, "na') == [
        {"id": "1", "name": "x"},
        {"id": "2", "name": "y"},
        {"id": "3"},
    ]


def test_a_table_of_html_that_is_cut_off_keeps_its_rows():
    text = "<table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr><tr><td>3</td><td>"
    assert fields_of(text) == [{"a": "1", "b": "2"}, {"a": "3"}]


def test_deeper_lines_of_yaml_are_parts_of_their_record():
    base = read_facts(["service: web\nlimits:\n  cpu: 2\n  memory: 512Mi\nreplicas: 3"])
    assert {fact.path: fact.value.number for fact in base.facts if fact.value.kind != "text"} == {
        ("limits", "cpu"): 2,
        ("limits", "memory"): 512 * 2**20,
        ("replicas",): 3,
    }


@pytest.mark.parametrize(
    ("name", "written", "seconds"),
    [
        ("duration", "03:30", 210),
        ("lap_time", "1:02:03", None),
        ("elapsed", "0:01:30", 90),
        ("starts", "03:30", None),
    ],
)
def test_a_time_is_a_duration_where_its_field_says_so(name, written, seconds):
    values = [fact.value for fact in read_facts([json.dumps({name: written})]).facts]
    if name == "starts":
        assert values[0].time == (3, 30, None)
    else:
        assert (values[0].unit, values[0].number) == ("time", seconds or 3723)


@pytest.mark.parametrize(
    ("name", "written", "unit", "amount"),
    [
        ("area_km2", "14.7", "area", 14.7e6),
        ("area_ha", "42", "area", 420_000),
        ("dose_ug", "125", "mass", 125e-6),
        ("conc_mg_l", "0.42", "concentration", 0.42),
        ("wind_m_s", "9.5", "speed", 34.2),
        ("temp_f", "71.6", "temperature", 22),
        ("temp_c", "22", "temperature", 22),
        ("depth_m", "84.5", "length", 84.5),
        ("team_m", "3", "", 3),
        ("price_per_kg", "3", "", 3),
        ("weight (kg)", "82", "mass", 82_000),
    ],
)
def test_a_field_names_the_unit_of_its_numbers(name, written, unit, amount):
    (fact,) = read_facts([json.dumps({name: float(written)})]).facts
    assert (fact.value.unit, fact.value.number) == (unit, pytest.approx(amount))


HOSTILE = [
    '{"a": 1}\n', "(1, 'a')\n", "a=1 ", "-- ", "---\n", "| a | b |\n", "a   b\n", "a: ", "a: 1\n", "- a:\n", '["a", ',  # noqa: E501
    '{"a":', "<table>\n", "<table><td>", "<a b='1'>", "a,b\n", 'a,"', "a - ", "x:y:", "1,", "word, ", "half a ", "1 * ", "A  b \\\n1  2\n\n",  # noqa: E501
    "2026-03-01 10:22:33 INFO x\n", "\u202f1", "-rw-r--r-- 1 a a 1 ",
]  # fmt: skip


@pytest.mark.parametrize("part", HOSTILE)
def test_reading_costs_no_more_than_in_proportion(part):
    """A quadratic reader takes 16 times as many steps for four times the text; it must stay below eight."""

    def count_steps(size):
        steps = 0

        def count(frame, event, arg):
            nonlocal steps
            steps += 1
            return count

        text = part * (size // len(part))
        before = sys.gettrace()
        sys.settrace(count)
        try:
            read_facts([text])
        finally:
            sys.settrace(before)
        return steps

    read_facts([part])
    small = count_steps(4_000)
    assert count_steps(16_000) <= 8 * small + 2_000
