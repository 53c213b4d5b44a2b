"""Values that their row, their operands or the sentence of a tool refute, and amounts that nothing names."""

from __future__ import annotations

import pytest

from spanproof.evaluators.layers.groundedness import Doing, Verdict, build_ledger

BERTHS = (
    '[{"berth": 12, "depth_m": 7.4, "ship": "Aurora", "crates": 41},'
    ' {"berth": 15, "depth_m": 9.1, "ship": "Meltem", "crates": 58}]'
)
DUE = "The next service of crane 7 is due on 2025-03-14."


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("Berth 12 has a depth of 7.4 m.", "Berth 12 has a depth of 9.1 m."),
        ("Berth 15: 58 crates.", "Berth 15: 41 crates."),
        ("Aurora has 41 crates and Meltem 58.", "Aurora has 58 crates and Meltem 41."),
        ("- Aurora: 41 crates\n- Meltem: 58 crates", "- Aurora: 58 crates\n- Meltem: 41 crates"),
        ("There are 99 crates in total.", "There are 112 crates in total."),
    ],
)
def test_the_value_of_another_row_is_contradicted(right, wrong):
    task = "How many crates has each berth, and how deep is it?"
    assert build_ledger([BERTHS], right, task).verdict is Verdict.GROUNDED
    assert build_ledger([BERTHS], wrong, task).verdict is Verdict.CONTRADICTED


def test_a_label_of_several_rows_names_none():
    rows = '[{"berth": 12, "month": "May", "crates": 41}, {"berth": 12, "month": "June", "crates": 58}]'
    assert build_ledger([rows], "Berth 12 had 56 crates in May.").verdict is not Verdict.GROUNDED


@pytest.mark.parametrize(
    ("date", "verdict"), [("14 March 2025", Verdict.GROUNDED), ("14 April 2025", Verdict.CONTRADICTED)]
)
def test_a_date_is_that_of_the_sentence_of_the_tool(date, verdict):
    answer = f"The next service of crane 7 is due on {date}."
    assert build_ledger([DUE], answer, "When is the next service of crane 7 due?").verdict is verdict


@pytest.mark.parametrize(
    ("answer", "verdict"),
    [
        ("Crane 7 lifts 61,300 kg.", Verdict.CONTRADICTED),
        ("Crane 7 lifts 54,120 kg.", Verdict.GROUNDED),
        ("Crane 7 lifts about 60,000 kg.", Verdict.UNCERTAIN),
        ("Crane 7 once lifted 61,300 kg.", Verdict.UNCERTAIN),
        ("Crane 9 lifts 61,300 kg.", Verdict.UNCERTAIN),
    ],
)
def test_a_sentence_of_a_tool_that_is_repeated_with_another_value_is_contradicted(answer, verdict):
    tool = '{"documents": [{"page_content": "Crane 7 lifts 54,120 kg. It is green."}]}'
    assert build_ledger([tool], answer, "How much does crane 7 lift?").verdict is verdict


def test_a_sentence_that_two_sentences_of_a_tool_are_like_is_not_contradicted():
    other = "The next service of crane 7 is due on 2025-05-02."
    answer = "The next service of crane 7 is due on 14 April 2025."
    assert build_ledger([f"{DUE}\n{other}"], answer).verdict is Verdict.UNCERTAIN


@pytest.mark.parametrize(("share", "verdict"), [("15%", Verdict.GROUNDED), ("25%", Verdict.CONTRADICTED)])
def test_a_share_is_that_of_the_part_and_the_whole_beside_it(share, verdict):
    orders = ['{"orders": 80, "late": 12}']
    answer = f"12 of the 80 orders were late, a share of {share}."
    assert build_ledger(orders, answer, "What share of orders was late?").verdict is verdict


def test_a_decline_is_that_of_the_two_values_before_it():
    sales = ['{"may": 120, "june": 90}']
    answer = "It fell from 120 in May to 90 in June, a decline of {}."
    assert build_ledger(sales, answer.format("35%")).verdict is Verdict.CONTRADICTED
    assert build_ledger(sales, answer.format("25%")).verdict is not Verdict.CONTRADICTED


@pytest.mark.parametrize("output", ["45.0 12.5", "45.0\n12.5", "(45.0, 12.5)", "[45.0, 12.5]"])
@pytest.mark.parametrize("amount", ["45.00", "12.50"])
def test_one_of_several_amounts_without_names_is_open(output, amount):
    ledger = build_ledger([output], f"The refund is ${amount}.", "What is the refund?")
    assert ledger.verdict is Verdict.UNCERTAIN


@pytest.mark.parametrize(
    "output", ["45.0", "4500\n45.0", "refund 45.0 fee 12.5", '{"refund": 45.0, "fee": 12.5}']
)
def test_an_amount_that_is_alone_or_named_is_borne_out(output):
    assert build_ledger([output], "The refund is $45.00.", "What is the refund?").verdict is Verdict.GROUNDED


def test_a_change_against_the_order_of_the_outputs_is_open():
    april, may = '[{"ward": 3, "beds": 33}]', '[{"ward": 3, "beds": 29}]'
    assert build_ledger([april, may], "Ward 3 rose from 29 to 33 beds.").verdict is not Verdict.GROUNDED


def test_a_column_that_the_query_names_is_no_amount_without_a_name():
    query = "SELECT COUNT(*), SUM(total) FROM orders WHERE customer = 'Ada'"
    calls = [Doing("run_sql", query, succeeded=True, output=0, result="[(2, 181.5)]")]
    task = "How many orders did Ada place and what is their total?"
    ledger = build_ledger(["[(2, 181.5)]"], "The total of the orders is 181.50.", task, doings=calls)
    assert ledger.verdict is Verdict.GROUNDED


def test_a_date_of_the_task_is_not_borne_out_by_a_call_for_another_one():
    rows = '[{"ward": 2, "full": "81 %"}, {"ward": 3, "full": "29 %"}]'
    calls = [Doing("read_beds", '{"month": "2026-05"}', succeeded=True, output=0, result=rows)]
    task = "How full was ward 2 in June 2026?"
    answer = "Ward 2 was 81 % full in June 2026."
    arguments = ['{"month": "2026-05"}']
    ledger = build_ledger([rows], answer, task, arguments=arguments, doings=calls)
    assert ledger.verdict is not Verdict.GROUNDED
