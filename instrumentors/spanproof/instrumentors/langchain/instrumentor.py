"""Putting our callback handler into every LangChain run of the process, and taking it out again."""

from __future__ import annotations

from contextvars import ContextVar
from typing import Any

from spanproof.instrumentors.spans import Tracing


class LangChainInstrumentor:
    """LangChain under instrumentation, from `instrument` to `uninstrument`."""

    name = "langchain"

    def __init__(self, tracing: Tracing) -> None:
        self._tracing = tracing
        self._variable: ContextVar[Any] | None = None
        self._handler: Any = None

    def instrument(self) -> None:
        """Register the handler with langchain-core, again where a reload has dropped it.

        Raises:
            ImportError: langchain-core is not installed.
        """
        from langchain_core.tracers import context

        if self._variable is not None:
            if all(hook[0] is not self._variable for hook in context._configure_hooks):  # noqa: SLF001
                context.register_configure_hook(self._variable, inheritable=True)
            return
        from spanproof.instrumentors.langchain.handler import SpanHandler

        self._handler = SpanHandler(self._tracing)
        # The default, not a set value: a raw thread begins with an empty context and still sees it.
        self._variable = ContextVar("spanproof_langchain_handler", default=self._handler)
        context.register_configure_hook(self._variable, inheritable=True)

    def uninstrument(self) -> None:
        """Take the handler out; runs that already hold it end their spans and begin no new ones."""
        from langchain_core.tracers import context

        if self._handler is not None:
            self._handler.active = False
        hooks = context._configure_hooks  # noqa: SLF001 - there is no public way to unregister
        hooks[:] = [hook for hook in hooks if hook[0] is not self._variable]
        self._variable = self._handler = None
