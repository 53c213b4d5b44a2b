"""Chat messages in every shape producers write them.

OTel GenAI parts, OpenAI chat and responses items, Anthropic and Gemini blocks, LangChain (serialised,
dumped, or printed), Vercel, Pydantic AI. What comes in is decoded JSON of unknown shape; what goes out are
messages with their text joined, the tool calls in them decoded, and the results of tools as `tool` messages.
What is no message is passed over; nothing raises.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from spanproof.trace import JsonValue, Message, ToolCall
from spanproof.trace.dialects.decode import NotDecoded, as_text, decode_document, parse_json, parse_literal
from spanproof.trace.dialects.printed import find_printed_fields

HOSTED_INTERPRETER = "code_interpreter"
"""The name given to interpreters that run at the model's provider."""

_ROLES = {
    "human": "user",
    "ai": "assistant",
    "model": "assistant",
    "AIMessageChunk": "assistant",
    "developer": "system",
    "function": "tool",
    "tool-response": "tool",
    "tool-call": "assistant",
}
_CONSTRUCTED: Final = {
    "HumanMessage": "user",
    "AIMessage": "assistant",
    "SystemMessage": "system",
    "ToolMessage": "tool",
}
# How smolagents writes the calls it made into its own history.
_CALLS_PREFIX = "Calling tools:"

_MAX_DEPTH = 12


def read_messages(value: JsonValue, role: str = "user") -> tuple[Message, ...]:
    """Return the messages in this document.

    Args:
        value: a list of messages, one message, or a document that holds them under a usual name.
        role: of texts that stand where a message is expected.
    """
    return tuple(_iter_messages(value, role, 0))


def decode_call(name: JsonValue, arguments: JsonValue, call_id: JsonValue = None) -> ToolCall:
    """Return a tool call with its arguments decoded, also from JSON within JSON or a Python literal."""
    return ToolCall(
        name=name if isinstance(name, str) else "",
        arguments=decode_document(arguments),
        call_id=call_id if isinstance(call_id, str) else None,
    )


def _iter_messages(value: JsonValue, role: str, depth: int) -> Iterator[Message]:
    if depth > _MAX_DEPTH:
        return
    if isinstance(value, list):
        for item in value:
            # In a printed conversation only a model's messages show what they are.
            spoken = "user" if isinstance(item, str) and len(value) > 1 else role
            yield from _iter_messages(item, spoken, depth + 1)
    elif isinstance(value, str):
        fields = find_printed_fields(value)
        if fields is not None:
            yield from _iter_messages_of({"role": _get_role(fields, role), **fields}, role)
        elif value:
            yield Message(role, value)
    elif isinstance(value, dict):
        yield from _from_object(value, role, depth)


def _from_object(value: dict[str, JsonValue], role: str, depth: int) -> Iterator[Message]:
    for name in ("messages", "generations", "choices", "candidates"):
        inner = value.get(name)
        if isinstance(inner, list | dict):
            yield from _iter_messages(inner, "assistant" if name != "messages" else role, depth + 1)
            return
    results = value.get("function")
    if isinstance(results, list):
        # AutoGen's results of tools, as OpenInference has them beside the message that holds nothing else.
        yield from _Collected.from_results(results).as_messages("tool", None)
        return
    if is_bare_call(value):
        yield from _Collected.from_calls([value]).as_messages("assistant", None)
        return
    message = value.get("message")
    if isinstance(message, dict):
        yield from _iter_messages(message, role, depth + 1)
        return
    for envelope in ("kwargs", "data"):
        inner = value.get(envelope)
        if isinstance(inner, dict) and ("content" in inner or "type" in inner):
            yield from _iter_messages_of(inner, _find_constructed_role(value) or role)
            return
    if isinstance(value.get("output"), list) and "role" not in value:
        yield from _iter_messages(value["output"], "assistant", depth + 1)
        return
    yield from _iter_messages_of(value, role)


def _find_constructed_role(value: dict[str, JsonValue]) -> str | None:
    """Return the role that the class of a serialised message has: LangChain for JavaScript names it alone."""
    path = value.get("id")
    named = path[-1] if isinstance(path, list) and path else None
    if isinstance(named, str):
        return _CONSTRUCTED.get(named.removesuffix("Chunk"))
    return None


