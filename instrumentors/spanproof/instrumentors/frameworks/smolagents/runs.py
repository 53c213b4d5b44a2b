"""The AGENT span of each run, also when it streams, and the CHAIN spans of its steps.

A step's span has the code as it ran and its result. It starts with `_step_stream` (or the planning generator,
or the forced final answer) and ends in `_finalize_step`, through which every ActionStep and PlanningStep
passes, failures of final checks included.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from functools import lru_cache, partial
from types import GeneratorType
from typing import Any, Final

from opentelemetry.context import Context
from opentelemetry.util.types import AttributeValue

from spanproof.instrumentors.content.capture import Content
from spanproof.instrumentors.content.code_tools import build_bound, read_parameters
from spanproof.instrumentors.content.texts import (
    as_count,
    as_text,
    get_attribute,
    get_type_name,
    is_a,
    to_text,
)
from spanproof.instrumentors.frameworks.diagnostics import shielded
from spanproof.instrumentors.frameworks.messages import History, build_text_part, record_agent
from spanproof.instrumentors.frameworks.patching import Args, Kwargs, Method
from spanproof.instrumentors.frameworks.smolagents.calls import get_name, list_definitions
from spanproof.instrumentors.frameworks.smolagents.execution import record_outcome
from spanproof.instrumentors.frameworks.smolagents.state import PLACE, RUNS, Place, Run, Step, run_of
from spanproof.instrumentors.spans.contexts import current, iter_within, run_within
from spanproof.instrumentors.spans.span_start import AGENT, CHAIN, SpanStart, build_start
from spanproof.instrumentors.spans.tracing import Tracing
from spanproof.semconv import genai
from spanproof.semconv import spanproof as ours

# What `run(return_full_result=True)` returns; by name, since a reload of the module makes another class.
_FULL_RESULT: Final = "smolagents.agents.RunResult"


def run_traced_agent(
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
    call = _build_bound_call(original, args, kwargs) or {}
    if call.get("stream"):
        # The span starts with the first `next()`: a stream that is never read does nothing either.
        stream = original(agent, *args, **kwargs)
        if isinstance(stream, GeneratorType):
            return _run_stream(tracing, agent, call, parent, stream)
        return stream
    opened = _open_run(tracing, agent, call, parent)
    return run_within(
        partial(original, agent, *args, **kwargs),
        opened.get_context_between_steps(),
        partial(_close_run, opened),
    )


def _run_stream(tracing: Tracing, agent: Any, call: Mapping[str, Any], parent: Context, stream: Any) -> Any:
    opened = _open_run(tracing, agent, call, parent)
    answers: list[Any] = []

    def observe(item: Any) -> None:
        if type(item).__name__ == "FinalAnswerStep":
            answers.append(item)

    def end(failure: BaseException | None) -> None:
        answer = getattr(answers[-1], "output", None) if answers else None
        _close_run(opened, answer, failure, answered=bool(answers))

    return (yield from iter_within(stream, opened.get_context_between_steps(), observe, end))


@shielded("smolagents.run.arguments")
def _build_bound_call(original: Method, args: Args, kwargs: Kwargs) -> Mapping[str, Any]:
    return build_bound(read_parameters(original).names, args, kwargs).named


def _open_run(tracing: Tracing, agent: Any, call: Mapping[str, Any], parent: Context) -> Run:
    name = get_name(agent, "name")
    opened = tracing.open(Run, build_start(name, AGENT), parent)
    opened.agent, opened.handled, opened.steps, opened.history = agent, sys.exception(), {}, History()
    RUNS[id(opened)] = opened
    if opened.recording:
        with shielded("smolagents.run.start"):
            _record_run(opened, name, call)
    return opened


def _record_run(run: Run, name: str, call: Mapping[str, Any]) -> None:
    agent = run.agent
    record_agent(run, name)
    run.fact(genai.AGENT_DESCRIPTION, as_text(get_attribute(agent, "description")))
    run.fact(genai.REQUEST_MODEL, as_text(get_attribute(agent.model, "model_id")))
    run.fact(ours.RUN_MAX_STEPS, as_count(call.get("max_steps") or agent.max_steps))
    if run.visible:
        task = to_text(call.get("task", ""))
        run.input(task)
        run.json(genai.INPUT_MESSAGES, [{"role": "user", "parts": [build_text_part(task)]}])
        run.json(genai.TOOL_DEFINITIONS, list_definitions(agent))
        if call.get("additional_args") is not None:
            run.json(ours.RUN_VARIABLES, call["additional_args"])
    run.write()


def _close_run(run: Run, result: Any, error: BaseException | None, *, answered: bool = True) -> None:
    del RUNS[id(run)]
    for step in [*run.steps.values()]:
        step.close()
        step.recording = False
    if run.span.is_recording():
        with shielded("smolagents.run.end"):
            run.fact(ours.RUN_ENDING, _find_ending(run, error, answered=answered))
            if error is not None:
                run.fail(error)
            elif answered and run.visible:
                _record_answer(run, result)
    run.close()


def _find_ending(run: Run, error: BaseException | None, *, answered: bool) -> str | None:
    if error is not None:
        return "failed"
    if run.max_steps_reached:
        return "max_steps"
    return "answered" if answered else None


def _record_answer(content: Content, result: Any) -> None:
    if get_type_name(result) == _FULL_RESULT:
        output = result.output
    else:
        output = result
    content.output(output)
    if is_a(output, str):
        part = build_text_part(to_text(output))
    else:
        part = {"type": "json", "content": output}
    content.json(genai.OUTPUT_MESSAGES, [{"role": "assistant", "parts": [part], "finish_reason": "stop"}])


_ACTION: Final = "action"
_PLANNING: Final = "planning"
_FINAL_ANSWER: Final = "final_answer"


def run_traced_step(tracing: Tracing, original: Method, agent: Any, args: Args, kwargs: Kwargs) -> Any:
    """Hook of `_step_stream`: run it within a CHAIN span that stays open until the step is finalised."""
    stream = original(agent, *args, **kwargs)
    run = run_of(tracing, agent)
    memory_step = args[0] if args else kwargs.get("memory_step")
    if run is None or id(memory_step) in run.steps:
        return stream
    step = run.steps[id(memory_step)] = _open_step(tracing, run, _ACTION, memory_step)
    record_items = step.record_items if step.visible else None
    return iter_within(stream, step.context, record_items, partial(setattr, step, "failure"))


def run_traced_planning(tracing: Tracing, original: Method, agent: Any, args: Args, kwargs: Kwargs) -> Any:
    """Hook of `_generate_planning_step`: run it within a CHAIN span; it yields the step last."""
    stream = original(agent, *args, **kwargs)
    run = run_of(tracing, agent)
    if run is None:
        return stream
    step = _open_step(tracing, run, _PLANNING, agent)

    def observe(item: Any) -> None:
        if type(item).__name__ == "PlanningStep":
            run.steps[id(item)] = step

    def end(failure: BaseException | None) -> None:
        if step not in run.steps.values():  # it failed or was abandoned before there was a plan to finalise
            _close_unfinished(step, failure)

    return iter_within(stream, step.context, observe, end)


def run_traced_max_steps(tracing: Tracing, original: Method, agent: Any, args: Args, kwargs: Kwargs) -> Any:
    """Hook of `_handle_max_steps_reached`: the final answer that the model is forced to give."""
    run = run_of(tracing, agent)
    if run is None:
        return original(agent, *args, **kwargs)
    run.max_steps_reached = True
    step = run.forced = _open_step(tracing, run, _FINAL_ANSWER, agent)

    def end(_: object, failure: BaseException | None) -> None:
        run.forced = None
        _close_unfinished(step, failure)

    return run_within(partial(original, agent, *args, **kwargs), step.context, end)


def run_traced_finalize(tracing: Tracing, original: Method, agent: Any, args: Args, kwargs: Kwargs) -> Any:
    """Hook of `_finalize_step`, after which a step's span is complete."""
    try:
        return original(agent, *args, **kwargs)
    finally:
        run = run_of(tracing, agent)
        if run is not None:
            _close_step(run, args[0] if args else kwargs.get("memory_step"))


