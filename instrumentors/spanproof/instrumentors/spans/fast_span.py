"""Spans at a third of the cost of the OpenTelemetry SDK's own, with the same exported bytes.

The SDK builds for each span what few spans need: bounded attributes, lists of events and links, a copy for
the processors. A `FastSpan` builds those on first use, mostly in the exporter's thread.

This is the one module that uses private names of the SDK. `build_span_starter` checks once per tracer that
they are what is expected here; where they are not, and for root spans, spans with links, samplers that decide
per span and limits on the length of values, the tracer's own `start_span` is used.
"""

# ruff: noqa: SLF001 - see above

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from time import time_ns
from typing import Any, Final

from opentelemetry import trace
from opentelemetry.attributes import BoundedAttributes
from opentelemetry.context import Context
from opentelemetry.sdk.trace import ReadableSpan, Span, SpanProcessor, Tracer
from opentelemetry.sdk.trace.id_generator import RandomIdGenerator
from opentelemetry.sdk.trace.sampling import ALWAYS_ON, ParentBased
from opentelemetry.sdk.util import BoundedList
from opentelemetry.trace import Link, SpanContext, Status
from opentelemetry.util.types import AttributeValue

from spanproof.instrumentors.spans.ids import UnseededIdGenerator
from spanproof.instrumentors.spans.span_start import SpanStart

StartSpan = Callable[[SpanStart, Context, Sequence[Link]], trace.Span]

(SPAN_KEY,) = trace.set_span_in_context(trace.INVALID_SPAN, Context())
"""Key of a context's current span; `set_span_in_context` would copy the whole context once more."""

# Whether this release notifies processors of a span that is about to end.
_REPORTS_ENDING: Final = hasattr(SpanProcessor, "_on_ending")

_SEEDED_BY_THE_HOST: Final = RandomIdGenerator.generate_span_id
_UNSEEDED: Final = UnseededIdGenerator()
_SAMPLED: Final = trace.TraceFlags.SAMPLED
_SET_AT_START: Final = {"_name", "_kind", "_lock", "_mappings", "_parent", "_context", "_start_time"}
_BUILT_LATER: Final = {"_attributes", "_events", "_links"}
# Fields of the SDK's `Tracer` in the releases 1.30 to 1.45.
_TRACER_FIELDS: Final = {
    *("sampler", "resource", "span_processor", "id_generator", "instrumentation_info", "_span_limits"),
    *("_instrumentation_scope", "_tracer_config", "_tracer_metrics"),
}


def set_attributes(span: trace.Span, attributes: Mapping[str, AttributeValue]) -> None:
    """Set attributes on any span; the caller must not change the mapping afterwards."""
    if isinstance(span, FastSpan):
        span.add_mapping(attributes)
    else:
        span.set_attributes(attributes)


class FastSpan(Span):
    """A span of the SDK that builds its attributes, events and links on first use."""

    _attributes: Any
    _events: Any
    _links: Any
    _mappings: list[Mapping[str, AttributeValue]] | None  # None once the attributes are built of them

    def __getattr__(self, name: str) -> Any:
        if name not in _BUILT_LATER:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        with self._lock:
            if name not in self.__dict__:
                self.__dict__[name] = self._build(name)
            return self.__dict__[name]

    def _build(self, name: str) -> Any:
        limits = self._limits
        if name != "_attributes":
            return BoundedList(limits.max_events if name == "_events" else limits.max_links)
        assert self._mappings is not None
        first, *more = self._mappings
        built = BoundedAttributes(limits.max_span_attributes, first, immutable=False)
        for mapping in more:
            built.update(mapping)
        built._immutable = self._end_time is not None
        self._mappings = None
        return built

    def add_mapping(self, attributes: Mapping[str, AttributeValue]) -> None:
        """Set attributes; the caller must not change the mapping afterwards."""
        with self._lock:
            if self._end_time is None and self._mappings is not None:
                self._mappings.append(attributes)
                return
        self.set_attributes(attributes)

    def end(self, end_time: int | None = None) -> None:
        """End the span; processors get this span itself, not a copy."""
        with self._lock:
            ended_before = self._end_time is not None
            if not ended_before:
                if self._mappings is None:
                    self._attributes._immutable = True
                self._end_time = time_ns() if end_time is None else end_time
        if ended_before:
            super().end()  # logs the warning
            return
        if _REPORTS_ENDING:
            self._span_processor._on_ending(self)
        self._span_processor.on_end(self)

    def __copy__(self) -> ReadableSpan:
        return self._readable_span()

    def __deepcopy__(self, memo: dict[int, Any]) -> ReadableSpan:
        return deepcopy(self._readable_span(), memo)


