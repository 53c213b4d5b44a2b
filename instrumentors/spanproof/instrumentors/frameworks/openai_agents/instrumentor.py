"""Adding our processor to the SDK's, or putting it in their place, and taking it out again."""

from __future__ import annotations

from typing import Any

from spanproof.instrumentors.frameworks.patching import Args, Kwargs, Method, Patches
from spanproof.instrumentors.spans.tracing import Tracing


class Instrumentor:
    """The OpenAI Agents SDK under instrumentation, from `instrument` to `uninstrument`."""

    def __init__(self, tracing: Tracing) -> None:
        self._tracing = tracing
        self._patches = Patches()
        self._processor: Any = None
        self._stood_in_for: list[Any] | None = None

    def instrument(self) -> None:
        """Register the processor beside the SDK's own upload, again where it is no longer there.

        Raises:
            ImportError: openai-agents is not installed.
        """
        from agents.result import RunResultStreaming
        from agents.tracing import add_trace_processor

        if self._processor is not None and self._processor in _processors():
            return
        from spanproof.instrumentors.frameworks.openai_agents.bare_models import ModelWatch
        from spanproof.instrumentors.frameworks.openai_agents.processor import SpanProcessor

        self._processor = SpanProcessor(self._tracing)
        ModelWatch(self._patches, self._processor).watch()
        self._patches.replace(RunResultStreaming, "cancel", self._note_cancel)
        add_trace_processor(self._processor)

    def take_over(self) -> None:
        """Replace the processors that are there, among them the SDK's own upload."""
        from agents.tracing import set_trace_processors

        if self._stood_in_for is None:
            self._stood_in_for = [each for each in _processors() if each is not self._processor]
            set_trace_processors([self._processor])

    def uninstrument(self) -> None:
        """Remove the processor, restore those it replaced, and end open spans."""
        from agents.tracing import set_trace_processors

        self._patches.restore()
        if self._processor is not None:
            self._processor.end_all()
        left = [each for each in _processors() if each is not self._processor]
        set_trace_processors([*(self._stood_in_for or ()), *left])
        self._processor, self._stood_in_for = None, None

    def _note_cancel(self, original: Method, result: Any, args: Args, kwargs: Kwargs) -> Any:
        if self._processor is not None:
            self._processor.note_cancelled(result)
        return original(result, *args, **kwargs)


def _processors() -> list[Any]:
    """Return the registered processors; the SDK has no public way."""
    from agents.tracing.setup import get_trace_provider

    multi = getattr(get_trace_provider(), "_multi_processor", None)
    return list(getattr(multi, "_processors", ()))
