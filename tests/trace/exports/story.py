"""One story as each product exports it: an agent runs code, looks up what is not there, and answers."""

from __future__ import annotations

import json
import uuid
from typing import Any

TASK = "What do three boxes cost?"
CODE = "total = 12 * 3\nprint(total)"
ANSWER = "Three boxes cost 36 euros."

_CALLS = (("run_python", {"code": CODE}, "36"), ("stock_of", {"shelf": 9}, None))


def _spoken() -> tuple[list[list[dict[str, Any]]], list[dict[str, Any]]]:
    """Return what each model call is sent, and what it replies, in OpenAI's form."""
    history: list[dict[str, Any]] = [{"role": "user", "content": TASK}]
    sent, replies = [], []
    for index, (name, arguments, result) in enumerate(_CALLS):
        function = {"name": name, "arguments": json.dumps(arguments)}
        call = {"id": f"c{index}", "type": "function", "function": function}
        replies.append({"role": "assistant", "content": None, "tool_calls": [call]})
        sent.append(list(history))
        answer = {"role": "tool", "tool_call_id": f"c{index}", "content": result or "no shelf 9"}
        history += [replies[-1], answer]
    return [*sent, list(history)], [*replies, {"role": "assistant", "content": ANSWER}]


def _spans() -> list[dict[str, Any]]:
    """Return the story as plain spans: an agent, three model calls, two tools between them."""
    sent, replies = _spoken()
    spans = [
        {"kind": "agent", "name": "clerk", "input": {"question": TASK}, "output": ANSWER, "parent": None}
    ]
    for index in range(3):
        call = {"model": "m-1", "messages": sent[index]}
        spans.append({"kind": "llm", "name": "chat", "input": call, "output": replies[index], "parent": 0})
        for name, arguments, result in _CALLS[index : index + 1]:
            spans.append({"kind": "tool", "name": name, "input": arguments, "output": result, "parent": 0})
    for index, span in enumerate(spans):
        span["id"] = str(uuid.UUID(int=index + 1))
        span["error"] = "StockError: no shelf 9" if span["name"] == "stock_of" else None
        span["start"] = f"2026-01-02T03:04:{index:02d}.500000+00:00"
        span["end"] = f"2026-01-02T03:05:{index:02d}.500000+00:00" if index == 0 else span["start"]
        span["parent"] = None if span["parent"] is None else str(uuid.UUID(int=1))
    return spans


_TRACE = str(uuid.UUID(int=99))


def langsmith() -> list[dict[str, Any]]:
    rows = []
    for span in _spans():
        kind = {"agent": "chain"}.get(span["kind"], span["kind"])
        outputs = {"output": span["output"]} if span["output"] is not None else None
        inputs = span["input"]
        if kind == "tool":
            inputs = {"input": str(span["input"])}  # as LangChain's tracer prints it
        if kind == "llm":
            inputs = {"messages": [span["input"]["messages"]]}
            outputs = {"generations": [[{"text": "", "message": span["output"]}]]}
        rows.append(
            {
                "id": span["id"],
                "trace_id": _TRACE,
                "parent_run_id": span["parent"],
                "dotted_order": "x",
                "run_type": kind,
                "name": span["name"],
                "inputs": inputs,
                "outputs": outputs,
                "error": span["error"],
                "start_time": span["start"],
                "end_time": span["end"],
                "extra": {"metadata": {"ls_model_name": "m-1"}},
                **({"prompt_tokens": 10, "completion_tokens": 4} if kind == "llm" else {}),
            }
        )
    return rows


def langfuse() -> list[dict[str, Any]]:
    types = {"agent": "AGENT", "llm": "GENERATION", "tool": "TOOL"}
    return [
        {
            "id": span["id"],
            "traceId": _TRACE,
            "parentObservationId": span["parent"],
            "type": types[span["kind"]],
            "name": span["name"],
            "startTime": span["start"].replace("+00:00", "Z"),
            "endTime": span["end"].replace("+00:00", "Z"),
            "input": span["input"]["messages"] if span["kind"] == "llm" else span["input"],
            "output": span["output"],
            "level": "ERROR" if span["error"] else "DEFAULT",
            "statusMessage": span["error"],
            "providedModelName": "m-1" if span["kind"] == "llm" else None,
            "usageDetails": {"input": 10, "output": 4, "total": 14} if span["kind"] == "llm" else {},
        }
        for span in _spans()
    ]


def langfuse_storage() -> list[dict[str, Any]]:
    """Return rows as the export to blob storage has them."""
    names = {
        "traceId": "trace_id",
        "parentObservationId": "parent_observation_id",
        "startTime": "start_time",
        "endTime": "end_time",
        "statusMessage": "status_message",
        "providedModelName": "provided_model_name",
        "usageDetails": "usage_details",
    }
    rows = [{names.get(key, key): value for key, value in row.items()} for row in langfuse()]
    for row in rows:
        row["start_time"] = row["start_time"].replace("T", " ").rstrip("Z")
    return rows


def weave() -> list[dict[str, Any]]:
    ops = {"chat": "openai.chat.completions.create"}
    return [
        {
            "id": span["id"],
            "project_id": "team/shop",
            "op_name": f"weave:///team/shop/op/{ops.get(span['name'], span['name'])}:Xy1",
            "trace_id": _TRACE,
            "parent_id": span["parent"],
            "started_at": span["start"],
            "ended_at": span["end"],
            "attributes": {},
            "inputs": span["input"],
            "output": {"choices": [{"message": span["output"]}]} if span["kind"] == "llm" else span["output"],
            "exception": span["error"],
            "summary": {"usage": {"m-1": {"prompt_tokens": 10, "completion_tokens": 4}}}
            if span["kind"] == "llm"
            else {},
        }
        for span in _spans()
    ]