def _iter_messages_of(value: dict[str, JsonValue], role: str) -> Iterator[Message]:
    item = _find_response_messages(value)
    if item is not None:
        yield from item
        return
    named = value.get("role") or value.get("type") or value.get("kind")
    if isinstance(named, str) and named not in _PART_TYPES:
        spoken = _ROLES.get(named, named)
    else:
        spoken = role
    if not any(key in value for key in ("content", "parts", "text", "tool_calls", "function_call")):
        return
    written = _find_written_calls(value.get("content"))
    if written is not None:
        yield from _Collected.from_calls(written).as_messages("assistant", None)
        return
    collected = _Collected(str(spoken))
    for key in ("parts", "content", "text"):
        if value.get(key) is not None:
            collected.add(value[key])
            break
    collected.add_calls(value.get("tool_calls") or _get_additional_calls(value))
    if isinstance(value.get("function_call"), dict):
        collected.add_calls([value["function_call"]])
    answers = value.get("tool_call_id") or value.get("toolCallId")
    yield from collected.as_messages(str(spoken), answers if isinstance(answers, str) else None)


def _get_additional_calls(value: dict[str, JsonValue]) -> JsonValue:
    """Return the calls that LangChain keeps in a message's `additional_kwargs`."""
    additional = value.get("additional_kwargs")
    if isinstance(additional, dict):
        return additional.get("tool_calls")
    return None


