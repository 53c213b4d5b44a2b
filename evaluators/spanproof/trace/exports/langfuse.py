"""Langfuse: observations as its API, its UI's download and its export to blob storage have them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from opentelemetry.proto.trace.v1.trace_pb2 import Span

from spanproof.trace.exports.rows import Fields, Row, as_json, make_span

_PREFIX = "langfuse.observation."


def is_row(row: Row) -> bool:
    """Whether this is an observation."""
    return (
        bool({"traceId", "trace_id"} & row.keys())
        and bool({"startTime", "start_time"} & row.keys())
        and ("parentObservationId" in row or "parent_observation_id" in row or str(row.get("type")) in _TYPES)
    )


_TYPES = frozenset(
    {"SPAN", "GENERATION", "EVENT", "AGENT", "TOOL", "CHAIN", "RETRIEVER", "EVALUATOR", "GUARDRAIL"}
)


def read_rows(rows: Sequence[Row]) -> Iterator[Span]:
    """Yield the observations as the spans that Langfuse's SDK would have written."""
    return map(read_observation, rows)


def read_observation(row: Row) -> Span:
    """Return one observation as a span."""
    given = {_to_camel(key): value for key, value in row.items()}
    failed = given.get("level") == "ERROR"
    return make_span(
        Fields(
            trace_id=given.get("traceId"),
            span_id=given.get("id"),
            parent_id=given.get("parentObservationId"),
            name=given.get("name"),
            start=given.get("startTime"),
            end=given.get("endTime"),
            attributes=_build_attributes(given),
            error=str(given.get("statusMessage") or "") if failed else None,
        )
    )


def _build_attributes(given: dict[str, Any]) -> dict[str, object]:
    return {
        f"{_PREFIX}type": str(given.get("type") or "span").lower(),
        f"{_PREFIX}input": as_json(given.get("input")),
        f"{_PREFIX}output": as_json(given.get("output")),
        f"{_PREFIX}model.name": given.get("providedModelName") or given.get("model"),
        f"{_PREFIX}usage_details": as_json(given.get("usageDetails") or given.get("usage")),
        f"{_PREFIX}level": given.get("level"),
        f"{_PREFIX}status_message": given.get("statusMessage"),
    }


def _to_camel(name: str) -> str:
    """Return the name as the API writes it; exports to storage write `trace_id` for `traceId`."""
    first, *rest = name.split("_")
    return first + "".join(part.capitalize() for part in rest)
