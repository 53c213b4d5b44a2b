"""`spanproof score`: a line per line, and bad lines named."""

from __future__ import annotations

import io
import json

import pytest

from spanproof.cli.app import run
from spanproof.cli.commands.score import evaluate_groundedness, evaluate_trajectory
from spanproof.cli.input.jsonl import run_jsonl
from spanproof.sandbox.scanners.pipeline import Pipeline


def answers(handle, *rows):
    out = io.BytesIO()
    run_jsonl(handle, [json.dumps(row).encode() for row in rows], out)
    return [json.loads(line) for line in out.getvalue().splitlines()]


def test_groundedness_takes_strings_and_json_values_as_outputs():
    rows = [
        {"id": 1, "outputs": [{"amount_cents": 4500}], "answer": "It is $45.00."},
        {"id": 2, "outputs": ['{"amount_cents": 4500}', 7], "answer": "It is $54.00."},
        {"id": 3, "outputs": ["Nice."], "answer": "Nice indeed."},
    ]
    found = answers(evaluate_groundedness, *rows)
    assert [(row["id"], row["verdict"]) for row in found] == [
        (1, "grounded"),
        (2, "contradicted"),
        (3, "uncertain"),
    ]
    claim = found[0]["claims"][0]
    assert claim["text"] == "$45.00"
    bound = claim["evidence"]
    assert (bound["output"], bound["text"], bound["derivation"]) == (0, "amount_cents: 4500", "")
    assert bound["end"] - bound["start"] == len("4500")


@pytest.mark.parametrize(
    ("row", "field"),
    [
        ({"id": 9, "answer": "x"}, "outputs"),
        ({"id": 9, "outputs": []}, "answer"),
        ({"id": 9, "outputs": [], "answer": "x", "task": 5}, "task"),
    ],
)
def test_a_bad_groundedness_row_names_its_field(row, field):
    (found,) = answers(evaluate_groundedness, row)
    assert found["id"] == 9
    assert field in found["error"]


STEP_OK = {"code": "print(4)", "observation": "4", "error": None}
STEP_BAD = {"code": "print(1/0)", "observation": "", "error": "ZeroDivisionError: division by zero"}


@pytest.mark.parametrize(
    ("steps", "answer", "recovered", "loop", "failures"),
    [
        ([STEP_OK], "4", None, False, 0),
        ([STEP_BAD, STEP_OK], "4", True, False, 1),
        ([STEP_BAD, STEP_BAD, STEP_BAD], None, False, True, 3),
        ([STEP_OK, STEP_BAD], "4", False, False, 1),
        ([], "4", None, False, 0),
    ],
)
def test_trajectory_reports_recovery_and_loops(steps, answer, recovered, loop, failures):
    pipeline = Pipeline()
    (found,) = answers(
        lambda row: evaluate_trajectory(row, pipeline),
        {"id": "t", "task": "add", "steps": steps, "final_answer": answer},
    )
    assert (found["recovered"], found["loop"], found["execution_failures"]) == (recovered, loop, failures)
    assert all(0 <= value <= 1 for value in found["scores"].values())


def test_trajectory_scans_the_code_of_its_steps():
    pipeline = Pipeline()
    step = {"code": "import os\nos.system('rm -rf /')", "observation": "", "error": None}
    (found,) = answers(
        lambda row: evaluate_trajectory(row, pipeline), {"id": 1, "steps": [step], "final_answer": "done"}
    )
    assert found["scores"]["action_safety"] == 0.0


def test_a_bad_trajectory_row_names_its_field():
    (found,) = answers(lambda row: evaluate_trajectory(row, Pipeline()), {"id": 1, "steps": ["print(1)"]})
    assert "steps" in found["error"]


def test_without_jsonl_the_remedy_is_named(capsys):
    assert run(["score", "groundedness"]) == 2
    assert "--jsonl" in capsys.readouterr().err


def test_own_words_for_states_come_from_a_file(tmp_path, monkeypatch, capsysbinary):
    file = tmp_path / "words.yaml"
    file.write_text("shipped: [on the truck]\n")
    row = {"id": 1, "outputs": [{"status": "shipped"}], "answer": "It is on the truck."}
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(json.dumps(row).encode())))
    assert run(["score", "groundedness", "--jsonl", "--synonyms", str(file)]) == 0
    assert json.loads(capsysbinary.readouterr().out)["verdict"] == "grounded"


@pytest.mark.parametrize("text", ["shipped: 5\n", "- shipped\n", "shipped: [a\n", None])
def test_a_bad_file_of_words_is_misuse(text, tmp_path, capsys):
    file = tmp_path / "words.yaml"
    if text is not None:
        file.write_text(text)
    assert run(["score", "groundedness", "--jsonl", "--synonyms", str(file)]) == 2
    assert "words.yaml" in capsys.readouterr().err


def test_now_is_what_relative_dates_count_from():
    row = {"id": 1, "outputs": [{"due": "2026-05-03"}], "answer": "It is due tomorrow."}
    for now, verdict in (("2026-05-02T10:00:00Z", "grounded"), ("2026-05-01T10:00:00Z", "contradicted")):
        assert answers(evaluate_groundedness, row | {"now": now})[0]["verdict"] == verdict
    assert "'now'" in answers(evaluate_groundedness, row | {"now": "soon"})[0]["error"]
