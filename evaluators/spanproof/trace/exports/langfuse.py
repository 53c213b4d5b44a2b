"""Langfuse: observations as its API, its UI's download and its export to blob storage have them.

An observation that came over OpenTelemetry keeps its producer's scope and attributes in its metadata; the
content was taken out, and is put back, so that the observation is read in the producer's own dialect.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from opentelemetry.proto.trace.v1.trace_pb2 import Span

from spanproof.trace.exports.rows import Fields, Row, as_json, build_span, parse_document

_PREFIX = "langfuse.observation."
_SCOPE_NAME: Final = "otel.scope.name"

# A producer's mark, and the attributes that Langfuse takes its input and output from, by
# `extractInputAndOutput` of Langfuse's `OtelIngestionProcessor`.
_CONTENT: Final = (
    ("openinference.span.kind", "input.value", "output.value"),
    ("traceloop.span.kind", "traceloop.entity.input", "traceloop.entity.output"),
    ("mlflow.spanType", "mlflow.spanInputs", "mlflow.spanOutputs"),
    ("gcp.vertex.agent.llm_request", "gcp.vertex.agent.llm_request", "gcp.vertex.agent.llm_response"),
)
_TOOL_CONTENT: Final = ("gen_ai.tool.call.arguments", "gen_ai.tool.call.result")
_SPOKEN_CONTENT: Final = ("gen_ai.input.messages", "gen_ai.output.messages")


def is_row(row: Row) -> bool:
    """Whether this is an observation."""
    has_trace = not row.keys().isdisjoint({"traceId", "trace_id"})
    has_start = not row.keys().isdisjoint({"startTime", "start_time"})
    has_parent = not row.keys().isdisjoint({"parentObservationId", "parent_observation_id"})
    return has_trace and has_start and (has_parent or str(row.get("type")) in _TYPES)


_TYPES = frozenset(
    {"SPAN", "GENERATION", "EVENT", "AGENT", "TOOL", "CHAIN", "RETRIEVER", "EVALUATOR", "GUARDRAIL"}
)


def iter_row_spans(rows: Sequence[Row]) -> Iterator[Span]:
    """Yield the observations as the spans that Langfuse's SDK would have written."""
    return map(read_observation, rows)


def read_observation(row: Row) -> Span:
    """Return one observation as a span."""
    fields = {_to_camel(key): value for key, value in row.items()}
    failed = fields.get("level") == "ERROR"
    return build_span(
        Fields(
            trace_id=fields.get("traceId"),
            span_id=fields.get("id"),
            parent_id=fields.get("parentObservationId"),
            name=fields.get("name"),
            start=fields.get("startTime"),
            end=fields.get("endTime"),
            attributes=_build_attributes(fields),
            error=str(fields.get("statusMessage") or "") if failed else None,
        )
    )


def read_resource(row: Row) -> dict[str, object]:
    """Return the attributes of the resource that the observation's producer named."""
    found = parse_document(_read_metadata(row).get("resourceAttributes"))
    return dict(found) if isinstance(found, dict) else {}


def _build_attributes(fields: dict[str, Any]) -> dict[str, object]:
    held, produced = _build_own_attributes(fields), _read_produced(fields)
    if not produced:
        return held
    given_in, given_out = _get_content_names(produced, str(fields.get("type")))
    content = {given_in: held[f"{_PREFIX}input"], given_out: held[f"{_PREFIX}output"]}
    return {**{name: value for name, value in content.items() if name}, **produced, **held}


def _build_own_attributes(fields: dict[str, Any]) -> dict[str, object]:
    return {
        f"{_PREFIX}type": str(fields.get("type") or "span").lower(),
        f"{_PREFIX}input": _find_content(fields.get("input")),
        f"{_PREFIX}output": _find_content(fields.get("output")),
        f"{_PREFIX}model.name": fields.get("providedModelName") or fields.get("model"),
        f"{_PREFIX}usage_details": as_json(fields.get("usageDetails") or fields.get("usage")),
        f"{_PREFIX}level": fields.get("level"),
        f"{_PREFIX}status_message": fields.get("statusMessage"),
    }


def _find_content(value: object) -> str | None:
    """Return what was taken or given; a download of the page has the JSON of it, a text in quotes too."""
    if isinstance(value, str) and value[:1] == value[-1:] == '"':
        try:
            return as_json(json.loads(value))
        except ValueError:
            return value
    return as_json(value)


def _read_metadata(row: Mapping[str, Any]) -> dict[str, Any]:
    found = parse_document(row.get("metadata"))
    return found if isinstance(found, dict) else {}


def _read_produced(fields: dict[str, Any]) -> dict[str, object]:
    """Return the attributes that the producer wrote, with its scope; none where Langfuse's own SDK did."""
    metadata = _read_metadata(fields)
    scope, attributes = (parse_document(metadata.get(name)) for name in ("scope", "attributes"))
    named = scope.get("name") if isinstance(scope, dict) else None
    if not isinstance(attributes, dict) or not attributes or str(named).startswith("langfuse"):
        return {}
    return {_SCOPE_NAME: named, **{name: _parse_number(name, value) for name, value in attributes.items()}}


def _parse_number(name: str, value: object) -> object:
    """Return an attribute's value: Langfuse makes texts of all, counts of tokens among them."""
    is_count = "token" in name.lower() and isinstance(value, str) and value.isdecimal()
    return int(str(value)) if is_count else value


def _get_content_names(produced: Mapping[str, object], kind: str) -> tuple[str, str]:
    """Return the attributes in which the producer writes input and output; empty where none is known."""
    operation = str(produced.get("ai.operationId") or "")
    if operation:
        return _get_vercel_names(operation)
    for mark, given_in, given_out in _CONTENT:
        if mark in produced:
            return given_in, given_out
    if any(name.startswith("gen_ai.") for name in produced):
        if kind == "TOOL" or "gen_ai.tool.name" in produced:
            return _TOOL_CONTENT
        return _SPOKEN_CONTENT
    return "", ""


def _get_vercel_names(operation: str) -> tuple[str, str]:
    if operation == "ai.toolCall":
        return "ai.toolCall.args", "ai.toolCall.result"
    calls_model = operation.endswith((".doGenerate", ".doStream"))
    return "ai.prompt.messages" if calls_model else "ai.prompt", ""


def _to_camel(name: str) -> str:
    """Return the name as the API writes it; exports to storage write `trace_id` for `traceId`."""
    first, *rest = name.split("_")
    return first + "".join(part.capitalize() for part in rest)
