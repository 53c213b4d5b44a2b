"""Datadog LLM Observability: spans as its SDK submits them, and as its export API gives them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from opentelemetry.proto.trace.v1.trace_pb2 import Span

from spanproof.trace.exports.rows import Fields, Row, build_span, build_value_attributes, to_unix_ns

_KINDS: Final = {
    "agent": "AGENT",
    "workflow": "CHAIN",
    "task": "CHAIN",
    "llm": "LLM",
    "tool": "TOOL",
    "retrieval": "RETRIEVER",
    "embedding": "EMBEDDING",
}
# What a span without a parent has for its id.
_NO_PARENT: Final = frozenset({"", "0", "undefined"})


def is_row(row: Row) -> bool:
    """Whether this is a span of LLM Observability."""
    has_ids = {"span_id", "trace_id", "parent_id"} <= row.keys()
    return has_ids and (_get_kind(row) in _KINDS) and ("duration" in row or "start_ns" in row)


def iter_row_spans(rows: Sequence[Row]) -> Iterator[Span]:
    """Yield the spans."""
    return map(_read_row, rows)


def _get_kind(row: Row) -> object:
    return row.get("span_kind") or _read_object(row, "meta").get("kind")


def _read_row(row: Row) -> Span:
    meta = _read_object(row, "meta")
    kind = _KINDS[str(_get_kind(row))]
    start = to_unix_ns(row.get("start_ns") or row.get("start_ms"))
    if str(row.get("parent_id") or "") in _NO_PARENT:
        parent = None
    else:
        parent = row["parent_id"]
    has_failed = row.get("status") == "error"
    taken, result = _get_content(row, meta, "input"), _get_content(row, meta, "output")
    of_kind = {"LLM": {"llm.model_name": _get_model(row, meta)}, "TOOL": {"tool.name": row.get("name")}}
    return build_span(
        Fields(
            trace_id=str(row["trace_id"]),
            span_id=str(row["span_id"]),
            parent_id=parent,
            name=row.get("name"),
            start=start,
            end=(start or 0) + int(row.get("duration") or 0),
            attributes={
                "openinference.span.kind": kind,
                **build_value_attributes("input", taken),
                **build_value_attributes("output", result),
                **of_kind.get(kind, {}),
            },
            error=_get_error(row, meta) if has_failed else None,
        )
    )


def _get_model(row: Row, meta: Mapping[str, Any]) -> object:
    metadata = _read_object(meta, "metadata") or _read_object(row, "metadata")
    return meta.get("model_name") or row.get("model_name") or metadata.get("model_name")


def _get_error(row: Row, meta: Mapping[str, Any]) -> str:
    error = _read_object(meta, "error") or _read_object(row, "error")
    return str(error.get("message") or meta.get("error.message") or "")


def _get_content(row: Row, meta: Mapping[str, Any], side: str) -> object:
    """Return what a span took or gave: a value, the messages of a model, or documents."""
    held = meta.get(side) or row.get(side)
    if not isinstance(held, Mapping):
        return held
    return next((held[name] for name in ("value", "messages", "documents") if held.get(name)), None)


def _read_object(row: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    held = row.get(name)
    return held if isinstance(held, Mapping) else {}