def build_span_starter(tracer: trace.Tracer) -> StartSpan:
    """Return what to call in place of the tracer's `start_span`; its spans are `FastSpan`s where possible."""

    def start_sdk_span(start: SpanStart, context: Context, links: Sequence[Link]) -> trace.Span:
        # A copy, because a sampler may change the attributes it is given, and starts are shared.
        return tracer.start_span(start.name, context, start.kind, dict(start.attributes), links)

    if not _is_supported(tracer):
        return start_sdk_span
    sdk_tracer: Any = tracer
    kind = _build_class(sdk_tracer)
    keeping = sdk_tracer.sampler if _keeps_children(sdk_tracer.sampler) else None

    def start_span(start: SpanStart, context: Context, links: Sequence[Link]) -> trace.Span:
        above: Any = context.get(SPAN_KEY)
        if links or not isinstance(above, ReadableSpan) or sdk_tracer.sampler is not keeping:
            return start_sdk_span(start, context, links)
        config = getattr(sdk_tracer, "_tracer_config", None)  # old releases have none
        parent: Any = above._context
        trace_id, _, _, flags, state, is_valid = parent
        if not (is_valid and flags & _SAMPLED) or (config is not None and not config.is_enabled):
            return start_sdk_span(start, context, links)
        # No constructor: it would build what is not needed.
        span: Any = object.__new__(kind)
        span._name, span._kind, first = start
        # Reentrant: building the attributes, in `__getattr__`, takes the lock that the SDK's setters hold.
        span._lock = threading.RLock()
        span._mappings = [first]
        span._parent = parent
        draw = sdk_tracer.id_generator.generate_span_id
        if getattr(draw, "__func__", None) is _SEEDED_BY_THE_HOST:
            draw = _UNSEEDED.generate_span_id
        span._context = SpanContext(trace_id, draw(), False, flags, state)  # noqa: FBT003
        span._start_time = time_ns()
        span._span_processor.on_start(span, parent_context=context)
        return span  # type: ignore[no-any-return]

    return start_span


def _keeps_children(sampler: Any) -> bool:
    """Return whether the sampler samples every child of a sampled local span and adds nothing to it."""
    return ALWAYS_ON is (sampler._local_parent_sampled if type(sampler) is ParentBased else sampler)


def _build_class(tracer: Any) -> type[FastSpan]:
    """Return a `FastSpan` whose class holds the fields that all spans of a tracer have in common."""
    shared = {
        "_sampler": tracer.sampler,
        "_resource": tracer.resource,
        "_span_processor": tracer.span_processor,
        "_instrumentation_info": tracer.instrumentation_info,
        "_instrumentation_scope": tracer._instrumentation_scope,
        "_limits": tracer._span_limits,
        "_status": Status(),
        **dict.fromkeys(("_end_time", "_trace_config", "_record_end_metrics")),
        **dict.fromkeys(("_record_exception", "_set_status_on_exception"), True),
    }
    return type("FastSpan", (FastSpan,), shared)


def _is_supported(tracer: Any) -> bool:
    """Return whether a `FastSpan` has every field that the installed SDK gives its spans."""
    try:
        if type(tracer) is not Tracer or not vars(tracer).keys() <= _TRACER_FIELDS:
            return False
        metrics = type(getattr(tracer, "_tracer_metrics", None)).__name__
        limits = tracer._span_limits
        if metrics not in ("NoneType", "NoOpTracerMetrics") or limits.max_span_attribute_length is not None:
            return False
        context, kind = SpanContext(1, 2, is_remote=False), _build_class(tracer)
        sdk = object.__new__(kind)
        Span.__init__(sdk, "", context, resource=tracer.resource, limits=limits)
        own_names = _SET_AT_START | _BUILT_LATER | vars(kind).keys()
        return (
            vars(sdk).keys() <= own_names and tuple(context)[:3] == (1, 2, False) and context[5:] == (True,)
        )
    except Exception:  # noqa: BLE001 - an SDK that differs; its own spans serve
        return False
