"""The CHAIN spans: one per step, with the code as it ran and what came of it.

A step's span begins with `_step_stream` (or the planning generator, or the forced final answer) and ends in
`_finalize_step`, through which every ActionStep and PlanningStep passes, failures of final checks included.
"""

from __future__ import annotations

from functools import lru_cache, partial
from typing import Any

from opentelemetry.util.types import AttributeValue

from spanproof.instrumentors.frameworks.diagnostics import shielded, swallowed
from spanproof.instrumentors.frameworks.patching import Method
from spanproof.instrumentors.frameworks.smolagents import outcome
from spanproof.instrumentors.frameworks.smolagents.state import PLACE, RunState, StepState, run_of
from spanproof.instrumentors.spans.contexts import attach, detach
from spanproof.instrumentors.spans.starts import CHAIN, Start, start_of
from spanproof.instrumentors.spans.streams import drive
from spanproof.instrumentors.spans.tracing import Tracing, blank
from spanproof.semconv import genai
from spanproof.semconv import spanproof as ours

ACTION = "action"
PLANNING = "planning"
FINAL_ANSWER = "final_answer"


def wrap_step(tracing: Tracing, original: Method) -> Method:
    """`_step_stream` within a CHAIN span that stays open until the step is finalised."""

    def step_stream(agent: Any, /, memory_step: Any, *args: Any, **kwargs: Any) -> Any:
        stream = original(agent, memory_step, *args, **kwargs)
        run = run_of(tracing, agent)
        if run is None or id(memory_step) in run.steps:
            return stream
        state = _begin(tracing, run, ACTION, getattr(memory_step, "step_number", None))
        if state is None:
            return stream
        run.steps[id(memory_step)] = state
        opened = state.opened
        failed = partial(setattr, state, "failure")
        return drive(stream, opened.context, state.saw if opened.visible else None, failed)

    return step_stream


def wrap_planning(tracing: Tracing, original: Method) -> Method:
    """`_generate_planning_step` within a CHAIN span; its last value is the step that gets finalised."""

    def planning(agent: Any, /, *args: Any, **kwargs: Any) -> Any:
        stream = original(agent, *args, **kwargs)
        run = run_of(tracing, agent)
        if run is None:
            return stream
        state = _begin(tracing, run, PLANNING, getattr(agent, "step_number", None))
        return stream if state is None else _planned(tracing, run, state, stream)

    return planning


def wrap_max_steps(tracing: Tracing, original: Method) -> Method:
    """The answer the model is forced to give after the last allowed step."""

    def handle_max_steps(agent: Any, /, *args: Any, **kwargs: Any) -> Any:
        run = run_of(tracing, agent)
        if run is None:
            return original(agent, *args, **kwargs)
        run.max_steps_reached = True
        state = _begin(tracing, run, FINAL_ANSWER, getattr(agent, "step_number", None))
        if state is None:
            return original(agent, *args, **kwargs)
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

    return handle_max_steps


def wrap_finalize(tracing: Tracing, original: Method) -> Method:
    """`_finalize_step`, after which a step's span is complete."""

    def finalize(agent: Any, /, memory_step: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            return original(agent, memory_step, *args, **kwargs)
        finally:
            _finish(tracing, agent, memory_step)

    return finalize


def _planned(tracing: Tracing, run: RunState, state: StepState, stream: Any) -> Any:
    def remember(item: Any) -> None:
        if type(item).__name__ == "PlanningStep":
            run.steps[id(item)] = state

    def end(failure: BaseException | None) -> None:
        if state not in run.steps.values():  # it failed or was given up before there was a plan to finalise
            state.failure = failure
            _end_unfinished(tracing, state)

    return drive(stream, state.opened.context, remember, end)


def _begin(tracing: Tracing, run: RunState, kind: str, number: object) -> StepState | None:
    try:
        state = blank(StepState)
        state.code = state.executor = state.returned = state.answered = state.failure = None
        state.duration_s, state.printed, state.chain = 0.0, True, ()
        start = _start_of(kind, number if type(number) is int else None)
        state.opened = tracing.open(start, None, (PLACE, (run, state, None, None)))
    except Exception as error:  # noqa: BLE001 - the host must not see it
        swallowed("smolagents.step.begin", error)
        return None
    return state


@lru_cache(maxsize=256)
def _start_of(kind: str, number: int | None) -> Start:
    facts: dict[str, AttributeValue] = {ours.STEP_KIND: kind}
    if number is not None:
        facts[ours.STEP_NUMBER] = number
    if kind == PLANNING:
        facts[genai.OPERATION_NAME] = genai.OPERATION_PLAN
    name = "step" if kind == ACTION else kind.replace("_", " ")
    return start_of(name if number is None else f"{name} {number}", CHAIN, facts)


def _finish(tracing: Tracing, agent: Any, memory_step: Any) -> None:
    try:
        run = run_of(tracing, agent)
        if run is None:
            return
        state = run.steps.pop(id(memory_step), None)
        if state is None and type(memory_step).__name__ == "ActionStep":
            state = run.forced
        if state is None:
            return
        try:
            if state.opened.recording:  # it has ended with its run where that was left
                outcome.record(tracing, run, state, memory_step)
        finally:
            state.opened.close()
    except Exception as error:  # noqa: BLE001 - as above
        swallowed("smolagents.step.finish", error)


@shielded("smolagents.step.end")
def _end_unfinished(tracing: Tracing, state: StepState) -> None:
    """End a step that never came to be finalised, unless it has ended: the SDK warns of a second time."""
    span = state.opened.span
    if span.is_recording():
        if state.failure is not None:
            tracing.fail(span, state.failure)
        state.opened.close()
