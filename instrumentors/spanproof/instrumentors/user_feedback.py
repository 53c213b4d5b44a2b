"""User feedback about a run that is over.

In come a trace's id and the kind of feedback; out goes a span of its own that names that trace and, where the
run's span is known, links to it. It is no child: the trace has been complete since the run ended.
"""

from __future__ import annotations

from typing import Final

from opentelemetry.context import Context
from opentelemetry.trace import (
    Link,
    SpanContext,
    TraceFlags,
    format_span_id,
    format_trace_id,
)

from spanproof.instrumentors.frameworks.diagnostics import shielded
from spanproof.instrumentors.spans.span_start import build_start
from spanproof.instrumentors.spans.tracing import OpenSpan
from spanproof.instrumentors.trace import get_current_tracing
from spanproof.semconv import spanproof as ours

FEEDBACK_KINDS: Final = ("thumbs_up", "thumbs_down", "rerun", "revert", "escalation")
_TRACE_DIGITS: Final = 32
_SPAN_DIGITS: Final = 16


def feedback(
    trace_id: str | int, kind: str, *, span_id: str | int | None = None, comment: str | None = None
) -> None:
    """Record what a user thought of a run, as a span of its own.

    Args:
        trace_id: of the run's trace, 32 hexadecimal digits or the number OpenTelemetry has for it.
        kind: `thumbs_up`, `thumbs_down`, `rerun`, `revert` or `escalation`.
        span_id: of the run's AGENT span where a trace has several runs, 16 hexadecimal digits or a number.
        comment: what the user said; content like any other.

    Raises:
        ValueError: an unknown kind, or an id that is none.
    """
    if kind not in FEEDBACK_KINDS:
        raise ValueError(f"kind={kind!r} is no feedback; choose from {', '.join(FEEDBACK_KINDS)}")
    trace = _parse_id("trace_id", trace_id, _TRACE_DIGITS)
    span = None if span_id is None else _parse_id("span_id", span_id, _SPAN_DIGITS)
    _record(trace, kind, span, comment)


@shielded("feedback")
def _record(trace: int, kind: str, span: int | None, comment: str | None) -> None:
    facts = {ours.FEEDBACK_KIND: kind, ours.FEEDBACK_TRACE_ID: format_trace_id(trace)}
    links = []
    if span is not None:
        facts[ours.FEEDBACK_SPAN_ID] = format_span_id(span)
        links.append(
            Link(SpanContext(trace, span, is_remote=True, trace_flags=TraceFlags(TraceFlags.SAMPLED)))
        )
    # An empty context: whatever goes on now, it is not what the feedback is about.
    start = build_start("feedback", "UNKNOWN", facts)
    opened = get_current_tracing().open(OpenSpan, start, Context(), links=links)
    if comment is not None:
        opened.text(ours.FEEDBACK_COMMENT, comment)
    opened.close()


def _parse_id(name: str, value: str | int, digits: int) -> int:
    try:
        number = int(value, 16) if isinstance(value, str) and len(value) == digits else value
    except ValueError:
        number = value
    if not isinstance(number, int) or isinstance(number, bool) or not 0 < number < 16**digits:
        raise ValueError(f"{name}={value!r} is no id; give {digits} hexadecimal digits that are not all 0")
    return number
