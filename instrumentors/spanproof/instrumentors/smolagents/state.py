"""What one run and one step of it know while they are going on.

Both travel in the OpenTelemetry context, so a hook finds them in whatever thread the context was carried to.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

from opentelemetry.context import Context, create_key, get_value, set_value

from spanproof.instrumentors.messages import History
from spanproof.instrumentors.spans import Opened

_RUN: Final = create_key("spanproof-smolagents-run")
_STEP: Final = create_key("spanproof-smolagents-step")


@dataclass(slots=True)
class Executed:
    """One call of the executor.

    Attributes:
        code: as it was handed over.
        duration_s: wall time of the call.
        output: the executor's answer, None when it raised.
        printed: False when the code never started, so that what its print buffer holds is an earlier step's.
        chain: the exceptions it raised, outermost first.
    """

    code: str
    duration_s: float = 0.0
    output: Any = None
    printed: bool = True
    chain: tuple[BaseException, ...] = ()


@dataclass(slots=True)
class StepState:
    """A step that has begun: its span, and what the executor did within it."""

    opened: Opened
    kind: str
    executed: Executed | None = None
    failure: BaseException | None = None


@dataclass(slots=True)
class RunState:
    """A run that has begun.

    Attributes:
        opened: the AGENT span.
        agent: the agent at work.
        handled: the exception the host was handling when it started the run; never a cause of ours.
        steps: open steps by the id of their memory step.
        history: what its model calls were given.
        forced: the step that asks for a final answer after the last allowed one.
        max_steps_reached: that step was reached.
    """

    opened: Opened
    agent: Any
    handled: BaseException | None
    history: History = field(default_factory=History)
    steps: dict[int, StepState] = field(default_factory=dict)
    forced: StepState | None = None
    max_steps_reached: bool = False


def current_run(context: Context | None = None) -> RunState | None:
    """The run a context belongs to."""
    value = get_value(_RUN, context)
    return value if isinstance(value, RunState) else None


def current_step(context: Context | None = None) -> StepState | None:
    """The step a context belongs to."""
    value = get_value(_STEP, context)
    return value if isinstance(value, StepState) else None


def with_run(state: RunState) -> Context:
    """The context within a run, outside of any step."""
    return set_value(_STEP, None, set_value(_RUN, state, state.opened.context))


def with_step(state: StepState) -> Context:
    """The context within a step."""
    return set_value(_STEP, state, state.opened.context)
