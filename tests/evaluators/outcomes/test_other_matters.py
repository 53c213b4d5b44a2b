"""What happens to a run in another matter makes no answer a fabrication, and hides none."""

from __future__ import annotations

from typing import Any

import pytest
from irrelevant_context import write_log
from tests.bench.answers import build_trace

from spanproof.evaluators.engine import Engine
from spanproof.sandbox.scanners.pipeline import Pipeline
from spanproof.trace import Layer, Scored, State, get_state

DAYS = (
    "months = {1: ('January', 31), 2: ('February', 28), 3: ('March', 31), 4: ('April', 30), 5: ('May', 31)}"
)
RIGHT = [
    # The task, the steps and a right answer that states what code writes down.
    (
        "In which month did V1 drive last, and how many days does that month have?",
        [
            {"tool": "trip_log", "arguments": {"van": "V1"}, "output": "day;km\n2026-05-03;41.2"},
            {"python": f"{DAYS}\nprint(months[5])", "output": "('May', 31)"},
        ],
        "V1 drove in May, which has 31 days.",
    ),
    (
        "How many seats are in the three halls of the Norden site?",
        [
            {"tool": "list_halls", "arguments": {"site": "Norden"}, "output": "Aurora, Birch and Cedar"},
            {"python": "seats = [118, 96, 143]\nprint(sum(seats))", "output": "357"},
        ],
        "The three halls have 357 seats.",
    ),
]
RATINGS = {
    "python": "ratings = {'Lamp': 4.35, 'Desk': 3.92, 'Chair': 4.71}\nprint(sum(ratings.values()) / 3)",
    "output": "4.326666666666667",
}
OTHER_FAILURES = {
    "a message that was not sent": {
        "tool": "notify_channel", "arguments": {"channel": "ops"}, "output": "Error: 503 Service Unavailable",
    },
    "a file that was not written": {
        "tool": "write_file", "arguments": {"path": "notes.txt"}, "output": '{"error": "disk is full"}',
    },
    "a look-up of something else": {
        "tool": "get_weather", "arguments": {"city": "Oslo"}, "output": "TimeoutError: no reply after 30 s",
    },
    "a search for something else": {
        "tool": "search", "arguments": {"query": "weather in Oslo"}, "output": "Error: 429 Too Many Requests",
    },
    "a search that finds nothing": {"tool": "get_weather", "arguments": {"city": "Oslo"}, "output": "[]"},
}  # fmt: skip


def judge(task: str, steps: list[dict[str, Any]], answer: str) -> tuple[State, str]:
    engine = Engine(pipeline=Pipeline(), sandbox=None, layers=(Layer.GROUNDEDNESS,))
    trace = build_trace({"task": task, "steps": steps}, answer)
    outcome = engine.evaluate(trace).runs[-1].layers[Layer.GROUNDEDNESS]
    assert isinstance(outcome, Scored)
    return get_state(outcome), outcome.explanation


@pytest.mark.parametrize("failure", OTHER_FAILURES.values(), ids=OTHER_FAILURES.keys())
@pytest.mark.parametrize(("task", "steps", "answer"), RIGHT, ids=["months", "seats"])
def test_a_failure_in_another_matter_makes_no_literal_invented(task, steps, answer, failure):
    before, _ = judge(task, steps, answer)
    for place in range(len(steps) + 1):
        state, why = judge(task, [*steps[:place], failure, *steps[place:]], answer)
        assert state is before is not State.FAIL, f"{place}: {why}"


@pytest.mark.parametrize("call", [
    {"tool": "get_ratings", "arguments": {}, "output": "ConnectionError: no route to the shop"},
    {"tool": "search", "arguments": {"query": "rating of each product"}, "output": "Error: 503"},
    {"tool": "warehouse_db", "arguments": {}, "output": "TimeoutError: no reply"},
])  # fmt: skip
def test_a_failure_in_the_matter_of_the_task_does(call):
    steps = [
        call,
        RATINGS,
    ]
    state, _ = judge("What is the average rating of our products?", steps, "The average rating is 4.33.")
    assert state is State.FAIL


def test_a_log_of_many_numbers_is_no_source_of_what_code_writes_down():
    failed = {"tool": "get_ratings", "arguments": {}, "output": "ConnectionError: no route to the shop"}
    log = {"tool": "read_log", "arguments": {"name": "overview"}, "output": write_log()}
    task, answer = "What is the average rating of our products?", "The average rating is 4.33."
    for steps in ([failed, RATINGS], [log, failed, RATINGS], [failed, log, RATINGS]):
        state, why = judge(task, steps, answer)
        assert state is State.FAIL, why


STAMP = "2031-08-19T08:00:00.137Z "


@pytest.mark.parametrize("stamp", ["", STAMP, "[2031-08-19 08:00:00] ", "2031-08-19 08:00:00,137 "])
@pytest.mark.parametrize(
    ("message", "answer", "state"),
    [
        ("ConnectionError: database is down", "The revenue is 245.80.", State.FAIL),
        ("Error executing tool get_revenue: 409 Conflict: locked", "The revenue is 245.80.", State.FAIL),
        ("ConnectionError: database is down", "I could not get it, the database is down.", State.PASS),
        ("No data for this month.", "There is no data for this month.", State.PASS),
        ("No data for this month.", "The revenue is 245.80.", State.FAIL),
    ],
)  # fmt: skip
def test_a_time_before_a_message_hides_no_failure_and_no_empty_result(stamp, message, answer, state):
    steps = [{"tool": "get_revenue", "arguments": {}, "output": stamp + message}]
    assert judge("What is the revenue of this month?", steps, answer)[0] is state
