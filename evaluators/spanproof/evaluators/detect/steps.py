"""Code of step spans whose producer recorded the step but not the code.

smolagents under OpenInference: a step is a CHAIN span with the model call below it, and its observation.
What ran is what the next call's history says was run (`python_interpreter`), else the code blocks of the
step's own model call, joined the way smolagents joins them. A step whose error came before anything ran has
none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from spanproof.evaluators.detect.text import list_text_snippets
from spanproof.trace import Language, Message, Span, SpanKind, Trace

_INTERPRETER: Final = "python_interpreter"
_BEFORE_RUNNING: Final = frozenset({"AgentParsingError", "AgentGenerationError", "AgentMaxStepsError"})
_SHOWN: Final = ("Execution logs:", "Last output from code snippet:")


@dataclass(frozen=True, slots=True)
class StepCode:
    """Code that ran within a step: its source, the model call it came from, and what the agent was shown."""

    source: str
    path: str
    observation: str | None


def find_step_code(trace: Trace, step: Span, following: Span | None) -> StepCode | None:
    """Return the code that ran in this step; None where the step ran none or it cannot be known.

    Args:
        trace: that the step is of.
        step: a span with a step number and without recorded code.
        following: the next model call of the same agent, None where there is none.
    """
    if step.error is not None and step.error.type in _BEFORE_RUNNING:
        return None
    history = following.input_messages if following is not None else ()
    own = _find_own_code(trace, step)
    source = _find_source(history)
    observation = step.observation or _find_last_observation(history)
    if source is not None and following is not None:
        if own is not None:
            path = own[1]
        else:
            path = f"{following.span_id}/input_messages"
        return StepCode(source, path, observation)
    if own is not None and _has_run_code(step, observation):
        return StepCode(own[0], own[1], observation)
    return None


def _find_source(history: Sequence[Message]) -> str | None:
    """Return the source of the last interpreter call, if it is the last thing the agent did."""
    for message in reversed(history):
        if message.role == "assistant":
            call = next((call for call in message.tool_calls if call.name == _INTERPRETER), None)
            if call is None:
                return None
            source = call.arguments
            if isinstance(source, dict):
                source = source.get("code")
            return source if isinstance(source, str) else None
    return None


def _find_own_code(trace: Trace, step: Span) -> tuple[str, str] | None:
    """Return the code in what the step's first model call said, and where that is."""
    call = next((span for span in trace.descendants(step.span_id) if span.kind is SpanKind.LLM), None)
    if call is None:
        return None
    text = "\n".join(message.text for message in call.output_messages)
    blocks = [block.source for block in list_text_snippets(text) if block.language is Language.PYTHON]
    if not blocks:
        return None
    return "\n\n".join(blocks), f"{call.span_id}/output_messages"


def _has_run_code(step: Span, observation: str | None) -> bool:
    """Whether code ran: the observation has the interpreter's form, or the interpreter failed."""
    if step.error is not None and step.error.type == "AgentExecutionError":
        return True
    return observation is not None and observation.startswith(_SHOWN)


def _find_last_observation(history: Sequence[Message]) -> str | None:
    """Return what the agent was shown last, as its next model call has it."""
    if history and history[-1].role == "tool":
        return history[-1].text
    return None
