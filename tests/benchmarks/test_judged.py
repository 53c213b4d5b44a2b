"""A judge beside execution: rates by model, models that change places, the cost of one evaluation."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from spanproof.benchmarks import Answer, Graded, GradedAnswer
from spanproof.benchmarks.judged import build_judge_tasks, read_judgements
from spanproof.benchmarks.model import PASSED, build_failed_grade, build_unjudged_grade
from spanproof.benchmarks.programs import ProgramProblem
from spanproof.benchmarks.sampling import CompletionFile, ModelRequest
from spanproof.evaluators.prices import Price

PROBLEM = ProgramProblem(
    id="own/1", prompt="def double(x):", language="python", reference=None, groups={}, checks={}
)
REQUEST = ModelRequest("judge-1", "http://localhost/v1", 0.0, price=Price(1.0, 10.0))
FAILED = build_failed_grade("1 of 2 tests pass", wall_s=0.5)


def grade(model: str, number: int, graded: Graded) -> GradedAnswer:
    return GradedAnswer(Answer("own/1", f"return {number}", model=model), number, {"tests": graded})


# Of alpha 3 of 4 pass, of beta 1 of 4; the judge passes 1 of alpha's and all of beta's.
GRADED = [
    *(grade("alpha", number, FAILED if number == 4 else PASSED) for number in range(1, 5)),
    *(grade("beta", number, PASSED if number == 5 else FAILED) for number in range(5, 9)),
    grade("beta", 9, build_unjudged_grade("no toolchain")),
]
REPLIES = ["Yes.", "no", "No, it is wrong.", "no", *["yes"] * 3, "I cannot say"]


@pytest.fixture
def replies(tmp_path: Path) -> Path:
    path = tmp_path / "replies.jsonl"
    file = CompletionFile(path, REQUEST)
    tasks = build_judge_tasks([PROBLEM], GRADED)
    for (key, text), reply in zip(tasks.items(), REPLIES, strict=True):
        row = {"task_id": key, "number": 1, "completion": reply, "tokens_in": 100, "tokens_out": 2}
        file.write({**row, "wall_s": 0.25, **file.build_identity(text)})
    return path


def test_models_change_places_and_both_costs_are_reported(replies: Path) -> None:
    tasks = build_judge_tasks([PROBLEM], GRADED)
    assert len(tasks) == 8, "what could not be run has no grade to be held beside"
    found = read_judgements(replies, REQUEST, tasks, GRADED)
    alpha, beta = found.models.values()
    assert (alpha.executed, alpha.judged, alpha.false_passes, alpha.false_fails) == (0.75, 0.25, 0, 2)
    assert (beta.executed, beta.judged, beta.false_passes, beta.false_fails) == (0.25, 1.0, 2, 0)
    assert found.flips == (("alpha", "beta"),)
    assert found.costs["judge"] == {"seconds": 0.25, "usd": pytest.approx(100e-6 + 20e-6)}
    assert found.costs["execution"] == {"seconds": pytest.approx(4 * 0.5 / 8), "usd": 0.0}
    assert json.loads(json.dumps(found.to_json()))["flips"] == [["alpha", "beta"]]


def test_a_judge_that_ranks_alike_flips_nothing(replies: Path) -> None:
    tasks = build_judge_tasks([PROBLEM], GRADED[:4])
    found = read_judgements(replies, REQUEST, tasks, GRADED[:4])
    assert found.flips == ()
    assert list(found.models) == ["alpha"]
