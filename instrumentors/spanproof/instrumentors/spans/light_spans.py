"""Spans that cost half of the OpenTelemetry SDK's own, and differ from them in nothing that is recorded.

The SDK makes for each span what few spans need: attributes that count and cut themselves, lists of events
and links, a copy for the processors. Here that is made when it is asked for, and attributes are put
together when somebody reads them, which is the exporter, in its own thread. Amid an agent's work none of
the code that does it is in the processor's caches, and that is most of what a span costs.
"""

# ruff: noqa: SLF001 - what stands in for a span of the SDK's has its private parts

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from time import time_ns
from typing import Any, Final

from opentelemetry import trace
from opentelemetry.attributes import BoundedAttributes
from opentelemetry.sdk.trace import Event, ReadableSpan, Span, SpanProcessor
from opentelemetry.sdk.util import BoundedList
from opentelemetry.trace import Link, Status
from opentelemetry.util.types import AttributeValue

from spanproof.instrumentors.spans.processors import Audience
from spanproof.instrumentors.spans.starts import Start

_ENDING: Final = hasattr(SpanProcessor, "_on_ending")
"""Whether this release tells processors that a span is about to end."""


def put(span: trace.Span, attributes: Mapping[str, AttributeValue]) -> None:
    """Set attributes that nobody changes any more, neither the mapping nor what is in it."""
    if type(span) is LightSpan:
        span.take(attributes)
    else:
        span.set_attributes(attributes)


class _Listed:
    """A list of the SDK's that a span has once it is asked for it."""

    def __init__(self, limit: str) -> None:
        self._limit = limit

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, span: Any, owner: type) -> Any:
        return vars(span).setdefault(self._name, BoundedList(getattr(span._limits, self._limit)))


class _OfTracer:
    """What a span has of its tracer."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __get__(self, span: Any, owner: type) -> Any:
        return getattr(span._audience.tracer, self._name)


class _OfStart:
    """What a span has begun with, as long as nobody has changed it."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __get__(self, span: Any, owner: type) -> Any:
        return getattr(span._begun, self._name)


class _Gathered:
    """The attributes, once somebody asks for them."""

    def __get__(self, span: Any, owner: type) -> Any:
        with span._lock:
            given = span._left if span._given is None else span._given
            if given is not None:
                given = (span._begun.attributes, *given)
                span._attributes = _together(given, span._limits.max_span_attributes)
                span._given = span._left = None
        return vars(span)["_attributes"]


class LightSpan(Span):
    """A span of the SDK's in all that is asked of it."""

    _audience: Audience
    _begun: Start
    # What was put onto it while it goes on, then once it has ended, until somebody asks for its attributes.
    _given: tuple[Mapping[str, AttributeValue], ...] | None
    _left: tuple[Mapping[str, AttributeValue], ...] | None = None
    _attributes: Any = _Gathered()
    _name: Any = _OfStart("name")
    _kind: Any = _OfStart("kind")
    _events: Any = _Listed("max_events")
    _links: Any = _Listed("max_links")
    _sampler: Any = _OfTracer("sampler")
    _resource: Any = _OfTracer("resource")
    _instrumentation_info: Any = _OfTracer("instrumentation_info")
    _instrumentation_scope: Any = _OfTracer("_instrumentation_scope")
    _limits: Any = _OfTracer("_span_limits")
    _span_processor: Any = _OfTracer("span_processor")
    _status = Status()
    _end_time: int | None = None
    _trace_config = _record_end_metrics = None
    _record_exception = _set_status_on_exception = True

    @property
    def events(self) -> Sequence[Event]:
        """What happened within it."""
        return tuple(vars(self).get("_events", ()))

    @property
    def links(self) -> Sequence[Link]:
        """Spans of other traces that it has to do with."""
        return tuple(vars(self).get("_links", ()))

    def take(self, attributes: Mapping[str, AttributeValue]) -> None:
        """Set attributes as `put` does."""
        with self._lock:
            if self._given is not None:
                self._given += (attributes,)
                return
        self.set_attributes(attributes)

    def finish(self, attributes: Mapping[str, AttributeValue]) -> None:
        """Set attributes as `put` does and end: to take the lock twice would cost more than both."""
        lock = self._lock
        lock.acquire()  # `with` would look for two methods first, which takes as long as both
        try:
            given = self._given
            if given is not None:
                self._left = given + (attributes,)  # noqa: RUF005 - a list would be made first
                self._given = None
                self._end_time = time_ns()
        finally:
            lock.release()
        if given is None:
            if attributes:
                self.set_attributes(attributes)
            self.end()
            return
        audience = self._audience
        if audience.added._span_processors is not audience.known:
            audience.look()
        for each in audience.ending:
            each._on_ending(self)
        for each in audience.ended:
            each.on_end(self)

    def set_attributes(self, attributes: Mapping[str, Any]) -> None:
        """As the SDK does."""
        self._bound()
        super().set_attributes(attributes)

    def set_attribute(self, key: str, value: Any) -> None:
        """As the SDK does."""
        self._bound()
        super().set_attribute(key, value)

    def end(self, end_time: int | None = None) -> None:
        """As the SDK does; what has ended does not change, so the processors get the span itself."""
        with self._lock:
            going_on = self._end_time is None
            if going_on:
                self._left, self._given = self._given, None
                self._end_time = time_ns() if end_time is None else end_time
        if not going_on:
            super().end()  # which says so
            return
        processor = self._span_processor
        if _ENDING:
            processor._on_ending(self)
        processor.on_end(self)

    def __copy__(self) -> ReadableSpan:
        return self._readable_span()

    def __deepcopy__(self, memo: dict[int, Any]) -> ReadableSpan:
        """As of what the SDK gives to processors, which has no lock in it."""
        return deepcopy(self._readable_span(), memo)

    def _bound(self) -> None:
        """Have the SDK's own attributes, to which more can be added."""
        held = self._attributes
        with self._lock:
            if type(held) is dict and self._attributes is held:
                self._attributes = BoundedAttributes(self._limits.max_span_attributes, held, immutable=False)


def _together(given: Sequence[Mapping[str, AttributeValue]], most: int | None) -> Any:
    """What was set one after the other; a plain dictionary where the SDK would change nothing about it."""
    plain: dict[str, AttributeValue] = {}
    for attributes in given:
        for name in plain.keys() & attributes.keys():
            del plain[name]  # what is set again is the newest: of too many the oldest are dropped
        plain.update(attributes)
    if (most is None or len(plain) <= most) and all(map(_are_plain, given)):
        return plain
    bound = BoundedAttributes(most, given[0], immutable=False)
    for attributes in given[1:]:
        bound.update(attributes)
    return bound


def _are_plain(attributes: Mapping[str, Any]) -> bool:
    """Whether the SDK would keep each as it is: one by one, for a set asks a type's metaclass for a hash."""
    for name, value in attributes.items():
        kind = type(value)
        if kind is tuple:
            for member in value:
                if type(member) is not str:
                    return False
        elif not (kind is str or kind is int or kind is bool or kind is float):
            return False
        if type(name) is not str or not name:
            return False
    return True
