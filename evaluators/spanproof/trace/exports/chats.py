"""Conversations with a model, as clients, stores and frameworks write them.

In: a document of unknown form: messages of OpenAI, Anthropic, Gemini, Bedrock, LangChain, Pydantic AI, the
AI SDK, ADK or ShareGPT; sessions of Claude Code. Out: a transcript each.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from spanproof.trace.dialects.decode import as_text
from spanproof.trace.dialects.messages import read_messages
from spanproof.trace.exports.rows import parse_document
from spanproof.trace.exports.transcripts import Transcript
from spanproof.trace.ids import digest
from spanproof.trace.model import JsonValue, Message

Document = Mapping[str, Any]
_ROLES: Final = frozenset({"system", "developer", "user", "assistant", "tool", "function", "model"})
_MODELS: Final = frozenset({"assistant", "model"})
# LangChain's name of a message's class, in place of its role.
_LANGCHAIN_TYPES: Final = frozenset({"human", "ai", "system", "tool", "AIMessageChunk", "HumanMessage"})
# Pydantic AI's messages: those that go to the model, and those that come from it.
_PYDANTIC_KINDS: Final = frozenset({"request", "response"})
_SHAREGPT_ROLES: Final = {
    "human": "user",
    "user": "user",
    "gpt": "assistant",
    "assistant": "assistant",
    "system": "system",
    "observation": "tool",
    "tool": "tool",
    "function_response": "tool",
}
_SHAREGPT_CALLS: Final = frozenset({"function_call", "tool_call"})

# Under which names an object holds its conversation.
_CONVERSATIONS: Final = ("traj", "messages", "contents", "conversations", "events", "items")
# The states in which a call in the messages of the AI SDK for a page has ended.
_UI_ENDS: Final = frozenset({"result", "output-available", "output-error"})
_UI_FAILED: Final = "output-error"


def list_chats(document: object) -> list[Transcript]:
    """Return the conversations in an object, or the one that a list of messages is."""
    if isinstance(document, list):
        sessions = _group_sessions(document)
        if sessions:
            return [_build_chat({"id": name}, items) for name, items in sessions.items()]
        return [_build_chat({}, document)] if is_chat(document) else []
    if not isinstance(document, Mapping):
        return []
    held = (document[name] for name in _CONVERSATIONS if isinstance(document.get(name), list))
    messages = next((items for items in held if is_chat(items)), None)
    return [] if messages is None else [_build_chat(document, messages)]


def is_chat(items: Sequence[Any]) -> bool:
    """Whether these are messages of a chat, or items of OpenAI's responses."""
    return bool(items) and all(map(_is_message, items))


def is_session(items: Sequence[Any]) -> bool:
    """Whether these are lines of Claude Code's sessions."""
    return bool(_group_sessions(items))


def get_errors(messages: Sequence[Any]) -> dict[str, str]:
    """Return what tools failed with, by the call's id, where their messages have an `error` of their own."""
    found: dict[str, str] = {}
    for item in messages:
        if isinstance(item, Mapping) and item.get("role") == "tool":
            error = item.get("error")
        else:
            error = None
        if error and error is not True:
            text = error.get("message") if isinstance(error, Mapping) else error
            found[str(item.get("tool_call_id"))] = str(text)
    return found


def read_message(item: Document) -> tuple[Message, ...]:
    """Return a message; inspect_ai has a call's name as a text beside its arguments."""
    value = {key: part for key, part in item.items() if part is not None}
    calls = value.get("tool_calls")
    if isinstance(calls, list):
        value["tool_calls"] = [_with_renamed_function(call) for call in calls]
    return read_messages([value], "user")


def _with_renamed_function(call: Any) -> Any:
    named = isinstance(call, Mapping) and isinstance(call.get("function"), str)
    if named:
        return {**call, "name": call["function"], "function": None}
    return call


def _is_message(item: object) -> bool:
    if not isinstance(item, Mapping):
        return False
    if str(item.get("role")) in _ROLES or _is_response_item(item):
        return True
    if str(item.get("type")) in _LANGCHAIN_TYPES:
        return "content" in item or isinstance(item.get("data"), Mapping)
    is_constructed = item.get("lc") == 1 and isinstance(item.get("kwargs"), Mapping)
    is_sharegpt = {"from", "value"} <= item.keys()
    return is_constructed or is_sharegpt or _is_pydantic(item) or _is_adk_event(item)


def _is_pydantic(item: Document) -> bool:
    return str(item.get("kind")) in _PYDANTIC_KINDS and isinstance(item.get("parts"), list)


def _is_adk_event(item: Document) -> bool:
    return "author" in item and (isinstance(item.get("content"), Mapping) or "actions" in item)


def _is_response_item(item: Document) -> bool:
    kind = str(item.get("type") or "")
    return kind.endswith(("_call", "_call_output")) or kind in ("reasoning", "message")


