"""Which processors hear of a tracer's light spans.

The SDK tells each of them three times a span, of which those that export use one: whoever is known to do
nothing on being told is not called.
"""

# ruff: noqa: SLF001 - the SDK keeps a processor's members as a private part

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, Final

from opentelemetry.sdk.trace import SpanProcessor, SynchronousMultiSpanProcessor
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SimpleSpanProcessor

_ENDING: Final = "_on_ending"
_TOLD: Final = ("on_start", _ENDING, "on_end") if hasattr(SpanProcessor, _ENDING) else ("on_start", "on_end")
"""By what this release tells processors of a span."""
_DEAF: Final = {
    *(getattr(SpanProcessor, name) for name in _TOLD),
    *(getattr(kind, name) for kind in (BatchSpanProcessor, SimpleSpanProcessor) for name in _TOLD[:-1]),
}
"""Methods of the SDK's that do nothing."""


class Audience:
    """Those who hear of a tracer's spans, in the order in which they were added.

    Attributes:
        tracer: the tracer.
        added: has them as `_span_processors`, another tuple whenever one is added.
        known: that tuple, as it was looked at last; where it is another by now, `look` comes first.
        starting: those who hear that a span has begun.
        ending: those who hear that one is about to end.
        ended: those who hear that one has ended.
    """

    __slots__ = ("added", "ended", "ending", "known", "starting", "tracer")

    def __init__(self, tracer: Any) -> None:
        self.tracer = tracer
        processor = tracer.span_processor
        # The usual one tells its members one after the other, and nothing else: that is done in its place.
        usual = type(processor) is SynchronousMultiSpanProcessor
        self.added: Any = processor if usual else SimpleNamespace(_span_processors=(processor,))
        self.look()

    def look(self) -> None:
        """See who is there by now."""
        members = self.added._span_processors
        self.starting = _hearing(members, "on_start")
        self.ending = _hearing(members, _ENDING)
        self.ended = _hearing(members, "on_end")
        self.known = members  # last, for another thread goes by it


def _hearing(members: tuple[Any, ...], name: str) -> tuple[Any, ...]:
    if name not in _TOLD:
        return ()
    return tuple(each for each in members if _hears(each, name))


def _hears(processor: Any, name: str) -> bool:
    """Also by a method that only the object has, as one does that stands in for another."""
    return name in getattr(processor, "__dict__", ()) or getattr(type(processor), name, None) not in _DEAF
