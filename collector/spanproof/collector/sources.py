"""Reads the traces that a product already has, through its API, as OTLP requests.

Comes in: a sink's configuration, which names the product, and a time. Goes out: requests of at most some
hundred spans each, with the ids that the product has, so that scores find their spans again.
"""

from __future__ import annotations

import json
from base64 import b64decode
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any, Final
from urllib.parse import quote

import httpx
from google.protobuf import json_format
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status

from spanproof.collector.sinks.http import exchange, read_json
from spanproof.config.sinks import Sink, SinkKind
from spanproof.semconv.spanproof import COHORT_PREFIX
from spanproof.trace.otlp import any_value

_PAGE = 200
_TRACES_PAGE = 50

Pages = Iterator[ExportTraceServiceRequest]


class UnreadableSpan(ValueError):  # noqa: N818 - names the input
    """The product gave a span that has no valid ids or is none."""


def read_traces(client: httpx.Client, sink: Sink, since_ns: int) -> Pages:
    """Yield the spans of a project that started at this time or later.

    Args:
        client: with the product's address and credentials, from `open_client`.
        sink: which product; `project` names what is read in it.
        since_ns: Unix time in nanoseconds.

    Raises:
        Unavailable: nothing answers, or the key is not accepted.
        Refused: what answers does not know the request.
        NotThere: there is no such project.
        UnreadableSpan: a span is none.
        KeyError: traces cannot be read from a product of this kind; see `READABLE`.
    """
    for spans in _READERS[sink.kind](client, sink, since_ns):
        if spans:
            yield _request(spans, sink)


def _read_phoenix(client: httpx.Client, sink: Sink, since_ns: int) -> Iterator[list[Span]]:
    path = f"/v1/projects/{quote(sink.project or 'default', safe='')}/spans/otlpv1"
    query: dict[str, Any] = {"limit": _PAGE, "start_time": _iso(since_ns)}
    while True:
        answer = read_json(exchange(client, "GET", path, missing_is_late=True, params=query))
        yield [_span(document, bytes.fromhex) for document in answer["data"]]
        if not answer.get("next_cursor"):
            return
        query["cursor"] = answer["next_cursor"]


def _read_mlflow(client: httpx.Client, sink: Sink, since_ns: int) -> Iterator[list[Span]]:
    experiment = {"type": "MLFLOW_EXPERIMENT", "mlflow_experiment": {"experiment_id": sink.project or "0"}}
    search: dict[str, Any] = {
        "locations": [experiment],
        "filter": f"timestamp_ms >= {since_ns // 10**6}",
        "max_results": _TRACES_PAGE,
    }
    while True:
        found = read_json(exchange(client, "POST", "/api/3.0/mlflow/traces/search", json=search))
        for info in found.get("traces", []):
            trace = read_json(
                exchange(client, "GET", "/api/3.0/mlflow/traces/get", params={"trace_id": info["trace_id"]})
            )["trace"]
            yield [_span(document, b64decode) for document in trace.get("spans", [])]
        if not found.get("next_page_token"):
            return
        search["page_token"] = found["next_page_token"]


def _read_langfuse(client: httpx.Client, sink: Sink, since_ns: int) -> Iterator[list[Span]]:
    del sink  # the keys are of one project
    query: dict[str, Any] = {
        "limit": _PAGE,
        "fromStartTime": _iso(since_ns),
        "fields": "core,basic,time,io,model,usage",
    }
    while True:
        answer = read_json(exchange(client, "GET", "/api/public/v2/observations", params=query))
        yield [_observation(document) for document in answer["data"]]
        cursor = (answer.get("meta") or {}).get("cursor")
        if not cursor:
            return
        query["cursor"] = cursor


_READERS: Final[Mapping[SinkKind, Callable[[httpx.Client, Sink, int], Iterator[list[Span]]]]] = (
    MappingProxyType(
        {
            SinkKind.PHOENIX: _read_phoenix,
            SinkKind.LANGFUSE: _read_langfuse,
            SinkKind.MLFLOW: _read_mlflow,
        }
    )
)

