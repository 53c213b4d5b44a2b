"""`spanproof replay --jsonl` by its documented interface: golden lines, and lines that are wrong."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path

import pytest

from spanproof.cli.app import run

GOLDEN = Path(__file__).parents[1] / "golden" / "replay"
LINES = [
    json.loads(line)
    for name in ("batch.jsonl", "blind.jsonl", "blind-second.jsonl")  # reported before anything was run
    for line in (GOLDEN / name).read_text().splitlines()
]


@pytest.fixture(scope="module")
def answers():
    """The answers of the command to all runs of the golden files, by their id."""
    text = "".join(json.dumps(line["run"]) + "\n" for line in LINES)
    command = [sys.executable, "-m", "spanproof.cli", "replay", "--jsonl", "--workers", "2"]
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=True)
    return {answer["id"]: answer["steps"] for answer in map(json.loads, done.stdout.rstrip("\n").split("\n"))}


@pytest.mark.parametrize("line", LINES, ids=lambda line: line["run"]["id"])
def test_each_run_is_answered_as_the_golden_file_says(answers, line):
    assert answers[line["run"]["id"]] == line["answer"]


def test_each_step_is_answered_with_the_documented_fields_alone(answers):
    fields = {"failure_class", "stdout", "result", "exception", "divergences"}
    where_they_apply = {"ended_interpreter", "lost_steps", "stdout_cut", "result_characters"}
    for steps in answers.values():
        for step in steps:
            assert fields <= step.keys() <= fields | where_they_apply


def test_a_step_that_ends_the_interpreter_and_those_without_its_state_say_so(monkeypatch, capsys):
    steps = [
        "x = f(1)",
        "y = 2\nimport os\nos._exit(0)",
        "x",
        "y",
        "import os\nos.kill(os.getpid(), 11)",
        "x + 1",
    ]
    row = {"id": 1, "steps": steps, "tape": [{"tool": "f", "args": [1], "result": 3}]}
    _, (answer,) = replay_lines([row], monkeypatch, capsys)
    reported = [(step.get("ended_interpreter"), step.get("lost_steps")) for step in answer["steps"]]
    assert reported == [(None, None), (True, None), (None, [2]), (None, [2]), (True, [2]), (None, [2, 5])]
    assert [step["result"] for step in answer["steps"]] == [None, None, 3, None, None, 4]
    assert answer["steps"][3]["exception"]["type"] == "NameError"


def test_what_is_cut_is_marked_with_its_length(monkeypatch, capsys):
    steps = [
        "'b' * 500_000",
        "list(range(200_000))",
        "print('a' * 1_000_000)",
        "'é' * 200_000",
        "['ok']",
    ]
    _, (answer,) = replay_lines([{"id": 1, "steps": steps}], monkeypatch, capsys)
    text, numbers, printed, accents, small = answer["steps"]
    assert [step["failure_class"] for step in answer["steps"]] == ["ok"] * 5
    assert text["result_characters"] == 500_000
    assert text["result"] == f"{'b' * 393_216}\n[... 106784 characters cut ...]"
    assert numbers["result_characters"] == len(str(list(range(200_000))))
    assert numbers["result"].startswith("[0, 1, 2, 3,")
    assert printed["stdout_cut"] is True
    assert "bytes cut ...]" in printed["stdout"]
    assert accents["result_characters"] == 200_000
    assert set(accents["result"].partition("\n")[0]) == {"é"}
    assert small["result"] == ["ok"]
    assert "result_characters" not in small


def test_integers_of_any_size_go_in_and_come_out_whole(monkeypatch, capsys):
    rows = [
        {"id": 1, "steps": ["2 ** 100", "wei() + 1", "final_answer([10 ** 30, 1.5])"]}
        | {"tape": [{"tool": "wei", "result": 25_000_000_000_000_000_001}]},
        {"id": 2, "steps": ["1"]},
    ]
    code, (first, second) = replay_lines(rows, monkeypatch, capsys)
    assert code == 0
    assert [step["result"] for step in first["steps"]] == [
        2**100,
        25_000_000_000_000_000_002,
        [10**30, 1.5],
    ]
    assert second["steps"][0]["result"] == 1


def replay_lines(rows, monkeypatch, capsys):
    text = "".join(row if isinstance(row, str) else json.dumps(row) + "\n" for row in rows)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    code = run(["replay", "--jsonl"])
    return code, [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_tool_calls_are_answered_from_the_tape_in_one_session(monkeypatch, capsys):
    row = {
        "id": "a",
        "steps": [
            "cents = price('hat')",
            "print(cents)\nfinal_answer(cents / 100)",
            "price('hat')",
            "price('x')",
        ],
        "tools": {"price": ["item"]},
        "tape": [{"tool": "price", "args": [], "kwargs": {"item": "hat"}, "result": 4500}],
    }
    code, (answer,) = replay_lines([row], monkeypatch, capsys)
    assert code == 0
    steps = answer["steps"]
    assert answer["id"] == "a"
    assert [step["failure_class"] for step in steps] == ["ok", "ok", "exception", "exception"]
    assert (steps[1]["stdout"], steps[1]["result"], steps[1]["exception"]) == ("4500\n", 45.0, None)
    assert steps[2]["divergences"] == [
        {"tool": "price", "args": ["hat"], "kwargs": {}, "reason": "exhausted"}
    ]
    assert steps[3]["divergences"][0]["reason"] == "unknown_arguments"


def test_recorded_errors_are_raised_again_and_unknown_tools_reported(monkeypatch, capsys):
    row = {
        "id": 1,
        "steps": ["try:\n    price('hat')\nexcept ValueError as e:\n    print(e)", "refund(3)", "1 / 0"],
        "tools": {"price": ["item"]},
        "tape": [{"tool": "price", "args": ["hat"], "error": {"type": "ValueError", "message": "sold out"}}],
    }
    _, (answer,) = replay_lines([row], monkeypatch, capsys)
    first, second, third = answer["steps"]
    assert (first["failure_class"], first["stdout"]) == ("ok", "sold out\n")
    assert (second["exception"]["type"], second["divergences"][0]["reason"]) == ("NameError", "unknown_tool")
    assert third["exception"] == {"type": "ZeroDivisionError", "message": "division by zero"}


def test_a_tool_that_no_program_can_call_by_its_name_does_not_keep_a_run_from_its_replay(monkeypatch, capsys):
    tools = {"web-search": ["q"], "class": [], "price": ["from", "to"]}
    row = {"id": 1, "steps": ["import inspect\n1 + 1"], "tools": tools}
    _, (answer,) = replay_lines([row], monkeypatch, capsys)
    assert answer["steps"][0]["result"] == 2


def test_a_bad_line_is_reported_by_itself(monkeypatch, capsys):
    rows = [
        "not json\n",
        {"id": 1, "steps": "x"},
        {"id": 2, "steps": [], "tools": {"a": "b"}},
        {"id": 3, "steps": [], "tape": [{"args": []}]},
        {"id": 4, "steps": [], "tape": [{"tool": "t", "error": "x"}]},
        {"id": 5, "steps": [], "tape": [{"tool": "t", "args": [1]}]},
        {"id": 6, "steps": [], "tape": [{"tool": "t", "kwargs": [], "result": 1}]},
        {"id": 7, "steps": ["1 + 1"]},
    ]
    code, answers = replay_lines(rows, monkeypatch, capsys)
    assert code == 0
    assert ["error" in answer for answer in answers] == [True] * 7 + [False]
    assert "must have a 'result'" in answers[5]["error"]
    assert answers[7]["steps"][0]["result"] == 2


def test_without_jsonl_or_a_file_it_says_how(capsys):
    assert run(["replay"]) == 2
    assert "--jsonl" in capsys.readouterr().err
