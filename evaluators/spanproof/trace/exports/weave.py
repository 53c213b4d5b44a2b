"""Weave: calls as its client, its API and its UI's export give them."""

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

_KINDS = {"llm": "LLM", "agent": "AGENT", "tool": "TOOL", "retriever": "RETRIEVER", "guardrail": "GUARDRAIL"}
_MODEL_CALLS = (
    "openai.chat.completions",
    "openai.responses",
    "anthropic.",
    "litellm.",
    "langchain.Llm",
    "google.genai",
    "mistralai.",
    "groq.",
)
_WORDS = {"langchain.Tool": "TOOL", "langchain.Chain": "CHAIN", "langchain.Retriever": "RETRIEVER"}


def is_row(row: Row) -> bool:
    """Whether this is a call."""
    return "op_name" in row and "trace_id" in row and "id" in row


def iter_row_spans(rows: Sequence[Row]) -> Iterator[Span]:
    """Yield the calls.

    An op that declares no kind is a tool where another op calls it and it calls none: all rows show that.
    """
    callers = {row.get("parent_id") for row in rows}
    for row in rows:
        is_leaf = bool(row.get("parent_id")) and row.get("id") not in callers
        yield _read_row(row, "TOOL" if is_leaf else "CHAIN")


def _read_row(row: Row, otherwise: str) -> Span:
    inputs, output = parse_document(row.get("inputs")), parse_document(row.get("output"))
    name = str(row["op_name"]).rpartition("/op/")[2].partition(":")[0] or str(row["op_name"])
    kind = _find_kind(row, name, inputs) or otherwise
    error = row.get("exception")
    attributes: dict[str, object] = {
        "openinference.span.kind": kind,
        **build_value_attributes("input", _without_self(inputs)),
        **build_value_attributes("output", output),
    }
    if kind == "LLM":
        attributes |= _read_model(row, inputs, output)
    elif kind == "TOOL":
        attributes["tool.name"] = name.rpartition(".")[2]
    return build_span(
        Fields(
            trace_id=row.get("trace_id"),
            span_id=row.get("id"),
            parent_id=row.get("parent_id"),
            name=row.get("display_name") or name,
            start=row.get("started_at"),
            end=row.get("ended_at"),
            attributes=attributes,
            error=get_last_line(str(error)) if error else None,
        )
    )


def _find_kind(row: Row, name: str, inputs: object) -> str | None:
    """Return the kind that the op declares, or that of the library it is of."""
    attributes = parse_document(row.get("attributes"))
    own = attributes.get("weave") if isinstance(attributes, Mapping) else None
    declared = own.get("kind") if isinstance(own, Mapping) else None
    if isinstance(declared, str) and declared in _KINDS:
        return _KINDS[declared]
    if name.startswith(_MODEL_CALLS) or (
        isinstance(inputs, Mapping) and {"messages", "model"} <= inputs.keys()
    ):
        return "LLM"
    return next((kind for word, kind in _WORDS.items() if name.startswith(word)), None)


def _without_self(inputs: object) -> object:
    """Return the arguments without the object whose method was called."""
    if isinstance(inputs, Mapping):
        return {key: value for key, value in inputs.items() if key != "self"}
    return inputs


def _read_model(row: Row, inputs: object, output: object) -> dict[str, object]:
    used = parse_document(row.get("summary"))
    by_model = used.get("usage") if isinstance(used, Mapping) else None
    model, counts = (
        next(iter(by_model.items()), (None, None)) if isinstance(by_model, Mapping) else (None, None)
    )
    if not isinstance(counts, Mapping):
        counts = output.get("usage") if isinstance(output, Mapping) else None
    counts = counts if isinstance(counts, Mapping) else {}
    requested_model = inputs.get("model") if isinstance(inputs, Mapping) else None
    return {
        "llm.model_name": model or requested_model,
        "llm.token_count.prompt": counts.get("prompt_tokens") or counts.get("input_tokens"),
        "llm.token_count.completion": counts.get("completion_tokens") or counts.get("output_tokens"),
    }
