"""Reads the traces that a product already has, through its API, as OTLP requests.

Comes in: a sink's configuration, which names the product, and a time. Goes out: requests of at most some
hundred spans each, with the ids that the product has, so that scores find their spans again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any, Final
from urllib.parse import quote

import httpx
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from spanproof.collector.sinks.http import read_json, send_request
from spanproof.config.sinks import Sink, SinkKind
from spanproof.semconv.spanproof import COHORT_PREFIX
from spanproof.trace.exports.langfuse import read_observation
from spanproof.trace.exports.mlflow import read_span
from spanproof.trace.exports.rows import UNREADABLE
from spanproof.trace.otlp import build_any_value

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
            yield _build_request(spans, sink)


def _fetch_phoenix_pages(client: httpx.Client, sink: Sink, since_ns: int) -> Iterator[list[Span]]:
    path = f"/v1/projects/{quote(sink.project or 'default', safe='')}/spans/otlpv1"
    query: dict[str, Any] = {"limit": _PAGE, "start_time": _format_iso_time(since_ns)}
    while True:
        answer = read_json(send_request(client, "GET", path, missing_is_late=True, params=query))
        yield [_read_span(read_span, document) for document in answer["data"]]
        if not answer.get("next_cursor"):
            return
        query["cursor"] = answer["next_cursor"]


def _fetch_mlflow_pages(client: httpx.Client, sink: Sink, since_ns: int) -> Iterator[list[Span]]:
    experiment = {"type": "MLFLOW_EXPERIMENT", "mlflow_experiment": {"experiment_id": sink.project or "0"}}
    search: dict[str, Any] = {
        "locations": [experiment],
        "filter": f"timestamp_ms >= {since_ns // 10**6}",
        "max_results": _TRACES_PAGE,
    }
    while True:
        found = read_json(send_request(client, "POST", "/api/3.0/mlflow/traces/search", json=search))
        for info in found.get("traces", []):
            trace = read_json(
                send_request(
                    client, "GET", "/api/3.0/mlflow/traces/get", params={"trace_id": info["trace_id"]}
                )
            )["trace"]
            yield [_read_span(read_span, document) for document in trace.get("spans", [])]
        if not found.get("next_page_token"):
            return
        search["page_token"] = found["next_page_token"]


def _fetch_langfuse_pages(client: httpx.Client, sink: Sink, since_ns: int) -> Iterator[list[Span]]:
    del sink  # the keys are of one project
    query: dict[str, Any] = {
        "limit": _PAGE,
        "fromStartTime": _format_iso_time(since_ns),
        "fields": "core,basic,time,io,model,usage",
    }
    while True:
        answer = read_json(send_request(client, "GET", "/api/public/v2/observations", params=query))
        yield [_read_span(read_observation, document) for document in answer["data"]]
        cursor = (answer.get("meta") or {}).get("cursor")
        if not cursor:
            return
        query["cursor"] = cursor


_READERS: Final[Mapping[SinkKind, Callable[[httpx.Client, Sink, int], Iterator[list[Span]]]]] = (
    MappingProxyType(
        {
            SinkKind.PHOENIX: _fetch_phoenix_pages,
            SinkKind.LANGFUSE: _fetch_langfuse_pages,
            SinkKind.MLFLOW: _fetch_mlflow_pages,
        }
    )
)

READABLE: Final = tuple(_READERS)
"""The products that traces can be read from."""


def _build_request(spans: list[Span], sink: Sink) -> ExportTraceServiceRequest:
    request = ExportTraceServiceRequest()
    resource = request.resource_spans.add()
    if sink.project:
        resource.resource.attributes.add(key=f"{COHORT_PREFIX}project", value=build_any_value(sink.project))
    resource.scope_spans.add().spans.extend(spans)
    return request


def _read_span(read: Callable[[dict[str, Any]], Span], document: dict[str, Any]) -> Span:
    try:
        return read(document)
    except UNREADABLE as problem:
        raise UnreadableSpan(f"the product gave a span that is none: {problem}") from problem


def _format_iso_time(unix_ns: int) -> str:
    return datetime.fromtimestamp(unix_ns / 1e9, UTC).isoformat()
