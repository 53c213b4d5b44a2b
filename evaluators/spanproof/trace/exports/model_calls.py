"""Calls of a model, as proxies and clients log them: a request with its response, or the response alone.

In: an object of unknown form: of OpenAI's two APIs, Anthropic, Gemini, Helicone, or the result of the AI SDK.
Out: a transcript.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from spanproof.trace.dialects.decode import as_text
from spanproof.trace.dialects.messages import read_messages
from spanproof.trace.exports.chats import iter_messages
from spanproof.trace.exports.rows import parse_document
from spanproof.trace.exports.transcripts import CodeStep, Transcript
from spanproof.trace.ids import digest
from spanproof.trace.model import Message

Document = Mapping[str, Any]
Turns = list[Message | CodeStep]

# A request, and the response to it, in what proxies and clients log.
_RECORDS: Final = (
    ("request_body", "response_body"),
    ("requestBody", "responseBody"),
    ("request", "response"),
    ("input", "response"),
)
_REQUESTS: Final = ("messages", "contents", "input")
# What a tool took, in the AI SDK's calls and results.
_TAKEN: Final = frozenset({"input", "args"})
_RESPONSES: Final = ("choices", "output")


def find_model_call(value: Document) -> Transcript | None:
    """Return a call of a model, or a run of the AI SDK, with what it was sent where that is beside it.

    None where the object is neither.
    """
    request, response = _get_record(value)
    messages = _find_response(response) if isinstance(response, Mapping) else None
    if messages is None and _is_result_of_steps(value):
        messages = list(_iter_step_messages(value["steps"]))
        request = _get_first_request(value["steps"])
    if messages is None:
        return None
    about = response if isinstance(response, Mapping) else value
    model = next((held.get("model") for held in (about, request) if isinstance(held, Mapping)), None)
    return Transcript(
        key=f"response/{about.get('id') or digest(as_text(dict(value)))}",
        name="response",
        turns=[*_read_request(request), *messages],
        model=model if isinstance(model, str) else None,
        started=about.get("created_at"),
        is_request=True,
    )


def list_unrepeated(transcripts: Sequence[Transcript]) -> list[Transcript]:
    """Return the transcripts without model calls that a later one of the same run repeats.

    An agent sends the conversation with each call: the last call holds all of it.
    """
    beginnings = {
        prefix
        for transcript in transcripts
        if transcript.is_request
        for prefix in _iter_prefixes(transcript.turns[:-1])
    }
    return [
        transcript
        for transcript in transcripts
        if not transcript.is_request or _compute_prefix(transcript.turns) not in beginnings
    ]


def _find_response(response: Document) -> Turns | None:
    """Return what a model said, in the form of any API; None where the object is no response."""
    messages = response.get("messages")
    if isinstance(messages, list):
        return [message for item in messages for message in iter_messages(item)]
    candidates = response.get("candidates")
    if isinstance(candidates, list):
        contents = [candidate.get("content") for candidate in candidates if isinstance(candidate, Mapping)]
        return [message for content in contents for message in iter_messages(content)]
    if isinstance(response.get("content"), list):
        return list(iter_messages({"role": "assistant", **response}))
    is_response = any(isinstance(response.get(name), list) for name in _RESPONSES)
    if is_response:
        return [*read_messages(dict(response), "assistant")]
    return None


def _get_record(value: Document) -> tuple[object, object]:
    for sent, received in _RECORDS:
        response = parse_document(value.get(received))
        if sent in value and isinstance(response, Mapping):
            return parse_document(value[sent]), response
    is_response = (
        value.get("object") in ("response", "chat.completion")
        or isinstance(value.get("candidates"), list)
        or (value.get("type") == "message" and value.get("role") == "assistant")
    )
    return value.get("input"), value if is_response else None


def _read_request(request: Any) -> Turns:
    if not isinstance(request, Mapping):
        return [*read_messages(request, "user")] if request else []
    held = next((request[name] for name in _REQUESTS if request.get(name)), None)
    if isinstance(held, list):
        items = held
    elif held:
        items = [held]
    else:
        items = []
    turns: Turns = []
    system = request.get("system") or request.get("instructions")
    if system:
        turns += read_messages([{"role": "system", "content": system}])
    for item in items:
        turns += iter_messages(item) if isinstance(item, Mapping) else read_messages(item, "user")
    return turns


def _is_result_of_steps(value: Document) -> bool:
    """Whether this is what the AI SDK's `generateText` gives."""
    steps = value.get("steps")
    return isinstance(steps, list) and "text" in value and any(map(_list_step_parts, steps))


def _list_step_parts(step: object) -> list[Any]:
    """Return what a step of the AI SDK said, called and got: in one list from version 5 on."""
    if not isinstance(step, Mapping):
        return []
    content = step.get("content")
    if isinstance(content, list):
        return content
    calls, results, text = step.get("toolCalls"), step.get("toolResults"), step.get("text")
    spoken = [{"type": "text", "text": text}] if text else []
    return [*spoken, *_add_part_types(calls, "tool-call"), *_add_part_types(results, "tool-result")]


def _add_part_types(parts: object, kind: str) -> list[Any]:
    held = parts if isinstance(parts, list) else []
    return [{**part, "type": kind} for part in held if isinstance(part, Mapping)]


def _iter_step_messages(steps: Sequence[Any]) -> Iterator[Message]:
    for step in steps:
        parts = _list_step_parts(step)
        results = [part for part in parts if isinstance(part, Mapping) and part.get("type") == "tool-result"]
        texts = [part for part in parts if part not in results]
        yield from read_messages([{"role": "assistant", "content": texts}])
        # A result repeats what the tool took.
        given_back: list[Any] = [
            {key: part[key] for key in part if key not in ("input", "args")} for part in results
        ]
        if given_back:
            yield from read_messages([{"role": "tool", "content": given_back}])


def _get_first_request(steps: Sequence[Any]) -> object:
    first = steps[0] if steps else None
    sent = first.get("request") if isinstance(first, Mapping) else None
    if isinstance(sent, Mapping):
        return parse_document(sent.get("body"))
    return None


def _iter_prefixes(turns: Sequence[Message | CodeStep]) -> Iterator[str]:
    for length in range(1, len(turns) + 1):
        yield _compute_prefix(turns[:length])


def _compute_prefix(turns: Sequence[Message | CodeStep]) -> str:
    return digest(repr(list(turns)))
