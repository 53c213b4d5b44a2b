"""Who begins a tracer's spans: light ones come of it where nobody can tell them from the SDK's own.

    begin = beginning_with(provider.get_tracer("scope"))
    span = begin(Start("step 1", SpanKind.INTERNAL, {"a.name": "a value"}), context)

The tracer's sampler, ids, resource, limits and processors are asked as the SDK asks them; not asked are a
sampler of the SDK's that always keeps the children of what is sampled, as the usual one does, and its
generator of random ids. Light are the spans that a tracer of the SDK's begins within another of its spans,
if the SDK is as is known here: roots, spans with links, limits on the length of values, metrics of its own
and what it adds later are the SDK's business.
"""

# ruff: noqa: SLF001 - a tracer of the SDK's has what its spans need as private parts

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from random import getrandbits
from threading import Lock
from time import time_ns
from types import SimpleNamespace
from typing import Any, Final

from opentelemetry import trace
from opentelemetry.attributes import BoundedAttributes
from opentelemetry.context import Context
from opentelemetry.sdk.trace import ReadableSpan, Span, SpanProcessor, Tracer
from opentelemetry.sdk.trace.id_generator import RandomIdGenerator
from opentelemetry.sdk.trace.sampling import ALWAYS_ON, Decision, ParentBased
from opentelemetry.trace import Link, NonRecordingSpan, SpanContext, SpanKind, TraceFlags, TraceState

from spanproof.instrumentors.spans.light_spans import LightSpan
from spanproof.instrumentors.spans.processors import Audience
from spanproof.instrumentors.spans.starts import Start

Begin = Callable[..., trace.Span]
"""Begins a span by its `Start`, the context above it, and links."""

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
_ALWAYS: Final = SimpleNamespace(is_enabled=True)
_RANDOM_ID: Final = RandomIdGenerator.generate_span_id
"""By which the SDK makes ids: 64 random bits, again if all of them are 0."""
_new: Final = object.__new__
_new_tuple: Final = tuple.__new__


def beginning_with(tracer: trace.Tracer) -> Begin:
    """What to call in place of the tracer's `start_span`: light spans come of it where nobody can tell."""
    heavily = _heavily(tracer)
    return _lightly(tracer, heavily) if _may_be_light(tracer) else heavily


def _lightly(tracer: Any, heavily: Begin) -> Begin:
    """Begins a tracer's spans light where nobody can tell, and `heavily` elsewhere."""
    audience = Audience(tracer)
    keeping = tracer.sampler if _keeps_children(tracer.sampler) else None
    random = tracer.id_generator if _is_random(tracer.id_generator) else None
    if not hasattr(tracer, "_tracer_config"):
        tracer._tracer_config = _ALWAYS  # of a release in which a tracer cannot be switched off

    def begin(begun: Start, context: Context, links: Sequence[Link] = ()) -> trace.Span:
        parent: Any = context.get(SPAN_KEY)
        if links or not (type(parent) is LightSpan or isinstance(parent, ReadableSpan)):
            return heavily(begun, context, links)
        above: Any = parent._context
        trace_id, _, _, flags, state, is_valid = above
        if not is_valid or not tracer._tracer_config.is_enabled:
            return heavily(begun, context, links)
        ids = tracer.id_generator
        if not flags & _SAMPLED or tracer.sampler is not keeping:
            begun, state, flags, dropped = _asked(tracer.sampler, begun, context, above)
            if dropped:
                return NonRecordingSpan(_context_of(trace_id, ids.generate_span_id(), flags, state))
        if ids is random and (span_id := getrandbits(64)):
            own = _new_tuple(SpanContext, (trace_id, span_id, False, flags, state, True))
        else:
            own = _context_of(trace_id, ids.generate_span_id(), flags, state)
        span = _new(LightSpan)  # without a constructor, for the SDK's `__new__` would be in its way
        span._audience = audience
        span._begun = begun
        span._parent = above
        span._context = own
        span._lock = Lock()
        span._given = ()
        span._start_time = time_ns()
        if audience.added._span_processors is not audience.known:
            audience.look()
        for each in audience.starting:
            each.on_start(span, parent_context=context)
        return span

    return begin


def _asked(
    sampler: Any, begun: Start, context: Context, above: SpanContext
) -> tuple[Start, TraceState, TraceFlags, bool]:
    """What the sampler makes of a span: its start, state and flags, and whether it is dropped."""
    name, kind, attributes = begun
    asked = sampler.should_sample(context, above.trace_id, name, kind, dict(attributes), ())
    sampled = asked.decision is Decision.RECORD_AND_SAMPLE
    flags = TraceFlags(above.trace_flags & _RANDOM | sampled)
    # The sampler may change later what it gave.
    begun = Start(name, kind, BoundedAttributes(None, asked.attributes))
    return begun, asked.trace_state, flags, asked.decision is Decision.DROP


def _context_of(trace_id: int, span_id: int, flags: TraceFlags, state: TraceState) -> SpanContext:
    return SpanContext(trace_id, span_id, is_remote=False, trace_flags=flags, trace_state=state)


def _heavily(tracer: trace.Tracer) -> Begin:
    """Begins the tracer's own spans: its sampler gets a copy of the attributes, for it may change them."""

    def begin(begun: Start, context: Context, links: Sequence[Link] = ()) -> trace.Span:
        name, kind, attributes = begun
        return tracer.start_span(name, context, kind, dict(attributes), links)

    return begin


def _is_random(ids: Any) -> bool:
    """Whether ids are what the SDK makes them unless it is told another way: random bits."""
    return type(ids).generate_span_id is _RANDOM_ID and "generate_span_id" not in vars(ids)


def _keeps_children(sampler: Any) -> bool:
    """Whether a span whose parent is sampled is sampled too, and nothing else is said of it."""
    if type(sampler).should_sample is ParentBased.should_sample:
        sampler = vars(sampler).get("_local_parent_sampled")
    return sampler is ALWAYS_ON


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
    begin = _lightly(apart, _heavily(apart))
    light = begin(Start("", SpanKind.INTERNAL, {}), Context({SPAN_KEY: given}))
    known = vars(light).keys() | vars(LightSpan).keys()
    return vars(given).keys() <= known and len(trace.INVALID_SPAN_CONTEXT) == 6
