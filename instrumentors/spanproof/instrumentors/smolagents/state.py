"""What one run and one step of it know while they are going on.

Both travel in the OpenTelemetry context, so a hook finds them in whatever thread the context was carried to.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from opentelemetry import trace
from opentelemetry.context import Context, create_key, get_current, get_value, set_value
from opentelemetry.util.types import AttributeValue

from spanproof.instrumentors.messages import History
from spanproof.instrumentors.reading import attribute, items
from spanproof.instrumentors.spans import Opened

_RUN: Final = create_key("spanproof-smolagents-run")
_STEP: Final = create_key("spanproof-smolagents-step")
_MUTED: Final = object()
"""In a run's place when it is not sampled: nothing within it is worth a span, or the time to make one."""
_going_on: dict[int, RunState] = {}


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
    """A step that has begun: its span, what the executor did within it, and what it answered.

    `answered` is the framework's `ActionOutput`: a tool-calling step keeps its answer nowhere else.
    """

    opened: Opened
    kind: str
    executed: Executed | None = None
    answered: Any = None
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
        executor: the executor that `executor_facts` describe.
        executor_facts: attributes of the steps it runs.
    """

    opened: Opened
    agent: Any
    handled: BaseException | None
    history: History = field(default_factory=History)
    steps: dict[int, StepState] = field(default_factory=dict)
    forced: StepState | None = None
    max_steps_reached: bool = False
    executor: Any = None
    executor_facts: Mapping[str, AttributeValue] = field(default_factory=dict)

    def newest_context(self) -> Context:
        """The context of the step going on, or of the run between steps."""
        steps = list(self.steps.values())
        return with_step(steps[-1]) if steps else with_run(self)


def enter(state: RunState) -> None:
    """The run is going on from now."""
    _going_on[id(state)] = state


def leave(state: RunState) -> None:
    """The run is over."""
    _going_on.pop(id(state), None)


def parent_context(member: Any) -> Context | None:
    """The context a call of a tool or model belongs to, None when it belongs to nothing or is not sampled.

    That is the current one wherever there is a span. A raw thread begins without any: there a tool or model
    that just one of the runs going on has is taken to be called by that run.
    """
    context = get_current()
    if get_value(_RUN, context) is _MUTED:
        return None
    if trace.get_current_span(context).get_span_context().is_valid:
        return context
    owners = [state for state in list(_going_on.values()) if _has(state.agent, member)]
    return owners[0].newest_context() if len(owners) == 1 else None


def is_muted() -> bool:
    """Whether the current run is not sampled."""
    return get_value(_RUN) is _MUTED


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
    run = state if state.opened.recording else _MUTED
    return set_value(_STEP, None, set_value(_RUN, run, state.opened.context))


def with_step(state: StepState) -> Context:
    """The context within a step."""
    return set_value(_STEP, state, state.opened.context)


def _has(agent: Any, member: Any) -> bool:
    if attribute(agent, "model") is member:
        return True
    groups = (attribute(agent, "tools"), attribute(agent, "managed_agents"))
    return any(each is member for group in groups for _, each in items(group))
