"""Marks of the frameworks under the dialects: how smolagents, LangChain and OpenAI Agents show through.

Several dialects record the same framework, and its own wrapping is the same in each: so it is taken off here,
once. Functions take decoded values and give the bare ones; what is not wrapped passes through.
"""

from __future__ import annotations

import re
from dataclasses import replace

from spanproof.trace import (
    AttributeValue,
    JsonValue,
    Message,
    Payload,
    SpanError,
    SpanKind,
    StepInfo,
    ToolCall,
)
from spanproof.trace.dialects.decode import as_text, decode_document, to_payload
from spanproof.trace.dialects.messages import is_bare_call, read_messages
from spanproof.trace.dialects.printed import find_printed_fields
from spanproof.trace.dialects.raw import RawSpan
from spanproof.trace.dialects.reading import Reading

_SMOLAGENTS_STEP = re.compile(r"Step (\d+)")
# Arguments of smolagents' own `Tool.__call__`, none of the tool's.
_SMOLAGENTS_SWITCHES = frozenset({"sanitize_inputs_outputs"})

# What MCP's result of a tool has beside its content.
_MCP_MEMBERS = frozenset({"isError", "is_error", "structuredContent", "_meta"})

# `ChannelWrite<start:agent>`, `ChannelWrite<...,agent>`
_CHANNEL_WRITES = "ChannelWrite<"
_GRAPH_NODE_KEYS = (
    "langgraph_node",
    "langfuse.observation.metadata.langgraph_node",
    "traceloop.association.properties.langgraph_node",
)


def find_smolagents_step(name: str) -> StepInfo | None:
    """Return the step that a span named `Step 3` represents."""
    numbered = _SMOLAGENTS_STEP.fullmatch(name)
    return StepInfo(int(numbered[1])) if numbered is not None else None


def find_smolagents_task(value: JsonValue) -> str | None:
    """Return the task in the arguments of smolagents' `run`; None where these are none."""
    if not isinstance(value, dict):
        return None
    task = value.get("task")
    args = value.get("args")
    if task is None and isinstance(args, list) and args:
        task = args[0]
    return task if isinstance(task, str) else None


def read_arguments(value: AttributeValue | JsonValue) -> JsonValue:
    """Return a tool's arguments without the wrapping of frameworks.

    An object holds keyword arguments; an array positional ones; both together stand as
    `{"args": […], "kwargs": {…}}`; a bare text is the only argument, or code.
    """
    arguments = decode_document(value)
    if not isinstance(arguments, dict):
        return arguments
    if "input_str" in arguments and "metadata" in arguments:
        # Traceloop writes LangChain's callback arguments; the tool's own are a printed dictionary in them.
        inputs = arguments.get("inputs")
        if isinstance(inputs, dict):
            return inputs
        return decode_document(arguments["input_str"])
    if _SMOLAGENTS_SWITCHES & arguments.keys() or (set(arguments) <= {"args", "kwargs"} and arguments):
        return _read_smolagents_arguments(arguments)
    return arguments


def _read_smolagents_arguments(arguments: dict[str, JsonValue]) -> JsonValue:
    args, kwargs = arguments.get("args"), arguments.get("kwargs")
    named = {
        key: value
        for key, value in arguments.items()
        if key not in {"args", "kwargs"} and key not in _SMOLAGENTS_SWITCHES
    }
    if isinstance(kwargs, dict):
        named = {**kwargs, **named}
    named = {key: value for key, value in named.items() if key not in _SMOLAGENTS_SWITCHES}
    if isinstance(args, list) and args:
        if named:
            return {"args": args, "kwargs": named}
        return args
    return named


def read_result(payload: Payload | None) -> tuple[Payload | None, SpanError | None]:
    """Return a tool's result out of LangChain's ToolMessage, with the error the message may stand for.

    The AI SDK writes the JSON of a result, of a text as well: that text is the result.
    """
    if payload is None:
        return None, None
    if isinstance(payload.value, str) and payload.value[:1] == payload.value[-1:] == '"':
        inner = decode_document(payload.value)
        return (to_payload(inner) if isinstance(inner, str) else payload), None
    match payload.value:
        case [{"text": str(text), **others}] if others.keys() <= {"type"}:
            return Payload(text, text), None  # the one block that Bedrock and MCP put a text into
        case {"content": [{"type": "text", "text": str(text)}], **others} if others.keys() <= _MCP_MEMBERS:
            failed = others.get("isError") is True or others.get("is_error") is True
            return Payload(text, text), SpanError(None, text) if failed else None
    message = find_tool_message(payload.value)
    if message is None:
        return payload, None
    content = message.get("content")
    result = to_payload(content if isinstance(content, str) else as_text(content))
    if message.get("status") == "error":
        error = SpanError(None, as_text(content))
    else:
        error = None
    return result, error


