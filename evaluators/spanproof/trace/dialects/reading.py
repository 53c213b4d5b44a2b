"""What a dialect makes of one span: the content, without the ids and times that are the same in all."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from spanproof.trace import (
    Environment,
    ExecutedCode,
    Message,
    Payload,
    Span,
    SpanError,
    SpanKind,
    StepInfo,
    ToolCall,
    Usage,
)
from spanproof.trace.dialects.raw import RawSpan


@dataclass(frozen=True, slots=True)
class Reading:
    """The content of a span; each field as in `spanproof.trace.Span`.

    Attributes:
        unrecorded: its producer records no content of such spans: that there is none says nothing.
    """

    kind: SpanKind = SpanKind.OTHER
    input: Payload | None = None
    output: Payload | None = None
    input_messages: tuple[Message, ...] = ()
    output_messages: tuple[Message, ...] = ()
    tool: ToolCall | None = None
    code: ExecutedCode | None = None
    observation: str | None = None
    step: StepInfo | None = None
    usage: Usage | None = None
    model: str | None = None
    agent: str | None = None
    error: SpanError | None = None
    truncated: bool = False
    hidden: bool = False
    environment: Environment | None = None
    unrecorded: bool = False


@dataclass(frozen=True, slots=True)
class Dialect:
    """One producer's way to write spans.

    Attributes:
        scopes: names of instrumentation scopes that write it, or their beginnings.
        marks: names of attributes that no other dialect writes, or their beginnings.
        read: the content of a span; may raise on attributes that break the convention.
    """

    name: str
    scopes: tuple[str, ...]
    marks: tuple[str, ...]
    read: Callable[[RawSpan], Reading]

    def owns_scope(self, raw: RawSpan) -> bool:
        """Whether the span's scope is one of this dialect's."""
        return raw.scope.startswith(self.scopes) if self.scopes else False

    def owns_attributes(self, raw: RawSpan) -> bool:
        """Whether the span carries an attribute of this dialect."""
        if self.marks:
            return any(key.startswith(self.marks) for key in raw.attributes)
        return False


def build_span(raw: RawSpan, reading: Reading, dialect: str) -> Span:
    """Return the span of our model. Content wholly absent where a call must have some was kept back."""
    return Span(
        trace_id=raw.trace_id,
        span_id=raw.span_id,
        parent_id=raw.parent_id,
        name=raw.name,
        kind=reading.kind,
        start_ns=raw.start_ns,
        end_ns=raw.end_ns,
        dialect=dialect,
        scope=raw.scope,
        scope_version=raw.scope_version,
        input=reading.input,
        output=reading.output,
        input_messages=reading.input_messages,
        output_messages=reading.output_messages,
        tool=reading.tool,
        code=reading.code,
        observation=reading.observation,
        step=reading.step,
        usage=reading.usage if reading.kind is SpanKind.LLM else None,
        model=reading.model,
        agent=reading.agent,
        error=reading.error,
        truncated=reading.truncated,
        hidden=reading.hidden or _is_withheld(reading),
        dropped_attributes=raw.dropped,
        environment=reading.environment,
        failed=raw.failed,
        status_message=raw.status_message,
        events=raw.events,
        attributes=raw.attributes,
        resource=raw.resource,
    )


def _is_withheld(reading: Reading) -> bool:
    """Whether a model or tool call has neither input nor output: only a silenced producer writes one."""
    if reading.unrecorded or reading.kind not in (SpanKind.LLM, SpanKind.TOOL) or reading.error is not None:
        return False
    called_with_nothing = reading.tool is None or reading.tool.arguments is None
    silent = not (reading.input or reading.output or reading.input_messages or reading.output_messages)
    return silent and called_with_nothing and reading.code is None