READABLE: Final = tuple(_READERS)
"""The products that traces can be read from."""


def _request(spans: list[Span], sink: Sink) -> ExportTraceServiceRequest:
    request = ExportTraceServiceRequest()
    resource = request.resource_spans.add()
    if sink.project:
        resource.resource.attributes.add(key=f"{COHORT_PREFIX}project", value=any_value(sink.project))
    resource.scope_spans.add().spans.extend(spans)
    return request


def _span(document: dict[str, Any], read_id: Callable[[str], bytes]) -> Span:
    """Return a span that is written as protobuf's JSON, but for its ids."""
    try:
        ids = {
            name: read_id(document[name])
            for name in ("trace_id", "span_id", "parent_span_id")
            if document.get(name)
        }
        rest = {name: value for name, value in document.items() if name not in ids and name != "links"}
        span = json_format.ParseDict(_without_nulls(rest), Span(), ignore_unknown_fields=True)
    except (KeyError, TypeError, ValueError, json_format.ParseError) as problem:
        raise UnreadableSpan(f"the product gave a span that is none: {problem}") from problem
    span.trace_id, span.span_id = ids.get("trace_id", b""), ids.get("span_id", b"")
    span.parent_span_id = ids.get("parent_span_id", b"")
    return _checked(span)


def _observation(document: dict[str, Any]) -> Span:
    """Return an observation of Langfuse as the span that its SDK would have written."""
    prefix = "langfuse.observation."
    level = document.get("level")
    attributes = {
        f"{prefix}type": str(document.get("type", "span")).lower(),
        f"{prefix}input": _text(document.get("input")),
        f"{prefix}output": _text(document.get("output")),
        f"{prefix}model.name": document.get("providedModelName") or document.get("model"),
        f"{prefix}usage_details": _text(document.get("usageDetails")),
        f"{prefix}level": level,
        f"{prefix}status_message": document.get("statusMessage"),
    }
    try:
        start_ns = _unix_ns(document["startTime"])
        span = Span(
            trace_id=bytes.fromhex(document["traceId"]),
            span_id=bytes.fromhex(document["id"]),
            parent_span_id=bytes.fromhex(document.get("parentObservationId") or ""),
            name=document.get("name") or "",
            start_time_unix_nano=start_ns,
            end_time_unix_nano=_unix_ns(document["endTime"]) if document.get("endTime") else start_ns,
        )
    except (KeyError, TypeError, ValueError) as problem:
        raise UnreadableSpan(f"the product gave an observation that is no span: {problem}") from problem
    for key, value in attributes.items():
        if value is not None:
            span.attributes.add(key=key, value=any_value(value))
    if level == "ERROR":
        span.status.code = Status.STATUS_CODE_ERROR
        span.status.message = str(document.get("statusMessage") or "")
    return _checked(span)


def _checked(span: Span) -> Span:
    if len(span.trace_id) != 16 or len(span.span_id) != 8:
        raise UnreadableSpan(
            f"the product gave a span with the ids {span.trace_id.hex()!r} and {span.span_id.hex()!r}:"
            " a trace id is 16 bytes, a span id 8"
        )
    return span


def _without_nulls(value: Any) -> Any:
    """Return a document without the fields that are null, which protobuf's JSON leaves out."""
    if isinstance(value, dict):
        return {name: _without_nulls(each) for name, each in value.items() if each is not None}
    if isinstance(value, list):
        return [_without_nulls(each) for each in value]
    return value


def _text(value: object) -> str | None:
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False)


def _iso(unix_ns: int) -> str:
    return datetime.fromtimestamp(unix_ns / 1e9, UTC).isoformat()


def _unix_ns(given: str) -> int:
    moment = datetime.fromisoformat(given)
    # In whole microseconds: as a float a time of today has none of its last digits.
    since = moment - datetime(1970, 1, 1, tzinfo=UTC)
    return (since.days * 86_400 + since.seconds) * 10**9 + since.microseconds * 1000
