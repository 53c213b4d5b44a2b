"""OTLP in JSON as other products write it: answers of Tempo and Jaeger, ids in base64, former names."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from spanproof.trace.exports.rows import decode_base64_id

_RESOURCES: Final = ("resourceSpans", "resource_spans", "batches")
# Around a request: Tempo's API, and that of Jaeger 2.
_ENVELOPES: Final = ("trace", "result")
_SCOPES: Final = ("scopeSpans", "scope_spans", "instrumentationLibrarySpans", "instrumentation_library_spans")
_FORMER_SCOPE: Final = "instrumentationLibrary"
_IDS: Final = {
    "traceId": 16,
    "trace_id": 16,
    "spanId": 8,
    "span_id": 8,
    "parentSpanId": 8,
    "parent_span_id": 8,
}


def is_strict_otlp(document: object) -> bool:
    """Whether this is a request as the specification has it; an empty object is an empty one."""
    if not isinstance(document, dict) or "batches" in document:
        return False
    return not document or (
        not document.keys().isdisjoint(_RESOURCES) and not any(map(_is_encoded, _iter_spans(document)))
    )


def list_otlp(document: Any) -> list[dict[str, Any]]:
    """Return the requests in a document, as the specification writes them; none where it is none."""
    if isinstance(document, dict):
        held = next((document[name] for name in _ENVELOPES if document.get(name)), document)
        document = held if isinstance(held, list) else [held]
    requests = document if isinstance(document, list) else []
    are_requests = all(
        isinstance(request, dict) and not request.keys().isdisjoint(_RESOURCES) for request in requests
    )
    if are_requests:
        return [_build_request(request) for request in requests]
    return []


def _build_request(request: Mapping[str, Any]) -> dict[str, Any]:
    resources = next(request[name] for name in _RESOURCES if name in request)
    kept = {name: value for name, value in request.items() if name not in _RESOURCES}
    return {**kept, "resourceSpans": _build_each(resources, _build_resource)}


def _build_resource(resource: Mapping[str, Any]) -> dict[str, Any]:
    kept = {name: value for name, value in resource.items() if name not in _SCOPES}
    return {**kept, "scopeSpans": _build_each(_get_list(resource, _SCOPES), _build_scope)}


def _build_scope(scope: Mapping[str, Any]) -> dict[str, Any]:
    kept = {name: value for name, value in scope.items() if name != _FORMER_SCOPE}
    named = {"scope": scope[_FORMER_SCOPE]} if _FORMER_SCOPE in scope else {}
    return {**named, **kept, "spans": _build_each(scope.get("spans"), _decode_ids)}


def _build_each(items: object, restore: Callable[[Mapping[str, Any]], dict[str, Any]]) -> object:
    """Return restored items; what is of another type is left for the decoder to refuse."""
    if not isinstance(items, list):
        return items
    return [restore(item) if isinstance(item, Mapping) else item for item in items]


def _decode_ids(span: Mapping[str, Any]) -> dict[str, Any]:
    restored = {
        name: decode_base64_id(value, _IDS[name]) if name in _IDS and isinstance(value, str) else value
        for name, value in span.items()
    }
    if "links" in span:
        return {**restored, "links": _build_each(span["links"], _decode_ids)}
    return restored


def _iter_spans(request: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for resource in _get_list(request, _RESOURCES):
        for scope in _get_list(resource, _SCOPES):
            yield from (span for span in _get_list(scope, ("spans",)) if isinstance(span, Mapping))


def _is_encoded(span: Mapping[str, Any]) -> bool:
    """Whether a span's ids are written in base64, as protobuf's JSON does it and OTLP's does not."""
    value = span.get("traceId", span.get("trace_id"))
    return isinstance(value, str) and len(value) < 32 and decode_base64_id(value, 16) != value


def _get_list(holder: object, names: tuple[str, ...]) -> list[Any]:
    if not isinstance(holder, Mapping):
        return []
    found = next((holder[name] for name in names if name in holder), None)
    return found if isinstance(found, list) else []
