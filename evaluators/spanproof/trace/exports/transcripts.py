"""A conversation as spans: what harnesses and clients write that record no spans.

In: messages of an agent, in order, with its tool calls and their results. Out: an AGENT span, an LLM span for
each message of the model, a TOOL span for each call that has a result, a CHAIN span for each step of code.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any, Final

from opentelemetry.proto.trace.v1.trace_pb2 import Span

from spanproof.semconv import openinference as oi
from spanproof.semconv import spanproof as ours
from spanproof.trace.exports.rows import Fields, UnreadableRow, build_span, build_value_attributes
from spanproof.trace.model import Message, ToolCall

_STEP_NS: Final = 10**6
_NO_TIME: Final = int(datetime(2000, 1, 1, tzinfo=UTC).timestamp()) * 10**9


@dataclass(frozen=True, slots=True)
class CodeStep:
    """Code that an agent ran in a step: what it printed, gave and raised."""

    source: str
    observation: str | None = None
    output: Any = None
    error: str | None = None
    language: str = "python"
    is_final: bool = False


@dataclass(frozen=True, slots=True)
class Transcript:
    """What one run of an agent said and did.

    Attributes:
        key: what is unique to it, of which its ids are made.
        turns: messages and steps of code, in order.
        answer: what it ended with; None takes the model's last words.
        errors: of tool calls that failed, by the call's id.
        started: its start as the file has it, None where it has none.
        is_request: it is a call of a model, which is sent the calls before it again.
    """

    key: str
    name: str
    turns: Sequence[Message | CodeStep]
    task: str | None = None
    answer: str | None = None
    model: str | None = None
    errors: dict[str, str] = field(default_factory=dict)
    started: object = None
    is_request: bool = False


def iter_transcript_spans(transcript: Transcript) -> Iterator[Span]:
    """Yield the spans of a run."""
    builder = _Builder(transcript)
    below = list(builder.iter_spans())
    messages = [turn for turn in transcript.turns if isinstance(turn, Message)]
    task = transcript.task or "\n\n".join(
        message.text for message in messages if message.role == "user" and message.text
    )
    last = messages[-1] if messages and messages[-1].role == "assistant" else None
    answer = transcript.answer or (last.text if last is not None and not last.tool_calls else None)
    yield builder.build_span("AGENT", transcript.name, "", builder.start_ns, task or None, answer or None)
    yield from below


def _get_start(transcript: Transcript) -> int:
    """Return when a run started; where the file has no time that can be read, a fixed one."""
    root = (transcript.key, f"{transcript.key}/0", None, "")
    try:
        return build_span(Fields(*root, transcript.started or _NO_TIME, None)).start_time_unix_nano
    except UnreadableRow:
        return _NO_TIME


class _Builder:
    """Makes the spans of one run, one after the other."""

    def __init__(self, transcript: Transcript) -> None:
        self._transcript = transcript
        self._number = 0
        self.start_ns = _get_start(transcript)

    def build_span(
        self,
        kind: str,
        name: str,
        parent: str,
        start_ns: int,
        arguments: object = None,
        result: object = None,
        error: str | None = None,
        more: Mapping[str, object] = MappingProxyType({}),
    ) -> Span:
        """Return a span; the root ends last."""
        key = f"{self._transcript.key}/{self._number if parent else 0}"
        if parent:
            end_ns = start_ns + _STEP_NS
        else:
            end_ns = start_ns + (self._number + 1) * _STEP_NS
        attributes = {
            oi.SPAN_KIND: kind,
            **build_value_attributes("input", arguments),
            **build_value_attributes("output", result),
            **more,
        }
        return build_span(
            Fields(self._transcript.key, key, parent or None, name, start_ns, end_ns, attributes, error)
        )

    def iter_spans(self) -> Iterator[Span]:
        """Yield a span for each turn that is the agent's doing."""
        results = {
            turn.tool_call_id: turn
            for turn in self._transcript.turns
            if isinstance(turn, Message) and turn.role == "tool" and turn.tool_call_id
        }
        unanswered: list[ToolCall] = []
        heard: list[Message] = []
        for turn in self._transcript.turns:
            if isinstance(turn, CodeStep):
                yield self._build_code(turn)
            elif turn.role == "assistant":
                yield self._build_model_call(turn, heard)
                heard = []
                unanswered = [call for call in turn.tool_calls if call.call_id not in results]
                for call in turn.tool_calls:
                    if call.call_id in results:
                        yield self._build_tool_call(call, results[call.call_id])
            elif turn.role == "tool" and turn.tool_call_id not in results and unanswered:
                yield self._build_tool_call(unanswered.pop(0), turn)
            elif turn.role != "tool":
                heard.append(turn)

    def _add_place(self) -> tuple[str, int]:
        self._number += 1
        return f"{self._transcript.key}/0", self.start_ns + self._number * _STEP_NS

    def _build_model_call(self, reply: Message, heard: Sequence[Message]) -> Span:
        parent, start_ns = self._add_place()
        request = [{"role": message.role, "content": message.text} for message in heard]
        calls = [
            {"id": call.call_id, "function": {"name": call.name, "arguments": call.arguments}}
            for call in reply.tool_calls
        ]
        message = {"role": "assistant", "content": reply.text, "tool_calls": calls}
        model = {oi.LLM_MODEL_NAME: self._transcript.model}
        return self.build_span("LLM", "model", parent, start_ns, request or None, message, more=model)

    def _build_tool_call(self, call: ToolCall, result: Message) -> Span:
        parent, start_ns = self._add_place()
        error = self._transcript.errors.get(call.call_id or "")
        more = {oi.TOOL_NAME: call.name, "tool_call.id": call.call_id}
        arguments = call.arguments if call.arguments is not None else {}
        shown = None if error else result.text
        return self.build_span("TOOL", call.name, parent, start_ns, arguments, shown, error, more)

    def _build_code(self, step: CodeStep) -> Span:
        parent, start_ns = self._add_place()
        held = {
            ours.CODE_SOURCE: step.source,
            ours.CODE_LANGUAGE: step.language,
            ours.EXECUTION_OBSERVATION: step.observation,
            ours.EXECUTION_OUTPUT: None if step.output is None else json.dumps(step.output, default=str),
            ours.EXECUTION_OUTPUT_MIME_TYPE: None if step.output is None else "application/json",
            ours.EXECUTION_IS_FINAL: step.is_final or None,
            ours.STEP_NUMBER: self._number,
        }
        return self.build_span("CHAIN", f"Step {self._number}", parent, start_ns, error=step.error, more=held)
