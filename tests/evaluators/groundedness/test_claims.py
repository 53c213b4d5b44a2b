"""Claims: what is one, and what it is bound to beyond the words that stand beside it."""

from __future__ import annotations

import json

import pytest

from spanproof.evaluators.layers.groundedness import Verdict, ground
from spanproof.evaluators.layers.groundedness.solve.requested import Op
from spanproof.evaluators.layers.groundedness.solve.solver import solve
from spanproof.evaluators.layers.groundedness.sources.model import Context, gather

REVENUES = "item,2017,2018,2019\nRevenue,300,420,540\nCosts,100,90,80"
FARES = json.dumps([{"route": "R1", "prices": {"economy": 164, "business": 391}}])
ORDERS = json.dumps([{"order": "W11", "status": "pending"}, {"order": "W22", "status": "delivered"}])


def solved(outputs, answer, task=""):
    return solve(gather(outputs, Context(task)), answer)


@pytest.mark.parametrize(
    ("outputs", "answer", "stated"),
    [
        (['{"revenue_q1": 563000, "revenue_q2": 372000}'], "Q2 revenue was $372,000.", ["$372,000"]),
        (["p95_latency_ms: 2847"], "The p95 latency is 2847 ms.", ["2847 ms"]),
    ],
)
def test_an_identifier_that_is_a_word_of_a_field_is_no_claim(outputs, answer, stated):
    assert [frame.text for frame in solved(outputs, answer).read.frames] == stated


def test_last_digits_name_an_identifier_only_where_they_are_stated_as_such():
    outputs = ['{"payment_methods": {"credit_card_9906644": {"brand": "visa"}}, "total": 120}']
    named = ground(outputs, "It is charged to the card ending in 6644.")
    assert [claim.verdict for claim in named.claims] == [Verdict.GROUNDED]
    plain = ground(outputs, "The total is 6644.")
    assert plain.verdict is not Verdict.GROUNDED


def test_a_count_of_bytes_is_an_amount_although_it_is_as_long_as_an_identifier():
    (binding, _), *_ = solved(['{"file_bytes": 759259643}'], "The file is 759.3 MB.").values
    assert binding.equal


def test_binary_units_of_a_field_are_read():
    (binding, _), *_ = solved(["mem_total_mib: 81920"], "There are 80 GiB of memory.").values
    assert binding.equal


def test_a_mean_of_the_years_of_a_row_is_derived():
    (_, derivation), *_ = solved([REVENUES], "The average revenue from 2017 to 2019 was 420.0001.").values
    assert not derivation.hits
    (_, derivation), *_ = solved([REVENUES], "The total revenue from 2017 to 2019 was 1,260.").values
    assert derivation.hits[0].op is Op.SUM
    assert len(derivation.hits[0].operands) == 3


def test_a_short_answer_takes_the_words_of_the_question():
    bound = solved([REVENUES], "540", "What was the revenue in 2019?").values[0][0]
    assert bound.equal[0].name > 0
    assert bound.equal[0].year == 1
    assert solved([REVENUES], "540").values[0][0].equal[0].name == 0


@pytest.mark.parametrize(("answer", "beside"), [("Economy: $164", 1), ("Business: $164", -1)])
def test_a_state_that_names_a_field_is_held_against_the_value_behind_it(answer, beside):
    (state,) = solved([FARES], answer).states
    assert state.beside == beside


def test_the_lines_of_a_list_are_about_what_each_names():
    answer = "Your orders:\n1. W11 (pending)\n2. W22 (delivered)"
    for state in solved([ORDERS], answer).states:
        assert state.equal_scope > state.other_scope


def test_a_denial_that_no_source_makes_is_open():
    outputs = ['{"order": "W11", "total": 45.5}']
    answer = "The refund of $45.50 has not been sent."
    assert ground(outputs, answer).verdict is Verdict.UNCERTAIN
    assert not solved([*outputs, "Notice: the refund was not sent."], answer).denials
    assert not solved(['{"order": "W11", "refund_sent": false}'], answer).denials


def test_a_policy_does_not_say_what_has_not_been_done():
    outputs, answer = ['{"order": "W11", "total": 45.5}'], "The refund has not been sent."
    policy = "A refund that was not sent within a week cannot be sent later."
    assert solve(gather(outputs, Context(system=policy)), answer).denials
    assert not solve(gather([*outputs, policy], Context()), answer).denials


@pytest.mark.parametrize(
    "answer",
    [
        "Your refund has been processed.",
        "It will be packed and shipped on Monday.",
        "Tell me once it is delivered.",
        "Would you like it delivered?",
    ],
)
def test_how_far_a_request_is_or_what_is_yet_to_happen_is_no_state_of_a_record(answer):
    assert not solved([ORDERS], answer).states


def test_a_unit_that_is_left_out_is_that_of_the_field():
    (binding, _), *_ = solved(['{"used_gb": 1074}'], "It uses 1,074 of them.").values
    assert binding.equal


def test_a_result_without_a_unit_is_in_the_unit_of_the_field():
    outputs = ["product,weight_kg\nP1001,11.88\nP1002,29.3\nP1003,4.5"]
    assert ground(outputs, "The highest weight_kg is 29.3.").verdict is not Verdict.CONTRADICTED
    assert solved(outputs, "The mean weight_kg is 15.23.").values[0][1].hits


JOBS = '{"job": "tc-1", "state": "FAILED"}', '{"job": "tc-2", "state": "SUCCEEDED"}'
FLAGS = '[{"sponsor": "Kettle", "paid": 1}, {"sponsor": "Wool", "paid": 0}]'
CONSOLE = "2026-02-15 06:51:02 [info] door 3 open\n2026-02-15 06:58:30 [error] 4812 packets lost"
DISK = "Filesystem  Size  Used Avail Use% Mounted on\n/dev/md0     22T   18T  3.1T  86% /archive"


@pytest.mark.parametrize(
    ("outputs", "answer", "verdict"),
    [
        (JOBS, "The first job failed, tc-2 succeeded.", Verdict.GROUNDED),
        ([FLAGS], "Kettle has paid, Wool has not paid.", Verdict.GROUNDED),
        ([FLAGS], "Kettle has not paid yet.", Verdict.CONTRADICTED),
        (['{"pump": "P4", "online": false}'], "P4 is offline.", Verdict.GROUNDED),
        ([CONSOLE], "At 06:58, 4812 packets were lost.", Verdict.GROUNDED),
        ([DISK], "The archive is 86% full. Of 22 TB, 18 TB are used and 3.1 TB are free.", Verdict.GROUNDED),
        (
            ['[{"city": "Leeds", "visits": 120}, {"city": "York", "visits": 340}]'],
            "Most of the visits came from Leeds.",
            Verdict.CONTRADICTED,
        ),
    ],
)
def test_states_flags_logs_and_sizes_are_read(outputs, answer, verdict):
    assert ground(outputs, answer).verdict is verdict


def test_objects_one_a_line_are_rows_of_one_list():
    base = solved(['{"stars": 5}\n{"stars": 2}\n{"stars": 4}\n{"user": "a"}'], "").base
    assert [len(rows) for rows in base.groups.values()] == [3]
