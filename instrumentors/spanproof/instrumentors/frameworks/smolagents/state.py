"""What is kept about a run and its steps while they are in progress, and where in them a context is.

A `Place` travels in the OpenTelemetry context, so that a hook finds it in whatever thread the context was
carried to.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from opentelemetry import trace
from opentelemetry.context import Context, create_key
from opentelemetry.util.types import AttributeValue

from spanproof.instrumentors.content.texts import get_attribute, iter_items
from spanproof.instrumentors.frameworks.messages import History
from spanproof.instrumentors.spans.contexts import current
from spanproof.instrumentors.spans.tracing import OpenSpan, Tracing

PLACE: Final = create_key("spanproof-smolagents-place")
"""Key under which a context holds its `Place`."""
RUNS: Final[dict[int, Run]] = {}
"""Runs in progress, by their identity."""


class Step(OpenSpan):
    """A step in progress, and its CHAIN span.

    Attributes:
        source: the code that was handed to the executor; the next four fields mean nothing without it.
        executor: to which it was handed.
        duration_s: wall time of its call.
        returned: the executor's answer, None when it raised.
        printed: False when the code never started, so that the print buffer still holds an earlier step's
        output.
        chain: the exceptions it raised, outermost first.
        answered: the framework's `ActionOutput`: a tool-calling step keeps its answer nowhere else.
        failure: the exception that ended its stream.
    """

    source: str | None = None
    executor: Any = None
    duration_s = 0.0
    returned: Any = None
    printed = True
    chain: tuple[BaseException, ...] = ()
    answered: Any = None
    failure: BaseException | None = None

    def record_items(self, item: Any) -> None:
        """Keep the step's answer among the items that it yields."""
        if type(item).__name__ == "ActionOutput":
            self.answered = item


class Run(OpenSpan):
    """A run in progress, and its AGENT span.

    Attributes:
        agent: the agent at work.
        handled: the exception the host was handling when it started the run; never a cause of ours.
        steps: open steps by the id of their memory step.
        history: what its model calls were given.
        stops: stop sequences of its last model call.
        forced: the step that produces a final answer after the last allowed one.
        max_steps_reached: that step was reached.
        facts_of: the executor that `executor_facts` describe.
        executor_facts: attributes of the steps it runs.
    """

    agent: Any
    handled: BaseException | None
    steps: dict[int, Step]
    history: History
    stops: tuple[str, ...] = ()
    forced: Step | None = None
    max_steps_reached = False
    facts_of: Any = None
    executor_facts: Mapping[str, AttributeValue]

    def get_context_between_steps(self) -> Context:
        """Return the context within the run, outside of any step."""
        return Context({**self.context, PLACE: Place(self) if self.recording else MUTED})


class Place(NamedTuple):
    """Where in a run a context is.

    Attributes:
        run: None outside of any.
        step: None between steps.
        called: the model or tool that is being called, None outside of a call.
        method: of it that is called.
    """

    run: Run | None = None
    step: Step | None = None
    called: Any = None
    method: Any = None


NOWHERE: Final = Place()
"""Outside of any run and call."""
MUTED: Final = Place(called="muted")
"""Where no spans are made: within an unsampled run, and where a call that has its span is passed on by
`super()`."""


def get_position(context: Context | None = None) -> Place:
    """Return where in a run a context is (the current one when None)."""
    position: Any = (current() if context is None else context).get(PLACE, NOWHERE)
    return position  # type: ignore[no-any-return]


def get_call_context(tracing: Tracing, member: Any, method: Any) -> tuple[Context | None, Place]:
    """Return the context that a call of a tool or model belongs to, if any, and its place.

    That is the current one wherever there is a span. A raw thread has none: there the call is taken to belong
    to the run in progress that uses this tool or model, if there is exactly one.

    `Derived.__call__` that ends in `super().__call__()` passes two replaced methods and is one call; a tool
    or model that calls itself again passes the same method twice and is two.
    """
    context = current()
    position = get_position(context)
    if tracing.over or (position.called is member and position.method is not method):
        return context, MUTED
    if position is not NOWHERE or trace.get_current_span(context).get_span_context().is_valid:
        return context, position
    owners = [run for run in list(RUNS.values()) if _uses(run.agent, member)]
    if len(owners) != 1:
        return None, NOWHERE
    (run,) = owners
    steps = list(run.steps.values())
    if steps:
        context = steps[-1].context
    else:
        context = run.get_context_between_steps()
    return context, get_position(context)


def run_of(tracing: Tracing, agent: Any) -> Run | None:
    """Return the run of this agent that is in progress in the current context."""
    run = get_position().run
    if run is not None and run.agent is agent and not tracing.over:
        return run
    return None


def _uses(agent: Any, member: Any) -> bool:
    if get_attribute(agent, "model") is member:
        return True
    groups = (get_attribute(agent, "tools"), get_attribute(agent, "managed_agents"))
    return any(item is member for group in groups for _, item in iter_items(group))
