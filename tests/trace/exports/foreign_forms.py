"""One run in the forms of other products: an agent looks up the seats of a train, and answers.

The documents have the keys that the products write, and few others.
"""

from __future__ import annotations

import base64
import csv
import io
import json
from typing import Any

TASK = "How many seats are left on train 412?"
TOOL, ARGUMENTS, RESULT = "seats_left", {"train": "412"}, {"left": 37, "coach": "B"}
ANSWER = "37 seats are left on train 412."
TRACE, ROOT, CALL = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7", "00f067aa0ba902b8"
WRITTEN_ARGUMENTS, WRITTEN_RESULT = json.dumps(ARGUMENTS), json.dumps(RESULT)

_AGENT = {"openinference.span.kind": "AGENT", "input.value": TASK, "output.value": ANSWER}
_TOOL = {
    "openinference.span.kind": "TOOL",
    "tool.name": TOOL,
    "input.value": WRITTEN_ARGUMENTS,
    "output.value": WRITTEN_RESULT,
}
_SPANS = ((ROOT, None, "agent", _AGENT), (CALL, ROOT, TOOL, _TOOL))
_USER = {"role": "user", "content": TASK}
_OPENAI_CALL = {"id": "c1", "type": "function", "function": {"name": TOOL, "arguments": WRITTEN_ARGUMENTS}}
_SAID = {"role": "assistant", "content": ANSWER}
_CHAT = [
    _USER,
    {"role": "assistant", "content": None, "tool_calls": [_OPENAI_CALL]},
    {"role": "tool", "tool_call_id": "c1", "content": WRITTEN_RESULT},
    _SAID,
]
_CHOICES = {"object": "chat.completion", "choices": [{"index": 0, "message": _SAID}]}


def _encode(hexadecimal: str) -> str:
    return base64.b64encode(bytes.fromhex(hexadecimal)).decode()


def _at(second: int) -> str:
    return f"2026-05-04T08:00:{second:02d}.250Z"


def _phoenix_rows() -> list[dict[str, Any]]:
    return [
        {
            "context.span_id": span,
            "context.trace_id": TRACE,
            "parent_id": parent,
            "name": name,
            "span_kind": attributes["openinference.span.kind"],
            "start_time": _at(number),
            "end_time": _at(9 - number),
            "status_code": "OK",
            **{f"attributes.{key}": value for key, value in attributes.items()},
        }
        for number, (span, parent, name, attributes) in enumerate(_SPANS)
    ]


def _logfire_rows() -> list[dict[str, Any]]:
    attributes = (
        {
            "agent_name": "clerk",
            "final_result": ANSWER,
            "all_messages_events": json.dumps([_USER, _SAID]),
        },
        {"gen_ai.tool.name": TOOL, "tool_arguments": WRITTEN_ARGUMENTS, "tool_response": WRITTEN_RESULT},
    )
    return [
        {
            "start_timestamp": _at(number),
            "end_timestamp": _at(9 - number),
            "trace_id": TRACE,
            "span_id": span,
            "parent_span_id": parent,
            "kind": "span",
            "span_name": "running tool" if parent else "agent run",
            "otel_scope_name": "pydantic-ai",
            "service_name": "trains",
            "attributes": held,
        }
        for number, ((span, parent, _, _), held) in enumerate(zip(_SPANS, attributes, strict=True))
    ]


def _datadog_spans() -> list[dict[str, Any]]:
    return [
        {
            "parent_id": parent or "undefined",
            "trace_id": "67940000",
            "span_id": span,
            "name": name,
            "meta": {
                "kind": attributes["openinference.span.kind"].lower(),
                "input": {"value": attributes["input.value"]},
                "output": {"value": attributes["output.value"]},
            },
            "start_ns": 1777881600_000000000 + number,
            "duration": 10**9,
            "status": "ok",
        }
        for number, (span, parent, name, attributes) in enumerate(_SPANS)
    ]


def _otlp_resources() -> list[dict[str, Any]]:
    """Return what protobuf's own JSON makes of OTLP: ids in base64."""
    spans = [
        {
            "traceId": _encode(TRACE),
            "spanId": _encode(span),
            **({"parentSpanId": _encode(parent)} if parent else {}),
            "name": name,
            "startTimeUnixNano": "1777881600000000000",
            "endTimeUnixNano": "1777881601000000000",
            "attributes": [{"key": key, "value": {"stringValue": held}} for key, held in attributes.items()],
        }
        for span, parent, name, attributes in _SPANS
    ]
    return [{"resource": {}, "scopeSpans": [{"scope": {"name": "shop"}, "spans": spans}]}]


