"""LangSmith: runs as its SDK and API give them, or as its bulk export writes them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from opentelemetry.proto.trace.v1.trace_pb2 import Span

from spanproof.trace.exports.rows import (
    Fields,
    Row,
    build_span,
    build_value_attributes,
    get_last_line,
    parse_document,
)

_KINDS = {
    "llm": "LLM",
    "chat_model": "LLM",
    "tool": "TOOL",
    "retriever": "RETRIEVER",
    "embedding": "EMBEDDING",
    "agent": "AGENT",
}
# Names under which LangChain's agents are recorded where they have none of their own.
_AGENTS = frozenset({"AgentExecutor", "LangGraph"})


def is_row(row: Row) -> bool:
    """Whether this is a run."""
    return "run_type" in row and ("trace_id" in row or "dotted_order" in row) and "id" in row


def iter_row_spans(rows: Sequence[Row]) -> Iterator[Span]:
    """Yield the runs as spans, those in them that are children too."""
    for row in rows:
        yield _read_run(row)
        children = row.get("child_runs")
        yield from iter_row_spans(
            [child for child in children or () if isinstance(child, dict) and is_row(child)]
        )


def _read_run(row: Row) -> Span:
    kind = _KINDS.get(str(row["run_type"]), "CHAIN")
    if kind == "CHAIN" and row.get("name") in _AGENTS and not row.get("parent_run_id"):
        kind = "AGENT"
    inputs, outputs = parse_document(row.get("inputs")), parse_document(row.get("outputs"))
    if kind == "TOOL":
        inputs = _get_tool_input(inputs)
    attributes: dict[str, object] = {
        "openinference.span.kind": kind,
        **_build_values("input", inputs),
        **_build_values("output", outputs),
    }
    if kind == "LLM":
        attributes |= _read_model(row, outputs)
    elif kind == "TOOL":
        attributes["tool.name"] = row.get("name")
    error = row.get("error")
    trace_id = row.get("trace_id") or row["id"]
    return build_span(
        Fields(
            trace_id=str(trace_id),
            span_id=str(row["id"]),
            parent_id=str(row["parent_run_id"]) if row.get("parent_run_id") else None,
            name=row.get("name"),
            start=row.get("start_time"),
            end=row.get("end_time"),
            attributes=attributes,
            error=_get_exception(error) if isinstance(error, str) and error else None,
        )
    )


def _build_values(side: str, value: object) -> dict[str, object]:
    if isinstance(value, Mapping):
        # The steps of an `AgentExecutor` are runs of their own.
        held = {name: part for name, part in value.items() if name != "intermediate_steps"}
        value = held.get(side, held) if len(held) == 1 else value
    return build_value_attributes(side, value)


def _get_tool_input(inputs: object) -> object:
    """Return a tool's arguments: LangChain's tracer records them printed, as `{"input": "{'code': …}"}`."""
    if isinstance(inputs, Mapping) and inputs.keys() == {"input"}:
        return inputs["input"]
    return inputs


def _read_model(row: Row, outputs: object) -> dict[str, object]:
    extra = parse_document(row.get("extra"))
    extra = extra if isinstance(extra, Mapping) else {}
    metadata, parameters = extra.get("metadata") or {}, extra.get("invocation_params") or {}
    usage = outputs.get("usage_metadata") if isinstance(outputs, Mapping) else None
    usage = usage if isinstance(usage, Mapping) else {}
    return {
        "llm.model_name": metadata.get("ls_model_name")
        or parameters.get("model")
        or parameters.get("model_name"),
        "llm.token_count.prompt": _get_first(row.get("prompt_tokens"), usage.get("input_tokens")),
        "llm.token_count.completion": _get_first(row.get("completion_tokens"), usage.get("output_tokens")),
    }


def _get_first(*values: object) -> object:
    return next((value for value in values if value is not None), None)


def _get_exception(error: str) -> str:
    """Return the exception of a printed one: LangChain prints its stack trace below it, Python above it."""
    if error.startswith("Traceback"):
        return get_last_line(error)
    return error.strip().partition("\n")[0].strip()
