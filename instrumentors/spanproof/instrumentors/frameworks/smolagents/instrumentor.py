"""Which methods of smolagents are replaced, and by what.

The base classes are patched once; what a user defines (models, tools, executors, agents that override a step)
is found when a run begins, along the real MRO of the objects at hand. `uninstrument` puts all of it back.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from spanproof.instrumentors.frameworks.diagnostics import shielded
from spanproof.instrumentors.frameworks.patching import Hook, Patches
from spanproof.instrumentors.frameworks.smolagents import calls, execution, runs, steps
from spanproof.instrumentors.spans.tracing import Tracing

_HOOKS = ("run", "__call__", "_finalize_step", "_generate_planning_step", "_handle_max_steps_reached")


class Instrumentor:
    """smolagents under instrumentation, from `instrument` to `uninstrument`."""

    def __init__(self, tracing: Tracing) -> None:
        self._tracing = tracing
        self._patches = Patches()

    def instrument(self) -> None:
        """Replace the framework's methods.

        Raises:
            ImportError: smolagents is not installed.
            AttributeError: it is, in a release that works in other ways.
        """
        import smolagents
        from smolagents import agents, local_python_executor

        tracing, patches = self._tracing, self._patches
        base = agents.MultiStepAgent
        missing = [name for name in _HOOKS if not hasattr(base, name)]
        if missing:
            raise AttributeError(
                f"MultiStepAgent has no {', '.join(missing)}; smolagents 1.24 to 1.26 are known"
            )
        hooks: list[tuple[Any, str, Hook]] = [
            (base, "run", partial(runs.trace_run, tracing, self.adopt)),
            (base, "__call__", partial(calls.trace_call, tracing, calls.AGENT_CALL)),
            (base, "_finalize_step", partial(steps.trace_finalize, tracing)),
            (base, "_generate_planning_step", partial(steps.trace_planning, tracing)),
            (base, "_handle_max_steps_reached", partial(steps.trace_max_steps, tracing)),
            (local_python_executor, "timeout", execution.carry_context),
            (smolagents.Tool, "__call__", partial(calls.trace_call, tracing, calls.TOOL_CALL)),
            (smolagents.Model, "__call__", partial(calls.adopt_and_call, self.adopt_model)),
        ]
        for owner, name, hook in hooks:
            patches.replace(owner, name, hook)

    def uninstrument(self) -> None:
        """Restore every original."""
        self._tracing.over = True
        self._patches.restore()

    @shielded("smolagents.adopt")
    def adopt(self, agent: Any) -> None:
        """Instrument the classes of an agent's parts."""
        replace, tracing = self._patches.replace_inherited, self._tracing
        replace(type(agent), "_step_stream", partial(steps.trace_step, tracing))
        self.adopt_model(agent.model)
        for tool in (agent.tools or {}).values():
            replace(type(tool), "__call__", partial(calls.trace_call, tracing, calls.TOOL_CALL))
        executor = getattr(agent, "python_executor", None)
        if executor is not None:
            replace(type(executor), "__call__", execution.trace_executor)

    @shielded("smolagents.adopt_model")
    def adopt_model(self, model: Any) -> None:
        """Instrument a model's class."""
        replace, tracing = self._patches.replace_inherited, self._tracing
        replace(type(model), "generate", partial(calls.trace_call, tracing, calls.MODEL_CALL))
        replace(type(model), "generate_stream", partial(calls.trace_stream, tracing))
