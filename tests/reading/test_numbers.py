"""Values as texts write them."""

from __future__ import annotations

import pytest

from spanproof.reading.numbers import scan
from spanproof.reading.values import Kind


@pytest.mark.parametrize(
    ("text", "kind", "number", "unit"),
    [
        ("$1,452.40", Kind.MONEY, 1452.4, "USD"),
        ("1.234,50 €", Kind.MONEY, 1234.5, "EUR"),
        ("30 dollars", Kind.MONEY, 30, "USD"),
        ("$(2,085)", Kind.MONEY, -2085, "USD"),
        ("(14.3)%", Kind.PERCENT, -14.3, "%"),
        ("45 cents", Kind.MONEY, 0.45, "USD"),
        ("EUR 1.2bn", Kind.MONEY, 1.2e9, "EUR"),
        ("78,0 %", Kind.PERCENT, 78, "%"),
        ("5 percent", Kind.PERCENT, 5, "%"),
        ("12.6 million", Kind.NUMBER, 12.6e6, ""),
        ("-3.5", Kind.NUMBER, -3.5, ""),
        ("1\u202f903", Kind.NUMBER, 1903, ""),
        ("twenty-one days", Kind.QUANTITY, 21 * 86400, "time"),
        ("250 ms", Kind.QUANTITY, 0.25, "time"),
        ("5 GB", Kind.QUANTITY, 5e9, "data"),
        ("2 h 45 min", Kind.QUANTITY, 9900, "time"),
        ("1m 05s", Kind.QUANTITY, 65, "time"),
        ("2 hours and 5 minutes", Kind.QUANTITY, 7500, "time"),
        ("28:47", Kind.QUANTITY, 1727, "time"),
        ("four and a half hours", Kind.QUANTITY, 16200, "time"),
        ("4h30m", Kind.QUANTITY, 16200, "time"),
        ("2m05s", Kind.QUANTITY, 125, "time"),
        ("192 kbit/s", Kind.QUANTITY, 192_000, "bitrate"),
        ("72 km/h", Kind.QUANTITY, 72, "speed"),
    ],
)
def test_an_amount_has_its_kind_number_and_unit(text, kind, number, unit):
    (mention,) = scan(text)
    assert (mention.value.kind, mention.value.unit) == (kind, unit)
    assert mention.value.number == pytest.approx(number)
    assert (mention.start, mention.end) == (0, len(text))


def test_a_number_behind_a_hyphen_that_begins_with_zero_is_part_of_an_identifier():
    found = [(mention.value.kind, mention.value.text) for mention in scan("2026-0131 and 2019-2020")]
    assert found[0] == (Kind.ID, "2026-0131")
    assert Kind.ID not in [kind for kind, _ in found[1:]]


@pytest.mark.parametrize(
    ("text", "date"),
    [
        ("2024-05-20", (2024, 5, 20)),
        ("May 20th, 2024", (2024, 5, 20)),
        ("20 May 2024", (2024, 5, 20)),
        ("20. Mai 2024", (2024, 5, 20)),
        ("le 3 février", (None, 2, 3)),
        ("05/20/2024", (2024, 5, 20)),
        ("20.05.2024", (2024, 5, 20)),
        ("2024年5月20日", (2024, 5, 20)),
        ("June 2024", (2024, 6, None)),
    ],
)
def test_a_date_has_its_parts(text, date):
    assert [mention.value.date for mention in scan(text) if mention.value.kind is Kind.DATE] == [date]


@pytest.mark.parametrize(
    ("text", "time"), [("06:00 AM", (6, 0, None)), ("3pm", (15, 0, None)), ("18:30:05", (18, 30, 5)), ("12 PM", (12, 0, None))]  # noqa: E501
)  # fmt: skip
def test_a_time_has_its_parts(text, time):
    assert [mention.value.time for mention in scan(text)] == [time]


@pytest.mark.parametrize(
    "text", ["HAT069", "#W9348897", "credit_card_4421486", "a@b.org", "https://x.org/1", "6117189161"]
)
def test_an_identifier_is_no_number(text):
    (mention,) = scan(text)
    assert mention.value.kind is Kind.ID


@pytest.mark.parametrize(
    ("text", "dates"),
    [
        ("December 18 to 22", [(None, 12, 18), (None, 12, 22)]),
        ("18–22 December 2026", [(2026, 12, 18), (2026, 12, 22)]),
        ("14, 15 and 18 July", [(None, 7, 14), (None, 7, 15), (None, 7, 18)]),
        ("on 2 May 2026 and 3 guests", [(2026, 5, 2)]),
    ],
)
def test_days_share_the_month_that_is_written_once(text, dates):
    assert [mention.value.date for mention in scan(text) if mention.value.kind is Kind.DATE] == dates


def test_times_in_brackets_are_times():
    found = [mention.value.time for mention in scan("slots (8:30 am and 11:00 am)")]
    assert found == [(8, 30, None), (11, 0, None)]
