"""Spans that cost half of the OpenTelemetry SDK's own, and differ from them in nothing that is recorded.

    start = starting_with(provider.get_tracer("scope"))
    span = start("step 1", context, SpanKind.INTERNAL, {"a.name": "a value"})

The SDK makes for each span what few spans need: attributes that count and cut themselves, lists of events and
links, a copy for the processors, a lock each. Here that is made when it is asked for. Amid an agent's work
none of the code that makes it is in the processor's caches, and that is most of what a span costs.

The tracer's sampler, ids, resource, limits and processors are asked as the SDK asks them; only a sampler of
the SDK's that always keeps the children of what is sampled, as the usual one does, is not asked about
those. Light are the spans that a tracer of the SDK's begins within another of its spans, if the SDK is as
is known here: roots, spans with links, limits on the length of values, metrics of its own and what it adds
later are the SDK's business.
"""

# ruff: noqa: SLF001 - what stands in for a span of the SDK's has its private parts

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from time import time_ns
from types import SimpleNamespace
from typing import Any, Final

from opentelemetry import trace
from opentelemetry.attributes import BoundedAttributes
from opentelemetry.context import Context
from opentelemetry.sdk.trace import Event, ReadableSpan, Span, SpanProcessor, Tracer
from opentelemetry.sdk.trace.sampling import ALWAYS_ON, Decision, ParentBased
from opentelemetry.sdk.util import BoundedList
from opentelemetry.trace import Link, NonRecordingSpan, SpanContext, SpanKind, Status, TraceFlags
from opentelemetry.util.types import AttributeValue

(SPAN_KEY,) = trace.set_span_in_context(trace.INVALID_SPAN, Context())
"""Under which the API keeps a context's span: `set_span_in_context` copies the whole context twice."""

_TRACER: Final = {
    *("sampler", "resource", "span_processor", "id_generator", "instrumentation_info", "_span_limits"),
    *("_instrumentation_scope", "_tracer_config", "_tracer_metrics"),
}
"""What a tracer of the SDK's consists of, in the releases 1.30 to 1.45."""
_SAMPLED: Final = 0x01
_RANDOM: Final = 0x02
"""The flag of a trace whose id is random (W3C Trace Context, level 2): all of its spans have it."""
_ENDING: Final = hasattr(SpanProcessor, "_on_ending")
"""Whether this release tells processors that a span is about to end."""
_ENABLED: Final = SimpleNamespace(is_enabled=True)
"""Of a release in which a tracer cannot be switched off."""
_new: Final = object.__new__


def starting_with(tracer: trace.Tracer) -> Callable[..., trace.Span]:
    """What to call in place of the tracer's `start_span`: light spans come of it where nobody can tell."""
    return _Lightly(tracer) if _may_be_light(tracer) else tracer.start_span


class _Listed:
    """A list of the SDK's that a span has once it is asked for it."""

    def __init__(self, limit: str) -> None:
        self._limit = limit

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, span: Any, owner: type) -> Any:
        return vars(span).setdefault(self._name, BoundedList(getattr(span._limits, self._limit)))


