"""The current context of OpenTelemetry: asked for, made current, and put back, wherever that is asked for.

The API does each by two more functions of its own, where the context variable in which it keeps the context
could be asked, unless `OTEL_PYTHON_CONTEXT` names another way. Our hooks ask several times a span.
"""

from __future__ import annotations

import contextvars
import os
from collections.abc import Callable
from contextvars import ContextVar, Token
from typing import Any, Final

from opentelemetry import context as api
from opentelemetry.context import Context

_USUAL: Final = "contextvars_context"


def _variable() -> ContextVar[Context] | None:
    """The variable that holds it, if one does and nobody is asked besides."""
    if os.environ.get("OTEL_PYTHON_CONTEXT", _USUAL) != _USUAL:
        return None
    token = api.attach(Context())
    api.detach(token)
    variable = getattr(token, "var", None)
    if not isinstance(variable, ContextVar):
        return None
    try:
        empty = contextvars.Context().run(variable.get)
    except LookupError:
        return None
    return variable if type(empty) is Context else None


_held = _variable()

current: Callable[[], Context] = api.get_current if _held is None else _held.get
"""The current context."""
attach: Callable[[Context], Token[Context]] = api.attach if _held is None else _held.set
"""Make a context current."""
detach: Callable[[Token[Context]], None] = api.detach if _held is None else _held.reset
"""Put back what was current before, in the same call in which that was done."""


def restore(token: Token[Context]) -> None:
    """Put it back wherever this is called: nothing is done where another thread or task has attached.

    A generator of the host's may be closed in another task, or by the garbage collector: the context is not
    current there, and the API would print a traceback about it on the agent's console.
    """
    variable: Any = getattr(token, "var", None)
    if variable is None:  # of a context that `OTEL_PYTHON_CONTEXT` names
        api.detach(token)
        return
    try:
        variable.reset(token)
    except (ValueError, RuntimeError):
        return
