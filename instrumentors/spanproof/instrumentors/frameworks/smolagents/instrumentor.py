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
            (base, "run", partial(runs.run_traced_agent, tracing, self.add_agent)),
            (base, "__call__", partial(calls.run_traced_tool, tracing, "agent")),
            (base, "_finalize_step", partial(runs.run_traced_finalize, tracing)),
            (base, "_generate_planning_step", partial(runs.run_traced_planning, tracing)),
            (base, "_handle_max_steps_reached", partial(runs.run_traced_max_steps, tracing)),
            (local_python_executor, "timeout", execution.run_with_context),
            (smolagents.Tool, "__call__", partial(calls.run_traced_tool, tracing, "function")),
            (smolagents.Model, "__call__", partial(calls.run_instrumented_model, self.add_model)),
        ]
        for owner, name, hook in hooks:
            patches.add_patch(owner, name, hook)

    @shielded("smolagents.adopt")
    def add_agent(self, agent: Any) -> None:
        """Instrument the classes of an agent's parts."""
        replace, tracing = self.patches.add_inherited_patches, self.tracing
        replace(type(agent), "_step_stream", partial(runs.run_traced_step, tracing))
        self.add_model(agent.model)
        for tool in (agent.tools or {}).values():
            replace(type(tool), "__call__", partial(calls.run_traced_tool, tracing, "function"))
        executor = getattr(agent, "python_executor", None)
        if executor is not None:
            replace(type(executor), "__call__", execution.run_traced_executor)

    @shielded("smolagents.adopt_model")
    def add_model(self, model: Any) -> None:
        """Instrument a model's class."""
        replace, tracing = self.patches.add_inherited_patches, self.tracing
        replace(type(model), "generate", partial(calls.run_traced_model, tracing))
        replace(type(model), "generate_stream", partial(calls.run_traced_stream, tracing))