class _Collected:
    """The texts, calls and tool results of one message, gathered part by part."""

    def __init__(self, role: str = "assistant") -> None:
        self.role = role
        self.texts: list[str] = []
        self.calls: list[ToolCall] = []
        self.results: list[Message] = []

    @classmethod
    def from_results(cls, results: list[JsonValue]) -> _Collected:
        """Return a message that holds results of tools alone."""
        collected = cls()
        for result in map(decode_document, results):
            if isinstance(result, dict):
                collected._add_result(result)
        return collected

    @classmethod
    def from_calls(cls, calls: list[JsonValue]) -> _Collected:
        """Return a message that requests calls and says nothing."""
        collected = cls()
        collected.add_calls(calls)
        return collected

    def as_messages(self, role: str, answers: str | None) -> Iterator[Message]:
        text = "\n".join(self.texts)
        if text.startswith(_CALLS_PREFIX) and role == "assistant" and not self.calls:
            text = self._parse_printed_calls(text)
        if text or self.calls or not self.results:
            yield Message(role, text, tuple(self.calls), answers)
        yield from self.results

    def _parse_printed_calls(self, text: str) -> str:
        try:
            calls = parse_literal(text.removeprefix(_CALLS_PREFIX))
        except NotDecoded:
            return text
        self.add_calls(calls)
        return "" if self.calls else text

    def add_calls(self, calls: JsonValue) -> None:
        for call in calls if isinstance(calls, list) else ():
            if not isinstance(call, dict):
                continue
            inner = call.get("function")
            source = inner if isinstance(inner, dict) else call
            name = source.get("name") or source.get("toolName") or source.get("tool_name")
            self.calls.append(decode_call(name, _get_arguments(source), _get_call_id(call)))

    def add(self, content: JsonValue) -> None:
        if isinstance(content, str):
            written = _find_written_parts(content, self.role)
            if written is None:
                self.texts.append(content)
            else:
                self.add(written)
        elif isinstance(content, list):
            for part in content:
                self.add(part)
        elif isinstance(content, dict):
            parts = content.get("parts")
            if isinstance(parts, list) and "type" not in content:
                self.add(parts)  # Gemini's content, within a message or an event
            else:
                self._add_part(content)

    def _add_part(self, part: dict[str, JsonValue]) -> None:
        kind = part.get("type") or part.get("part_kind")
        kind = kind.replace("-", "_") if isinstance(kind, str) else ""
        if kind in _SERVER_PARTS or not part.keys().isdisjoint(_SERVER_PARTS):
            self._add_server_part(part, kind)
        elif kind in _CALL_PARTS or not part.keys().isdisjoint(_CALL_KEYS):
            self._add_call_part(part)
        elif _is_result(part, kind):
            self._add_result(part)
        elif kind in _CODE_KEYS or not part.keys().isdisjoint(_CODE_KEYS):
            self._add_gemini_code(part)
        elif kind in _PRINTED_KEYS or not part.keys().isdisjoint(_PRINTED_KEYS):
            self._add_gemini_result(part)
        elif kind in _SILENT_PARTS:
            return
        else:
            text = part.get("text", part.get("content"))
            if isinstance(text, str):
                self.add(text)

    def _add_call_part(self, part: dict[str, JsonValue]) -> None:
        source = _build_unfolded(part, *_CALL_KEYS)
        name = source.get("name") or source.get("toolName") or source.get("tool_name")
        self.calls.append(decode_call(name, _get_arguments(source), _get_call_id(source)))

    def _add_server_part(self, part: dict[str, JsonValue], kind: str) -> None:
        """Add a call that the provider ran, or its response: members are those of the tool's own."""
        is_response = kind == _SERVER_RESPONSE or isinstance(part.get(_SERVER_RESPONSE), dict)
        source = _build_unfolded(part, _SERVER_RESPONSE if is_response else _SERVER_CALL)
        tool = part.get("name") or source.get("name") or source.get("type")
        members = _read_members(source)
        call_id = part.get("id") or _get_call_id(source)
        if isinstance(call_id, str):
            answers = call_id
        else:
            answers = f"{_SERVER_CALL}_{len(self.calls)}"
        if is_response:
            if call_id is None and self.calls:
                answers = self.calls[-1].call_id or answers
            self.results.append(Message("tool", format_result_text(_get_result(members)), (), answers))
            return
        arguments = _get_arguments(members)
        if arguments is None:
            arguments = {name: value for name, value in members.items() if name not in _RESULT_NAMES}
        self.calls.append(decode_call(tool, arguments, answers))
        if not members.keys().isdisjoint(_OWN_RESULT_NAMES):
            # The provider answers in the object of the call itself.
            self.results.append(Message("tool", format_result_text(_get_result(members)), (), answers))

    def _add_result(self, part: dict[str, JsonValue]) -> None:
        source = _build_unfolded(part, *_RESULT_KEYS)
        value = next(
            (
                source[key]
                for key in ("response", "result", "output", "content")
                if source.get(key) is not None
            ),
            None,
        )
        answers = source.get("tool_use_id") or _get_call_id(source)
        self.results.append(
            Message("tool", format_result_text(value), (), answers if isinstance(answers, str) else None)
        )

    def _add_gemini_code(self, part: dict[str, JsonValue]) -> None:
        source = _build_unfolded(part, *_CODE_KEYS)
        self.calls.append(
            ToolCall(HOSTED_INTERPRETER, {"code": source.get("code")}, self._format_gemini_id())
        )

    def _add_gemini_result(self, part: dict[str, JsonValue]) -> None:
        source = _build_unfolded(part, *_PRINTED_KEYS)
        answered = self.calls[-1].call_id if self.calls else None
        self.results.append(Message("tool", format_result_text(source.get("output")), (), answered))

    def _format_gemini_id(self) -> str:
        """Return an id for a hosted call: Gemini gives these none, they are answered in order."""
        return f"executable_code_{len(self.calls)}"


_SERVER_CALL: Final = "server_tool_call"
_SERVER_RESPONSE: Final = "server_tool_call_response"
_SERVER_PARTS: Final = frozenset({_SERVER_CALL, _SERVER_RESPONSE})
# What a call at the provider says of itself beside its members: the conventions name `type` alone.
_SERVER_FACTS: Final = frozenset({"type", "id", "name", "status", "call_id", "container_id", *_SERVER_PARTS})
_ARGUMENT_NAMES: Final = ("arguments", "args", "input", "parameters")
_OWN_RESULT_NAMES: Final = ("response", "result", "results", "output", "outputs")
_RESULT_NAMES: Final = (*_OWN_RESULT_NAMES, "content")

_CALL_KEYS = ("function_call", "functionCall", "toolUse")
# Names under which Gemini and Bedrock put a call or a result, in place of a `type`.
_RESULT_KEYS = ("function_response", "functionResponse", "toolResult")

# Code that Gemini ran itself, and what it printed.
_CODE_KEYS: Final = ("executable_code", "executableCode")
_PRINTED_KEYS: Final = ("code_execution_result", "codeExecutionResult")

