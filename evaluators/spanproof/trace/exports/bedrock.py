"""Amazon Bedrock Agents: the events of `invoke_agent` with `enableTrace`, as programs dump them.

In: a list of events. Out: the run in it, as a transcript.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from spanproof.trace.dialects.decode import as_text
from spanproof.trace.dialects.messages import HOSTED_INTERPRETER, read_messages
from spanproof.trace.exports.rows import parse_document
from spanproof.trace.exports.transcripts import CodeStep, Transcript
from spanproof.trace.ids import digest
from spanproof.trace.model import Message, ToolCall

Document = Mapping[str, Any]

_TRACE: Final = "orchestrationTrace"
_KNOWLEDGE_BASE: Final = "knowledge_base"


def is_bedrock(items: object) -> bool:
    """Whether these are events of an agent's trace."""
    return isinstance(items, list) and any(_find_step(item) is not None for item in items)


def read_bedrock(items: Sequence[Any]) -> Transcript:
    """Return the run: what the model wanted, what was invoked, and what came back."""
    reader = _Reader()
    for item in items:
        step = _find_step(item)
        if step is not None:
            reader.add(step)
    key = f"bedrock/{digest(as_text(list(items)))}"
    return Transcript(key, "agent", reader.turns, reader.task, reader.answer, errors=reader.errors)


def _find_step(item: object) -> Document | None:
    """Return what an event says of the agent's loop; None where it says nothing of it."""
    for _ in range(2):
        if not isinstance(item, Mapping):
            return None
        step = item.get(_TRACE)
        if isinstance(step, Mapping):
            return step
        item = item.get("trace")
    return None


class _Reader:
    """The turns of one run, gathered event by event."""

    def __init__(self) -> None:
        self.turns: list[Message | CodeStep] = []
        self.errors: dict[str, str] = {}
        self.task: str | None = None
        self.answer: str | None = None
        self._thought = ""
        self._calls = 0

    def add(self, step: Document) -> None:
        """Take one event."""
        prompt = step.get("modelInvocationInput")
        if isinstance(prompt, Mapping) and self.task is None:
            self.task = _find_task(prompt.get("text"))
        rationale = step.get("rationale")
        if isinstance(rationale, Mapping):
            self._thought = str(rationale.get("text") or "")
        invoked = step.get("invocationInput")
        if isinstance(invoked, Mapping):
            self._add_call(invoked)
        observed = step.get("observation")
        if isinstance(observed, Mapping):
            self._add_observation(observed)

    def _add_call(self, invoked: Document) -> None:
        call = next(_iter_calls(invoked, f"call-{self._calls + 1}"), None)
        if call is not None:
            self._calls += 1
            self.turns.append(Message("assistant", self._thought, (call,)))
            self._thought = ""

    def _add_observation(self, observed: Document) -> None:
        final = observed.get("finalResponse")
        if isinstance(final, Mapping):
            self.answer = str(final.get("text") or "") or None
            self.turns.append(Message("assistant", self.answer or ""))
            return
        call_id = f"call-{self._calls}"
        result, error = _read_result(observed)
        if error:
            self.errors[call_id] = error
        if result is not None or error:
            self.turns.append(Message("tool", result or "", (), call_id))


def _find_task(prompt: object) -> str | None:
    """Return the user's task in a prompt, which is the JSON of messages or the text of all of it."""
    document = parse_document(prompt)
    if not isinstance(document, dict):
        return None
    return next((message.text for message in read_messages(document) if message.role == "user"), None)


def _iter_calls(invoked: Document, call_id: str) -> Iterator[ToolCall]:
    group = invoked.get("actionGroupInvocationInput")
    if isinstance(group, Mapping):
        name = group.get("function") or group.get("apiPath") or group.get("actionGroupName")
        yield ToolCall(str(name), dict(_iter_parameters(group)), call_id)
    code = invoked.get("codeInterpreterInvocationInput")
    if isinstance(code, Mapping):
        yield ToolCall(HOSTED_INTERPRETER, {"code": code.get("code")}, call_id)
    query = invoked.get("knowledgeBaseLookupInput")
    if isinstance(query, Mapping):
        yield ToolCall(_KNOWLEDGE_BASE, {"query": query.get("text")}, call_id)


def _iter_parameters(group: Document) -> Iterator[tuple[str, Any]]:
    body = group.get("requestBody")
    content = body.get("content") if isinstance(body, Mapping) else None
    bodies = content.values() if isinstance(content, Mapping) else ()
    for pairs in (group.get("parameters"), *bodies):
        for pair in pairs if isinstance(pairs, list) else ():
            if isinstance(pair, Mapping):
                yield str(pair.get("name")), pair.get("value")


def _read_result(observed: Document) -> tuple[str | None, str | None]:
    """Return what came back from a call, and what it failed with."""
    code = observed.get("codeInterpreterInvocationOutput")
    if isinstance(code, Mapping):
        error = code.get("executionError") or ("timed out" if code.get("executionTimeout") else None)
        return str(code.get("executionOutput") or ""), str(error) if error else None
    found = observed.get("knowledgeBaseLookupOutput")
    if isinstance(found, Mapping):
        return as_text(found.get("retrievedReferences") or []), None
    group = observed.get("actionGroupInvocationOutput")
    if isinstance(group, Mapping):
        return str(group.get("text") or ""), None
    refused = observed.get("repromptResponse")
    if isinstance(refused, Mapping):
        return (None, str(refused.get("text") or "refused"))
    return (None, None)
