"""Values as texts write them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanproof.reading.numbers import list_mentions
from spanproof.reading.numerals import list_numbers
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
        ("9.5 m/s", Kind.QUANTITY, 34.2, "speed"),
        ("14.7 km²", Kind.QUANTITY, 14.7e6, "area"),
        ("42 ha", Kind.QUANTITY, 420_000, "area"),
        ("125 µg", Kind.QUANTITY, 125e-6, "mass"),
        ("0.42 mg/l", Kind.QUANTITY, 0.42, "concentration"),
        ("71.6 °F", Kind.QUANTITY, 22, "temperature"),
        ("22 °C", Kind.QUANTITY, 22, "temperature"),
        ("5 mW", Kind.QUANTITY, 0.005, "power"),
        ("5 MW", Kind.QUANTITY, 5e6, "power"),
        ("10⁻¹⁵", Kind.NUMBER, 1e-15, ""),
        ("3 × 10^6", Kind.NUMBER, 3e6, ""),
        ("2.5e-5", Kind.NUMBER, 2.5e-5, ""),
        ("1.2k", Kind.NUMBER, 1200, ""),
        ("1,234.5", Kind.NUMBER, 1234.5, ""),
        ("1.234,5", Kind.NUMBER, 1234.5, ""),
        ("1.234.567", Kind.NUMBER, 1234567, ""),
        ("1_250", Kind.NUMBER, 1250, ""),
        ("١٢", Kind.NUMBER, 12, ""),
        ("１２．５％", Kind.PERCENT, 12.5, "%"),
        ("25 basis points", Kind.PERCENT, 0.25, "%"),
        ("3 percentage points", Kind.PERCENT, 3, "%"),
        ("3 dozen", Kind.NUMBER, 36, ""),
        ("a dozen", Kind.NUMBER, 12, ""),
        ("half a million", Kind.NUMBER, 500_000, ""),
        ("half an hour", Kind.QUANTITY, 1800, "time"),
        ("two and a half million", Kind.NUMBER, 2.5e6, ""),
        ("one hundred and twenty-three", Kind.NUMBER, 123, ""),
        ("two thousand five hundred", Kind.NUMBER, 2500, ""),
        ("two thirds", Kind.NUMBER, 2 / 3, ""),
        ("three dollars", Kind.MONEY, 3, "USD"),
        ("fünfundzwanzig Tage", Kind.QUANTITY, 25 * 86400, "time"),
        ("2,5 Mio. €", Kind.MONEY, 2.5e6, "EUR"),
        ("3,2 millones de dólares", Kind.MONEY, 3.2e6, "USD"),
        ("trois", Kind.NUMBER, 3, ""),
        ("3万円", Kind.MONEY, 30_000, "JPY"),
        ("≈ 3.2", Kind.NUMBER, 3.2, ""),
        ("~5 km", Kind.QUANTITY, 5000, "length"),
        ("03:30 min", Kind.QUANTITY, 210, "time"),
        ("3:30 hours", Kind.QUANTITY, 12_600, "time"),
        ("1½ hours", Kind.QUANTITY, 5400, "time"),
        ("½", Kind.NUMBER, 0.5, ""),
        ("1 250 000", Kind.NUMBER, 1.25e6, ""),
        ("10 000 SEK", Kind.MONEY, 10_000, "SEK"),
        ("PT1H30M", Kind.QUANTITY, 5400, "time"),
    ],
)
def test_an_amount_has_its_kind_number_and_unit(text, kind, number, unit):
    (mention,) = list_mentions(text)
    assert (mention.value.kind, mention.value.unit) == (kind, unit)
    assert mention.value.number == pytest.approx(number)
    assert (mention.start, mention.end) == (0, len(text))


def test_a_number_behind_a_hyphen_that_begins_with_zero_is_part_of_an_identifier():
    found = [(mention.value.kind, mention.value.text) for mention in list_mentions("2026-0131 and 2019-2020")]
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
        ("2024:05:20 10:22:33", (2024, 5, 20)),
        ("Mon, 20 May 2024 10:22:33 +0000", (2024, 5, 20)),
        ("[20/May/2024:10:22:33 +0000]", (2024, 5, 20)),
        ("20240520T102233Z", (2024, 5, 20)),
        ("20-05-2024", (2024, 5, 20)),
        ("3 March", (None, 3, 3)),
        ("3 de marzo de 2024", (2024, 3, 3)),
    ],
)
def test_a_date_has_its_parts(text, date):
    assert [mention.value.date for mention in list_mentions(text) if mention.value.kind is Kind.DATE] == [
        date
    ]


@pytest.mark.parametrize(
    ("text", "time"), [("06:00 AM", (6, 0, None)), ("3pm", (15, 0, None)), ("18:30:05", (18, 30, 5)), ("12 PM", (12, 0, None)), ("10:22:33,123", (10, 22, 33)), ("9:30+01:00", (9, 30, None))]  # noqa: E501
)  # fmt: skip
def test_a_time_has_its_parts(text, time):
    assert [mention.value.time for mention in list_mentions(text)] == [time]


@pytest.mark.parametrize(
    "text",
    [
        "3.11.7",
        "10.0.0.12:8080",
        "HAT069",
        "#W9348897",
        "credit_card_4421486",
        "a@b.org",
        "https://x.org/1",
        "6117189161",
    ],
)
def test_an_identifier_is_no_number(text):
    (mention,) = list_mentions(text)
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
    assert [mention.value.date for mention in list_mentions(text) if mention.value.kind is Kind.DATE] == dates


def test_the_ends_of_opening_hours_are_times():
    assert [mention.value.time for mention in list_mentions("10:30-11:30")] == [
        (10, 30, None),
        (11, 30, None),
    ]


def test_times_in_brackets_are_times():
    found = [mention.value.time for mention in list_mentions("slots (8:30 am and 11:00 am)")]
    assert found == [(8, 30, None), (11, 0, None)]


@pytest.mark.parametrize(
    ("text", "kind", "numbers"),
    [
        ("12–15 km", Kind.QUANTITY, [12_000, 15_000]),
        ("5-7 %", Kind.PERCENT, [5, 7]),
        ("$3 to $5 million", Kind.MONEY, [3e6, 5e6]),
        ("between 3 and 5 days", Kind.QUANTITY, [5 * 86400]),
    ],
)
def test_both_ends_of_a_range_have_its_unit(text, kind, numbers):
    assert [mention.value.number for mention in list_mentions(text) if mention.value.kind is kind] == numbers


@pytest.mark.parametrize("text", ["0 3 * * 1-5", "*/15 * * * *", "30 4 1,15 * *"])
def test_a_cron_expression_is_no_numbers(text):
    (mention,) = list_mentions(f"schedule: {text}")
    assert (mention.value.kind, mention.value.text) == (Kind.ID, text)


@pytest.mark.parametrize(
    "text", ["one-off", "all-in-one", "a quarter of the party", "二人で", "一般", "may be"]
)
def test_a_word_that_looks_like_a_number_is_none(text):
    assert [mention.value.number for mention in list_mentions(text) if mention.value.kind is Kind.NUMBER] in (
        [],
        [2.0],
        [0.25],
    )


def test_a_mention_has_its_characters_where_letters_change_their_length():
    text = "İstanbul: 4.5 km"
    (mention,) = list_mentions(text)
    assert text[mention.start : mention.end] == "4.5 km"


def test_plain_numbers_are_read_both_ways():
    assert list_numbers("1,234 and 1.234,5 and 12") >= {"1234", "1234.5", "12", "1", "234"}


@given(st.floats(-1e9, 1e9, allow_nan=False).map(lambda number: round(number, 2)))
def test_a_number_is_read_as_it_is_formatted(number):
    for written in (f"{number:,.2f}", f"{number:.2f}", f"{number:,.2f} km"):
        (mention,) = list_mentions(written)
        assert mention.value.amount == pytest.approx(number)
