"""Every form in which execution prints data gives the same facts."""

from __future__ import annotations

import pytest

from spanproof.evaluators.layers.groundedness.outputs.reading import read_outputs

ROWS = {("apple", 3), ("pear", 12)}


@pytest.mark.parametrize(
    "output",
    [
        '[{"fruit": "apple", "kilos": 3}, {"fruit": "pear", "kilos": 12}]',
        "[{'fruit': 'apple', 'kilos': 3}, {'fruit': 'pear', 'kilos': 12}]",
        "({'fruit': 'apple', 'kilos': 3}, {'fruit': 'pear', 'kilos': Decimal('12')})",
        '{"fruit": ["apple", "pear"], "kilos": [3, 12]}',
        '[["fruit", "kilos"], ["apple", 3], ["pear", 12]]',
        "fruit,kilos\napple,3\npear,12",
        "fruit\tkilos\napple\t3\npear\t12",
        "| fruit | kilos |\n|---|---:|\n| apple | 3 |\n| pear | 12 |",
        (
            "+-------+-------+\n| fruit | kilos |\n+-------+-------+\n| apple |     3 |\n| pear  |    12 "
            "|\n+-------+-------+"
        ),
        "   fruit  kilos\n0  apple      3\n1   pear     12",
        "fruit  kilos\napple  3\npear   12",
        "Here is the table:\n\n| fruit | kilos |\n|---|---|\n| apple | 3 |\n| pear | 12 |\n\nDone.",
        '{"fruit": "apple", "kilos": 3}\n{"fruit": "pear", "kilos": 12}',
        (
            "Execution logs:\n[{'fruit': 'apple', 'kilos': 3}, {'fruit': 'pear', 'kilos': 12}]\nLast"
            " output from code snippet:\nNone"
        ),
    ],
)
def test_tables_in_every_form_give_rows_by_name(output):
    facts = read_outputs([output])
    kilos = {
        (name, fact.number)
        for fact in facts.facts
        if fact.key[:1] == ("kilo",) or (fact.unit and fact.number is not None)
        for name in ("apple", "pear")
        if {"appl", "pear"} & fact.scope == {{"apple": "appl"}.get(name, name)}
    }
    assert kilos == ROWS


@pytest.mark.parametrize(
    ("output", "number", "unit"),
    [
        ("price: $12.50", 12.5, "USD"),
        ("elapsed = 3.2 s", 3.2, "s"),
        ("latency_ms -> 40", 40.0, "ms"),
        ('{"amount_cents": 1999}', 1999.0, "cents"),
        ("share: 27%", 27.0, "%"),
        ("Order(total_eur=3.50)", 3.5, "EUR"),
    ],
)
def test_values_keep_their_unit(output, number, unit):
    (fact,) = [fact for fact in read_outputs([output]).facts if fact.number is not None]
    assert (fact.number, fact.unit and fact.unit.name) == (number, unit)


@pytest.mark.parametrize(
    "output", ["[]", "{}", "null", "None", "", "  \n", "No results found.", "(0 rows)", "Empty DataFrame"]
)
def test_empty_outputs_are_known_as_empty(output):
    assert read_outputs([output]).empty == {0}


def test_a_cut_document_is_read_as_far_as_it_goes():
    facts = read_outputs(['{"a": 1, "b": [2, 3'])
    assert [fact.number for fact in facts.numbers()] == [1.0, 2.0, 3.0]


def test_dates_are_read_from_strings_objects_and_timestamps():
    facts = read_outputs(
        ['{"a": "2026-05-14", "b": "14 May 2026", "created_at": 1778716800}', "datetime.date(2026, 5, 14)"]
    )
    assert {str(fact.day) for fact in facts.facts if fact.day} == {"2026-05-14"}
    assert sum(fact.day is not None for fact in facts.facts) >= 3
