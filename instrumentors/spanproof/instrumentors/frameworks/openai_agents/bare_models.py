"""Calls of models that make no span of their own, as most that people write for the SDK.

The SDK leaves the span of a model call to the model. `watch` has the calls of each model that is not the
SDK's recorded as LLM calls; where a model makes a span after all, ours is left out.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import Any

from spanproof.instrumentors.frameworks.openai_agents.processor import SpanProcessor
from spanproof.instrumentors.frameworks.patching import Args, Kwargs, Method, Patches

_POSITIONS = (
    "system_instructions",
    "input",
    "model_settings",
    "tools",
    "output_schema",
    "handoffs",
    "tracing",
)
"""The arguments of a model's call, in order."""


class ModelWatch:
    """Patches the classes of models as agents come to use them."""

    def __init__(self, patches: Patches, processor: SpanProcessor) -> None:
        self._patches = patches
        self._processor = processor

    def watch(self) -> None:
        """Begin to look at the models that agents use."""
        try:
            from agents.run_internal import run_loop
        except ImportError:
            return  # another version of the SDK: its own models are recorded all the same
        self._patches.replace(run_loop, "get_model", self._note_model)

    def _note_model(self, original: Method, _: Any, args: Args, kwargs: Kwargs) -> Any:
        model = original(*args, **kwargs)
        kind = type(model)
        if not kind.__module__.startswith("agents."):
            self._patches.replace_inherited(kind, "get_response", self._respond)
            self._patches.replace_inherited(kind, "stream_response", self._stream)
        return model

    async def _respond(self, original: Method, model: Any, args: Args, kwargs: Kwargs) -> Any:
        call = self._processor.begin_call(model, _named(args, kwargs))
        try:
            response = await original(model, *args, **kwargs)
        except BaseException:
            self._processor.end_call(call, None)
            raise
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
