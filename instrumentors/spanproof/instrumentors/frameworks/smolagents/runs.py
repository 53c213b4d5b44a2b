"""The AGENT span: one per `run()`, also when it streams."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from functools import partial
from types import GeneratorType
from typing import Any, Final

from opentelemetry.context import Context

from spanproof.instrumentors.content.capture import Content
from spanproof.instrumentors.content.code_tools import bind, parameters_of
from spanproof.instrumentors.content.messages import History, record_agent, text_part
from spanproof.instrumentors.content.texts import (
    attribute,
    count_or_none,
    is_a,
    text_of,
    text_or_none,
    type_name,
)
from spanproof.instrumentors.frameworks.diagnostics import shielded
from spanproof.instrumentors.frameworks.patching import Args, Kwargs, Method
from spanproof.instrumentors.frameworks.smolagents.calls import definitions, name_of
from spanproof.instrumentors.frameworks.smolagents.state import RUNS, Run
from spanproof.instrumentors.spans.contexts import current, drive, run
from spanproof.instrumentors.spans.span_start import AGENT, make_start
from spanproof.instrumentors.spans.tracing import Tracing
from spanproof.semconv import genai
from spanproof.semconv import spanproof as ours

_FULL_RESULT: Final = "smolagents.agents.RunResult"
"""What `run(return_full_result=True)` returns; by name, since a reload of the module makes another class."""


def trace_run(
    tracing: Tracing,
    adopt: Callable[[Any], object],
    original: Method,
    agent: Any,
    args: Args,
    kwargs: Kwargs,
) -> Any:
    """Hook of `MultiStepAgent.run`: run it within an AGENT span."""
    adopt(agent)
    parent = current()
    call = _bind_call(original, args, kwargs) or {}
    if call.get("stream"):
        # The span starts with the first `next()`: a stream that is never read does nothing either.
        stream = original(agent, *args, **kwargs)
        return _drive(tracing, agent, call, parent, stream) if isinstance(stream, GeneratorType) else stream
    opened = _open(tracing, agent, call, parent)
    return run(
        partial(original, agent, *args, **kwargs), opened.context_between_steps(), partial(_end, opened)
    )


def _drive(tracing: Tracing, agent: Any, call: Mapping[str, Any], parent: Context, stream: Any) -> Any:
    opened = _open(tracing, agent, call, parent)
    answers: list[Any] = []

    def observe(item: Any) -> None:
        if type(item).__name__ == "FinalAnswerStep":
            answers.append(item)

    def end(failure: BaseException | None) -> None:
        answer = getattr(answers[-1], "output", None) if answers else None
        _end(opened, answer, failure, answered=bool(answers))

    return (yield from drive(stream, opened.context_between_steps(), observe, end))


@shielded("smolagents.run.arguments")
def _bind_call(original: Method, args: Args, kwargs: Kwargs) -> Mapping[str, Any]:
    return bind(parameters_of(original).names, args, kwargs).named


def _open(tracing: Tracing, agent: Any, call: Mapping[str, Any], parent: Context) -> Run:
    name = name_of(agent, "name")
    opened = tracing.open(Run, make_start(name, AGENT), parent)
    opened.agent, opened.handled, opened.steps, opened.history = agent, sys.exception(), {}, History()
    RUNS[id(opened)] = opened
    if opened.recording:
        with shielded("smolagents.run.start"):
            _describe(opened, name, call)
    return opened


def _describe(run: Run, name: str, call: Mapping[str, Any]) -> None:
    agent = run.agent
    record_agent(run, name)
    run.fact(genai.AGENT_DESCRIPTION, text_or_none(attribute(agent, "description")))
    run.fact(genai.REQUEST_MODEL, text_or_none(attribute(agent.model, "model_id")))
    run.fact(ours.RUN_MAX_STEPS, count_or_none(call.get("max_steps") or agent.max_steps))
    if run.visible:
        task = text_of(call.get("task", ""))
        run.input(task)
        run.json(genai.INPUT_MESSAGES, [{"role": "user", "parts": [text_part(task)]}])
        run.json(genai.TOOL_DEFINITIONS, definitions(agent))
        if call.get("additional_args") is not None:
            run.json(ours.RUN_VARIABLES, call["additional_args"])
    run.write()


def _end(run: Run, result: Any, error: BaseException | None, *, answered: bool = True) -> None:
    del RUNS[id(run)]
    for step in [*run.steps.values()]:
        step.close()
        step.recording = False
    if run.span.is_recording():
        with shielded("smolagents.run.end"):
            run.fact(ours.RUN_ENDING, _ending(run, error, answered=answered))
            if error is not None:
                run.fail(error)
            elif answered and run.visible:
                _record_answer(run, result)
    run.close()


def _ending(run: Run, error: BaseException | None, *, answered: bool) -> str | None:
    if error is not None:
        return "failed"
    if run.max_steps_reached:
        return "max_steps"
    return "answered" if answered else None


def _record_answer(content: Content, result: Any) -> None:
    output = result.output if type_name(result) == _FULL_RESULT else result
    content.output(output)
    part = text_part(text_of(output)) if is_a(output, str) else {"type": "json", "content": output}
    content.json(genai.OUTPUT_MESSAGES, [{"role": "assistant", "parts": [part], "finish_reason": "stop"}])
