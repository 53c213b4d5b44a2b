"""smolagents under guard: an agent's executor, and those of the agents it manages.

What the guard raises in an executor is a failed step to smolagents (`AgentExecutionError`), which the model
reads before its next one.
"""

from __future__ import annotations

from typing import Any

from spanproof.instrumentors.guard import Guard, is_guarded


def apply_guard(guard: Guard, agent: Any) -> Any:
    """Guard the executors of an agent and of all agents it manages, each once; returns the agent."""
    pending, seen = [agent], set[int]()
    while pending:
        one = pending.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        executor = getattr(one, "python_executor", None)
        if executor is not None and not is_guarded(executor):
            one.python_executor = guard.executor(executor, agent=getattr(one, "name", None) or "")
        pending.extend((getattr(one, "managed_agents", None) or {}).values())
    return agent
