"""The CHAIN spans: one per step, with the code as it ran and its result.

A step's span starts with `_step_stream` (or the planning generator, or the forced final answer) and ends in
`_finalize_step`, through which every ActionStep and PlanningStep passes, failures of final checks included.
"""

from __future__ import annotations

from functools import lru_cache, partial
from typing import Any, Final

from opentelemetry.util.types import AttributeValue

from spanproof.instrumentors.frameworks.diagnostics import shielded, swallowed
from spanproof.instrumentors.frameworks.patching import Args, Kwargs, Method
from spanproof.instrumentors.frameworks.smolagents.execution import record_outcome
from spanproof.instrumentors.frameworks.smolagents.state import PLACE, RunState, StepState, run_of
from spanproof.instrumentors.spans.contexts import attach, detach
from spanproof.instrumentors.spans.span_start import CHAIN, SpanStart, make_start
from spanproof.instrumentors.spans.streams import drive
from spanproof.instrumentors.spans.tracing import OpenSpan, Tracing
from spanproof.semconv import genai
from spanproof.semconv import spanproof as ours

_ACTION: Final = "action"
_PLANNING: Final = "planning"
_FINAL_ANSWER: Final = "final_answer"


def trace_step(tracing: Tracing, original: Method, agent: Any, args: Args, kwargs: Kwargs) -> Any:
    """Hook of `_step_stream`: run it within a CHAIN span that stays open until the step is finalised."""
    stream = original(agent, *args, **kwargs)
    run = run_of(tracing, agent)
    memory_step = args[0] if args else kwargs.get("memory_step")
    if run is None or id(memory_step) in run.steps:
        return stream
    state = _begin(tracing, run, _ACTION, getattr(memory_step, "step_number", None))
    if state is None:
        return stream
    run.steps[id(memory_step)] = state
    observe = state.observe if state.opened.visible else None
    return drive(stream, state.opened.context, observe, partial(setattr, state, "failure"))


def trace_planning(tracing: Tracing, original: Method, agent: Any, args: Args, kwargs: Kwargs) -> Any:
    """Hook of `_generate_planning_step`: run it within a CHAIN span; it yields the step last."""
    stream = original(agent, *args, **kwargs)
    run = run_of(tracing, agent)
    state = None if run is None else _begin(tracing, run, _PLANNING, getattr(agent, "step_number", None))
    if run is None or state is None:
        return stream

    def observe(item: Any) -> None:
        if type(item).__name__ == "PlanningStep":
            run.steps[id(item)] = state

    def end(failure: BaseException | None) -> None:
        if state not in run.steps.values():  # it failed or was abandoned before there was a plan to finalise
            state.failure = failure
            _end_unfinished(tracing, state)

    return drive(stream, state.opened.context, observe, end)


def trace_max_steps(tracing: Tracing, original: Method, agent: Any, args: Args, kwargs: Kwargs) -> Any:
    """Hook of `_handle_max_steps_reached`: the final answer that the model is forced to give."""
    run = run_of(tracing, agent)
    state = None if run is None else _begin(tracing, run, _FINAL_ANSWER, getattr(agent, "step_number", None))
    if run is None or state is None:
        return original(agent, *args, **kwargs)
    run.max_steps_reached = True
    run.forced = state
    token = attach(state.opened.context)
    try:
        return original(agent, *args, **kwargs)
    except BaseException as error:
        state.failure = error
        raise
    finally:
        detach(token)
        run.forced = None
        _end_unfinished(tracing, state)


def trace_finalize(tracing: Tracing, original: Method, agent: Any, args: Args, kwargs: Kwargs) -> Any:
    """Hook of `_finalize_step`, after which a step's span is complete."""
    try:
        return original(agent, *args, **kwargs)
    finally:
        _finish(tracing, agent, args[0] if args else kwargs.get("memory_step"))


def _begin(tracing: Tracing, run: RunState, kind: str, number: object) -> StepState | None:
    try:
        state = StepState()
        start = _make_start(kind, number if type(number) is int else None)
        state.opened = tracing.open_as(OpenSpan, start, values={PLACE: (run, state, None, None)})
    except Exception as error:  # noqa: BLE001 - the host must not see it
        swallowed("smolagents.step.begin", error)
        return None
    return state


@lru_cache(maxsize=256)
def _make_start(kind: str, number: int | None) -> SpanStart:
    facts: dict[str, AttributeValue] = {ours.STEP_KIND: kind}
    if number is not None:
        facts[ours.STEP_NUMBER] = number
    if kind == _PLANNING:
        facts[genai.OPERATION_NAME] = genai.OPERATION_PLAN
    name = "step" if kind == _ACTION else kind.replace("_", " ")
    return make_start(name if number is None else f"{name} {number}", CHAIN, facts)


def _finish(tracing: Tracing, agent: Any, memory_step: Any) -> None:
    run = run_of(tracing, agent)
    if run is None:
        return
    state = run.steps.pop(id(memory_step), None)
    if state is None and type(memory_step).__name__ == "ActionStep":
        state = run.forced
    if state is None:
        return
    try:
        try:
            if state.opened.recording:  # not where it ended with its run
                record_outcome(tracing, run, state, memory_step)
        finally:
            state.opened.close()
    except Exception as error:  # noqa: BLE001 - the host must not see it
        swallowed("smolagents.step.finish", error)


@shielded("smolagents.step.end")
def _end_unfinished(tracing: Tracing, state: StepState) -> None:
    """End a step that was never finalised, unless it has ended: the SDK would log a warning."""
    span = state.opened.span
    if span.is_recording():
        if state.failure is not None:
            tracing.fail(span, state.failure)
        state.opened.close()