_CALL_PARTS = frozenset({"tool_call", "tool_use", "server_tool_use", "mcp_tool_use"})
_RESULT_PARTS = frozenset({"tool_call_response", "tool_result", "tool_return", "retry_prompt"})
_SILENT_PARTS = frozenset({"reasoning", "thinking", "redacted_thinking", "blob", "file", "uri", "image"})
_PART_TYPES = (
    _SERVER_PARTS
    | _CALL_PARTS
    | _RESULT_PARTS
    | _SILENT_PARTS
    | {"text", "message", "input_text", "output_text"}
)


def format_result_text(value: JsonValue) -> str:
    """Return a tool's result as its text, taken out of the blocks providers wrap it in."""
    if isinstance(value, list):
        joined = _find_text_of_blocks(value)
        if joined is not None:
            return joined
    if isinstance(value, dict):
        if "stdout" in value or "stderr" in value:
            streams = (value.get("stdout"), value.get("stderr"))
            return "\n".join(text for text in streams if isinstance(text, str) and text)
        if "value" in value and isinstance(value.get("type"), str):
            return format_result_text(value["value"])  # as the AI SDK types outputs
    return "" if value is None else as_text(value)


def _find_text_of_blocks(blocks: list[JsonValue]) -> str | None:
    """Return the texts of blocks, pictures left out; None where there are none, or one is no text."""
    if not all(isinstance(block, dict) for block in blocks):
        return None
    shown = [
        _find_text_of_block(block) for block in blocks if isinstance(block, dict) and not _is_picture(block)
    ]
    texts = [text for text in shown if text is not None]
    if texts and len(texts) == len(shown):
        return "\n".join(texts)
    return None


def _find_text_of_block(block: dict[str, JsonValue]) -> str | None:
    """Return the text of a block of a result: words, or what a hosted interpreter printed."""
    text = block.get("text", block.get("logs"))
    return text if isinstance(text, str) else None


def _is_picture(block: JsonValue) -> bool:
    return isinstance(block, dict) and "image" in str(block.get("type"))


def is_bare_call(value: JsonValue) -> bool:
    """Whether an object is a request for a tool call outside any message."""
    if not isinstance(value, dict) or "role" in value:
        return False
    function = value.get("function")
    if isinstance(function, dict):
        return "arguments" in function and isinstance(function.get("name"), str)
    kind = str(value.get("type") or "").replace("-", "_")
    named = any(isinstance(value.get(name), str) for name in ("toolName", "tool_name", "name"))
    with_arguments = not value.keys().isdisjoint(_ARGUMENT_NAMES)
    has_id = not value.keys().isdisjoint({"toolCallId", "tool_call_id", "id"})
    is_result = not value.keys().isdisjoint(_RESULT_NAMES)
    if not named or not with_arguments or is_result:
        return False
    return kind in _CALL_PARTS or (has_id and kind in ("", "function"))


def _find_written_parts(text: str, role: str) -> list[JsonValue] | None:
    """Return the parts that a text is the JSON of; None where it is none of calls or results.

    A text counts as a result only where a tool or, as at Anthropic, the user answers a call.
    """
    if not text.startswith(("[{", "{")) or not any(mark in text[:_MARK_WITHIN] for mark in _WRITTEN_MARKS):
        return None
    try:
        found = parse_json(text)
    except NotDecoded:
        return None
    parts: list[JsonValue] = found if isinstance(found, list) else [found]
    kinds = [_get_part_kind(part) for part in parts]
    is_answer = role in ("tool", "user") and all(kind in _RESULT_PARTS for kind in kinds)
    is_request = role == "assistant" and any(kind in _CALL_PARTS for kind in kinds)
    are_parts = all(kind in _PART_TYPES for kind in kinds)
    return parts if are_parts and (is_answer or is_request) else None


def _find_written_calls(content: JsonValue) -> list[JsonValue] | None:
    """Return the requests for tool calls that a message's whole text is the JSON of, as Koog writes them.

    Koog gives such a message the role of the tool.
    """
    if not isinstance(content, str) or not content.startswith("[{") or '"arguments"' not in content:
        return None
    try:
        found = parse_json(content)
    except NotDecoded:
        return None
    if not isinstance(found, list):
        return None
    for item in found:
        if not (isinstance(item, dict) and isinstance(item.get("function"), dict) and is_bare_call(item)):
            return None
    return found


