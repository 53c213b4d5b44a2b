"""Times of spans that cannot be: corrected as they come in, since tables are split by day.

A span that began before the oldest plausible time, or after the newest, gets the time at which it came; its
duration stays where it has one.
"""

from __future__ import annotations

from collections import Counter

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span as OtlpSpan

_DAY_NS = 86_400 * 10**9
_CLOCK_IS_SET_NS = 1_735_689_600 * 10**9  # 2025
# Different days in one request; what is on others, but for the days with the most spans, is implausible.
_MOST_DAYS = 400


def clamp_times(request: ExportTraceServiceRequest, now_ns: int, max_age_days: int) -> int:
    """Correct implausible times of spans in place; returns how many spans had one."""
    if now_ns < _CLOCK_IS_SET_NS:
        return 0  # it is our clock that cannot be: machines without a battery begin in 1970
    oldest, newest = now_ns - max_age_days * _DAY_NS, now_ns + _DAY_NS
    spans = [
        span for resource in request.resource_spans for scope in resource.scope_spans for span in scope.spans
    ]
    if not spans:
        return 0
    moved = _list_implausible(spans, oldest, newest)
    for span in moved:
        _update_times(span, now_ns)
    # A span that ends decades after it began would be on every day between.
    late = [span for span in spans if span.end_time_unix_nano > newest]
    for span in late:
        span.end_time_unix_nano = max(now_ns, span.start_time_unix_nano)
    return len({id(span) for span in (*moved, *late)})


def _list_implausible(spans: list[OtlpSpan], oldest: int, newest: int) -> list[OtlpSpan]:
    """Return the spans that began outside the window, or on a day beside the most usual ones."""
    starts = [span.start_time_unix_nano for span in spans]
    first, last = min(starts), max(starts)
    # The usual request: nothing is read span by span.
    if oldest <= first and last <= newest and last - first <= _MOST_DAYS * _DAY_NS:
        return []
    days = Counter(start // _DAY_NS for start in starts if oldest <= start <= newest)
    usual = {day for day, _ in days.most_common(_MOST_DAYS)}
    return [
        span
        for span, start in zip(spans, starts, strict=True)
        if not oldest <= start <= newest or start // _DAY_NS not in usual
    ]


def _update_times(span: OtlpSpan, now_ns: int) -> None:
    duration = span.end_time_unix_nano - span.start_time_unix_nano
    span.start_time_unix_nano = now_ns
    span.end_time_unix_nano = now_ns + (duration if 0 <= duration <= _DAY_NS else 0)
