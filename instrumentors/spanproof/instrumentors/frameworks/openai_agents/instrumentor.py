"""The OpenAI Agents SDK: our processor beside the SDK's, or in their place, and models without spans.

The SDK leaves the span of a model call to the model. So the calls of each model that is not the SDK's are
recorded as LLM calls; where a model makes a span after all, ours is left out.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import Any, Final

from agents.result import RunResultStreaming
from agents.tracing import add_trace_processor, set_trace_processors
from agents.tracing.setup import get_trace_provider

from spanproof.instrumentors.frameworks import patching
from spanproof.instrumentors.frameworks.openai_agents.processor import SpanProcessor
from spanproof.instrumentors.frameworks.patching import Args, Kwargs, Method
from spanproof.instrumentors.spans.tracing import Tracing

_POSITIONS: Final = (
    "system_instructions",
    "input",
    "model_settings",
    "tools",
    "output_schema",
    "handoffs",
    "tracing",
)
"""The arguments of a model's call, in order."""


class Instrumentor(patching.Instrumentor):
    """The OpenAI Agents SDK under instrumentation, from `instrument` to `uninstrument`."""

    def __init__(self, tracing: Tracing) -> None:
        super().__init__(tracing)
        self._processor = SpanProcessor(tracing)
        self._stood_in_for: list[Any] | None = None

    def instrument(self) -> None:
        """Register the processor beside the SDK's own upload, again where it is no longer there."""
        if self._processor in _processors():
            return
        self.patches.replace(RunResultStreaming, "cancel", self._note_cancel)
        try:
            from agents.run_internal import run_loop
        except ImportError:
            pass  # another version of the SDK: its own models are recorded all the same
        else:
            self.patches.replace(run_loop, "get_model", self._note_model)
        add_trace_processor(self._processor)

    def take_over(self) -> None:
        """Replace the processors that are there, among them the SDK's own upload."""
        if self._stood_in_for is None:
            self._stood_in_for = [each for each in _processors() if each is not self._processor]
            set_trace_processors([self._processor])

    def uninstrument(self) -> None:
        """Remove the processor, restore those it replaced, and end open spans."""
        super().uninstrument()
        self._processor.end_all()
        left = [each for each in _processors() if each is not self._processor]
        set_trace_processors([*(self._stood_in_for or ()), *left])

    def _note_cancel(self, original: Method, result: Any, args: Args, kwargs: Kwargs) -> Any:
        self._processor.note_cancelled(result)
        return original(result, *args, **kwargs)

    def _note_model(self, original: Method, _: Any, args: Args, kwargs: Kwargs) -> Any:
        """Patch the class of a model as an agent comes to use it."""
        model = original(*args, **kwargs)
        kind = type(model)
        if not kind.__module__.startswith("agents."):
            self.patches.replace_inherited(kind, "get_response", self._respond)
            self.patches.replace_inherited(kind, "stream_response", self._stream)
        return model

    async def _respond(self, original: Method, model: Any, args: Args, kwargs: Kwargs) -> Any:
        call, response = self._processor.begin_call(model, _named(args, kwargs)), None
        try:
            response = await original(model, *args, **kwargs)
        finally:
            self._processor.end_call(call, response)
        return response

    async def _stream(self, original: Method, model: Any, args: Args, kwargs: Kwargs) -> AsyncIterator[Any]:
        call, response = self._processor.begin_call(model, _named(args, kwargs)), None
        try:
            async for event in original(model, *args, **kwargs):
                if getattr(event, "type", None) == "response.completed":
                    response = getattr(event, "response", None)
                yield event
        finally:
            self._processor.end_call(call, response)


def _named(args: Args, kwargs: Kwargs) -> Mapping[str, Any]:
    return {**dict(zip(_POSITIONS, args, strict=False)), **kwargs}


def _processors() -> list[Any]:
    """Return the registered processors; the SDK has no public way."""
    multi = getattr(get_trace_provider(), "_multi_processor", None)
    return list(getattr(multi, "_processors", ()))
