"""Spans at about half the cost of the OpenTelemetry SDK's own, with the same exported bytes.

The SDK builds for each span what few spans need: bounded attributes, lists of events and links, a copy for
the processors. A `FastSpan` builds those on first use, which is mostly in the exporter's thread.

This is the one module that uses private names of the SDK. `span_starter` checks once per tracer that they are
what is expected here; where they are not, and for root spans, spans with links, samplers that decide per span
and limits on the length of values, the tracer's own `start_span` is used.
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
from opentelemetry.sdk.trace.sampling import ALWAYS_ON, ParentBased
from opentelemetry.sdk.util import BoundedList
from opentelemetry.trace import Link, SpanContext, Status
from opentelemetry.util.types import AttributeValue

from spanproof.instrumentors.spans.span_start import SpanStart

StartSpan = Callable[[SpanStart, Context, Sequence[Link]], trace.Span]

(SPAN_KEY,) = trace.set_span_in_context(trace.INVALID_SPAN, Context())
"""Key of a context's current span; `set_span_in_context` would copy the whole context once more."""

_ENDING: Final = hasattr(SpanProcessor, "_on_ending")
"""This release notifies processors before a span ends."""
_BUILT_LATER: Final = ("_attributes", "_events", "_links")
_TRACER_FIELDS: Final = frozenset(
    (
        "sampler",
        "resource",
        "span_processor",
        "id_generator",
        "instrumentation_info",
        "_span_limits",
        "_instrumentation_scope",
        "_tracer_config",
        "_tracer_metrics",
    )
)
"""Fields of the SDK's `Tracer` in the releases 1.30 to 1.45."""


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

    def __init__(self, start: SpanStart, context: SpanContext, parent: SpanContext) -> None:
        """Skip the SDK's constructor, which builds all that is saved here.

        Args:
            start: name, kind and first attributes.
            context: the span's own.
            parent: the span above.
        """
        self._name, self._kind = start.name, start.kind
        self._context, self._parent = context, parent
        # Reentrant: building the attributes, in `__getattr__`, takes the lock that the SDK's setters hold.
        self._lock: Any = threading.RLock()
        self._mappings = [start.attributes]
        self._start_time = time_ns()

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
        first, *more = self._mappings
        built = BoundedAttributes(limits.max_span_attributes, first, immutable=False)
        for mapping in more:
            built.update(mapping)
        built._immutable = self._end_time is not None
        return built

    def add_mapping(self, attributes: Mapping[str, AttributeValue]) -> None:
        """Set attributes; the caller must not change the mapping afterwards."""
        with self._lock:
            if self._end_time is None and "_attributes" not in self.__dict__:
                self._mappings.append(attributes)
                return
        self.set_attributes(attributes)

    def end(self, end_time: int | None = None) -> None:
        """End the span; unlike the SDK's it is given to the processors itself, since it no longer changes."""
        with self._lock:
            ended_before = self._end_time is not None
            if not ended_before:
                self._end_time = time_ns() if end_time is None else end_time
                built = self.__dict__.get("_attributes")
                if built is not None:
                    built._immutable = True
        if ended_before:
            super().end()  # logs the warning
            return
        if _ENDING:
            self._span_processor._on_ending(self)
        self._span_processor.on_end(self)

    def __copy__(self) -> ReadableSpan:
        return self._readable_span()

    def __deepcopy__(self, memo: dict[int, Any]) -> ReadableSpan:
        return deepcopy(self._readable_span(), memo)


def span_starter(tracer: trace.Tracer) -> StartSpan:
    """Return what to call in place of the tracer's `start_span`; its spans are `FastSpan`s where possible."""

    def start_sdk_span(start: SpanStart, context: Context, links: Sequence[Link]) -> trace.Span:
        # A copy, because a sampler may change the attributes it is given, and starts are shared.
        return tracer.start_span(start.name, context, start.kind, dict(start.attributes), links)

    if not _is_supported(tracer):
        return start_sdk_span
    sdk_tracer: Any = tracer
    kind = _class_for(sdk_tracer)

    def start_span(start: SpanStart, context: Context, links: Sequence[Link]) -> trace.Span:
        above: Any = context.get(SPAN_KEY)
        if links or not isinstance(above, ReadableSpan) or not _is_enabled(sdk_tracer):
            return start_sdk_span(start, context, links)
        parent: Any = above.context
        if not (parent.is_valid and parent.trace_flags.sampled and _keeps_children(sdk_tracer.sampler)):
            return start_sdk_span(start, context, links)
        own = SpanContext(
            parent.trace_id,
            sdk_tracer.id_generator.generate_span_id(),
            is_remote=False,
            trace_flags=parent.trace_flags,
            trace_state=parent.trace_state,
        )
        span = kind(start, own, parent)
        sdk_tracer.span_processor.on_start(span, parent_context=context)
        return span

    return start_span


def _is_enabled(tracer: Any) -> bool:
    config = getattr(tracer, "_tracer_config", None)
    return config is None or config.is_enabled  # old releases have no such configuration


def _keeps_children(sampler: Any) -> bool:
    """Return whether the sampler samples every child of a sampled local span and adds nothing to it."""
    if type(sampler) is ParentBased:
        sampler = getattr(sampler, "_local_parent_sampled", None)
    return sampler is ALWAYS_ON


def _class_for(tracer: Any) -> type[FastSpan]:
    """Return a `FastSpan` whose class holds the fields that all spans of a tracer have in common."""
    shared = {
        "_sampler": tracer.sampler,
        "_resource": tracer.resource,
        "_span_processor": tracer.span_processor,
        "_instrumentation_info": tracer.instrumentation_info,
        "_instrumentation_scope": tracer._instrumentation_scope,
        "_limits": tracer._span_limits,
        "_status": Status(),
        "_end_time": None,
        "_trace_config": None,
        "_record_exception": True,
        "_set_status_on_exception": True,
        "_record_end_metrics": None,
    }
    return type("FastSpan", (FastSpan,), shared)


def _is_supported(tracer: Any) -> bool:
    """Return whether a `FastSpan` has every field that the installed SDK gives its spans."""
    try:
        if type(tracer) is not Tracer or not vars(tracer).keys() <= _TRACER_FIELDS:
            return False
        counted = type(getattr(tracer, "_tracer_metrics", None)).__name__ not in (
            "NoneType",
            "NoOpTracerMetrics",
        )
        if counted or tracer._span_limits.max_span_attribute_length is not None:
            return False
        context = SpanContext(1, 1, is_remote=False)
        kind = _class_for(tracer)
        fast = kind(SpanStart("", trace.SpanKind.INTERNAL, {}), context, context)
        sdk = object.__new__(kind)
        Span.__init__(sdk, "", context, resource=tracer.resource, limits=tracer._span_limits)
        return not vars(sdk).keys() - vars(fast).keys() - vars(kind).keys() - {*_BUILT_LATER}
    except Exception:  # noqa: BLE001 - an SDK that differs; its own spans serve
        return False
