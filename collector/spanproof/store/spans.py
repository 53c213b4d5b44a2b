"""OTLP spans to columns of the tables that the OpenTelemetry Collector's ClickHouse exporter also writes.

Comes in: decoded export requests. Goes out: Arrow tables, a row a span and a row a trace, for one large
insert each. Attributes that are not text are written as JSON, as the exporter writes them. Times that a
table cannot order are moved to the nearest it can.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import orjson
import pyarrow as pa
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import Span as OtlpSpan

from spanproof.semconv import genai, openinference
from spanproof.semconv.spanproof import COHORT_PROJECT
from spanproof.store.cells import to_storable_time, to_unsigned
from spanproof.trace.codec import encode_json, to_plain
from spanproof.trace.otlp import get_attribute_value
from spanproof.trace.project import TraceKey

_KINDS = ("Unspecified", "Internal", "Server", "Client", "Producer", "Consumer")
_STATUSES = ("Unset", "Ok", "Error")
_NO_SPAN_ID = bytes(8)


class SpanColumns:
    """Columns of spans that grow request by request.

    Args:
        project: of spans whose resource names none.
        written_ns: of two rows for one span the one with the higher number counts.
    """

    def __init__(self, project: str, written_ns: int) -> None:
        self._project = project
        self._written_ns = written_ns
        self._columns: dict[str, list[Any]] = {name: [] for name in _SCALARS}
        self._maps = {name: _Maps() for name in ("ResourceAttributes", "SpanAttributes")}
        self._events = _Nested(("Timestamp", "Name"))
        self._links = _Nested(("TraceId", "SpanId", "TraceState"))
        self._times: dict[TraceKey, tuple[int, int]] = {}

    def __len__(self) -> int:
        return len(self._columns["TraceId"])

    def add(self, request: ExportTraceServiceRequest) -> None:
        """Append a row for each span of a request; ids must be valid."""
        for resource_spans in request.resource_spans:
            resource = _list_attributes(resource_spans.resource.attributes)
            of_resource = dict(resource)
            service = of_resource.get("service.name", "")
            project = of_resource.get(COHORT_PROJECT)
            for scope_spans in resource_spans.scope_spans:
                scope = (scope_spans.scope.name, scope_spans.scope.version)
                for span in scope_spans.spans:
                    self._add_span(span, scope, service, project)
                    self._maps["ResourceAttributes"].add(resource)

    def build_spans(self) -> pa.Table:
        """Return the rows of `otel_traces`."""
        columns: dict[str, Any] = {
            name: pa.array(values, type=_SCALARS[name]) for name, values in self._columns.items()
        }
        columns |= {name: maps.build_array() for name, maps in self._maps.items()}
        columns |= {f"Events.{name}": array for name, array in self._events.build_arrays().items()}
        columns |= {f"Links.{name}": array for name, array in self._links.build_arrays().items()}
        columns["SpanproofWritten"] = pa.array([self._written_ns] * len(self), type=pa.uint64())
        return pa.table(columns)

    def build_times(self) -> pa.Table:
        """Return the rows of `otel_traces_trace_id_ts`: first and last time of each trace of these spans."""
        starts = [start for start, _ in self._times.values()]
        ends = [end for _, end in self._times.values()]
        return pa.table(
            {
                "TraceId": pa.array([key.trace_id for key in self._times], type=pa.string()),
                "Start": pa.array(starts, type=pa.uint32()),
                "End": pa.array(ends, type=pa.uint32()),
                "SpanproofProject": pa.array([key.project for key in self._times], type=pa.string()),
            }
        )

    def _add_span(
        self, span: OtlpSpan, scope: tuple[str, str], service: str, of_resource: str | None
    ) -> None:
        start, end = to_storable_time(span.start_time_unix_nano), to_storable_time(span.end_time_unix_nano)
        trace_id, parent = span.trace_id.hex(), span.parent_span_id
        attributes = _list_attributes(span.attributes)
        project = of_resource or dict(attributes).get(COHORT_PROJECT) or self._project
        row = (
            start,
            trace_id,
            span.span_id.hex(),
            "" if parent == _NO_SPAN_ID else parent.hex(),
            span.trace_state,
            span.name,
            _KINDS[span.kind] if 0 <= span.kind < len(_KINDS) else _KINDS[0],
            service,
            *scope,
            to_unsigned(end - start),
            _STATUSES[span.status.code] if 0 <= span.status.code < len(_STATUSES) else _STATUSES[0],
            span.status.message,
            _read_agent_kind(attributes),
            project,
        )
        for values, value in zip(self._columns.values(), row, strict=True):
            values.append(value)
        self._maps["SpanAttributes"].add(attributes)
        self._events.add(
            [
                (to_storable_time(event.time_unix_nano), event.name, _list_attributes(event.attributes))
                for event in span.events
            ]
        )
        self._links.add(
            (link.trace_id.hex(), link.span_id.hex(), link.trace_state, _list_attributes(link.attributes))
            for link in span.links
        )
        key = TraceKey(project, trace_id)
        first, last = self._times.get(key, (1 << 62, 0))
        self._times[key] = min(first, start // 10**9), max(last, end // 10**9)


_SCALARS: dict[str, pa.DataType] = {
    "Timestamp": pa.timestamp("ns", "UTC"),
    **dict.fromkeys(
        ("TraceId", "SpanId", "ParentSpanId", "TraceState", "SpanName", "SpanKind", "ServiceName"),
        pa.string(),
    ),
    **dict.fromkeys(("ScopeName", "ScopeVersion"), pa.string()),
    "Duration": pa.uint64(),
    **dict.fromkeys(("StatusCode", "StatusMessage", "SpanproofKind", "SpanproofProject"), pa.string()),
}
_NESTED = {"Timestamp": pa.timestamp("ns", "UTC")}

_Pairs = Sequence[tuple[str, str]]


class _Maps:
    """A column of maps, as offsets into all keys and all values."""

    def __init__(self) -> None:
        self._offsets = [0]
        self._keys: list[str] = []
        self._values: list[str] = []

    def add(self, pairs: _Pairs) -> None:
        for key, value in pairs:
            self._keys.append(key)
            self._values.append(value)
        self._offsets.append(len(self._keys))

    def build_array(self) -> pa.Array:
        keys, values = pa.array(self._keys, type=pa.string()), pa.array(self._values, type=pa.string())
        return pa.MapArray.from_arrays(pa.array(self._offsets, type=pa.int32()), keys, values)


class _Nested:
    """Columns of arrays of one length a row: the fields, and a map of attributes."""

    def __init__(self, fields: tuple[str, ...]) -> None:
        self._offsets = [0]
        self._fields: dict[str, list[Any]] = {name: [] for name in fields}
        self._attributes = _Maps()

    def add(self, rows: Iterable[tuple[Any, ...]]) -> None:
        count = 0
        for *values, attributes in rows:
            for column, value in zip(self._fields.values(), values, strict=True):
                column.append(value)
            self._attributes.add(attributes)
            count += 1
        self._offsets.append(self._offsets[-1] + count)

    def build_arrays(self) -> dict[str, pa.Array]:
        offsets = pa.array(self._offsets, type=pa.int32())
        flat = {
            name: pa.array(values, type=_NESTED.get(name, pa.string()))
            for name, values in self._fields.items()
        }
        flat["Attributes"] = self._attributes.build_array()
        return {name: pa.ListArray.from_arrays(offsets, values) for name, values in flat.items()}


def _list_attributes(attributes: Iterable[KeyValue]) -> list[tuple[str, str]]:
    """Return attributes as text, of a repeated key the last; all but strings as JSON."""
    pairs = [(pair.key, pair.value.string_value or _format_value(pair.value)) for pair in attributes]
    if len({key for key, _ in pairs}) == len(pairs):
        return pairs
    return list(dict(pairs).items())


def _format_value(value: AnyValue) -> str:
    match value.WhichOneof("value"):
        case "string_value":
            return ""
        case "int_value":
            return str(value.int_value)
        case "bool_value":
            return "true" if value.bool_value else "false"
        case "double_value":
            return orjson.dumps(value.double_value).decode()
    return encode_json(to_plain(get_attribute_value(value)))


def _read_agent_kind(attributes: _Pairs) -> str:
    """Return which part of an agent a span says it is; empty where it follows no convention that says so."""
    of = dict(attributes)
    kind = of.get(openinference.SPAN_KIND) or of.get("gen_ai.span.kind") or of.get("traceloop.span.kind")
    if kind:
        return kind.upper()
    return _OPERATIONS.get(of.get(genai.OPERATION_NAME, ""), "")


_OPERATIONS = {
    "chat": "LLM",
    "text_completion": "LLM",
    "generate_content": "LLM",
    "invoke_agent": "AGENT",
    "create_agent": "AGENT",
    "execute_tool": "TOOL",
    "embeddings": "EMBEDDING",
}
