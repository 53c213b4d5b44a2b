"""Judges on the labels of a store: measured by week, bound by their precision, compared, and what is open."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from starlette.testclient import TestClient
from tests.evaluators.judge.conftest import Endpoint, endpoint, rule

from spanproof.api import ConsoleSettings, build_app
from spanproof.cli.app import run
from spanproof.collector.judge_measuring import JudgeMeasuring
from spanproof.config.model import JudgeChoice
from spanproof.evaluators.judge.compare import compute_sign_test
from spanproof.evaluators.judge_bounds import BOUNDS_FILE, JudgeBounds
from spanproof.evaluators.run_state import PERSON_VERDICT
from spanproof.store import open_store
from spanproof.store.external import ExternalScore
from spanproof.trace import (
    OPEN_VALUE,
    Cause,
    Evidence,
    Label,
    Layer,
    Ruling,
    Scored,
    SentenceMark,
    SentenceState,
)

from .conftest import ANSWER, RUN

__all__ = ["Endpoint", "endpoint"]

JUDGE = "judge:Groundedness:a-model-2026-01-01"
WEEK_NS = 7 * 86_400 * 10**9
NOW_NS = int(datetime(2026, 11, 25, tzinfo=UTC).timestamp()) * 10**9


def ruled(ruling, label):
    """Return the outcome of an answer whose sentence a judge ruled on so."""
    state = {Label.PASS: SentenceState.CHECKED, Label.FAIL: SentenceState.CONTRADICTED}.get(
        label, SentenceState.OPEN
    )
    mark = SentenceMark(0, len(ANSWER.text), state, JUDGE, ruling)
    value = {Label.PASS: 1.0, Label.FAIL: 0.0}.get(label, OPEN_VALUE)
    cause = Cause.VALUE_NOT_CERTAIN if label is None else None
    return Scored(value, label, "so it reads", (Evidence("it reads so", sentence=mark),), cause=cause)


def write_ruled(store, evaluation, rulings, start_ns=NOW_NS, labelled_ns=None):
    """Write a run for each (ruling of the judge, whether people pass it)."""
    for number, (ruling, passes) in enumerate(rulings):
        label = {Ruling.TRUE: Label.PASS, Ruling.FALSE: Label.FAIL}.get(ruling)
        made = evaluation(
            (0xD00 + number) << 100 | start_ns // WEEK_NS,
            verdicts={Layer.GROUNDEDNESS: ruled(ruling, label)},
            start_ns=start_ns + number,
        )
        runs = [
            replace(one, scores=tuple(
                replace(score, evaluator=JUDGE) if score.name == "groundedness" else score
                for score in one.scores
            ))
            for one in made.runs
        ]  # fmt: skip
        store.write([replace(made, runs=tuple(runs))])
        given = Label.PASS if passes else Label.FAIL
        store.write_external(
            [
                ExternalScore(
                    made.trace.trace_id, RUN, Layer.GROUNDEDNESS, PERSON_VERDICT, "human", float(passes),
                    given, "", None, "", labelled_ns or NOW_NS,
                )
            ]
        )  # fmt: skip


@pytest.fixture
def store(tmp_path):
    with open_store(tmp_path / "store") as opened:
        yield opened


T, F, U = Ruling.TRUE, Ruling.FALSE, Ruling.UNKNOWN


@pytest.fixture
def location(tmp_path, evaluation):
    """Two weeks: in the first the judge fails four runs and is right in three, in the second one rightly."""
    directory = tmp_path / "measured"
    with open_store(directory) as store:
        first = [(F, False), (F, False), (F, False), (F, True), (T, True), (T, False), (U, False)]
        write_ruled(store, evaluation, first, NOW_NS - WEEK_NS)
        write_ruled(store, evaluation, [(F, False), (T, True)], NOW_NS)
    return str(directory)


def test_precision_and_recall_of_a_judge_have_intervals_by_week(location, capfd):
    assert run(["judge", "measure", "--store", location, "--weekly", "--json"]) == 0
    rows = [json.loads(line) for line in capfd.readouterr().out.splitlines()]
    assert [row["week"] for row in rows] == [None, "2026-W47", "2026-W48"]
    whole, first, second = rows
    assert (whole["judge"], whole["layer"]) == (JUDGE, "groundedness")
    assert (whole["labels"], whole["undecided"]) == (8, 1)
    assert (whole["precision"]["value"], whole["precision"]["n"]) == (0.8, 5)
    assert whole["precision"]["low"] < 0.8 < whole["precision"]["high"]
    # Of the six runs that people fail it fails four: one it passes, one it does not decide.
    assert (whole["recall"]["n"], round(whole["recall"]["value"], 3)) == (6, 0.667)
    assert (first["precision"]["value"], second["precision"]["value"]) == (0.75, 1.0)
    assert run(["judge", "measure", "--store", location]) == 0
    shown = capfd.readouterr().out
    assert "80% (38% to" in shown
    assert "W47" not in shown


def test_a_judge_below_its_bound_fails_nothing_until_it_is_measured_anew(store, evaluation, tmp_path):
    write_ruled(store, evaluation, [(F, number % 2 == 0) for number in range(30)])
    measure = JudgeMeasuring(store, tmp_path, 0.7, now=lambda: NOW_NS / 1e9)
    measure()
    bounds = JudgeBounds(tmp_path / BOUNDS_FILE, 0.7)
    assert not bounds.may_fail(JUDGE, Layer.GROUNDEDNESS)
    assert bounds.may_fail(JUDGE, Layer.CORRECTNESS)
    assert bounds.may_fail("judge:Groundedness:another", Layer.GROUNDEDNESS)


def test_the_service_measures_once_a_week(store, evaluation, tmp_path):
    now = [NOW_NS / 1e9]
    measure = JudgeMeasuring(store, tmp_path, 0.7, now=lambda: now[0])
    write_ruled(store, evaluation, [(F, True)] * 30)
    measure()
    written = (tmp_path / BOUNDS_FILE).read_text()
    write_ruled(store, evaluation, [(F, False)] * 30, NOW_NS + WEEK_NS, NOW_NS + 10)
    now[0] += 86_400
    measure()
    assert (tmp_path / BOUNDS_FILE).read_text() == written
    now[0] += 7 * 86_400
    measure()
    (row,) = json.loads((tmp_path / BOUNDS_FILE).read_text())
    assert (row["fails"], row["right_fails"]) == (60, 30)


def test_without_a_judge_or_a_label_nothing_is_written(store, tmp_path):
    JudgeMeasuring(store, tmp_path, 0.7)()
    assert not (tmp_path / BOUNDS_FILE).exists()


def answers_file(tmp_path):
    rows = [
        ("The weather was mild.", "It was mild and pleasant.", "pass"),
        ("The weather was mild.", "It was icy and harsh.", "fail"),
        ("The shop was shut.", "Nobody could buy a thing.", "pass"),
    ]
    file = tmp_path / "answers.jsonl"
    file.write_text(
        "\n".join(
            json.dumps({"outputs": [output], "answer": answer, "label": label})
            for output, answer, label in rows
        )
    )
    return file


def test_two_judges_are_compared_on_labelled_answers(endpoint, tmp_path, capfd):
    def reply(request):
        wrong = "icy" in request["messages"][1]["content"]
        if request["model"] == "always-2026-01-01":
            return rule("true")
        return rule("false" if wrong else "true")

    endpoint.next = reply
    file = str(answers_file(tmp_path))
    arguments = ["judge", "compare", "right-2026-01-01", "always-2026-01-01", "--answers", file]
    assert run([*arguments, "--json"]) == 0
    row = json.loads(capfd.readouterr().out)
    assert (row["answers"], row["both_right"], row["only_first_right"]) == (3, 2, 1)
    right, always = row["judges"]
    assert (right["right"]["value"], right["precision"]["value"], right["recall"]["value"]) == (1.0, 1.0, 1.0)
    assert (round(always["right"]["value"], 2), always["precision"], always["recall"]["value"]) == (
        0.67,
        None,
        0.0,
    )
    assert run(arguments) == 0
    shown = capfd.readouterr().out
    assert "only A 1, only B 0" in shown
    assert "may be chance" in shown


def test_judges_are_compared_on_the_labelled_runs_of_a_store(endpoint, location, capfd):
    endpoint.answers = [rule("false")]
    names = ["one-2026-01-01", "other-2026-01-01"]
    assert run(["judge", "compare", *names, "--store", location, "--json"]) == 0
    row = json.loads(capfd.readouterr().out)
    assert row["answers"] <= 9
    assert row["only_first_right"] == row["only_second_right"] == 0


def test_a_line_of_answers_that_cannot_be_read_is_named(endpoint, tmp_path, capfd):
    file = tmp_path / "answers.jsonl"
    file.write_text('{"answer": "x", "outputs": "y", "label": "pass"}')
    assert run(["judge", "compare", "a", "b", "--answers", str(file)]) == 2
    assert "line 1: outputs must be an array of texts" in capfd.readouterr().err


def test_a_difference_on_few_answers_may_be_chance_and_one_on_many_is_not():
    assert compute_sign_test(0, 0) == 1.0
    assert compute_sign_test(3, 1) == pytest.approx(0.625)
    assert compute_sign_test(5, 20) < 0.01
    assert compute_sign_test(20, 5) == compute_sign_test(5, 20)


def write_open(store, evaluation):
    """Write four runs of today: one is open, one a judge settled."""
    start = time.time_ns() - 10**12
    open_one = Scored(OPEN_VALUE, None, "not found", cause=Cause.VALUE_NOT_FOUND)
    passed = Scored(1.0, Label.PASS, "it holds")
    for number, outcome in enumerate((open_one, passed, passed), 1):
        store.write([evaluation(number, verdicts={Layer.GROUNDEDNESS: outcome}, start_ns=start + number)])
    write_ruled(store, evaluation, [(T, True)], start)


def test_what_is_open_is_surveyed_with_what_a_judge_of_it_costs(store, evaluation):
    write_open(store, evaluation)
    settings = ConsoleSettings(judge=JudgeChoice(model="gpt-4.1-mini-2025-04-14"))
    page = TestClient(build_app(lambda: store, settings)).get("/api/v1/judges").json()
    assert page["model"] == page["priced_as"] == "gpt-4.1-mini-2025-04-14"
    (layer,) = [each for each in page["layers"] if each["layer"] == "groundedness"]
    assert (layer["open"]["part"], layer["open"]["whole"]) == (1, 4)
    assert (layer["settled"]["part"], layer["settled"]["whole"]) == (1, 1)
    # One run in four, with a prompt of 600 tokens and more at $0.40 for a million.
    assert 0.05 < layer["dollars_per_1000_runs"] < 1.0
    assert [each["judge"] for each in page["judges"]] == [JUDGE, JUDGE]


def test_doctor_says_what_is_open_and_how_to_have_a_judge(tmp_path, evaluation, capfd):
    with open_store(tmp_path / "store") as store:
        write_open(store, evaluation)
    assert run(["doctor", "--store", str(tmp_path / "store")]) == 0
    shown = capfd.readouterr().out
    assert "25% (1 of 4)" in shown
    assert "about $0." in shown
    assert "judge: {endpoint: http://localhost:11434/v1, model: qwen3:8b}" in shown
    assert run(["doctor", "--store", str(tmp_path / "store"), "--json"]) == 0
    row = json.loads(capfd.readouterr().out)
    assert row["judge"] is None
    (layer,) = [each for each in row["layers"] if each["layer"] == "groundedness"]
    assert (layer["open"], layer["judgeable"], layer["open_share"]) == (1, 4, 0.25)
