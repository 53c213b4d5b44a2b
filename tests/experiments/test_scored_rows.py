"""Answers and trajectories without a trace, scored from Python."""

from __future__ import annotations

from typing import Any

import pytest

from spanproof.evaluators.engine import Engine
from spanproof.experiments import ExperimentError, Step, Trajectory, score_answer, score_run
from spanproof.sandbox.scanners.pipeline import Pipeline
from spanproof.trace import Layer, State, get_state


@pytest.fixture
def engine() -> Engine:
    """Nothing is replayed: what is read off the record decides."""
    return Engine(pipeline=Pipeline(), sandbox=None)


def test_an_answer_is_held_against_outputs_of_every_form() -> None:
    row = [{"order": "A-17", "status": "shipped", "total_usd": 41.75}]
    assert score_answer("The total of order A-17 is $41.75.", row).value == 1.0
    wrong = score_answer("The total of order A-17 is $47.15.", row)
    assert wrong.state is State.FAIL
    assert wrong.value < 1
    assert "contradicted" in wrong._repr_html_()
    assert score_answer("Have a nice day.", []).state is State.OPEN


def test_a_trajectory_is_judged_by_all_layers(engine: Engine) -> None:
    steps = [
        Step(tool="look_up", arguments={"order": "A-17"}, observation='{"lines": [3000, 1175]}'),
        {"code": "print((3000 + 1175) / 100)", "observation": "41.75"},
    ]
    right = score_run(Trajectory("What is the total?", steps, "The total is $41.75."), engine=engine)
    assert [len(right.run.snippets), right.run.task] == [1, "What is the total?"]
    assert set(right.layers) == set(Layer)
    assert get_state(right.layers[Layer.GROUNDEDNESS]) is not State.FAIL
    wrong = score_run(Trajectory("What is the total?", steps, "The total is $47.15."), engine=engine)
    assert get_state(wrong.layers[Layer.GROUNDEDNESS]) is State.FAIL
    page = wrong._repr_html_()
    assert "<td>groundedness</td><td>fail</td>" in page


def test_a_step_that_raised_is_a_failed_one(engine: Engine) -> None:
    steps = [Step("int('x')", error="ValueError: invalid literal for int() with base 10: 'x'")]
    found = score_run(Trajectory("Read x.", steps), engine=engine)
    assert found.run.steps[0].error is not None


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: score_answer(45, []), "answer must be a text, got int"),
        (lambda: score_answer("45", "45"), "outputs must be a list of what tools and code returned, got str"),
        (lambda: score_run({"task": "x"}), r"score_run takes a Trajectory\(task, steps, answer\), got dict"),
        (lambda: Trajectory(["x"]), "task must be a text, got list"),
        (lambda: Trajectory("x", "print(1)"), "steps must be a list of Step or of dicts, got str"),
        (lambda: Trajectory("x", [{"source": "1"}]), r"a step is a Step, or a dict of .*; got \['source'\]"),
        (lambda: Trajectory("x", [{"observation": "1"}]), "a step has code, or the name of a tool"),
    ],
)
def test_a_wrong_argument_is_named_in_one_sentence(call: Any, message: str) -> None:
    with pytest.raises(ExperimentError, match=message):
        call()
