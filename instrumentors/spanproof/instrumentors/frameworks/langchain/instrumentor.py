"""Putting our callback handler into every LangChain run of the process, and taking it out again."""

from __future__ import annotations

from functools import partial
from typing import Any

from spanproof.instrumentors.frameworks.patching import Patches
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
        from spanproof.instrumentors.frameworks.langchain.joining import join_manager

        if self._handler is None:
            self._handler = SpanHandler(self._tracing)
        for kind in (manager.CallbackManager, manager.AsyncCallbackManager):
            self._patches.replace(kind, "configure", partial(join_manager, self._handler))

    def uninstrument(self) -> None:
        """Take the handler out; runs that already hold it end their spans and begin no new ones."""
        self._tracing.over = True
        self._patches.restore()
        self._handler = None