def _former_resources() -> list[dict[str, Any]]:
    scopes = _otlp_resources()[0]["scopeSpans"]
    former = [{"instrumentationLibrary": each["scope"], "spans": each["spans"]} for each in scopes]
    return [{"instrumentationLibrarySpans": former}]


def _zipkin_spans() -> list[dict[str, Any]]:
    return [
        {
            "traceId": TRACE,
            "id": span,
            **({"parentId": parent} if parent else {}),
            "name": name,
            "timestamp": 1777881600000000 + number,
            "duration": 1000000,
            "localEndpoint": {"serviceName": "trains"},
            "tags": attributes,
        }
        for number, (span, parent, name, attributes) in enumerate(_SPANS)
    ]


def _nested_attributes() -> list[dict[str, Any]]:
    """Return spans whose attributes are a tree, as exports that unflatten them write it."""
    agent = {
        "openinference": {"span": {"kind": "AGENT"}},
        "input": {"value": TASK},
        "output": {"value": ANSWER},
    }
    tool = {
        "openinference": {"span": {"kind": "TOOL"}},
        "tool": {"name": TOOL},
        "input": {"value": WRITTEN_ARGUMENTS},
        "output": {"value": WRITTEN_RESULT},
    }
    return [
        {
            "context": {"trace_id": TRACE, "span_id": span},
            "parent_id": parent,
            "name": name,
            "attributes": tree,
        }
        for (span, parent, name, _), tree in zip(_SPANS, (agent, tool), strict=True)
    ]


def _langfuse_rows() -> list[dict[str, Any]]:
    """Return a download of Langfuse's page, which has texts in the quotes of JSON."""
    contents = ((TASK, ANSWER), (ARGUMENTS, WRITTEN_RESULT))
    return [
        {
            "id": span,
            "traceId": TRACE,
            "type": attributes["openinference.span.kind"],
            "name": name,
            "startTime": _at(number),
            "endTime": _at(9 - number),
            "parentObservationId": parent,
            "input": json.dumps(taken),
            "output": json.dumps(result),
        }
        for number, ((span, parent, name, attributes), (taken, result)) in enumerate(
            zip(_SPANS, contents, strict=True)
        )
    ]


def _agents_sdk_lines() -> list[dict[str, Any]]:
    span = {"object": "trace.span", "trace_id": "trace_1", "error": None}
    data = (
        {"type": "agent", "name": "clerk", "tools": [TOOL]},
        {"type": "function", "name": TOOL, "input": WRITTEN_ARGUMENTS, "output": WRITTEN_RESULT},
        {"type": "generation", "input": _CHAT[:3], "output": [_SAID], "model": "m-1"},
    )
    spans = [
        {
            **span,
            "id": f"span_{number}",
            "parent_id": "span_0" if number else None,
            "started_at": _at(number),
            "ended_at": _at(9 - number),
            "span_data": held,
        }
        for number, held in enumerate(data)
    ]
    return [{"object": "trace", "id": "trace_1", "workflow_name": "clerk"}, *spans]


def _mlflow_row() -> list[dict[str, Any]]:
    spans = [
        {
            "context": {"trace_id": "0x" + TRACE, "span_id": "0x" + span},
            "parent_id": parent and "0x" + parent,
            "name": name,
            "start_time": 1777881600_000000000,
            "end_time": 1777881601_000000000,
            "status_code": "OK",
            "attributes": {
                "mlflow.spanType": json.dumps(attributes["openinference.span.kind"]),
                "mlflow.spanInputs": json.dumps(TASK) if not parent else WRITTEN_ARGUMENTS,
                "mlflow.spanOutputs": json.dumps(ANSWER) if not parent else WRITTEN_RESULT,
            },
        }
        for span, parent, name, attributes in _SPANS
    ]
    trace = {"info": {"request_id": "r1"}, "data": {"spans": spans}}
    return [{"trace_id": "r1", "trace": json.dumps(trace), "state": "OK"}]


def _anthropic_messages() -> list[dict[str, Any]]:
    use = {"type": "tool_use", "id": "t1", "name": TOOL, "input": ARGUMENTS}
    result = {
        "type": "tool_result",
        "tool_use_id": "t1",
        "content": [{"type": "text", "text": WRITTEN_RESULT}],
    }
    return [
        _USER,
        {"role": "assistant", "content": [{"type": "text", "text": "I look."}, use]},
        {"role": "user", "content": [result]},
        {"role": "assistant", "content": [{"type": "text", "text": ANSWER}]},
    ]