def _get_part_kind(part: JsonValue) -> str:
    kind = part.get("type") if isinstance(part, dict) else None
    return kind.replace("-", "_") if isinstance(kind, str) else ""


# The types of parts that are looked for in a text, and how far into it the first of them may stand.
_WRITTEN_MARKS: Final = ("tool-result", "tool_result", "tool-call", "tool_call", "tool_use")
_MARK_WITHIN: Final = 400


def _read_members(source: dict[str, JsonValue]) -> dict[str, JsonValue]:
    """Return the tool's own members; where all of them stand in one object named as the tool, those of it."""
    members = {name: value for name, value in source.items() if name not in _SERVER_FACTS}
    inner = next(iter(members.values())) if len(members) == 1 else None
    if isinstance(inner, dict) and next(iter(members)) == source.get("type"):
        return inner
    return members


def _get_result(members: dict[str, JsonValue]) -> JsonValue:
    """Return what a tool at the provider gave: under a usual name, else all of its members."""
    found = next((members[name] for name in _RESULT_NAMES if members.get(name) is not None), None)
    if found is not None and "stdout" not in members:
        return found
    if len(members) == 1:
        return next(iter(members.values()))
    return dict(members) if members else None


def _find_response_messages(value: dict[str, JsonValue]) -> Iterator[Message] | None:
    """Return the messages of an item of OpenAI's responses API; None where the object is none."""
    match value.get("type"):
        case "function_call" | "custom_tool_call" | "mcp_call":
            call = decode_call(value.get("name"), _get_arguments(value), _get_call_id(value))
            return iter([Message("assistant", "", (call,))])
        case "function_call_output" | "custom_tool_call_output" | "local_shell_call_output":
            answers = _get_call_id(value)
            text = format_result_text(value.get("output"))
            return iter([Message("tool", text, (), answers if isinstance(answers, str) else None)])
        case "code_interpreter_call":
            return _iter_interpreter_messages(value)
        case "local_shell_call" | "shell_call":
            call = decode_call("shell", value.get("action"), _get_call_id(value))
            return iter([Message("assistant", "", (call,))])
    return None


def _iter_interpreter_messages(value: dict[str, JsonValue]) -> Iterator[Message]:
    call_id = value.get("id") or value.get("call_id") or HOSTED_INTERPRETER
    call = ToolCall(HOSTED_INTERPRETER, {"code": value.get("code")}, str(call_id))
    yield Message("assistant", "", (call,))
    outputs = value.get("outputs")
    if isinstance(outputs, list):
        logs = [item.get("logs") for item in outputs if isinstance(item, dict)]
        yield Message("tool", "\n".join(log for log in logs if isinstance(log, str)), (), str(call_id))


def _is_result(part: dict[str, JsonValue], kind: str) -> bool:
    named = not part.keys().isdisjoint(_RESULT_KEYS)
    return named or kind in _RESULT_PARTS or kind.endswith("_tool_result")


def _build_unfolded(part: dict[str, JsonValue], *names: str) -> dict[str, JsonValue]:
    """Return the part with the fields of the first of these objects in it beside its own."""
    inner = next((part[name] for name in names if isinstance(part.get(name), dict)), None)
    if isinstance(inner, dict):
        return {**part, **inner}
    return part


def _get_arguments(source: dict[str, JsonValue]) -> JsonValue:
    for name in _ARGUMENT_NAMES:
        if source.get(name) is not None:
            return source[name]
    return None


def _get_call_id(source: dict[str, JsonValue]) -> JsonValue:
    for name in ("call_id", "toolCallId", "tool_call_id", "toolUseId", "id"):
        if isinstance(source.get(name), str):
            return source[name]
    return None


def _get_role(fields: dict[str, JsonValue], role: str) -> str:
    if "tool_call_id" in fields:
        return "tool"
    marks = ("tool_calls", "usage_metadata", "response_metadata")
    if any(fields.get(mark) for mark in marks) or "tool_calls" in fields:
        return "assistant"
    return role
