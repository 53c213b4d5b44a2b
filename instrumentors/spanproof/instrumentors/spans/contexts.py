"""The current OpenTelemetry context: read, made current and put back.

The API passes each by two more functions to the context variable that holds it; several times a span, that
is a good part of what a hook costs. Ours use the variable itself, unless `OTEL_PYTHON_CONTEXT` names another
way to keep the context.
"""

from __future__ import annotations

import contextvars
import os
from collections.abc import Callable
from contextlib import suppress
from contextvars import ContextVar, Token
from typing import Any, Final

from opentelemetry import context as api
from opentelemetry.context import Context

_USUAL: Final = "contextvars_context"


def _find_variable() -> ContextVar[Context] | None:
    """Return the context variable that the API uses; None where it uses none, or one without a default."""
    if os.environ.get("OTEL_PYTHON_CONTEXT", _USUAL) != _USUAL:
        return None
    token = api.attach(api.get_current())
    api.detach(token)
    variable = getattr(token, "var", None)
    if isinstance(variable, ContextVar):
        with suppress(LookupError):
            return variable if type(contextvars.Context().run(variable.get)) is Context else None
    return None


_variable = _find_variable()
current: Callable[[], Context] = api.get_current if _variable is None else _variable.get
"""Return the current context."""
attach: Callable[[Context], Token[Context]] = api.attach if _variable is None else _variable.set
"""Make a context current."""
detach: Callable[[Token[Context]], None] = api.detach if _variable is None else _variable.reset
"""Undo an `attach` of the same thread and task."""


def detach_anywhere(token: Token[Context]) -> None:
    """Undo an `attach`, or do nothing where that happened in another thread or task.

    A generator of the host may be closed in another task or by the garbage collector. Its context is not
    current there, and `detach` would log a traceback on the agent's console.
    """
    variable: Any = getattr(token, "var", None)
    if variable is None:  # a context implementation named by `OTEL_PYTHON_CONTEXT`
        api.detach(token)
        return
    with suppress(ValueError, RuntimeError):
        variable.reset(token)
