"""The AGENT span: one per `run()`, also when it streams."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from types import GeneratorType
from typing import Any, Final

from opentelemetry.context import Context

from spanproof.instrumentors.content.capture import Content
from spanproof.instrumentors.content.code_tools import bind, parameters_of
from spanproof.instrumentors.content.messages import record_agent, text_part
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
from spanproof.instrumentors.frameworks.smolagents.calls import definitions
from spanproof.instrumentors.frameworks.smolagents.state import RunState, add_run, context_of_run, remove_run
from spanproof.instrumentors.spans.contexts import attach, current, detach
from spanproof.instrumentors.spans.span_start import AGENT, make_start
from spanproof.instrumentors.spans.streams import drive
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
    state = _begin(tracing, agent, call, parent)
    if state is None:
        return original(agent, *args, **kwargs)
    token = attach(context_of_run(state))
    try:
        result = original(agent, *args, **kwargs)
    except BaseException as error:
        _end(tracing, state, None, error)
        raise
    finally:
        detach(token)
    _end(tracing, state, result, None)
    return result


def _drive(tracing: Tracing, agent: Any, call: Mapping[str, Any], parent: Context, stream: Any) -> Any:
    state = _begin(tracing, agent, call, parent)
    if state is None:
        return (yield from stream)
    answers: list[Any] = []

    def observe(item: Any) -> None:
        if type(item).__name__ == "FinalAnswerStep":
            answers.append(item)

    def end(failure: BaseException | None) -> None:
        answer = getattr(answers[-1], "output", None) if answers else None
        _end(tracing, state, answer, failure, answered=bool(answers))

    return (yield from drive(stream, context_of_run(state), observe, end))


@shielded("smolagents.run.arguments")
def _bind_call(original: Method, args: Args, kwargs: Kwargs) -> Mapping[str, Any]:
    return bind(parameters_of(original).names, args, kwargs).named


@shielded("smolagents.run.begin")
def _begin(tracing: Tracing, agent: Any, call: Mapping[str, Any], parent: Context) -> RunState | None:
    name = text_or_none(attribute(agent, "name")) or type(agent).__name__
    opened = tracing.open(make_start(name, AGENT), parent)
    state = RunState(opened, agent, sys.exception())
    add_run(state)
    if opened.recording:
        _describe(state, name, call)
    return state


@shielded("smolagents.run.describe")
def _describe(state: RunState, name: str, call: Mapping[str, Any]) -> None:
    agent, content = state.agent, state.opened
    record_agent(content, name)
    content.fact(genai.AGENT_DESCRIPTION, text_or_none(attribute(agent, "description")))
    content.fact(genai.REQUEST_MODEL, text_or_none(attribute(agent.model, "model_id")))
    content.fact(ours.RUN_MAX_STEPS, count_or_none(call.get("max_steps") or agent.max_steps))
    if content.visible:
        _describe_task(content, agent, call)
    content.write()


def _describe_task(content: Content, agent: Any, call: Mapping[str, Any]) -> None:
    task = text_of(call.get("task", ""))
    content.input(task)
    content.messages(genai.INPUT_MESSAGES, [{"role": "user", "parts": [text_part(task)]}])
    content.json(genai.TOOL_DEFINITIONS, definitions(agent))
    variables = call.get("additional_args")
    if variables is not None:
        content.json(ours.RUN_VARIABLES, variables)


@shielded("smolagents.run.end")
def _end(
    tracing: Tracing, state: RunState, result: Any, error: BaseException | None, *, answered: bool = True
) -> None:
    content = state.opened
    remove_run(state)
    try:
        for step in [*state.steps.values()]:
            step.opened.close()
            step.opened.recording = False
        if not content.span.is_recording():
            return
        content.fact(ours.RUN_ENDING, _ending(state, error, answered=answered))
        if error is None and answered and content.visible:
            _record_answer(content, result)
        if error is not None:
            tracing.fail(content.span, error)
    finally:
        content.close()


def _ending(state: RunState, error: BaseException | None, *, answered: bool) -> str | None:
    if error is not None:
        return "failed"
    if state.max_steps_reached:
        return "max_steps"
    return "answered" if answered else None


def _record_answer(content: Content, result: Any) -> None:
    output = result.output if type_name(result) == _FULL_RESULT else result
    content.output(output)
    part = text_part(text_of(output)) if is_a(output, str) else {"type": "json", "content": output}
    content.json(genai.OUTPUT_MESSAGES, [{"role": "assistant", "parts": [part], "finish_reason": "stop"}])
