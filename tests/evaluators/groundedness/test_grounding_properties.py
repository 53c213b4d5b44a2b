"""What holds for any number and any text."""

from __future__ import annotations

import json

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from spanproof.evaluators.layers.groundedness import Verdict, build_ledger

AMOUNTS = st.integers(min_value=1, max_value=10_000_000)
VALUES = st.floats(min_value=0.01, max_value=1e6, allow_nan=False).map(lambda value: round(value, 6))


@given(VALUES, st.integers(min_value=0, max_value=4))
def test_a_value_rounded_at_any_precision_is_grounded(value, decimals):
    written = f"{value:.{decimals}f}"
    assume(float(written) != 0)
    output = json.dumps({"mean_weight": value, "samples": 7})
    assert build_ledger([output], f"The mean weight is {written}.").verdict is Verdict.GROUNDED


@given(VALUES, st.integers(min_value=0, max_value=8), st.integers(min_value=1, max_value=9))
def test_a_changed_digit_is_never_grounded(value, place, by):
    written = f"{value:.2f}"
    digits = [at for at, character in enumerate(written) if character.isdigit()]
    at = digits[place % len(digits)]
    changed = written[:at] + str((int(written[at]) + by) % 10) + written[at + 1 :]
    assume(not changed.startswith("0") or changed.startswith("0."))
    assume(float(changed) != 0)
    output = json.dumps({"mean_weight": value})
    assert build_ledger([output], f"The mean weight is {changed}.").verdict is not Verdict.GROUNDED


@given(AMOUNTS)
def test_cents_are_grounded_as_currency_and_never_as_whole_units(cents):
    output = json.dumps({"balance_cents": cents})
    assert build_ledger([output], f"Your balance is ${cents / 100:,.2f}.").verdict is Verdict.GROUNDED
    assert build_ledger([output], f"Your balance is ${cents:,}.00.").verdict is not Verdict.GROUNDED


@given(AMOUNTS, AMOUNTS)
def test_two_named_values_cannot_change_places(one, other):
    assume(one != other)
    output = json.dumps({"opened": one, "closed": other})
    assert build_ledger([output], f"{one} were opened and {other} were closed.").verdict is Verdict.GROUNDED
    assert (
        build_ledger([output], f"{other} were opened and {one} were closed.").verdict is not Verdict.GROUNDED
    )


@given(st.integers(min_value=10, max_value=10_000), st.integers(min_value=10, max_value=10_000))
def test_a_direction_must_be_that_of_the_values(first, last):
    assume(first != last)
    output = json.dumps({"visits_2023": first, "visits_2024": last})
    up, down = ("rose", "fell") if last > first else ("fell", "rose")
    assert build_ledger([output], f"Visits {up} from {first} to {last}.").verdict is not Verdict.CONTRADICTED
    assert build_ledger([output], f"Visits {down} from {first} to {last}.").verdict is Verdict.CONTRADICTED


@given(st.lists(st.integers(min_value=100, max_value=9999), min_size=2, max_size=12), st.integers(1, 50))
def test_a_total_is_grounded_and_one_beside_it_is_not(values, off):
    output = json.dumps([{"shop": f"S{place}", "sales": value} for place, value in enumerate(values)])
    total = sum(values)
    assert build_ledger([output], f"Total sales were {total}.").verdict is Verdict.GROUNDED
    assert build_ledger([output], f"Total sales were {total + off}.").verdict is not Verdict.GROUNDED


@settings(max_examples=600)
@given(st.lists(st.text(max_size=300), max_size=3), st.text(max_size=300), st.none() | st.text(max_size=60))
def test_any_text_gives_a_verdict(outputs, answer, task):
    ledger = build_ledger(outputs, answer, task)
    assert all(sentence.text == answer[sentence.start : sentence.end] for sentence in ledger.sentences)
    assert all(
        part.text == answer[part.start : part.end]
        for sentence in ledger.sentences
        for part in sentence.unread
    )


WORDS = "ms GB k million total mean rows a pending not no than from to increased highest respectively"
SHREDS = st.sampled_from(
    [
        *"{}[]():,\"'|\n\t=-$€%1\x00\ud800",
        *WORDS.split(),
        *("  ", "23", "4.5", "1,000", "-7", "e9", "A-1", "2024-01-02", "May 3", "12:30"),
    ]
)
TORN = st.lists(SHREDS, max_size=60).map("".join) | st.lists(SHREDS, max_size=60).map(" ".join)


@settings(max_examples=400)
@given(st.lists(TORN, max_size=3), TORN)
def test_torn_formats_give_a_verdict(outputs, answer):
    assert build_ledger(outputs, answer).verdict in Verdict


@pytest.mark.parametrize(
    "number", ["23e923", "-7e400", "1e99999999", "$1e400", "5e400%", "1e308 million", "9" * 400]
)
@pytest.mark.parametrize("source", ["x: 5", "x: {}", '{{"x": {}}}', "| x |\n|---|\n| {} |"])
def test_a_number_that_no_float_holds_is_compared_with_none(number, source):
    verdict = build_ledger([source.format(number)], f"The total is {number}.", "What is the total?").verdict
    assert verdict is not Verdict.CONTRADICTED
    if source == "x: 5":
        assert verdict is Verdict.UNCERTAIN


@given(st.text(max_size=200), st.text(max_size=200))
def test_the_verdict_is_always_the_same(output, answer):
    assert build_ledger([output], answer) == build_ledger([output], answer)


SENTENCE = "On time they are in stock at A-1 for 3 days to the second highest of all orders not open"
PHRASES = st.lists(st.sampled_from(SENTENCE.split()), min_size=1, max_size=12).map(" ".join)


@example("On time they are", "")
@settings(max_examples=200)
@given(PHRASES, st.sampled_from(["", ".", "?"]))
def test_words_of_the_task_in_any_order_give_a_verdict(words, end):
    output = '{"order": "A-1", "stock": 3, "open": false, "days": 3}'
    for task in (f"{words}?", f"Are {words}?", f"Which orders {words}?"):
        assert build_ledger([output], f"{words}{end}", task).verdict in Verdict
