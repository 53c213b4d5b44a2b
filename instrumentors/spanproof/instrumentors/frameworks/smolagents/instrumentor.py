"""Which methods of smolagents are replaced, and by what.

The base classes are patched once; what a user defines (models, tools, executors, agents that override a step)
is found when a run begins, along the real MRO of the objects at hand. `uninstrument` puts all of it back.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from spanproof.instrumentors.frameworks import patching
from spanproof.instrumentors.frameworks.diagnostics import shielded
from spanproof.instrumentors.frameworks.smolagents import calls, execution, runs

_HOOKS = ("run", "__call__", "_finalize_step", "_generate_planning_step", "_handle_max_steps_reached")


class Instrumentor(patching.Instrumentor):
    """smolagents under instrumentation, from `instrument` to `uninstrument`."""

    def instrument(self) -> None:
        """Replace the framework's methods.

        Raises:
            ImportError: smolagents is not installed.
            AttributeError: it is, in a release that works in other ways.
        """
        import smolagents
        from smolagents import agents, local_python_executor

        tracing, patches = self.tracing, self.patches
        base = agents.MultiStepAgent
        missing = [name for name in _HOOKS if not hasattr(base, name)]
        if missing:
            raise AttributeError(
                f"MultiStepAgent has no {', '.join(missing)}; smolagents 1.24 to 1.26 are known"
            )
        hooks: list[tuple[Any, str, patching.Hook]] = [
            (base, "run", partial(runs.trace_run, tracing, self.adopt)),
            (base, "__call__", partial(calls.trace_tool, tracing, "agent")),
            (base, "_finalize_step", partial(runs.trace_finalize, tracing)),
            (base, "_generate_planning_step", partial(runs.trace_planning, tracing)),
            (base, "_handle_max_steps_reached", partial(runs.trace_max_steps, tracing)),
            (local_python_executor, "timeout", execution.carry_context),
            (smolagents.Tool, "__call__", partial(calls.trace_tool, tracing, "function")),
            (smolagents.Model, "__call__", partial(calls.adopt_and_call, self.adopt_model)),
        ]
        for owner, name, hook in hooks:
            patches.replace(owner, name, hook)

    @shielded("smolagents.adopt")
    def adopt(self, agent: Any) -> None:
        """Instrument the classes of an agent's parts."""
        replace, tracing = self.patches.replace_inherited, self.tracing
        replace(type(agent), "_step_stream", partial(runs.trace_step, tracing))
        self.adopt_model(agent.model)
        for tool in (agent.tools or {}).values():
            replace(type(tool), "__call__", partial(calls.trace_tool, tracing, "function"))
        executor = getattr(agent, "python_executor", None)
        if executor is not None:
            replace(type(executor), "__call__", execution.trace_executor)

    @shielded("smolagents.adopt_model")
    def adopt_model(self, model: Any) -> None:
        """Instrument a model's class."""
        replace, tracing = self.patches.replace_inherited, self.tracing
        replace(type(model), "generate", partial(calls.trace_model, tracing))
        replace(type(model), "generate_stream", partial(calls.trace_stream, tracing))