def find_tool_message(value: JsonValue) -> dict[str, JsonValue] | None:
    """Return the fields of LangChain's ToolMessage that a value is, however it is wrapped or printed."""
    if isinstance(value, str):
        fields = find_printed_fields(value)
        if fields is not None and "tool_call_id" in fields:
            return fields
        return None
    if not isinstance(value, dict):
        return None
    for envelope in ("output", "kwargs", "data"):
        inner = value.get(envelope)
        if isinstance(inner, dict | str):
            found = find_tool_message(inner)
            if found is not None:
                return found
    # JavaScript's serialised messages have their type in the envelope alone.
    is_typed = value.get("type") == "tool" or value.keys().isdisjoint({"type", "role"})
    if is_typed and {"content", "tool_call_id"} <= value.keys():
        return value
    return None


def read_state_messages(payload: Payload | None, role: str = "user") -> tuple[Message, ...]:
    """Return the messages in a graph's state, or in a list of messages; nothing for any other document."""
    if payload is None:
        return ()
    value = payload.value
    if isinstance(value, str) and find_printed_fields(value) is not None:
        return read_messages(value, role)
    if isinstance(value, dict):
        for envelope in ("outputs", "inputs"):
            inner = value.get(envelope)
            if isinstance(inner, dict):
                value = inner
        held = value.get("messages")
        if held is None and _is_dumped_message(value):
            held = [value]
        return read_messages(held, role) if isinstance(held, list) else ()
    if isinstance(value, list) and value and all(_is_message(item) for item in value):
        return read_messages(value, role)
    return ()


def _is_dumped_message(value: dict[str, JsonValue]) -> bool:
    """Whether this is one of LangChain's messages, serialised in any of its ways."""
    inner = value.get("kwargs", value.get("data", value))
    return (
        isinstance(inner, dict)
        and inner.get("type") in ("human", "ai", "system", "tool")
        and "content" in inner
    )


def _is_message(value: JsonValue) -> bool:
    if is_bare_call(value):
        return True
    return isinstance(value, dict) and ("role" in value or value.get("type") in ("message", "function_call"))


def read_graph_node(raw: RawSpan, reading: Reading) -> Reading:
    """Return LangGraph's node named `agent` as a CHAIN: it is a step of the graph, not an agent.

    Producers make any runnable with "agent" in its name an AGENT; a node is known by being named after
    itself, and what writes its result by the mark of LangGraph's channels (up to 0.2).
    """
    if reading.kind is not SpanKind.AGENT:
        return reading
    if raw.name.startswith(_CHANNEL_WRITES):
        return replace(reading, kind=SpanKind.CHAIN)
    node = raw.find_text(*_GRAPH_NODE_KEYS)
    if node is None:
        metadata = decode_document(raw.get_first("metadata"))
        named = metadata.get("langgraph_node") if isinstance(metadata, dict) else None
        node = named if isinstance(named, str) else None
    if node is not None and node.strip('"') == raw.name:
        return replace(reading, kind=SpanKind.CHAIN)
    return reading


def read_workflow(raw: RawSpan, reading: Reading) -> Reading:
    """Return OpenAI Agents' trace, which is recorded as an AGENT above the agents, as a CHAIN.

    A real agent carries its name; a handoff recorded as a TOOL is no tool call either.
    """
    if "openai_agents" not in raw.scope.replace("-", "_"):
        return reading
    if reading.kind is SpanKind.AGENT and raw.find_text("agent.name", "graph.node.id") is None:
        return replace(reading, kind=SpanKind.CHAIN)
    if reading.kind is SpanKind.TOOL and raw.name.startswith("handoff to "):
        return replace(reading, kind=SpanKind.CHAIN, tool=None)
    return reading


def select_call_messages(
    flattened: tuple[Message, ...], document: Payload | None, role: str
) -> tuple[Message, ...]:
    """Return a model's messages: as flattened attributes, or from the whole document where that says more.

    Some producers flatten texts only, and hosted tool calls are in the document alone.
    """
    if document is None or not isinstance(document.value, dict | list):
        return flattened or _read_plain_message(document, role)
    whole = read_messages(document.value, role)
    has_text = any(message.text for message in flattened)
    calls = sum(len(message.tool_calls) for message in flattened)
    whole_calls = sum(len(message.tool_calls) for message in whole)
    if whole_calls > calls:
        return whole
    is_silent = not has_text and not calls
    if is_silent and any(message.text for message in whole):
        return whole
    return flattened


def _read_plain_message(document: Payload | None, role: str) -> tuple[Message, ...]:
    if document is not None:
        return read_messages(document.text, role)
    return ()


def build_call(raw: RawSpan, name: str | None, arguments: JsonValue) -> ToolCall:
    """Return the tool call that a TOOL span represents."""
    return ToolCall(
        name or raw.name, arguments, raw.find_text("gen_ai.tool.call.id", "tool_call.id", "tool.id")
    )
