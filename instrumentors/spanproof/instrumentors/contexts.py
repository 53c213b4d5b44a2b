"""Going back to the context that was current before ours, wherever that is asked for.

A generator of the host's may be closed in another task, or by the garbage collector: the context is not
current there, and the API would print a traceback about it on the agent's console.
"""

from __future__ import annotations

from contextvars import Token
from typing import Any

from opentelemetry.context import Context, detach


def restore(token: Token[Context]) -> None:
    """Undo an `attach`, or nothing where that was done in another thread or task."""
    variable: Any = getattr(token, "var", None)
    if variable is None:  # of a context that `OTEL_PYTHON_CONTEXT` names
        detach(token)
        return
    try:
        variable.reset(token)
    except (ValueError, RuntimeError):
        return