class LightSpan(Span):
    """A span of the SDK's in all that is asked of it. Attributes are a plain dictionary while they can be."""

    _attributes: Any
    _span_processor: Any
    _events: Any = _Listed("max_events")
    _links: Any = _Listed("max_links")
    _status = Status()
    _end_time = None
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

    def set_attributes(self, attributes: Mapping[str, Any]) -> None:
        """As the SDK does."""
        with self._lock:
            if self._end_time is None and self._holds(attributes):
                return
        super().set_attributes(attributes)

    def set_attribute(self, key: str, value: Any) -> None:
        """As the SDK does."""
        with self._lock:
            if self._end_time is None and self._holds({key: value}):
                return
        super().set_attribute(key, value)

    def end(self, end_time: int | None = None) -> None:
        """As the SDK does; what has ended does not change, so the processors get the span itself."""
        with self._lock:
            going_on = self._end_time is None
            if going_on:
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

    def _begin(
        self,
        tracer: Any,
        name: str,
        above: SpanContext,
        own: SpanContext,
        kind: SpanKind,
        attributes: Mapping[str, AttributeValue],
        start_time: int | None,
    ) -> None:
        """What the SDK's constructor does; not one itself, for the SDK's `__new__` would be in its way."""
        self._name = name
        self._parent = above
        self._context = own
        self._kind = kind
        self._sampler = tracer.sampler
        self._resource = tracer.resource
        self._instrumentation_info = tracer.instrumentation_info
        self._instrumentation_scope = tracer._instrumentation_scope
        self._limits = tracer._span_limits
        self._span_processor = tracer.span_processor
        self._lock = threading.Lock()
        self._attributes = {}
        if not self._holds(attributes):
            self._attributes.update(attributes)
        self._start_time = time_ns() if start_time is None else start_time

    def _holds(self, attributes: Mapping[str, Any]) -> bool:
        """Take these as they are; from the first that the SDK would not so take, its own attributes do."""
        held, most = self._attributes, self._limits.max_span_attributes
        if type(held) is not dict:
            return False
        grown = len(held) + len(attributes)
        if (most is not None and grown > most) or not _are_plain(attributes):
            self._attributes = BoundedAttributes(most, held, immutable=False)
            return False
        held.update(attributes)
        if len(held) < grown:  # what is set again is the newest: of too many the oldest are dropped
            for name in attributes:
                held[name] = held.pop(name)
        return True


class _Lightly:
    """Begins a tracer's spans."""

    __slots__ = ("_keeping", "_tracer")

    def __init__(self, tracer: Any) -> None:
        self._tracer = tracer
        self._keeping = tracer.sampler if _keeps_children(tracer.sampler) else None

    def __call__(
        self,
        name: str,
        context: Context,
        kind: SpanKind,
        attributes: Mapping[str, AttributeValue],
        links: Sequence[Link] = (),
        start_time: int | None = None,
    ) -> trace.Span:
        tracer = self._tracer
        parent: Any = context.get(SPAN_KEY)
        is_known = isinstance(parent, ReadableSpan)  # which is no abstract class: it is quickly asked
        if links or not is_known or not getattr(tracer, "_tracer_config", _ENABLED).is_enabled:
            return tracer.start_span(name, context, kind, attributes, links, start_time)  # type: ignore[no-any-return]
        above: SpanContext = parent._context
        trace_id, _, _, flags, state, _ = above
        decision = Decision.RECORD_AND_SAMPLE
        if not flags & _SAMPLED or tracer.sampler is not self._keeping:
            asked = tracer.sampler.should_sample(context, trace_id, name, kind, attributes, links)
            attributes, state, decision = asked.attributes, asked.trace_state, asked.decision
            flags = TraceFlags(flags & _RANDOM | (decision is Decision.RECORD_AND_SAMPLE))
        own = SpanContext(trace_id, tracer.id_generator.generate_span_id(), False, flags, state)  # noqa: FBT003
        if decision is Decision.DROP:
            return NonRecordingSpan(own)
        span = _new(LightSpan)
        span._begin(tracer, name, above, own, kind, attributes, start_time)
        tracer.span_processor.on_start(span, parent_context=context)
        return span


def _keeps_children(sampler: Any) -> bool:
    """Whether a span whose parent is sampled is sampled too, and nothing else is said of it."""
    if type(sampler).should_sample is ParentBased.should_sample:
        sampler = vars(sampler).get("_local_parent_sampled")
    return sampler is ALWAYS_ON


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


def _may_be_light(tracer: Any) -> bool:
    if type(tracer) is not Tracer or not vars(tracer).keys() <= _TRACER or not _has_all(tracer):
        return False
    metrics = type(vars(tracer).get("_tracer_metrics")).__name__
    counted = metrics not in ("NoneType", "NoOpTracerMetrics")
    return not counted and tracer._span_limits.max_span_attribute_length is None


def _has_all(tracer: Any) -> bool:
    """Whether a light span has all that this release gives its own, and a context is the tuple it was."""
    nowhere = trace.INVALID_SPAN_CONTEXT
    given, light = _new(LightSpan), _new(LightSpan)
    Span.__init__(given, "", nowhere, resource=tracer.resource)
    light._begin(tracer, "", nowhere, nowhere, SpanKind.INTERNAL, {}, None)
    known = vars(light).keys() | vars(LightSpan).keys()
    return vars(given).keys() <= known and len(nowhere) == 6
