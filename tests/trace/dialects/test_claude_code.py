"""Claude Code's own spans: the interaction is the agent, a tool's outcome is on the span below it."""

from __future__ import annotations

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import KeyValue

from spanproof.evaluators.detect import list_snippets
from spanproof.evaluators.runs import list_runs
from spanproof.trace import Language, SpanKind
from spanproof.trace.dialects import read_traces
from spanproof.trace.otlp import build_any_value

SCOPE = "com.anthropic.claude_code.tracing"


def pairs(held):
    return [KeyValue(key=key, value=build_any_value(value)) for key, value in held.items()]


def session(*, command="ls /srv", execution=None, prompt="What is in /srv?", output="a.csv\n"):
    request = ExportTraceServiceRequest()
    scope = request.resource_spans.add().scope_spans.add()
    scope.scope.name = SCOPE
    tool = {"span.type": "tool", "tool_name": "Bash"} | ({"full_command": command} if command else {})
    rows = [
        (1, 0, "interaction", {"span.type": "interaction", "user_prompt": prompt}),
        (
            2,
            1,
            "llm_request",
            {"span.type": "llm_request", "model": "m-1", "input_tokens": 9, "output_tokens": 4},
        ),
        (3, 1, "tool", tool),
        (4, 3, "tool.execution", {"span.type": "tool.execution", **(execution or {"success": True})}),
    ]
    for number, parent, name, held in rows:
        span = scope.spans.add(name=f"claude_code.{name}", trace_id=b"\1" * 16, span_id=bytes([number] * 8))
        span.parent_span_id = bytes([parent] * 8) if parent else b""
        span.start_time_unix_nano, span.end_time_unix_nano = number, 20 - number
        span.attributes.extend(pairs(held))
        if name == "tool" and output is not None:
            span.events.add(name="tool.output").attributes.extend(pairs({"output": output}))
    (trace,) = read_traces([request])
    return trace


def test_an_interaction_is_a_run_with_its_commands():
    trace = session()
    (run,) = list_runs(trace, list_snippets(trace))
    (snippet,) = run.snippets
    assert (run.task, run.cohort.model, run.usage.input_tokens) == ("What is in /srv?", "m-1", 9)
    assert (snippet.language, snippet.source, snippet.executed) == (Language.BASH, "ls /srv", True)
    assert snippet.observation == "a.csv\n"
    assert not run.hidden


def test_the_outcome_below_a_call_is_the_calls():
    trace = session(execution={"success": False, "error": "Permission denied"}, output=None)
    (call,) = [span for span in trace.spans if span.kind is SpanKind.TOOL]
    assert call.error.message == "Permission denied"


@pytest.mark.parametrize("command", [None, "<REDACTED>"])
def test_what_the_user_did_not_switch_on_is_hidden(command):
    trace = session(command=command, prompt="<REDACTED>", output=None)
    (run,) = list_runs(trace, list_snippets(trace))
    assert run.hidden
    assert run.task is None
    assert not run.snippets
