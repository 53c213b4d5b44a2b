"""Adding our callback handler to every LangChain run of the process, and removing it again."""

from __future__ import annotations

from typing import Any

from spanproof.instrumentors.frameworks.diagnostics import shielded
from spanproof.instrumentors.frameworks.patching import Args, Kwargs, Method, Patches
from spanproof.instrumentors.spans.tracing import Tracing


class Instrumentor:
    """LangChain under instrumentation, from `instrument` to `uninstrument`."""

    def __init__(self, tracing: Tracing) -> None:
        self._tracing = tracing
        self._patches = Patches()
        self._handler: Any = None

    def instrument(self) -> None:
        """Join the runs of langchain-core, again where a reload has dropped it.

        Raises:
            ImportError: langchain-core is not installed.
        """
        from langchain_core.callbacks import manager

        from spanproof.instrumentors.frameworks.langchain.handler import SpanHandler

        if self._handler is None:
            self._handler = SpanHandler(self._tracing)
        for kind in (manager.CallbackManager, manager.AsyncCallbackManager):
            self._patches.replace(kind, "configure", self._configure)

    def uninstrument(self) -> None:
        """Take the handler out; runs that already hold it end their spans and start no new ones."""
        self._tracing.over = True
        self._patches.restore()
        self._handler = None

    def _configure(self, original: Method, kind: Any, args: Args, kwargs: Kwargs) -> Any:
        """Hook of a manager's `configure`: add the handler to root runs; the runs within inherit it."""
        manager = original(kind, *args, **kwargs)
        caller = args[0] if args else kwargs.get("inheritable_callbacks")
        # A plain `getattr`: the original has read the attribute by now.
        if getattr(caller, "parent_run_id", None) is None:
            self._join(manager)
        return manager

    @shielded("langchain.join")
    def _join(self, manager: Any) -> None:
        if self._handler is not None:
            manager.add_handler(self._handler, inherit=True)
