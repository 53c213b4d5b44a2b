"""The current OpenTelemetry context."""

from __future__ import annotations

from contextlib import suppress
from contextvars import Token
from typing import Any

from opentelemetry.context import Context, attach, detach
from opentelemetry.context import get_current as current

__all__ = ["attach", "current", "detach", "detach_anywhere"]


def detach_anywhere(token: Token[Context]) -> None:
    """Undo an `attach`, or do nothing where that happened in another thread or task.

    A generator of the host may be closed in another task or by the garbage collector. Its context is not
    current there, and `detach` would log a traceback on the agent's console.
    """
    variable: Any = getattr(token, "var", None)
    if variable is None:  # a context implementation named by `OTEL_PYTHON_CONTEXT`
        detach(token)
        return
    with suppress(ValueError, RuntimeError):
        variable.reset(token)
