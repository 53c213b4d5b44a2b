"""What one run and one step of it know while they are going on, and where in them a context is.

A `Place` travels in the OpenTelemetry context, so a hook finds it in whatever thread that was carried to. It
is one value under one key, and a plain tuple: each hook asks for it, and each span leaves another.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from opentelemetry import trace
from opentelemetry.context import Context, create_key
from opentelemetry.util.types import AttributeValue

from spanproof.instrumentors.content.messages import History
from spanproof.instrumentors.content.reading import attribute, items
from spanproof.instrumentors.spans.contexts import current
from spanproof.instrumentors.spans.tracing import Opened, Tracing

PLACE: Final = create_key("spanproof-smolagents-place")
"""Under which a context holds its `Place`."""
_going_on: dict[int, RunState] = {}


class StepState:
    """A step that has begun: its span, what the executor did within it, and what it answered.

    Attributes:
        opened: the CHAIN span.
        code: the code that was handed to the executor; None before that, and what is told of it then holds
            for nothing.
        executor: to which it was handed.
        duration_s: wall time of its call.
        returned: the executor's answer, None when it raised.
        printed: False when the code never started, so that what its print buffer holds is an earlier step's.
        chain: the exceptions it raised, outermost first.
        answered: the framework's `ActionOutput`: a tool-calling step keeps its answer nowhere else.
        failure: what its stream has ended with.
    """

    __slots__ = (
        *("opened", "code", "executor", "duration_s", "returned", "printed", "chain"),
        *("answered", "failure"),
    )
    opened: Opened
    code: str | None
    executor: Any
    duration_s: float
    returned: Any
    printed: bool
    chain: tuple[BaseException, ...]
    answered: Any
    failure: BaseException | None

    def saw(self, item: Any) -> None:
        """It has yielded something."""
        if type(item).__name__ == "ActionOutput":
            self.answered = item


@dataclass(slots=True)
class RunState:
    """A run that has begun.

    Attributes:
        opened: the AGENT span.
        agent: the agent at work.
        handled: the exception the host was handling when it started the run; never a cause of ours.
        steps: open steps by the id of their memory step.
        history: what its model calls were given.
        stops: what ended the answer of its last model call.
        forced: the step that asks for a final answer after the last allowed one.
        max_steps_reached: that step was reached.
        executor: the executor that `executor_facts` describe.
        executor_facts: attributes of the steps it runs.
    """

    opened: Opened
    agent: Any
    handled: BaseException | None
    history: History = field(default_factory=History)
    stops: list[str] = field(default_factory=list)
    steps: dict[int, StepState] = field(default_factory=dict)
    forced: StepState | None = None
    max_steps_reached: bool = False
    executor: Any = None
    executor_facts: Mapping[str, AttributeValue] = field(default_factory=dict)

    def newest_context(self) -> Context:
        """The context of the step going on, or of the run between steps."""
        steps = list(self.steps.values())
        return steps[-1].opened.context if steps else with_run(self)


def enter(state: RunState) -> None:
    """The run is going on from now."""
    _going_on[id(state)] = state


def leave(state: RunState) -> None:
    """The run is over."""
    _going_on.pop(id(state), None)


Place: TypeAlias = tuple[RunState | None, StepState | None, Any, Any]
"""Where in a run a context is: the run, None outside of any; its step, None between steps; the model or tool
that is being called, None outside of a call; and by which of its methods."""
NOWHERE: Final[Place] = (None, None, None, None)
"""Outside of any run and call."""
MUTED: Final[Place] = (None, None, "muted", None)
"""Where nothing is worth a span, or the time to make one: within a run that is not sampled, and where a call
that has its span is handed on."""


def place_of(context: Context) -> Place:
    """Where in a run a context is."""
    place: Any = context.get(PLACE, NOWHERE)
    return place  # type: ignore[no-any-return]


def located(tracing: Tracing, member: Any, method: Any) -> tuple[Context | None, Place]:
    """The context that a call of a tool or model belongs to, None when it belongs to nothing, and the place.

    That is the current one wherever there is a span. A raw thread begins without any: there a tool or model
    that just one of the runs going on has is taken to be called by that run.

    `Derived.__call__` that ends in `super().__call__()` passes two replaced methods and is one call, which is
    handed on; a tool or model that calls itself again passes the same method twice and is two.
    """
    context = current()
    place: Any = context.get(PLACE, NOWHERE)  # not by `place_of`: in a run that is not sampled this is all
    if tracing.over:
        return context, MUTED
    if place is not NOWHERE:
        return context, MUTED if place[2] is member and place[3] is not method else place
    if trace.get_current_span(context).get_span_context().is_valid:
        return context, place
    owners = [state for state in list(_going_on.values()) if _has(state.agent, member)]
    if len(owners) != 1:
        return None, NOWHERE
    context = owners[0].newest_context()
    return context, place_of(context)


def run_of(tracing: Tracing, agent: Any) -> RunState | None:
    """The run of this agent that is going on in the current context."""
    place: Any = current().get(PLACE, NOWHERE)
    run = place[0]
    return run if run is not None and run.agent is agent and not tracing.over else None


def with_run(state: RunState) -> Context:
    """The context within a run, outside of any step."""
    place: Place = (state, None, None, None) if state.opened.recording else MUTED
    return Context({**state.opened.context, PLACE: place})


def _has(agent: Any, member: Any) -> bool:
    if attribute(agent, "model") is member:
        return True
    groups = (attribute(agent, "tools"), attribute(agent, "managed_agents"))
    return any(each is member for group in groups for _, each in items(group))