def _openinference(span: dict[str, Any]) -> dict[str, Any]:
    kind = span["kind"]
    held: dict[str, Any] = {
        "input": {"value": json.dumps(span["input"]), "mime_type": "application/json"},
        "output": {"value": str(span["output"]), "mime_type": "text/plain"},
    }
    if span["output"] is None:
        del held["output"]
    if kind == "agent":
        held["input"] = {"value": TASK, "mime_type": "text/plain"}
    if kind == "tool":
        held["tool"] = {"name": span["name"]}
    if kind == "llm":
        messages = {"input_messages": span["input"]["messages"], "output_messages": [span["output"]]}
        held["llm"] = {
            "model_name": "m-1",
            "token_count": {"prompt": 10, "completion": 4},
            **{side: [_message(each) for each in spoken] for side, spoken in messages.items()},
        }
        del held["output"]
    return held


def _message(message: dict[str, Any]) -> dict[str, Any]:
    calls = [
        {
            "tool_call.id": call["id"],
            "tool_call.function.name": call["function"]["name"],
            "tool_call.function.arguments": call["function"]["arguments"],
        }
        for call in message.get("tool_calls", ())
    ]
    fields = {
        f"message.{key}": message[key] for key in ("role", "content", "tool_call_id") if message.get(key)
    }
    return {**fields, **({"message.tool_calls": calls} if calls else {})}


def phoenix() -> dict[str, Any]:
    """Return the answer of Phoenix's API for spans."""
    rows = []
    for index, span in enumerate(_spans()):
        failed = span["error"] is not None
        event = {
            "name": "exception",
            "timestamp": span["end"],
            "attributes": {"exception.type": "StockError", "exception.message": "no shelf 9"},
        }
        rows.append(
            {
                "id": f"U3Bhbjo{index}",
                "name": span["name"],
                "context": {"trace_id": uuid.UUID(_TRACE).hex, "span_id": f"{index + 1:016x}"},
                "span_kind": span["kind"].upper(),
                "parent_id": None if span["parent"] is None else f"{1:016x}",
                "start_time": span["start"],
                "end_time": span["end"],
                "status_code": "ERROR" if failed else "OK",
                "status_message": "",
                "attributes": _openinference(span),
                "events": [event] if failed else [],
            }
        )
    return {"data": rows, "next_cursor": None}


def phoenix_frame() -> list[dict[str, Any]]:
    """Return the rows of the data frame that Phoenix's client makes."""
    rows = []
    for row in phoenix()["data"]:
        attributes = row.pop("attributes")
        context = row.pop("context")
        flat = {
            f"attributes.{group}.{name}": value
            for group, fields in attributes.items()
            for name, value in fields.items()
            if name != "token_count"
        }
        counts = attributes.get("llm", {}).get("token_count", {})
        flat |= {f"attributes.llm.token_count.{side}": count for side, count in counts.items()}
        rows.append(row | {f"context.{key}": value for key, value in context.items()} | flat)
    return rows


def jaeger() -> dict[str, Any]:
    """Return what Jaeger's UI downloads, of spans that follow OpenInference."""
    spans = []
    for row in phoenix()["data"]:
        tags = {"otel.scope.name": "openinference.instrumentation.shop"}
        tags |= {"openinference.span.kind": row["span_kind"]}
        tags |= _dotted(row["attributes"])
        if row["status_code"] == "ERROR":
            tags |= {"otel.status_code": "ERROR", "error": True}
        parent = row["parent_id"]
        reference = {"refType": "CHILD_OF", "traceID": row["context"]["trace_id"], "spanID": parent}
        second = int(row["start_time"][17:19])
        spans.append(
            {
                "traceID": row["context"]["trace_id"].lstrip("0"),
                "spanID": row["context"]["span_id"],
                "operationName": row["name"],
                "references": [reference | {"traceID": row["context"]["trace_id"].lstrip("0")}]
                if parent
                else [],
                "startTime": 1_767_323_040_500_000 + second * 1_000_000,
                "duration": 60_000_000 if second == 0 else 10,
                "tags": [{"key": key, "type": "string", "value": value} for key, value in tags.items()],
                "logs": [
                    {
                        "timestamp": 1_767_323_040_500_000,
                        "fields": [
                            {"key": "event", "type": "string", "value": event["name"]},
                            *({"key": key, "value": value} for key, value in event["attributes"].items()),
                        ],
                    }
                    for event in row["events"]
                ],
                "processID": "p1",
            }
        )
    trace = {"traceID": uuid.UUID(_TRACE).hex, "spans": spans, "processes": {"p1": {"serviceName": "shop"}}}
    return {"data": [trace], "total": 0, "errors": None}


def _dotted(tree: Any, prefix: str = "") -> dict[str, Any]:
    if isinstance(tree, dict):
        pairs = tree.items()
    elif isinstance(tree, list):
        pairs = enumerate(tree)
    else:
        return {prefix: tree}
    flat: dict[str, Any] = {}
    for name, value in pairs:
        flat |= _dotted(value, f"{prefix}.{name}" if prefix else str(name))
    return flat


PRODUCTS = {
    "langsmith": langsmith,
    "langfuse": langfuse,
    "langfuse_storage": langfuse_storage,
    "weave": weave,
    "phoenix": phoenix,
    "phoenix_frame": phoenix_frame,
    "jaeger": jaeger,
}
