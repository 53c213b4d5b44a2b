"""Traces built span by span, in our vocabulary."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from spanproof.trace import Message, Payload, Span, SpanKind, ToolCall, Trace, trace_of


class TraceBuilder:
    """Adds spans one after the other; each starts after the one before and ends with its last child."""

    def __init__(self) -> None:
        self._spans: list[Span] = []
        self._clock = 0

    def add(self, kind: SpanKind, name: str, under: str | None = None, **fields: Any) -> str:
        """Add a span and return its id."""
        self._clock += 10
        span_id = f"{len(self._spans) + 1:016x}"
        end = fields.pop("end_ns", self._clock + 5)
        start = fields.pop("start_ns", self._clock)
        self._spans.append(Span("t", span_id, under, name, kind, start, end, **fields))
        return span_id

    def agent(self, name: str = "clerk", under: str | None = None, **fields: Any) -> str:
        return self.add(SpanKind.AGENT, name, under, agent=name, end_ns=10**6, **fields)

    def says(self, text: str, *calls: ToolCall, under: str | None = None, **fields: Any) -> str:
        """A model call with this text and these calls for tools."""
        said = (Message("assistant", text, calls), *fields.pop("then", ()))
        return self.add(SpanKind.LLM, "chat", under, output_messages=said, **fields)

    def tool(
        self, name: str, arguments: Any, result: Any = None, under: str | None = None, **fields: Any
    ) -> str:
        """A tool call with its result."""
        output = None if result is None else Payload(str(result), result)
        call = ToolCall(name, arguments, fields.pop("call_id", None))
        return self.add(SpanKind.TOOL, name, under, tool=call, output=output, **fields)

    def step(self, under: str | None = None, **fields: Any) -> str:
        self._clock += 10
        return self.add(SpanKind.CHAIN, "step", under, end_ns=self._clock + 45, **fields)

    def build(self) -> Trace:
        return trace_of(self._spans)


@pytest.fixture
def trace() -> TraceBuilder:
    return TraceBuilder()


@pytest.fixture
def call() -> Callable[..., ToolCall]:
    return ToolCall
