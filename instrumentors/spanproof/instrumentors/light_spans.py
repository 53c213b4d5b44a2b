"""Spans that cost half of the OpenTelemetry SDK's own, and differ from them in nothing that is recorded.

    start = starting_with(provider.get_tracer("scope"))
    span = start("step 1", context, SpanKind.INTERNAL, {"a.name": "a value"})

The SDK makes for each span what few spans need: attributes that count and cut themselves, lists of events
and links, a copy for the processors. Here that is made when it is asked for, and attributes are put
together when somebody reads them, which is the exporter, in its own thread. Amid an agent's work none of
the code that does it is in the processor's caches, and that is most of what a span costs.

The tracer's sampler, ids, resource, limits and processors are asked as the SDK asks them; not asked are a
sampler of the SDK's that always keeps the children of what is sampled, as the usual one does, and its
generator of random ids. Light are the spans that a tracer of the SDK's begins within another of its spans,
if the SDK is as is known here: roots, spans with links, limits on the length of values, metrics of its own
and what it adds later are the SDK's business.
"""

# ruff: noqa: SLF001 - what stands in for a span of the SDK's has its private parts

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from copy import copy, deepcopy
from random import getrandbits
from time import time_ns
from types import SimpleNamespace
from typing import Any, Final

from opentelemetry import trace
from opentelemetry.attributes import BoundedAttributes
from opentelemetry.context import Context
from opentelemetry.sdk.trace import Event, ReadableSpan, Span, SpanProcessor, Tracer
from opentelemetry.sdk.trace.id_generator import RandomIdGenerator
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
_RANDOM_ID: Final = RandomIdGenerator.generate_span_id
"""By which the SDK makes ids, unless it is told another way: 64 random bits, again if all of them are 0."""
_new: Final = object.__new__


def starting_with(tracer: trace.Tracer) -> Callable[..., trace.Span]:
    """What to call in place of the tracer's `start_span`: light spans come of it where nobody can tell.

    The attributes that a span begins with are kept as they are: nobody may change them any more.
    """
    return _Lightly(tracer) if _may_be_light(tracer) else tracer.start_span


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
        return getattr(span._tracer, self._name)


class _Gathered:
    """The attributes, once somebody asks for them."""

    def __get__(self, span: Any, owner: type) -> Any:
        with span._lock:
            if span._given is not None:
                span._attributes = _together(span._given, span._limits.max_span_attributes)
                span._given = None
        return vars(span)["_attributes"]


class LightSpan(Span):
    """A span of the SDK's in all that is asked of it."""

    _tracer: Any
    _given: tuple[Mapping[str, AttributeValue], ...] | None
    _attributes: Any = _Gathered()
    _events: Any = _Listed("max_events")
    _links: Any = _Listed("max_links")
    _sampler: Any = _OfTracer("sampler")
    _resource: Any = _OfTracer("resource")
    _instrumentation_info: Any = _OfTracer("instrumentation_info")
    _instrumentation_scope: Any = _OfTracer("_instrumentation_scope")
    _limits: Any = _OfTracer("_span_limits")
    _span_processor: Any = _OfTracer("span_processor")
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

    def take(self, attributes: Mapping[str, AttributeValue]) -> None:
        """Set attributes as `put` does."""
        with self._lock:
            if self._given is not None and self._end_time is None:
                self._given = (*self._given, attributes)
                return
        self.set_attributes(attributes)

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
                self._end_time = time_ns() if end_time is None else end_time
        if not going_on:
            super().end()  # which says so
            return
        processor = self._tracer.span_processor
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
        above: Any = trace.INVALID_SPAN_CONTEXT
        if isinstance(parent, ReadableSpan):  # which is no abstract class: it is quickly asked
            above = parent._context
        trace_id, _, _, flags, state, is_valid = above
        if links or not is_valid or not getattr(tracer, "_tracer_config", _ENABLED).is_enabled:
            return tracer.start_span(name, context, kind, attributes, links, start_time)  # type: ignore[no-any-return]
        decision = Decision.RECORD_AND_SAMPLE
        if not flags & _SAMPLED or tracer.sampler is not self._keeping:
            asked = tracer.sampler.should_sample(context, trace_id, name, kind, attributes, links)
            attributes = BoundedAttributes(None, asked.attributes)  # the sampler may change what it gave
            state, decision = asked.trace_state, asked.decision
            flags = TraceFlags(flags & _RANDOM | (decision is Decision.RECORD_AND_SAMPLE))
        ids = tracer.id_generator
        if type(ids).generate_span_id is _RANDOM_ID and (span_id := getrandbits(64)):
            own = tuple.__new__(SpanContext, (trace_id, span_id, False, flags, state, True))
        else:
            own = SpanContext(trace_id, ids.generate_span_id(), False, flags, state)  # noqa: FBT003
        if decision is Decision.DROP:
            return NonRecordingSpan(own)
        span = _new(LightSpan)  # without a constructor, for the SDK's `__new__` would be in its way
        span._tracer = tracer
        span._name = name
        span._parent = above
        span._context = own
        span._kind = kind
        span._given = (attributes,)
        span._lock = threading.Lock()
        span._start_time = time_ns() if start_time is None else start_time
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
    if type(tracer) is not Tracer or not vars(tracer).keys() <= _TRACER:
        return False
    metrics = type(vars(tracer).get("_tracer_metrics")).__name__
    counted = metrics not in ("NoneType", "NoOpTracerMetrics")
    return not counted and tracer._span_limits.max_span_attribute_length is None and _has_all(tracer)


def _has_all(tracer: Any) -> bool:
    """Whether a light span has all that this release gives its own, and a context is the tuple it was."""
    apart = copy(tracer)  # whose samplers and processors hear nothing of this
    apart.id_generator, apart.sampler, apart.span_processor = RandomIdGenerator(), ALWAYS_ON, SpanProcessor()
    vars(apart).pop("_tracer_config", None)
    given = _new(LightSpan)
    Span.__init__(given, "", SpanContext(1, 1, is_remote=False), resource=tracer.resource)
    light = _Lightly(apart)("", Context({SPAN_KEY: given}), SpanKind.INTERNAL, {})
    known = vars(light).keys() | vars(LightSpan).keys()
    return vars(given).keys() <= known and len(trace.INVALID_SPAN_CONTEXT) == 6
