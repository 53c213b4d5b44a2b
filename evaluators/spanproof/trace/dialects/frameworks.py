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
from spanproof.trace.dialects.decode import as_text, decoded, payload
from spanproof.trace.dialects.messages import messages
from spanproof.trace.dialects.printed import printed_fields
from spanproof.trace.dialects.raw import RawSpan
from spanproof.trace.dialects.reading import Reading

_SMOLAGENTS_STEP = re.compile(r"Step (\d+)")
_SMOLAGENTS_SWITCHES = frozenset({"sanitize_inputs_outputs"})
"""Arguments of smolagents' own `Tool.__call__`, none of the tool's."""

_GRAPH_NODE_KEYS = (
    "langgraph_node",
    "langfuse.observation.metadata.langgraph_node",
    "traceloop.association.properties.langgraph_node",
)


def smolagents_step(name: str) -> StepInfo | None:
    """The step that a span named `Step 3` represents."""
    numbered = _SMOLAGENTS_STEP.fullmatch(name)
    return StepInfo(int(numbered[1])) if numbered is not None else None


def smolagents_task(value: JsonValue) -> str | None:
    """The task in the arguments of smolagents' `run`; None where these are none."""
    if not isinstance(value, dict):
        return None
    task = value.get("task")
    args = value.get("args")
    if task is None and isinstance(args, list) and args:
        task = args[0]
    return task if isinstance(task, str) else None


def tool_arguments(value: AttributeValue | JsonValue) -> JsonValue:
    """A tool's arguments without the wrapping of frameworks.

    An object holds keyword arguments; an array positional ones; both together stand as
    `{"args": […], "kwargs": {…}}`; a bare text is the only argument, or code.
    """
    arguments = decoded(value)
    if not isinstance(arguments, dict):
        return arguments
    if "input_str" in arguments and "metadata" in arguments:
        # Traceloop writes LangChain's callback arguments; the tool's own are a printed dictionary in them.
        inputs = arguments.get("inputs")
        return inputs if isinstance(inputs, dict) else decoded(arguments["input_str"])
    if _SMOLAGENTS_SWITCHES & arguments.keys() or (set(arguments) <= {"args", "kwargs"} and arguments):
        return _smolagents_arguments(arguments)
    return arguments


def _smolagents_arguments(arguments: dict[str, JsonValue]) -> JsonValue:
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
        return {"args": args, "kwargs": named} if named else args
    return named


def tool_result(given: Payload | None) -> tuple[Payload | None, SpanError | None]:
    """A tool's result out of LangChain's ToolMessage, with the error the message may stand for."""
    if given is None:
        return None, None
    match given.value:
        case [{"text": str(text), **others}] if others.keys() <= {"type"}:
            return Payload(text, text), None  # the one block that Bedrock and MCP put a text into
    message = _tool_message(given.value)
    if message is None:
        return given, None
    content = message.get("content")
    result = payload(content if isinstance(content, str) else as_text(content))
    error = SpanError(None, as_text(content)) if message.get("status") == "error" else None
    return result, error


def _tool_message(value: JsonValue) -> dict[str, JsonValue] | None:
    if isinstance(value, str):
        fields = printed_fields(value)
        return fields if fields is not None and "tool_call_id" in fields else None
    if not isinstance(value, dict):
        return None
    for envelope in ("output", "kwargs", "data"):
        inner = value.get(envelope)
        if isinstance(inner, dict | str):
            found = _tool_message(inner)
            if found is not None:
                return found
    is_message = value.get("type") == "tool" and "content" in value and "tool_call_id" in value
    return value if is_message else None


def state_messages(given: Payload | None, role: str = "user") -> tuple[Message, ...]:
    """The messages in a graph's state, or in a list of messages; nothing for any other document."""
    if given is None:
        return ()
    value = given.value
    if isinstance(value, str) and printed_fields(value) is not None:
        return messages(value, role)
    if isinstance(value, dict):
        for envelope in ("outputs", "inputs"):
            inner = value.get(envelope)
            if isinstance(inner, dict):
                value = inner
        held = value.get("messages")
        if held is None and _is_dumped_message(value):
            held = [value]
        return messages(held, role) if isinstance(held, list) else ()
    if isinstance(value, list) and value and all(_is_message(item) for item in value):
        return messages(value, role)
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
    return isinstance(value, dict) and ("role" in value or value.get("type") in ("message", "function_call"))


def node_not_agent(raw: RawSpan, reading: Reading) -> Reading:
    """LangGraph's node named `agent` is a step of the graph, not an agent: its kind becomes CHAIN.

    Producers make any runnable with "agent" in its name an AGENT; a node is known by being named after
    itself.
    """
    if reading.kind is not SpanKind.AGENT:
        return reading
    node = raw.text(*_GRAPH_NODE_KEYS)
    if node is None:
        metadata = decoded(raw.first("metadata"))
        named = metadata.get("langgraph_node") if isinstance(metadata, dict) else None
        node = named if isinstance(named, str) else None
    if node is not None and node.strip('"') == raw.name:
        return replace(reading, kind=SpanKind.CHAIN)
    return reading


def workflow_not_agent(raw: RawSpan, reading: Reading) -> Reading:
    """OpenAI Agents' trace is recorded as an AGENT above the agents: its kind becomes CHAIN.

    A real agent carries its name; a handoff recorded as a TOOL is no tool call either.
    """
    if "openai_agents" not in raw.scope:
        return reading
    if reading.kind is SpanKind.AGENT and raw.text("agent.name", "graph.node.id") is None:
        return replace(reading, kind=SpanKind.CHAIN)
    if reading.kind is SpanKind.TOOL and raw.name.startswith("handoff to "):
        return replace(reading, kind=SpanKind.CHAIN, tool=None)
    return reading


def call_messages(flattened: tuple[Message, ...], document: Payload | None, role: str) -> tuple[Message, ...]:
    """A model's messages: as flattened attributes, or from the whole document where that says more.

    Some producers flatten texts only, and hosted tool calls are in the document alone.
    """
    if document is None or not isinstance(document.value, dict | list):
        return flattened or _plain_message(document, role)
    whole = messages(document.value, role)
    said = any(message.text for message in flattened)
    calls = sum(len(message.tool_calls) for message in flattened)
    whole_calls = sum(len(message.tool_calls) for message in whole)
    if whole_calls > calls or (not said and not calls and any(message.text for message in whole)):
        return whole
    return flattened


def _plain_message(document: Payload | None, role: str) -> tuple[Message, ...]:
    return messages(document.text, role) if document is not None else ()


def call_of(raw: RawSpan, name: str | None, arguments: JsonValue) -> ToolCall:
    """The tool call that a TOOL span represents."""
    return ToolCall(name or raw.name, arguments, raw.text("gen_ai.tool.call.id", "tool_call.id", "tool.id"))
