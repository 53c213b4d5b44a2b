"""Any dialect of agent telemetry to spans of our model.

An OTLP request comes in, a list of `Span`s in its order goes out, one per OTLP span, whatever it holds: a
span whose attributes break its convention becomes kind OTHER with the error and the raw attributes.
Dialects read one span at a time; what shows only beside other spans of the request is put right
afterwards.
"""

from __future__ import annotations

import logging

from spanproof.trace import Span
from spanproof.trace.dialects.generic import DIALECT as GENERIC
from spanproof.trace.dialects.mixed import fill_from_others
from spanproof.trace.dialects.raw import RawSpan, read_raw_spans
from spanproof.trace.dialects.reading import Reading, build_span
from spanproof.trace.dialects.registry import DIALECTS, recognise_dialect
from spanproof.trace.dialects.siblings import put_right
from spanproof.trace.dialects.spanproof import add_code
from spanproof.trace.otlp import ExportTraceServiceRequest

__all__ = ["DIALECTS", "normalise"]

_log = logging.getLogger(__name__)


def normalise(request: ExportTraceServiceRequest) -> list[Span]:
    """Return the spans of this request in our vocabulary; never raises on what a span holds."""
    return put_right([_normalise_span(raw) for raw in read_raw_spans(request)])


def _normalise_span(raw: RawSpan) -> Span:
    dialect = recognise_dialect(raw)
    for reader in (dialect, GENERIC):
        try:
            reading = fill_from_others(raw, reader.read(raw), dialect.name)
            return build_span(raw, add_code(raw, reading), dialect.name)
        except Exception:  # noqa: BLE001 - attributes may be anything: one span must not cost the others
            _log.warning("span %s could not be read as %s", raw.span_id, reader.name, exc_info=True)
    return build_span(raw, Reading(), dialect.name)
