"""How LlamaIndex, DSPy, AutoGen, CrewAI and BeeAI show through OpenInference's instrumentors.

These record calls of the framework's own functions, with the values that such a function takes and gives: its
machinery is taken off, and the function that is the agent becomes the agent. Comes in: a reading of one span.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace

from spanproof.trace import JsonValue, Message, Payload, SpanError, SpanKind, ToolCall
from spanproof.trace.dialects.decode import NotDecoded, as_text, decode_document, parse_literal, to_payload
from spanproof.trace.dialects.messages import format_result_text
from spanproof.trace.dialects.raw import RawSpan
from spanproof.trace.dialects.reading import Reading

# Names of BeeAI's events: `tool.search.wikipedia.success-12`, numbered in the order they came.
_BEEAI_EVENT = re.compile(r"(?:tool\.)?(?P<target>[\w.]+)\.(?P<event>[a-z_]+)-\d+")
# The tool that an agent of BeeAI answers by; it returns that the message was sent.
_BEEAI_ANSWER = "final_answer"
# The last line of what BeeAI writes of a chain of exceptions: `  StockError(shop.stock): no shelf 9`.
_BEEAI_CAUSE = re.compile(r"\n\s+(?P<type>\w+)\([\w.]+\): (?P<message>[^\n]+)\s*\Z")
# A call as old versions of CrewAI print it (0.114), among the arguments of its own function.
_CREWAI_CALL = re.compile(r"tool_name=(?:'[^'\n]*'|\"[^\"\n]*\") arguments=(?P<arguments>\{.*\})", re.DOTALL)
# What CrewAI gives the model of a tool that raised (`tool_usage_exception` of its translations).
_CREWAI_FAILURE = re.compile(
    r"\s*I encountered an error while trying to use the tool\. This was the error: (?P<message>.*?)\.\n"
    r" Tool .+? accepts these inputs: ",
    re.DOTALL,
)
# Outputs of a DSPy agent that are how it got to the answer.
_DSPY_WORKINGS = frozenset({"trajectory", "reasoning"})


def read_unwrapped(raw: RawSpan, reading: Reading) -> Reading:
    """Return the reading without the machinery of the framework that its scope names.

    An export that has no scopes, as Phoenix's, shows it by the form of a value alone.
    """
    if not raw.scope:
        for shape in (_read_llama_index_values, _read_dspy, _read_crewai):
            reading = shape(raw, reading)
        return reading
    named = _SHAPES.get(raw.scope.rpartition(".")[2])
    if named is not None:
        return named(raw, reading)
    return reading


def _read_llama_index(raw: RawSpan, reading: Reading) -> Reading:
    fields = _read_fields(reading.input)
    if reading.kind is SpanKind.LLM and not any(
        key.startswith("llm.input_messages.") for key in raw.attributes
    ):
        # A helper of the model's class around the call, or one that only makes its request.
        around = not fields.keys().isdisjoint({"messages", "chat_history"})
        if around:
            return Reading(SpanKind.CHAIN, error=reading.error)
        return reading
    return _read_llama_index_values(raw, reading)


def _read_llama_index_values(raw: RawSpan, reading: Reading) -> Reading:
    fields = _read_fields(reading.input)
    if reading.kind is SpanKind.CHAIN and "init_state" in fields:
        # A workflow's run: its input is the state of the workflow, the task is in the first model call.
        return Reading(SpanKind.AGENT, agent=raw.name.removesuffix(".run"), error=reading.error)
    result = _read_fields(reading.output)
    reply = result.get("response")
    if reading.kind is SpanKind.CHAIN and "tool_calls" in result and isinstance(reply, dict):
        # What an agent's step and its workflow give (0.12): the reply with the calls that led to it.
        text = format_result_text(reply.get("blocks")) or ""
        return replace(reading, output=Payload(text, text))
    if reading.kind is SpanKind.TOOL and {"raw_output", "tool_name"} <= result.keys():
        text = format_result_text(result.get("blocks")) or as_text(result["raw_output"])
        failed = SpanError(None, text) if result.get("is_error") is True else None
        return replace(reading, output=Payload(text, text), error=reading.error or failed)
    return reading


def _read_dspy(raw: RawSpan, reading: Reading) -> Reading:
    if reading.tool is not None:
        return replace(reading, tool=replace(reading.tool, name=reading.tool.name.removesuffix(".__call__")))
    result = _read_fields(reading.output)
    if reading.kind is not SpanKind.CHAIN or "trajectory" not in result or "forward" not in raw.name:
        return reading
    fields = _read_fields(reading.input)
    arguments = fields.get("input_args")
    fields = arguments if isinstance(arguments, dict) else fields
    answer = {name: value for name, value in result.items() if name not in _DSPY_WORKINGS}
    name = raw.name.removesuffix(".forward").removesuffix(".aforward")
    return replace(
        reading, kind=SpanKind.AGENT, agent=name, input=_find_fields(fields), output=_find_fields(answer)
    )


def _read_autogen(_raw: RawSpan, reading: Reading) -> Reading:
    if reading.kind is SpanKind.AGENT:
        # Its input is objects, printed; the task is in the first model call.
        return replace(reading, input=None, input_messages=())
    return reading


def _read_crewai(_raw: RawSpan, reading: Reading) -> Reading:
    if reading.tool is not None:
        return _read_crewai_call(reading, reading.tool)
    result = _read_fields(reading.output)
    if reading.kind is not SpanKind.AGENT or not {"description", "raw"} <= result.keys():
        return reading
    # What it has as messages is the whole conversation, which its model calls have.
    task, answer = as_text(result["description"]), as_text(result["raw"])
    return replace(reading, input=Payload(task, task), output=Payload(answer, answer), output_messages=())


def _read_crewai_call(reading: Reading, tool: ToolCall) -> Reading:
    """Return the call with its own arguments, and with the failure that is in its result."""
    calling = _read_fields(reading.input).get("calling")
    printed = _CREWAI_CALL.fullmatch(calling) if isinstance(calling, str) else None
    if printed is not None:
        with suppress(NotDecoded):
            tool = replace(tool, arguments=parse_literal(printed["arguments"]))
    if reading.output is not None:
        reported = _CREWAI_FAILURE.match(reading.output.text)
    else:
        reported = None
    failed = SpanError(None, reported["message"]) if reported is not None else None
    if printed is not None:
        arguments = to_payload(as_text(tool.arguments))
    else:
        arguments = reading.input
    return replace(reading, tool=tool, input=arguments, error=reading.error or failed)


def _read_beeai(raw: RawSpan, reading: Reading) -> Reading:
    """Return one span for each call: events of an agent are no agents, and those of a call are no calls.

    Before BeeAI 0.1.51 each event was a span. Since then a call is a span, with some of its events below it.
    """
    named = _BEEAI_EVENT.fullmatch(raw.name)
    if named is not None:
        return _read_beeai_event(raw, reading, named["target"].rpartition(".")[2], named["event"])
    if "metadata.path" in raw.attributes:
        return Reading(SpanKind.CHAIN)  # what an event failed with is on the span of its call
    if reading.kind is SpanKind.TOOL and reading.tool is not None:
        request = _read_fields(reading.input)
        return _build_beeai_call(reading, reading.tool.name, request.get("input"))
    if reading.kind is not SpanKind.AGENT:
        return reading
    task = _read_fields(reading.input).get("input")
    if isinstance(task, str):
        reading = replace(reading, input=Payload(task, task), input_messages=())
    answer = reading.output.value if reading.output is not None else None
    if isinstance(answer, str):
        answer = decode_document(answer)
    else:
        answer = answer
    text = answer.get("text") if isinstance(answer, dict) else None
    if isinstance(text, str):
        return replace(reading, output=Payload(text, text))
    return reading


def _read_beeai_event(raw: RawSpan, reading: Reading, target: str, event: str) -> Reading:
    if reading.kind is SpanKind.LLM and event == "success":
        pieces = [message.text for message in reading.output_messages]
        calls = [call for message in reading.output_messages for call in message.tool_calls]
        reply = Message("assistant", "".join(pieces), tuple(calls))
        return replace(reading, output_messages=(reply,) if pieces else ())
    if reading.kind is SpanKind.TOOL and event in ("success", "error"):
        message = raw.find_text("exception.message")
        if message is not None:
            reading = replace(reading, error=SpanError(raw.find_text("exception.type"), message))
        arguments = decode_document(raw.get_first("tool.parameters"))
        return _build_beeai_call(reading, raw.find_text("tool.name") or target, arguments)
    return Reading(SpanKind.CHAIN, error=reading.error)


def _build_beeai_call(reading: Reading, name: str, arguments: JsonValue) -> Reading:
    """Return the call of a tool; that of BeeAI's own tool for the answer gives what it was handed."""
    output, error = reading.output, reading.error
    if name == _BEEAI_ANSWER and error is None and isinstance(arguments, dict):
        output = _find_fields(arguments)
    if output is not None and error is not None:
        cause = _BEEAI_CAUSE.search(output.text)
    else:
        cause = None
    if cause is not None and error is not None:
        # The framework's own exception says "Tool Error" alone.
        error = SpanError(error.type, cause["message"], (*error.chain, cause["type"]))
    return replace(
        reading,
        tool=ToolCall(name, arguments),
        input=to_payload(as_text(arguments)),
        output=output,
        error=error,
    )


def _read_fields(payload: Payload | None) -> dict[str, JsonValue]:
    if payload is not None and isinstance(payload.value, dict):
        return payload.value
    return {}


def _find_fields(fields: dict[str, JsonValue]) -> Payload | None:
    """Return the only field's value, else all of them."""
    value = next(iter(fields.values())) if len(fields) == 1 else fields
    return Payload(as_text(value), value, typed=True) if fields else None


# The last part of an instrumentor's scope to what undoes the framework it names.
_SHAPES: dict[str, Callable[[RawSpan, Reading], Reading]] = {
    "llama_index": _read_llama_index,
    "dspy": _read_dspy,
    "autogen_agentchat": _read_autogen,
    "crewai": _read_crewai,
    "beeai": _read_beeai,
}
