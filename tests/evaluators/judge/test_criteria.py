"""A judge by the user's criteria, on spans of any kind."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from tests.evaluators.judge.conftest import Endpoint, endpoint

from spanproof.config.added_evaluators import load_functions
from spanproof.config.engine import build_evaluators
from spanproof.config.model import Config
from spanproof.evaluators.engine import Engine
from spanproof.evaluators.evaluator import EvaluatorError
from spanproof.sandbox.scanners.pipeline import Pipeline
from spanproof.trace import Errored, Label, Payload, Scored, Span, SpanKind, ToolCall, trace_of

__all__ = ["endpoint"]

MODEL = "gpt-4.1-mini-2025-04-14"
TRACE_ID = "0af7651916cd43dd8448eb211c80319c"


def _config(**fields: object) -> Config:
    entry = {"name": "polite", "grading_criteria": "Is it polite?", "pass_at": 0.5, **fields}
    return Config.model_validate({"judge": {"model": MODEL}, "evaluators": [entry]})


def _trace():
    run = Span(
        TRACE_ID, "a" * 16, None, "shop", SpanKind.AGENT, 1, 9, output=Payload("Good day!", "Good day!")
    )
    tool = Span(
        TRACE_ID, "b" * 16, "a" * 16, "search", SpanKind.TOOL, 2, 3,
        input=Payload("tea", "tea"), output=Payload("12 results", "12 results"),
        tool=ToolCall("search", {"q": "tea"}),
    )  # fmt: skip
    return trace_of([run, tool])


def _scores(config: Config):
    engine = Engine(pipeline=Pipeline(), sandbox=None, evaluators=build_evaluators(config, None))
    return [score for score in engine.evaluate(_trace()).scores if score.name == "polite"]


def test_a_run_and_a_tool_are_graded_by_criteria(endpoint: Endpoint) -> None:
    endpoint.answers = [json.dumps({"reasoning": "curt", "quotes": [], "score": 0.2})]
    (of_run,) = _scores(_config())
    assert isinstance(of_run.outcome, Scored)
    assert (of_run.span_id, of_run.outcome.value, of_run.outcome.label) == ("a" * 16, 0.2, Label.FAIL)
    assert of_run.evaluator == f"judge:polite:{MODEL}"
    (of_tool,) = _scores(_config(attach={"kind": "TOOL"}, pass_at=None))
    assert isinstance(of_tool.outcome, Scored)
    assert (of_tool.span_id, of_tool.outcome.label) == ("b" * 16, None)
    sent = [request["messages"] for request in endpoint.requests if "Is it polite?" in str(request)]
    assert "Good day!" in sent[0][1]["content"]
    assert "12 results" in sent[-1][1]["content"]


def test_a_judge_that_fails_is_an_error(endpoint: Endpoint) -> None:
    endpoint.answers = ["no JSON"]
    (score,) = _scores(_config())
    assert isinstance(score.outcome, Errored)


def test_another_model_grades_where_it_is_named(endpoint: Endpoint) -> None:
    (score,) = _scores(_config(model="other-2026-01-01"))
    assert score.evaluator == "judge:polite:other-2026-01-01"


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"evaluators": [{"name": "polite", "grading_criteria": "Is it?"}]}, "no model"),
        ({"judge": {"rubrics": "mine"}}, "no model would be given them"),
    ],
)
def test_what_no_model_would_be_given_is_refused(config: dict, message: str) -> None:
    with pytest.raises(EvaluatorError, match=message):
        load_functions(Config.model_validate(config))


def test_tags_of_the_agents_side_choose_the_spans(endpoint: Endpoint) -> None:
    assert _scores(_config(attach={"tags": ["polite"]})) == []
    trace = _trace()
    tagged = trace_of([replace(s, attributes={"spanproof.eval.tags": ("polite",)}) for s in trace.spans])
    config = _config(attach={"kind": None, "tags": ["polite", "other"]})
    engine = Engine(pipeline=Pipeline(), sandbox=None, evaluators=build_evaluators(config, None))
    assert len([score for score in engine.evaluate(tagged).scores if score.name == "polite"]) == 2
