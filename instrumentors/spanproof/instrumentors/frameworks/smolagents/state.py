"""What is kept about a run and its steps while they are in progress, and where in them a context is.

A `Place` travels in the OpenTelemetry context, so that a hook finds it in whatever thread the context was
carried to.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from opentelemetry import trace
from opentelemetry.context import Context, create_key
from opentelemetry.util.types import AttributeValue

from spanproof.instrumentors.content.messages import History
from spanproof.instrumentors.content.texts import attribute, items
from spanproof.instrumentors.spans.contexts import current
from spanproof.instrumentors.spans.tracing import OpenSpan, Tracing

PLACE: Final = create_key("spanproof-smolagents-place")
"""Key under which a context holds its `Place`."""
_runs: dict[int, RunState] = {}
"""Runs in progress."""


class StepState:
    """A step in progress.

    Attributes:
        opened: the CHAIN span, set once it has started.
        code: the code that was handed to the executor; the next four fields mean nothing without it.
        executor: to which it was handed.
        duration_s: wall time of its call.
        returned: the executor's answer, None when it raised.
        printed: False when the code never started, so that the print buffer still holds an earlier step's
        output.
        chain: the exceptions it raised, outermost first.
        answered: the framework's `ActionOutput`: a tool-calling step keeps its answer nowhere else.
        failure: the exception that ended its stream.
    """

    opened: OpenSpan
    code: str | None = None
    executor: Any = None
    duration_s: float = 0.0
    returned: Any = None
    printed: bool = True
    chain: tuple[BaseException, ...] = ()
    answered: Any = None
    failure: BaseException | None = None

    def observe(self, item: Any) -> None:
        """Keep the step's answer among the items that it yields."""
        if type(item).__name__ == "ActionOutput":
            self.answered = item


@dataclass(slots=True, eq=False)
class RunState:
    """A run in progress.

    Attributes:
        opened: the AGENT span.
        agent: the agent at work.
        handled: the exception the host was handling when it started the run; never a cause of ours.
        steps: open steps by the id of their memory step.
        history: what its model calls were given.
        stops: stop sequences of its last model call.
        forced: the step that produces a final answer after the last allowed one.
        max_steps_reached: that step was reached.
        executor: the executor that `executor_facts` describe.
        executor_facts: attributes of the steps it runs.
    """

    opened: OpenSpan
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
        """Return the context of the step in progress, or of the run between steps."""
        steps = list(self.steps.values())
        return steps[-1].opened.context if steps else context_of_run(self)


def add_run(state: RunState) -> None:
    """Add a run to those in progress."""
    _runs[id(state)] = state


def remove_run(state: RunState) -> None:
    """Remove a run from those in progress."""
    _runs.pop(id(state), None)


Place: TypeAlias = "tuple[RunState | None, StepState | None, Any, Any]"
"""Where in a run a context is: the run, None outside of any; the step, None between steps; the model or tool
that is being called and its method, None outside of a call."""

NOWHERE: Final[Place] = (None, None, None, None)
"""Outside of any run and call."""
MUTED: Final[Place] = (None, None, "muted", None)
"""Where no spans are made: within an unsampled run, and where a call that has its span is passed on by
`super()`."""


def place_of(context: Context) -> Place:
    """Return where in a run a context is."""
    place: Any = context.get(PLACE, NOWHERE)
    return place  # type: ignore[no-any-return]


def locate_call(tracing: Tracing, member: Any, method: Any) -> tuple[Context | None, Place]:
    """Return the context that a call of a tool or model belongs to, if any, and its place.

    That is the current one wherever there is a span. A raw thread has none: there the call is taken to belong
    to the run in progress that uses this tool or model, if there is exactly one.

    `Derived.__call__` that ends in `super().__call__()` passes two replaced methods and is one call; a tool
    or model that calls itself again passes the same method twice and is two.
    """
    context = current()
    place: Any = context.get(PLACE, NOWHERE)
    if tracing.over:
        return context, MUTED
    if place is not NOWHERE:
        _, _, called, by = place
        return context, MUTED if called is member and by is not method else place
    if trace.get_current_span(context).get_span_context().is_valid:
        return context, place
    owners = [state for state in list(_runs.values()) if _uses(state.agent, member)]
    if len(owners) != 1:
        return None, NOWHERE
    context = owners[0].newest_context()
    return context, place_of(context)


def run_of(tracing: Tracing, agent: Any) -> RunState | None:
    """Return the run of this agent that is in progress in the current context."""
    place: Any = current().get(PLACE, NOWHERE)
    run: RunState | None = place[0]
    return run if run is not None and run.agent is agent and not tracing.over else None


def context_of_run(state: RunState) -> Context:
    """Return the context within a run, outside of any step."""
    place = (state, None, None, None) if state.opened.recording else MUTED
    return Context({**state.opened.context, PLACE: place})


def _uses(agent: Any, member: Any) -> bool:
    if attribute(agent, "model") is member:
        return True
    groups = (attribute(agent, "tools"), attribute(agent, "managed_agents"))
    return any(each is member for group in groups for _, each in items(group))
