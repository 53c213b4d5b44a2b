"""A prompt, earlier turns, code and outputs of another matter change no verdict."""

from __future__ import annotations

import json

import pytest
from irrelevant_context import (
    CODE,
    ERROR,
    HISTORY,
    TOOL_DEFINITIONS,
    iter_framework_prompts,
    list_variations,
    read_page,
    write_listing,
    write_log,
)
from tests.bench.answers import build_trace

from spanproof.evaluators.engine import Engine
from spanproof.evaluators.layers.groundedness import Verdict, build_ledger
from spanproof.reading.documents.read import read_facts
from spanproof.reading.values import Kind
from spanproof.sandbox.scanners.pipeline import Pipeline
from spanproof.trace import Layer, get_state

TOWERS = """| Tower | City | Floors |
|:--|:--|--:|
| Nordlys | Oslo | 42 |
| Kastell | Aarhus | 38 |
| Spira | Malmö | 54 |"""
SITES = "{'Town hall': {'donors': 184, 'litres': 86.5}, 'Campus': {'donors': 263, 'litres': 123.6}}"
INCOME = """| (in millions) | 2019 | 2018 |
|---|---|---|
| Net sales | 1,204.5 | 1,100.2 |
| Income | 188.3 | 201.7 |"""
USAGE = '{"memory_gb": 13.6, "disk_free_gb": 210, "load": 3.1}'
CASES = [
    # The task, the last output, a right answer and wrong ones.
    ("What is known of Kastell?", TOWERS, "Kastell has 38 floors.", ["Kastell has 54 floors."]),
    ("How did the drive go?", SITES, "The campus collected 123.6 litres.",
     ["The campus collected 1,236 litres."]),
    ("What was the income in 2018?", INCOME, "201.7", ["210.7"]),
    ("What is the refund of order A-17 in dollars?", '{"amount_usd": 45.0}', "The refund is $45.00.",
     ["The refund is $54.00."]),
    ("What is the total refund in dollars?", "45.0\n", "The total refund is $45.00.",
     ["The total refund is $54.00."]),
    ("How is the machine doing?", USAGE, "13.6 GB of memory is used.", ["Memory use is 210 GB."]),
]  # fmt: skip


@pytest.fixture(scope="module")
def engine():
    return Engine(pipeline=Pipeline(), sandbox=None, layers=(Layer.GROUNDEDNESS,))


def judge(engine, trace):
    return get_state(engine.evaluate(trace).runs[-1].layers[Layer.GROUNDEDNESS])


@pytest.mark.parametrize("variation", list_variations(), ids=lambda each: each.name)
def test_a_verdict_does_not_change(engine, variation):
    changed = []
    for task, output, right, wrong in CASES:
        situation = {"task": task, "steps": [{"tool": "look_up", "output": output}]}
        for answer in (right, *wrong):
            trace = build_trace(situation, answer)
            before, after = judge(engine, trace), judge(engine, variation.change(trace))
            if before is not after:
                changed.append(f"{answer} {before} {after}")
    assert not changed


CONTEXTS = {
    **{name: {"system": text} for name, text in iter_framework_prompts()},
    "tool definitions": {"system": TOOL_DEFINITIONS},
    "code": {"code": [CODE]},
    "a failed call": {"errors": [ERROR], "arguments": [json.dumps({"channel": "ops", "ttl_s": 45})]},
    "a page": {"before": [read_page()]},
    "a listing": {"before": [write_listing()]},
    "a log": {"before": [write_log()]},
    "a turn before": {"earlier": [HISTORY[0][0]]},
}


@pytest.mark.parametrize("context", CONTEXTS.values(), ids=CONTEXTS.keys())
def test_a_misquote_is_contradicted_in_any_context(context):
    given = {name: value for name, value in context.items() if name != "before"}
    missed = []
    for task, output, _, wrong in CASES:
        for answer in wrong:
            is_found = build_ledger([output], answer, task).verdict is Verdict.CONTRADICTED
            ledger = build_ledger([*context.get("before", ()), output], answer, task, **given)
            if is_found and ledger.verdict is not Verdict.CONTRADICTED:
                missed.append(answer)
    assert not missed


def test_a_number_of_an_argument_or_an_error_alone_bears_no_amount_out():
    ledger = build_ledger(
        ['{"note": "see the list"}'], "I found 5 items.", "How many are there?", arguments=['{"page": 5}'],
        errors=["attempt 2 of 5 failed"],
    )  # fmt: skip
    assert ledger.verdict is Verdict.UNCERTAIN
    assert not any(claim.verdict is Verdict.GROUNDED and claim.text == "5" for claim in ledger.claims)


def test_a_part_of_a_number_that_code_writes_down_hides_no_misquote():
    code = ["rows = [row for row in table[1:]]\nprint(rows[0])"]
    ledger = build_ledger([SITES], "The campus collected 1,236 litres.", "How did the drive go?", code=code)
    assert ledger.verdict is Verdict.CONTRADICTED


def test_a_rate_of_a_short_prompt_may_go_into_the_figure():
    ledger = build_ledger(
        ["45.0\n"], "The total is $54.00.", "What is the total?", system="Always add 20% VAT."
    )
    assert ledger.verdict is not Verdict.CONTRADICTED


@pytest.mark.parametrize(
    ("error", "verdict"),
    [
        ("429 Too Many Requests: at most 100 requests per 60 s", Verdict.CONTRADICTED),
        # 384 wells and 60 of the error make 6.4 as well, and here the error is about wells.
        ("the share of the wells is not exact: 60 are unreadable", Verdict.UNCERTAIN),
    ],
)
def test_a_number_of_an_error_makes_figures_of_its_own_matter_alone(error, verdict):
    outputs = ["plate;wells\nP-13;384\n", "0.044270833333333336"]
    task = "Which share of the wells of P-13 failed?"
    ledger = build_ledger(outputs, "6.4 % of the wells of P-13 failed.", task, errors=[error])
    assert ledger.verdict is verdict


FIELDS = ["plan: team", "clicks: 4750", "spend_usd: 1282.50", "cost_per_click: 0.27"]
SERIES = ["temp_c: 21.5", "temp_c: 22.75", "temp_c: 24.25"]


def with_times(lines):
    return "\n".join(f"2031-08-19T08:{at:02}:07.137Z {line}" for at, line in enumerate(lines))


@pytest.mark.parametrize(
    ("answer", "verdict"),
    [
        ("The campaign got 4,750 clicks.", Verdict.GROUNDED),
        ("The campaign got 4,150 clicks.", Verdict.CONTRADICTED),
    ],
)
def test_a_time_before_each_field_of_a_record_changes_nothing(answer, verdict):
    task = "How many clicks did the campaign get?"
    for output in ("\n".join(FIELDS), with_times(FIELDS)):
        assert build_ledger([output], answer, task).verdict is verdict


def test_the_times_of_a_series_belong_to_its_values():
    facts = read_facts([with_times(SERIES)]).facts
    times = {fact.record for fact in facts if fact.value.kind in (Kind.DATE, Kind.TIME)}
    assert {fact.record for fact in facts if fact.value.number in (21.5, 22.75, 24.25)} == times


def test_the_times_of_a_record_stay_readable():
    kinds = {fact.value.kind for fact in read_facts([with_times(FIELDS)]).facts}
    assert kinds & {Kind.DATE, Kind.TIME}
