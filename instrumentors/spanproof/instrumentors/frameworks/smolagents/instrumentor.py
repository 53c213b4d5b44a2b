"""Which methods of smolagents are replaced, and by what.

The base classes are patched once; what a user defines (models, tools, executors, agents that override a step)
is found when a run begins, along the real MRO of the objects at hand. `uninstrument` puts all of it back.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from spanproof.instrumentors.frameworks.diagnostics import shielded
from spanproof.instrumentors.frameworks.patching import Patches
from spanproof.instrumentors.frameworks.smolagents import execution, models, runs, steps, tools
from spanproof.instrumentors.frameworks.smolagents.calls import wrap_call
from spanproof.instrumentors.spans.tracing import Tracing

_HOOKS = ("run", "__call__", "_finalize_step", "_generate_planning_step", "_handle_max_steps_reached")


class Instrumentor:
    """smolagents under instrumentation, from `instrument` to `uninstrument`."""

    def __init__(self, tracing: Tracing) -> None:
        self._tracing = tracing
        self._patches = Patches("smolagents")

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
        patches.replace(base, "run", partial(runs.wrap_run, tracing, self.adopt))
        patches.replace(base, "__call__", partial(wrap_call, tracing, tools.TOLD_OF_AGENTS))
        patches.replace(base, "_finalize_step", partial(steps.wrap_finalize, tracing))
        patches.replace(base, "_generate_planning_step", partial(steps.wrap_planning, tracing))
        patches.replace(base, "_handle_max_steps_reached", partial(steps.wrap_max_steps, tracing))
        patches.replace(local_python_executor, "timeout", execution.wrap_timeout)
        patches.replace(smolagents.Tool, "__call__", partial(wrap_call, tracing, tools.TOLD))
        patches.replace(smolagents.Model, "__call__", partial(models.wrap_direct_call, self.adopt_model))

    def uninstrument(self) -> None:
        """Put every original back."""
        self._tracing.over = True
        self._patches.restore()

    @shielded("smolagents.adopt")
    def adopt(self, agent: Any) -> None:
        """Instrument what this agent brings along."""
        along, tracing = self._patches.replace_along, self._tracing
        along(type(agent), "_step_stream", partial(steps.wrap_step, tracing))
        self.adopt_model(agent.model)
        for tool in (agent.tools or {}).values():
            along(type(tool), "__call__", partial(wrap_call, tracing, tools.TOLD))
        executor = getattr(agent, "python_executor", None)
        if executor is not None:
            along(type(executor), "__call__", execution.wrap_executor)

    @shielded("smolagents.adopt_model")
    def adopt_model(self, model: Any) -> None:
        """Instrument a model's class."""
        along, tracing = self._patches.replace_along, self._tracing
        along(type(model), "generate", partial(wrap_call, tracing, models.TOLD))
        along(type(model), "generate_stream", partial(models.wrap_generate_stream, tracing))
