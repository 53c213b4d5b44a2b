"""Words and numbers are found in texts as a reader of all of them would find them."""

from __future__ import annotations

import re

import pytest

from spanproof.reading.documents.read import read_facts, read_records
from spanproof.reading.numerals import list_numbers
from spanproof.reading.records import Role
from spanproof.reading.source_values import SourceValues
from spanproof.reading.text_search import FactIndex, has_word
from spanproof.reading.words import list_base_forms

TEXT = "priceCents: 4500\n{'parties': 3, 'owner_name': \"O'Brien's boats\"} STOPPED-at-8km"


@pytest.mark.parametrize("text", ["", "€", "8", TEXT, TEXT.upper(), "İstanbul parties"])
def test_a_word_is_found_where_it_is_one_of_all_words(text: str) -> None:
    searched = list_base_forms(TEXT) | {"party", "part", "boat", "cent", "8km", "km", "istanbul", "", "x"}
    assert {word for word in searched if has_word([text], word)} == searched & list_base_forms(text)


def test_facts_that_have_a_word_are_found_in_order() -> None:
    base = read_facts(['[{"name": "North Pier"}, {"name": "pier"}, {"name": "Bay"}, {"name": "The North"}]'])
    cells = [fact for fact in base.facts if fact.role is Role.CELL]
    found = [fact.value.text for fact in FactIndex(cells).iter_with("north")]
    assert found == ["north pier", "the north"]
    assert not list(FactIndex([]).iter_with("north"))


NUMBERS = """4500|a 4500 b|(4500)|4500, 12|4500,5|1,4500|12 4500|4500 12|-4500|4500.|4500.0|x4500|4500km
4'500|4500'000|2e-4500|$4500|5\n4500|{"x": 4500}|45000|45.50|45.5|145.5|45.51"""


@pytest.mark.parametrize("text", re.split(r"[|\n]", NUMBERS))
def test_a_number_is_held_where_all_numbers_of_a_text_have_it(text: str) -> None:
    known = SourceValues()
    known.add_result(text)
    for number in list_numbers(text):
        assert known.has_given(number)
        assert known.holds(number)
    assert not known.has_given("777")


def write_row(row: dict[str, str], quote: str) -> str:
    """Return a row as JSON or Python writes it; in Python a text with an apostrophe has the other quotes."""
    cells = []
    for name, value in row.items():
        own = '"' if "'" in value else quote
        written = value if value in ("4.5", "true") else f"{own}{value}{own}"
        cells.append(f"{quote}{name}{quote}: {written}")
    return "{" + ", ".join(cells) + "}"


@pytest.mark.parametrize("quote", ['"', "'"])
def test_rows_of_one_shape_are_read_as_rows_of_any(quote: str) -> None:
    rows = [{"id": f"A-{number}", "note": "x", "n": "4.5", "ok": "true"} for number in range(7)]
    rows[5]["note"] = "it's } here"
    rows[6] = {"id": "A-7", "n": "4.5"}
    written = [write_row(row, quote) for row in rows]
    assert read_records(f"[{', '.join(written)}]") == rows
    assert read_records("\n".join(written)) == rows
    assert read_records(f"[{','.join(written)}"[:-9])[:6] == rows[:6]
