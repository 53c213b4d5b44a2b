"""A function that `@evaluator` marks, named in the configuration: it runs in the service's own process."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from spanproof.config.engine import build_engine
from spanproof.config.model import Config
from spanproof.evaluators.evaluator import EvaluatorError
from spanproof.experiments import Trajectory, evaluate, score_run
from spanproof.sandbox.scanners.pipeline import Pipeline
from spanproof.trace import Errored, Label, Scored, Skipped

MODULE = """
from spanproof.experiments import evaluator

@evaluator(name="short")
def is_short(output, expected):
    words = len(output.split())
    return {"score": words <= expected, "explanation": f"{words} words"}

@evaluator
async def count_words(output):
    return len(output.split())

@evaluator
def says_nothing(task):
    return None

@evaluator
def raising(output):
    raise LookupError("no such order")

@evaluator
def demanding(output, currency):
    return 1

def unmarked(output):
    return 1
"""


@pytest.fixture
def modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "own_scorers.py").write_text(MODULE)
    monkeypatch.syspath_prepend(str(tmp_path))


def judge(answer: str, **entry: Any) -> Any:
    config = Config.model_validate({"evaluators": [{"name": "own", **entry}]})
    engine = build_engine(config, Pipeline(), None, "not here")
    run = score_run(Trajectory("Say something.", [], answer), engine=engine)
    return next(score.outcome for score in run.scores if score.name == "own")


def test_it_scores_the_answer_in_the_engine_that_serve_opens(modules: None) -> None:
    entry = {"function": "own_scorers:is_short", "target": 3, "pass_at": 1}
    assert judge("three words here", **entry) == Scored(1.0, Label.PASS, "3 words")
    assert judge("these are four words", **entry) == Scored(0.0, Label.FAIL, "4 words")


def test_the_same_function_scores_rows(modules: None) -> None:
    import own_scorers

    found = evaluate([{"input": "a b", "expected": 2}], lambda input: input, [own_scorers.is_short])
    assert found.scores["short"].mean == 1.0


def test_what_it_returns_is_read_as_of_other_evaluators(modules: None) -> None:
    words = judge("one two", function="own_scorers:count_words", range=[0, 4])
    assert (words.value, words.raw) == (0.5, 2.0)
    assert isinstance(judge("one two", function="own_scorers:count_words"), Errored), "2 is beyond 1"
    assert isinstance(judge("one", function="own_scorers:says_nothing"), Skipped)
    assert judge("one", function="own_scorers:raising") == Errored("LookupError", "no such order")
    assert judge("one", function="own_scorers:demanding", variables={"currency": "EUR"}).value == 1.0


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("own_scorers:demanding", "own_scorers:demanding wants 'currency', and is given .*`variables`"),
        ("own_scorers:unmarked", "is no function that @evaluator of spanproof.experiments marks"),
        ("own_scorers:absent", "cannot be imported: AttributeError: .* PYTHONPATH"),
        ("no_such_module:f", "cannot be imported: ModuleNotFoundError"),
        ("own_scorers", "function must be package.module:name"),
    ],
)
def test_one_that_cannot_be_called_is_refused_at_start(modules: None, target: str, message: str) -> None:
    with pytest.raises(EvaluatorError, match=message):
        judge("x", function=target)