def _claude_code_lines() -> list[dict[str, Any]]:
    lines = [
        {"type": message["role"], "sessionId": "s1", "uuid": f"u{number}", "message": message}
        for number, message in enumerate(_anthropic_messages())
    ]
    reminder = {
        "type": "user",
        "sessionId": "s1",
        "isMeta": True,
        "message": {"role": "user", "content": "…"},
    }
    return [{"type": "summary", "summary": "Seats"}, reminder, *lines]


_GEMINI = [
    {"role": "user", "parts": [{"text": TASK}]},
    {"role": "model", "parts": [{"functionCall": {"name": TOOL, "args": ARGUMENTS}}]},
    {"role": "user", "parts": [{"functionResponse": {"name": TOOL, "response": RESULT}}]},
    {"role": "model", "parts": [{"text": ANSWER}]},
]


def _bedrock_events() -> list[dict[str, Any]]:
    group = {
        "actionGroupName": "trains",
        "function": TOOL,
        "parameters": [{"name": "train", "type": "string", "value": "412"}],
    }
    prompt = json.dumps({"system": "You are a clerk.", "messages": [_USER]})
    steps: list[dict[str, Any]] = [
        {"modelInvocationInput": {"text": prompt, "type": "ORCHESTRATION"}},
        {"rationale": {"text": "I look."}},
        {"invocationInput": {"invocationType": "ACTION_GROUP", "actionGroupInvocationInput": group}},
        {"observation": {"actionGroupInvocationOutput": {"text": WRITTEN_RESULT}}},
        {"observation": {"type": "FINISH", "finalResponse": {"text": ANSWER}}},
    ]
    return [{"sessionId": "s1", "trace": {"orchestrationTrace": step}} for step in steps]


def _vercel_result() -> dict[str, Any]:
    call = {"type": "tool-call", "toolCallId": "c1", "toolName": TOOL, "input": ARGUMENTS}
    result = {**call, "type": "tool-result", "output": RESULT}
    first = {"content": [call, result], "request": {"body": {"messages": [_USER]}}}
    return {"text": ANSWER, "steps": [first, {"content": [{"type": "text", "text": ANSWER}]}]}


_UI_CALL = {"type": f"tool-{TOOL}", "toolCallId": "c1", "state": "output-available", "input": ARGUMENTS}
_LANGCHAIN = [
    {"type": "human", "content": TASK},
    {"type": "ai", "content": "", "tool_calls": [{"name": TOOL, "args": ARGUMENTS, "id": "c1"}]},
    {"type": "tool", "name": TOOL, "tool_call_id": "c1", "content": WRITTEN_RESULT},
    {"type": "ai", "content": ANSWER},
]
_PYDANTIC_AI = [
    {"kind": "request", "parts": [{"part_kind": "user-prompt", "content": TASK}]},
    {
        "kind": "response",
        "parts": [
            {"part_kind": "tool-call", "tool_name": TOOL, "args": WRITTEN_ARGUMENTS, "tool_call_id": "c1"}
        ],
    },
    {
        "kind": "request",
        "parts": [{"part_kind": "tool-return", "tool_name": TOOL, "content": RESULT, "tool_call_id": "c1"}],
    },
    {"kind": "response", "parts": [{"part_kind": "text", "content": ANSWER}]},
]
_OPENHANDS = [
    {"kind": "MessageEvent", "llm_message": {"role": "user", "content": [{"type": "text", "text": TASK}]}},
    {
        "kind": "ActionEvent",
        "tool_name": TOOL,
        "tool_call_id": "c1",
        "action": {"kind": "SeatsAction", **ARGUMENTS},
    },
    {
        "kind": "ObservationEvent",
        "tool_name": TOOL,
        "tool_call_id": "c1",
        "observation": {"kind": "SeatsObservation", "content": [{"type": "text", "text": WRITTEN_RESULT}]},
    },
    {"kind": "ActionEvent", "tool_name": "finish", "action": {"kind": "FinishAction", "message": ANSWER}},
]


def _columns(rows: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        name: {str(index): row.get(name) for index, row in enumerate(rows)}
        for row in rows[-1:]
        for name in row
    }


def _split(rows: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "columns": list(rows[-1]),
        "index": [0, 1],
        "data": [[row.get(n) for n in rows[-1]] for row in rows],
    }


