"""The attributes of a finished step: code, observation, output, error, executor."""

from __future__ import annotations

from typing import Any

from spanproof.instrumentors.content.capture import Content
from spanproof.instrumentors.content.reading import attribute, text_or_none
from spanproof.instrumentors.content.texts import text_of
from spanproof.instrumentors.frameworks.smolagents import causes, execution
from spanproof.instrumentors.frameworks.smolagents.state import RunState, StepState
from spanproof.instrumentors.spans.tracing import Tracing
from spanproof.semconv import spanproof as ours


def record_outcome(tracing: Tracing, run: RunState, state: StepState, memory_step: Any) -> None:
    """Record a step from its memory step and from what was observed of the executor."""
    content = state.opened
    if type(memory_step).__name__ == "PlanningStep":
        if content.visible:
            content.output(memory_step.plan)
    else:
        _record_action(content, run, state, memory_step)
    usage = getattr(memory_step, "token_usage", None)
    if usage is not None and type(usage).__module__ == "smolagents.monitoring":
        # Own names: a backend would add up a step's tokens and those of its calls.
        given, written = usage.input_tokens, usage.output_tokens
        if type(given) is int and type(written) is int:
            content.attributes[ours.STEP_INPUT_TOKENS] = given
            content.attributes[ours.STEP_OUTPUT_TOKENS] = written
    error = getattr(memory_step, "error", None) or state.failure
    if error is not None:
        _record_error(tracing, run, state, error)


def _record_action(content: Content, run: RunState, state: StepState, memory_step: Any) -> None:
    code, executor = state.code, state.executor
    if code is not None:
        content.attributes[ours.EXECUTION_DURATION] = state.duration_s
    else:
        code = text_or_none(attribute(memory_step, "code_action"))
        executor = attribute(run.agent, "python_executor")
    if code is not None:
        if run.executor is not executor:
            execution.describe_executor(run, executor)
        content.attributes.update(run.executor_facts)
        if content.visible:
            content.code(code, None)
            content.input(code)
    is_final = bool(memory_step.is_final_answer)
    if is_final:
        content.attributes[ours.EXECUTION_IS_FINAL] = True
    if content.visible:
        _record_output(content, state, memory_step, is_final=is_final)


def _record_output(content: Content, state: StepState, memory_step: Any, *, is_final: bool) -> None:
    if memory_step.observations is not None and state.printed:
        content.text(ours.EXECUTION_OBSERVATION, memory_step.observations)
    output = memory_step.action_output
    if output is None:
        output = attribute(state.answered, "output")
    if state.returned is not None:
        output = attribute(state.returned, "output", output)
        content.text(ours.EXECUTION_LOGS, attribute(state.returned, "logs", ""))
    elif state.code is not None and state.printed:
        # Of code that raised, the framework keeps what it printed in the observation alone, if anything.
        shown = text_of(memory_step.observations or "")
        content.text(ours.EXECUTION_LOGS, shown.removeprefix("Execution logs:\n"))
    if output is None and not is_final:
        return
    content.document(ours.EXECUTION_OUTPUT, ours.EXECUTION_OUTPUT_MIME_TYPE, output)
    content.output(output)


def _record_error(tracing: Tracing, run: RunState, state: StepState, error: BaseException) -> None:
    chain = causes.chain_of(error, run.handled)
    if state.chain and causes.is_execution_error(error):
        # Raised again in this thread, the executor's exception has lost its cause; its own thread saw it.
        chain = (error, *state.chain)
    real = causes.real_cause(chain)
    tracing.fail(
        state.opened.span,
        error,
        error_type=type(real).__name__,
        message=text_of(error),
        chain=[type(each).__name__ for each in chain],
        stack=state.code is None,
    )
