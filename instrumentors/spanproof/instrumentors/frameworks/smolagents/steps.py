"""The CHAIN spans: one per step, with the code as it ran and its result.

A step's span starts with `_step_stream` (or the planning generator, or the forced final answer) and ends in
`_finalize_step`, through which every ActionStep and PlanningStep passes, failures of final checks included.
"""

from __future__ import annotations

from functools import lru_cache, partial
from typing import Any, Final

from opentelemetry.context import Context
from opentelemetry.util.types import AttributeValue

from spanproof.instrumentors.frameworks.diagnostics import shielded
from spanproof.instrumentors.frameworks.patching import Args, Kwargs, Method
from spanproof.instrumentors.frameworks.smolagents.execution import record_outcome
from spanproof.instrumentors.frameworks.smolagents.state import PLACE, Place, Run, Step, run_of
from spanproof.instrumentors.spans import contexts
from spanproof.instrumentors.spans.span_start import CHAIN, SpanStart, make_start
from spanproof.instrumentors.spans.tracing import Tracing
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
    step = run.steps[id(memory_step)] = _open(tracing, run, _ACTION, memory_step)
    observe = step.observe if step.visible else None
    return contexts.drive(stream, step.context, observe, partial(setattr, step, "failure"))


def trace_planning(tracing: Tracing, original: Method, agent: Any, args: Args, kwargs: Kwargs) -> Any:
    """Hook of `_generate_planning_step`: run it within a CHAIN span; it yields the step last."""
    stream = original(agent, *args, **kwargs)
    run = run_of(tracing, agent)
    if run is None:
        return stream
    step = _open(tracing, run, _PLANNING, agent)

    def observe(item: Any) -> None:
        if type(item).__name__ == "PlanningStep":
            run.steps[id(item)] = step

    def end(failure: BaseException | None) -> None:
        if step not in run.steps.values():  # it failed or was abandoned before there was a plan to finalise
            _end_unfinished(step, failure)

    return contexts.drive(stream, step.context, observe, end)


def trace_max_steps(tracing: Tracing, original: Method, agent: Any, args: Args, kwargs: Kwargs) -> Any:
    """Hook of `_handle_max_steps_reached`: the final answer that the model is forced to give."""
    run = run_of(tracing, agent)
    if run is None:
        return original(agent, *args, **kwargs)
    run.max_steps_reached = True
    step = run.forced = _open(tracing, run, _FINAL_ANSWER, agent)

    def end(_: object, failure: BaseException | None) -> None:
        run.forced = None
        _end_unfinished(step, failure)

    return contexts.run(partial(original, agent, *args, **kwargs), step.context, end)


def trace_finalize(tracing: Tracing, original: Method, agent: Any, args: Args, kwargs: Kwargs) -> Any:
    """Hook of `_finalize_step`, after which a step's span is complete."""
    try:
        return original(agent, *args, **kwargs)
    finally:
        run = run_of(tracing, agent)
        if run is not None:
            _finish(run, args[0] if args else kwargs.get("memory_step"))


def _open(tracing: Tracing, run: Run, kind: str, numbered: Any) -> Step:
    number = getattr(numbered, "step_number", None)
    step = tracing.open(Step, _make_start(kind, number if type(number) is int else None))
    step.context = Context({**step.context, PLACE: Place(run, step)})
    return step


@lru_cache(maxsize=256)
def _make_start(kind: str, number: int | None) -> SpanStart:
    facts: dict[str, AttributeValue] = {ours.STEP_KIND: kind}
    if number is not None:
        facts[ours.STEP_NUMBER] = number
    if kind == _PLANNING:
        facts[genai.OPERATION_NAME] = genai.OPERATION_PLAN
    name = "step" if kind == _ACTION else kind.replace("_", " ")
    return make_start(name if number is None else f"{name} {number}", CHAIN, facts)


def _finish(run: Run, memory_step: Any) -> None:
    step = run.steps.pop(id(memory_step), None)
    if step is None and type(memory_step).__name__ == "ActionStep":
        step = run.forced
    if step is None:
        return
    if step.recording:  # not where it ended with its run
        record_outcome(run, step, memory_step)
    step.close()


def _end_unfinished(step: Step, failure: BaseException | None) -> None:
    """End a step that was never finalised, unless it has ended: the SDK would log a warning."""
    if step.span.is_recording():
        if failure is not None:
            with shielded("smolagents.step.end"):
                step.fail(failure)
        step.close()