DOCUMENTS: dict[str, Any] = {
    "Phoenix, a data frame by columns": _columns(_phoenix_rows()),
    "Phoenix, a data frame that is split": _split(_phoenix_rows()),
    "Logfire, rows": _logfire_rows(),
    "Logfire, its query API": {
        "columns": [{"name": "trace_id", "datatype": "Utf8"}],
        "rows": _logfire_rows(),
    },
    "Datadog, its intake": {"data": {"type": "span", "attributes": {"spans": _datadog_spans()}}},
    "OTLP with ids in base64": {"resourceSpans": _otlp_resources()},
    "Tempo": {"batches": _otlp_resources()},
    "Tempo, its second API": {"trace": {"resourceSpans": _otlp_resources()}, "metrics": {}},
    "Tempo, an old one": {"batches": _former_resources()},
    "Zipkin": _zipkin_spans(),
    "attributes in a tree": _nested_attributes(),
    "Langfuse, a download of a page": {"trace": {"id": TRACE}, "observations": _langfuse_rows()},
    "MLflow, a data frame of traces": _mlflow_row(),
    "Helicone": {"data": [{"request_body": {"messages": _CHAT[:3]}, "response_body": _CHOICES}]},
    "a request and its response": {"request": {"messages": _CHAT[:3]}, "response": _CHOICES},
    "Anthropic": {"system": "You are a clerk.", "messages": _anthropic_messages()},
    "Anthropic, a request and its response": {
        "request": {"messages": _anthropic_messages()[:3]},
        "response": {"type": "message", **_anthropic_messages()[3]},
    },
    "Gemini": {"contents": _GEMINI},
    "Gemini, a request and its response": {
        "request": {"contents": _GEMINI[:3]},
        "response": {"candidates": [{"content": _GEMINI[3]}]},
    },
    "ADK, a session": {"events": [{"author": "clerk", "content": content} for content in _GEMINI]},
    "Bedrock": _bedrock_events(),
    "AI SDK, a result": _vercel_result(),
    "AI SDK, messages of a page": [
        {"role": "user", "parts": [{"type": "text", "text": TASK}]},
        {"role": "assistant", "parts": [{**_UI_CALL, "output": RESULT}, {"type": "text", "text": ANSWER}]},
    ],
    "AI SDK 4, messages of a page": [
        _USER,
        {
            **_SAID,
            "toolInvocations": [
                {"state": "result", "toolCallId": "c1", "toolName": TOOL, "args": ARGUMENTS, "result": RESULT}
            ],
        },
    ],
    "LangChain, the state of a graph": {"messages": _LANGCHAIN},
    "LangChain, messages_to_dict": [{"type": message["type"], "data": message} for message in _LANGCHAIN],
    "Pydantic AI": _PYDANTIC_AI,
    "OpenHands, its SDK": _OPENHANDS,
    "ShareGPT": [
        {
            "conversations": [
                {"from": "human", "value": TASK},
                {"from": "function_call", "value": json.dumps({"name": TOOL, "arguments": ARGUMENTS})},
                {"from": "observation", "value": WRITTEN_RESULT},
                {"from": "gpt", "value": ANSWER},
            ]
        }
    ],
}


def _write_lines(documents: list[dict[str, Any]]) -> str:
    return "\n".join(map(json.dumps, documents)) + "\n"


def _write_csv(rows: list[dict[str, Any]]) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[-1]), extrasaction="ignore")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def _print_in_compose() -> str:
    spans = [
        json.dumps({"context": {"trace_id": TRACE, "span_id": span}, "parent_id": parent, **held}, indent=2)
        for span, parent, name, attributes in _SPANS
        for held in [{"name": name, "attributes": attributes}]
    ]
    return "".join(f"web-1  | {line}\n" for line in "\n".join(["listening", *spans]).splitlines())


FILES: dict[str, str] = {
    "phoenix.csv": _write_csv(_phoenix_rows()),
    "langfuse.csv": _write_csv(_langfuse_rows()),
    "agents_sdk.jsonl": _write_lines(_agents_sdk_lines()),
    "claude_code.jsonl": _write_lines(_claude_code_lines()),
    "bedrock.jsonl": _write_lines(_bedrock_events()),
    "calls_of_a_model.jsonl": _write_lines(
        [
            {"request": {"messages": _CHAT[:1]}, "response": {"choices": [{"message": _CHAT[1]}]}},
            {"request": {"messages": _CHAT[:3]}, "response": _CHOICES},
        ]
    ),
    "compose.log": _print_in_compose(),
}
