"""Small traces in a short form, made OTLP and read by our own dialect: what golden files are written in.

Comes in: a list of steps as a person writes them; comes out: the `Trace` a collector would make of them. A
step says what `ran` in it (its language, what it `prints`, its `value`, its `error`, the `tools` it called),
what the model `said`, or which `tool` was called outside of code. docs of every key: tests/golden/README.md.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import KeyValue

from spanproof.semconv import genai
from spanproof.semconv import openinference as oi
from spanproof.semconv import spanproof as ours
from spanproof.trace import Trace, trace_of
from spanproof.trace.dialects import normalise_request
from spanproof.trace.otlp import build_any_value

TRACE_ID = "5b8efff798038103d269b633813fc60c"
AGENT = "00000000000000aa"
START_NS = 1_780_000_000_000_000_000

STEP_KEYS = frozenset(
    (
        *("ran", "language", "prints", "value", "shown", "error", "chain", "tools", "executor", "cut"),
        *("final", "said", "asked", "tool", "arguments", "result", "hidden"),
        "refused",
    )
)


class _Spans:
    """A request under way; each span starts after the one before it."""

    def __init__(self, scope: str, trace_id: str, start_ns: int) -> None:
        self.request = ExportTraceServiceRequest()
        self._spans = self.request.resource_spans.add().scope_spans.add()
        self._spans.scope.name = scope
        self._trace_id = bytes.fromhex(trace_id)
        self._at = start_ns

    def add(
        self,
        span_id: str,
        parent: str | None,
        name: str,
        error: str | None = None,
        refused: str | None = None,
        **attributes: Any,
    ) -> None:
        self._at += 1_000_000
        span = self._spans.spans.add(
            trace_id=self._trace_id,
            span_id=bytes.fromhex(span_id),
            parent_span_id=bytes.fromhex(parent or ""),
            name=name,
            start_time_unix_nano=self._at,
            end_time_unix_nano=self._at + 500_000,
        )
        if refused is not None:
            event = span.events.add(name=ours.GUARD_EVENT, time_unix_nano=self._at)
            event.attributes.extend(_attributes({ours.GUARD_BLOCKED: True, ours.GUARD_RULE: refused}))
            attributes |= {ours.GUARD_VERDICT: "deny"}
            error = error or "CodeRefused: the code was not run"
        if error is not None:
            type_, _, message = error.partition(": ")
            event = span.events.add(name="exception", time_unix_nano=self._at)
            event.attributes.extend(_attributes({"exception.type": type_, "exception.message": message}))
            span.status.code, span.status.message = 2, message
        given = {key: value for key, value in attributes.items() if value is not None}
        span.attributes.extend(_attributes(given))


def trace_in_short(document: Mapping[str, Any]) -> Trace:
    """The trace of a golden case: its `steps`, and what else it says of the run."""
    return trace_of(list(normalise_request(request_in_short(document))))


def request_in_short(document: Mapping[str, Any]) -> ExportTraceServiceRequest:
    """The same as a collector receives it."""
    start_ns = START_NS + document.get("start_s", 0) * 10**9
    spans = _Spans(ours.SCOPE_PREFIX + "instrumentors.golden", document.get("trace_id", TRACE_ID), start_ns)
    spans.add(
        AGENT,
        None,
        "clerk",
        **{
            oi.SPAN_KIND: "AGENT",
            genai.AGENT_NAME: "clerk",
            oi.INPUT_VALUE: None if document.get("hidden") else document.get("task", "a task"),
            oi.OUTPUT_VALUE: None if document.get("hidden") else str(document.get("answer", "done")),
            ours.CONTENT_HIDDEN: document.get("hidden"),
        },
    )
    for number, step in enumerate(document.get("steps", ()), 1):
        unknown = step.keys() - STEP_KEYS
        assert not unknown, f"a step has no key {sorted(unknown)}"
        _step(spans, number, step)
    return spans.request


def _step(spans: _Spans, number: int, step: Mapping[str, Any]) -> None:
    span_id = f"{number:016x}"
    own = {} if "tool" in step else step
    spans.add(span_id, AGENT, f"step {number}", own.get("error"), own.get("refused"), **{
        oi.SPAN_KIND: "CHAIN",
        ours.STEP_NUMBER: number,
        ours.STEP_KIND: "action",
        ours.CONTENT_HIDDEN: step.get("hidden"),
        **(_code(step) if "ran" in step else {}),
    })  # fmt: skip
    if "said" in step or "asked" in step:
        _model(spans, f"{number:015x}b", span_id, step)
    for at, call in enumerate(step.get("tools", ())):
        _tool(spans, f"{number:013x}c{at:02x}", span_id, call)
    if "tool" in step:
        _tool(spans, f"{number:015x}d", span_id, step)


def _code(step: Mapping[str, Any]) -> dict[str, Any]:
    executor = step.get("executor", {})
    return {
        ours.CODE_SOURCE: step["ran"],
        ours.CODE_LANGUAGE: step.get("language", "python"),
        ours.EXECUTION_LOGS: step.get("prints", "" if "value" in step else None),
        ours.EXECUTION_OUTPUT: json.dumps(step["value"]) if "value" in step else None,
        ours.EXECUTION_OUTPUT_MIME_TYPE: "application/json" if "value" in step else None,
        ours.EXECUTION_OBSERVATION: step.get("shown"),
        ours.EXECUTION_ERROR_CHAIN: step.get("chain"),
        ours.EXECUTION_IS_FINAL: step.get("final"),
        ours.CONTENT_TRUNCATED: [ours.CODE_SOURCE] if step.get("cut") else None,
        ours.EXECUTOR_TYPE: executor.get("type"),
        ours.EXECUTOR_VERSION: executor.get("version"),
        ours.EXECUTOR_IMAGE_NAME: executor.get("image"),
        ours.EXECUTOR_IMAGE_DIGEST: executor.get("digest"),
    }


def _model(spans: _Spans, span_id: str, parent: str, step: Mapping[str, Any]) -> None:
    parts: list[dict[str, Any]] = [{"type": "text", "content": step["said"]}] if "said" in step else []
    for requested in step.get("asked", ()):
        parts.append({"type": "tool_call", "name": requested["tool"], "arguments": requested["arguments"]})
    spans.add(span_id, parent, "chat m-1", **{
        oi.SPAN_KIND: "LLM",
        genai.OUTPUT_MESSAGES: json.dumps([{"role": "assistant", "parts": parts}]),
    })  # fmt: skip


def _tool(spans: _Spans, span_id: str, parent: str, call: Mapping[str, Any]) -> None:
    arguments = call.get("arguments", {})
    spans.add(span_id, parent, call["tool"], call.get("error"), call.get("refused"), **{
        oi.SPAN_KIND: "TOOL",
        genai.TOOL_NAME: call["tool"],
        genai.TOOL_CALL_ARGUMENTS: None if call.get("hidden") else json.dumps(arguments),
        oi.OUTPUT_VALUE: json.dumps(call["result"]) if "result" in call else None,
        oi.OUTPUT_MIME_TYPE: "application/json" if "result" in call else None,
        ours.CONTENT_HIDDEN: call.get("hidden"),
    })  # fmt: skip


def _attributes(values: Mapping[str, Any]) -> list[KeyValue]:
    return [KeyValue(key=key, value=build_any_value(value)) for key, value in values.items()]