def _open_step(tracing: Tracing, run: Run, kind: str, numbered: Any) -> Step:
    number = getattr(numbered, "step_number", None)
    step = tracing.open(Step, _build_step_start(kind, number if type(number) is int else None))
    step.context = Context({**step.context, PLACE: Place(run, step)})
    return step


@lru_cache(maxsize=256)
def _build_step_start(kind: str, number: int | None) -> SpanStart:
    facts: dict[str, AttributeValue] = {ours.STEP_KIND: kind}
    if number is not None:
        facts[ours.STEP_NUMBER] = number
    if kind == _PLANNING:
        facts[genai.OPERATION_NAME] = genai.OPERATION_PLAN
    name = "step" if kind == _ACTION else kind.replace("_", " ")
    return build_start(name if number is None else f"{name} {number}", CHAIN, facts)


def _close_step(run: Run, memory_step: Any) -> None:
    step = run.steps.pop(id(memory_step), None)
    if step is None and type(memory_step).__name__ == "ActionStep":
        step = run.forced
    if step is None:
        return
    if step.recording:  # not where it ended with its run
        record_outcome(run, step, memory_step)
    step.close()


def _close_unfinished(step: Step, failure: BaseException | None) -> None:
    """End a step that was never finalised, unless it has ended: the SDK would log a warning."""
    if step.span.is_recording():
        if failure is not None:
            with shielded("smolagents.step.end"):
                step.fail(failure)
        step.close()
