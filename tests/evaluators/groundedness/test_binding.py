"""What binds a value or a count: the one fact that it can be of, named rows, rows in a state, losses."""

from __future__ import annotations

import json

import pytest

from spanproof.evaluators.layers.groundedness import Doing, Verdict, build_ledger

VANS = json.dumps(
    [
        {"van": "Heron", "loaded": 34, "capacity": 90, "margin": -212.5, "state": "delayed"},
        {"van": "Egret", "loaded": 61, "capacity": 80, "margin": 418.25, "state": "arrived"},
        {"van": "Stork", "loaded": 47, "capacity": 70, "margin": 137.0, "state": "arrived"},
    ]
)


def _list_bound(answer: str, *outputs: str) -> set[str]:
    claims = build_ledger(list(outputs) or [VANS], answer).claims
    return {claim.text for claim in claims if claim.verdict is Verdict.GROUNDED}


@pytest.mark.parametrize(
    ("answer", "value"),
    [
        ("Heron lost 212.50.", "212.50"),
        ("Heron: 34 aboard against a capacity of 90", "34"),
        ("Heron is 56 short of its capacity.", "56"),
        ("Two of the three have arrived.", "Two"),
        ("All three vans have a state.", "three"),
        ("Egret and Stork are done. The two have arrived.", "two"),
        ("Egret is full. It carries 61.", "61"),
    ],
)
def test_a_value_is_bound_to_what_its_sentence_names(answer, value):
    assert value in _list_bound(answer)


@pytest.mark.parametrize(
    ("answer", "value"),
    [
        ("Egret lost 212.50.", "212.50"),
        ("Heron: 61 aboard against a capacity of 90", "61"),
        ("One of the three has arrived.", "One"),
        ("All four vans have a state.", "four"),
        ("Egret is full. It carries 47.", "47"),
        ("Heron earned 212.50.", "212.50"),
    ],
)
def test_a_value_of_another_row_state_or_sign_is_not_bound(answer, value):
    assert value not in _list_bound(answer)


def test_a_value_of_an_unnamed_line_is_bound_where_it_is_alone():
    assert "1,714.35" in _list_bound("The vans made 1,714.35.", "1714.35")
    assert "1,714.53" not in _list_bound("The vans made 1,714.53.", "1714.35")
    assert "1,714.35" not in _list_bound("The vans made 1,714.35.", "933 1714.35")


def test_columns_of_tuples_are_named_by_their_query():
    rows = "[('Heron', 1204.5, 17), ('Egret', 988.25, 31)]"
    query = json.dumps({"query": "SELECT van, revenue, stops FROM vans"})
    calls = [Doing("run_sql", query, succeeded=True, output=0, result=rows)]
    assert build_ledger([rows], "Egret has a revenue of 988.25.", doings=calls).verdict is Verdict.GROUNDED
    assert build_ledger([rows], "Egret has a revenue of 31.", doings=calls).verdict is not Verdict.GROUNDED


@pytest.mark.parametrize(
    ("output", "answer"),
    [
        ('{"departs": "2026-05-02T14:30:00Z"}', "It departs at 16:30 CEST."),
        ('{"start": "09:20", "end": "11:05"}', "It takes 1 hour and 45 minutes."),
        ('{"open": 37, "oldest": "2026-02-03"}', "37 tickets were open before."),
        ('{"passed": 61, "failed": 3, "skipped": 2}', "61 of 66 tests passed."),
        ('{"backup_bytes": 7516192768}', "The backup is 7.0 GB."),
        ('[{"n": "a", "loss_2024": -7.9, "loss_2025": -2.1}]', "The loss narrowed from 7.9 to 2.1."),
        (
            "| case | base | bonus |\n|---|---|---|\n| W1 | 635 | 168 |",
            "| case | with bonus |\n|---|---|\n| W1 | 803 |",
        ),
    ],
)  # fmt: skip
def test_a_zone_a_span_a_count_or_a_sum_is_no_misquote(output, answer):
    assert build_ledger([output], answer).verdict is not Verdict.CONTRADICTED


@pytest.mark.parametrize(
    ("output", "answer"),
    [
        ('[{"fee": 4108.9}]', "Isolde paid 4,180.90 in fees."),
        ('{"berth": "B2", "shore_power_kw": 412.5}', "It gives 421.5 kW."),
    ],
)
def test_two_neighbouring_digits_that_changed_places_are_a_misquote(output, answer):
    ledger = build_ledger([output], answer, "How much did Isolde pay in fees, and what does B2 give?")
    assert ledger.verdict is Verdict.CONTRADICTED


def test_the_words_of_the_task_say_of_what_a_lone_result_is():
    task = "How many tonnes did all ships bring?"
    output = '[{"tonnes": 69085.5}]'
    assert (
        build_ledger([output], "All ships together brought 69,085.5 tonnes.", task).verdict
        is Verdict.GROUNDED
    )
    # Without the task's word it is not known of what the result is.
    assert build_ledger([output], "All ships together brought 69,085.5 tonnes.").verdict is Verdict.UNCERTAIN


def test_an_abbreviated_number_denies_no_state():
    output = "| number | client | status |\n| --- | --- | --- |\n| 2026-0131 | Ostrowski Bakery | overdue |"
    answer = "One invoice is overdue, no. 2026-0131 to Ostrowski Bakery."
    assert build_ledger([output], answer, "Which invoices are overdue?").verdict is not Verdict.CONTRADICTED
