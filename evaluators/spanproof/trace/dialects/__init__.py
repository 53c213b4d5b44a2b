"""Any dialect of agent telemetry to spans of our model.

OTLP requests come in, `Trace`s of `Span`s go out, one per OTLP span, whatever it holds: a span whose
attributes break its convention becomes kind OTHER with the error and the raw attributes. Dialects read one
span at a time; what shows only beside other spans of the trace is put right afterwards. A span keeps all that
it was read from, so that a trace of which more comes later is read again as if it had come at once.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable

from spanproof.trace import Span, Trace, link_spans, order_spans
from spanproof.trace.dialects.contents import read_contents
from spanproof.trace.dialects.generic import DIALECT as GENERIC
from spanproof.trace.dialects.mixed import read_with_others
from spanproof.trace.dialects.raw import RawSpan, build_raw_span, iter_raw_spans
from spanproof.trace.dialects.reading import Reading, build_span
from spanproof.trace.dialects.registry import DIALECTS, get_dialect
from spanproof.trace.dialects.siblings import list_corrected
from spanproof.trace.dialects.spanproof import add_code
from spanproof.trace.otlp import ExportTraceServiceRequest

__all__ = ["DIALECTS", "build_extended_trace", "normalise_request", "read_traces"]

_log = logging.getLogger(__name__)


def normalise_request(request: ExportTraceServiceRequest) -> list[Span]:
    """Return the spans of this request in our vocabulary; never raises on what a span holds."""
    return list_corrected([_normalise_span(raw) for raw in iter_raw_spans(request)])


def read_traces(requests: Iterable[ExportTraceServiceRequest]) -> list[Trace]:
    """Return the traces of these requests, in the order of their first span.

    How a trace is split into requests, and in which order they are given, makes no difference to it.
    """
    spans: dict[str, list[Span]] = {}
    for request in requests:
        for raw in iter_raw_spans(request):
            spans.setdefault(raw.trace_id, []).append(_normalise_span(raw))
    return [_build_trace(trace_id, of_trace) for trace_id, of_trace in spans.items()]


def build_extended_trace(
    trace_id: str, former: Iterable[Span], requests: Iterable[ExportTraceServiceRequest] = ()
) -> Trace:
    """Return a trace of spans that were read before and those of its later requests, read as one.

    Raises:
        ValueError: neither has a span of it.
    """
    raw = [build_raw_span(span) for span in former]
    raw += [span for request in requests for span in iter_raw_spans(request) if span.trace_id == trace_id]
    return _build_trace(trace_id, [_normalise_span(span) for span in raw])


def _build_trace(trace_id: str, spans: Iterable[Span]) -> Trace:
    ordered, defects = order_spans(spans)
    if not ordered:
        raise ValueError(f"no span of trace {trace_id}")
    return link_spans(trace_id, list_corrected(ordered), defects)


def _normalise_span(raw: RawSpan) -> Span:
    dialect = get_dialect(raw)
    for reader in (dialect, GENERIC):
        try:
            reading = read_with_others(raw, reader.read(raw), dialect.name)
            return build_span(raw, read_contents(raw, add_code(raw, reading)), dialect.name)
        except Exception:  # noqa: BLE001 - attributes may be anything: one span must not cost the others
            _log.warning("span %s could not be read as %s", raw.span_id, reader.name, exc_info=True)
    return build_span(raw, Reading(), dialect.name)
