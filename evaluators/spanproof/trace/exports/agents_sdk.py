"""OpenAI Agents SDK: spans as `Span.export()` gives them to a trace processor or an exporter."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from opentelemetry.proto.trace.v1.trace_pb2 import Span

from spanproof.trace.exports.rows import Fields, Row, build_span, build_value_attributes

_KINDS: Final = {
    "agent": "AGENT",
    "function": "TOOL",
    "mcp_tools": "CHAIN",
    "generation": "LLM",
    "response": "LLM",
    "guardrail": "GUARDRAIL",
}


def is_row(row: Row) -> bool:
    """Whether this is a span."""
    return row.get("object") == "trace.span" and isinstance(row.get("span_data"), Mapping)


def is_trace(row: Row) -> bool:
    """Whether this is the line that names a trace: it has no span in it."""
    return row.get("object") == "trace" and "workflow_name" in row


def iter_row_spans(rows: Sequence[Row]) -> Iterator[Span]:
    """Yield the spans."""
    return map(_read_row, rows)


def _read_row(row: Row) -> Span:
    data: Mapping[str, Any] = row["span_data"]
    kind = _KINDS.get(str(data.get("type")), "CHAIN")
    name = data.get("name") or data.get("type")
    usage = data.get("usage")
    counts = usage if isinstance(usage, Mapping) else {}
    error = row.get("error")
    return build_span(
        Fields(
            trace_id=row.get("trace_id"),
            span_id=row.get("id"),
            parent_id=row.get("parent_id"),
            name=name,
            start=row.get("started_at"),
            end=row.get("ended_at"),
            attributes={
                "openinference.span.kind": kind,
                **build_value_attributes("input", data.get("input")),
                **build_value_attributes("output", data.get("output")),
                "llm.model_name": data.get("model") if kind == "LLM" else None,
                "llm.token_count.prompt": counts.get("input_tokens"),
                "llm.token_count.completion": counts.get("output_tokens"),
                "tool.name": name if kind == "TOOL" else None,
            },
            error=_format_error(error) if error else None,
        )
    )


def _format_error(error: object) -> str:
    """Return what a span failed with: the SDK has the exception beside its own message."""
    if not isinstance(error, Mapping):
        return str(error)
    data = error.get("data")
    cause = data.get("error") if isinstance(data, Mapping) else None
    return str(cause or error.get("message") or "")