def _build_chat(value: Document, items: Sequence[Any]) -> Transcript:
    """Return a chat: its messages, alone or as the result of a harness holds them."""
    turns = [message for item in items for message in iter_messages(item)]
    system = value.get("system")
    if system:
        turns[:0] = read_messages([{"role": "system", "content": system}])
    identity = [str(value[name]) for name in ("id", "task_id", "trial") if value.get(name) is not None]
    model = value.get("model")
    return Transcript(
        key=f"chat/{'/'.join(identity)}/{digest(as_text(list(items)))}",
        name=str(value.get("name") or "chat"),
        turns=turns,
        model=model if isinstance(model, str) else None,
        errors=get_errors(items) | _get_ui_errors(items),
    )


def iter_messages(item: object) -> Iterator[Message]:
    """Yield the messages that one item of a conversation is; what is no item has none."""
    if not isinstance(item, Mapping):
        return
    if _is_adk_event(item):
        yield from iter_messages(item.get("content"))
    elif {"from", "value"} <= item.keys():
        yield from _iter_sharegpt_messages(item)
    elif _is_pydantic(item):
        for part in item["parts"]:
            kind = str(part.get("part_kind") or "") if isinstance(part, Mapping) else ""
            role = "assistant" if item["kind"] == "response" else kind.partition("-")[0]
            yield from read_messages([{"role": role, "parts": [part]}])
    elif calls := _list_ui_calls(item):
        yield from _iter_ui_messages(item, calls)
    else:
        for part in _iter_message_parts(item):
            yield from read_message(part)


def _iter_message_parts(item: Document) -> Iterator[Document]:
    """Yield a model's message; where a tool at the provider answered within it, its last words apart."""
    name = next((name for name in ("parts", "content") if isinstance(item.get(name), list)), None)
    if name is None or str(item.get("role")) not in _MODELS:
        yield item
        return
    parts = item[name]
    answered = [index for index, part in enumerate(parts) if _is_result(part)]
    at = answered[-1] + 1 if answered else 0
    yield from ({**item, name: held} for held in (parts[:at], parts[at:]) if held)


def _is_result(part: object) -> bool:
    if isinstance(part, dict):
        spoken = read_messages({"role": "assistant", "content": [part]})
    else:
        spoken = ()
    return any(message.role == "tool" for message in spoken)


def _iter_sharegpt_messages(item: Document) -> Iterator[Message]:
    speaker, content = str(item["from"]), item["value"]
    if speaker in _SHAREGPT_CALLS:
        calls = parse_document(content)
        calls = calls if isinstance(calls, list) else [calls]
        yield from read_messages([{"role": "assistant", "content": "", "tool_calls": calls}])
    else:
        yield Message(_SHAREGPT_ROLES.get(speaker, "user"), as_text(content))


def _list_ui_calls(item: Document) -> list[dict[str, Any]]:
    """Return the calls in a message as the AI SDK sends them to a page, in versions 4 and 5."""
    parts, invocations = item.get("parts"), item.get("toolInvocations")
    if isinstance(parts, list):
        typed = [part for part in parts if isinstance(part, dict)]
    else:
        typed = []
    held = [part for part in typed if "toolCallId" in part and "state" in part]
    inner = [part["toolInvocation"] for part in typed if isinstance(part.get("toolInvocation"), dict)]
    if isinstance(invocations, list):
        invoked = [call for call in invocations if isinstance(call, dict)]
    else:
        invoked = []
    return held or inner or invoked


def _iter_ui_messages(item: Document, calls: Sequence[dict[str, Any]]) -> Iterator[Message]:
    """Yield the calls of a message, their results, and what the model said after them."""
    requests: list[JsonValue] = [
        {
            "id": call.get("toolCallId"),
            "name": call.get("toolName") or str(call.get("type")).removeprefix("tool-"),
            "arguments": call.get("input", call.get("args")),
        }
        for call in calls
    ]
    yield from read_messages([{"role": "assistant", "content": "", "tool_calls": requests}])
    for call in calls:
        state = call.get("state")
        if str(state) in _UI_ENDS:
            shown = call.get("output", call.get("result", call.get("errorText")))
            yield Message("tool", as_text(shown), (), str(call.get("toolCallId")))
    parts = item.get("parts")
    texts = [
        str(part.get("text"))
        for part in (parts if isinstance(parts, list) else ())
        if isinstance(part, Mapping) and part.get("type") == "text"
    ]
    text = "\n".join(texts) or as_text(item.get("content") or "")
    if text:
        yield Message("assistant", text)


def _get_ui_errors(items: Sequence[Any]) -> dict[str, str]:
    calls = (call for item in items if isinstance(item, Mapping) for call in _list_ui_calls(item))
    return {
        str(call.get("toolCallId")): str(call.get("errorText") or "")
        for call in calls
        if call.get("state") == _UI_FAILED
    }


def _group_sessions(items: Sequence[Any]) -> dict[str, list[Any]]:
    """Return the messages of Claude Code's sessions by their names; those of subagents are runs of theirs."""
    sessions: dict[str, list[Any]] = defaultdict(list)
    for item in items:
        if not isinstance(item, Mapping) or "sessionId" not in item:
            continue
        message = item.get("message")
        if isinstance(message, Mapping) and "role" in message and not item.get("isMeta"):
            if item.get("isSidechain"):
                aside = f"/{item.get('agentId') or 'sidechain'}"
            else:
                aside = ""
            sessions[f"{item['sessionId']}{aside}"].append(message)
    return sessions
