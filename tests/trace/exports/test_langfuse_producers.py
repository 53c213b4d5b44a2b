"""Observations that came to Langfuse over OpenTelemetry are read as their producer wrote them.

Langfuse keeps a producer's scope and attributes in the metadata, as texts, and takes the content out of them.
"""

from __future__ import annotations

import json

import pytest

from spanproof.evaluators.detect import list_snippets
from spanproof.evaluators.runs import list_runs
from spanproof.trace import SpanKind
from spanproof.trace.dialects import read_traces
from spanproof.trace.exports import read_file

TASK, ANSWER = "How many kegs are left?", "There are 17 kegs left."
QUESTION = [{"role": "user", "content": TASK}]
CALL = {"id": "c1", "type": "function", "function": {"name": "count_kegs", "arguments": '{"cellar": 2}'}}
REQUESTED = {"role": "assistant", "content": "", "tool_calls": [CALL]}
ANSWERED = {"role": "assistant", "content": ANSWER}
GIVEN, RESULT = {"cellar": 2}, "17"
PYDANTIC_AGENT = {"agent_name": "cellarer", "model_name": "m-1", "logfire.msg": "cellarer run"}

# By producer: its scope, then type, name and attributes of agent, first call, tool and second call.
PRODUCERS = {
    "openinference": (
        "openinference.instrumentation.agno",
        ("SPAN", "cellarer.run", {"openinference.span.kind": "AGENT"}),
        ("GENERATION", "chat", {"openinference.span.kind": "LLM", "llm.model_name": "m-1"}),
        ("SPAN", "count_kegs", {"openinference.span.kind": "TOOL", "tool.name": "count_kegs"}),
    ),
    "pydantic_ai": (
        "pydantic-ai",
        ("SPAN", "cellarer run", PYDANTIC_AGENT),
        ("GENERATION", "chat m-1", {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m-1"}),
        ("TOOL", "running tool: count_kegs", {"gen_ai.tool.name": "count_kegs", "gen_ai.tool.call.id": "c1"}),
    ),
    "otel_genai": (
        "agent_framework",
        ("AGENT", "invoke_agent cellarer", {"gen_ai.operation.name": "invoke_agent"}),
        ("GENERATION", "chat m-1", {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m-1"}),
        ("TOOL", "execute_tool count_kegs", {"gen_ai.tool.name": "count_kegs"}),
    ),
    "koog": (
        "ai.koog",
        ("AGENT", "run.1", {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.id": "a1"}),
        ("GENERATION", "llm.chat", {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m-1"}),
        ("SPAN", "tool.count_kegs", {"gen_ai.tool.name": "count_kegs", "gen_ai.tool.call.id": "c1"}),
    ),
    "vercel": (
        "ai",
        ("GENERATION", "ai.generateText", {"ai.operationId": "ai.generateText"}),
        (
            "GENERATION",
            "ai.generateText.doGenerate",
            {"ai.operationId": "ai.generateText.doGenerate", "ai.model.id": "m-1"},
        ),
        ("TOOL", "count_kegs", {"ai.operationId": "ai.toolCall", "ai.toolCall.name": "count_kegs"}),
    ),
}


def observe(number, parent, described, given, result, scope):
    kind, name, attributes = described
    return {
        "id": f"{number:016x}",
        "traceId": "ab" * 16,
        "parentObservationId": f"{parent:016x}" if parent else None,
        "type": kind,
        "name": name,
        "startTime": f"2026-03-01T10:00:0{number}.000Z",
        "endTime": f"2026-03-01T10:00:0{number + (9 - number if number == 1 else 0)}.500Z",
        "input": given,
        "output": result,
        "metadata": {
            "scope": {"name": scope},
            "attributes": {"gen_ai.usage.input_tokens": "12", **attributes},
            "resourceAttributes": {"service.name": "brewery"},
        },
    }


def export_story(producer):
    scope, agent, call, tool = PRODUCERS[producer]
    history = [*QUESTION, REQUESTED, {"role": "tool", "content": RESULT, "tool_call_id": "c1"}]
    task = {"messages": QUESTION} if producer == "vercel" else TASK
    return [
        observe(1, 0, agent, task, ANSWER, scope),
        observe(2, 1, call, QUESTION, REQUESTED, scope),
        observe(3, 1, tool, GIVEN, RESULT, scope),
        observe(4, 1, call, history, ANSWERED, scope),
    ]


def read_trace(tmp_path, rows):
    path = tmp_path / "trace.json"
    path.write_text(json.dumps({"trace": {"id": "ab" * 16}, "observations": rows}))
    requests, malformed = read_file(path)
    assert not malformed
    (trace,) = read_traces(requests)
    return trace


@pytest.mark.parametrize("producer", PRODUCERS)
@pytest.mark.parametrize("as_text", [False, True])
def test_a_run_is_the_run_that_its_producer_recorded(tmp_path, producer, as_text):
    rows = export_story(producer)
    if as_text:  # as the export to blob storage has documents
        rows = [row | {"metadata": json.dumps(row["metadata"])} for row in rows]
    trace = read_trace(tmp_path, rows)
    assert [span.kind for span in trace.spans] == [SpanKind.AGENT, SpanKind.LLM, SpanKind.TOOL, SpanKind.LLM]
    (run,) = list_runs(trace, list_snippets(trace))
    assert (run.task, run.answer.text, run.cohort.service) == (TASK, ANSWER, "brewery")
    (call,) = [call for step in run.steps for call in step.calls]
    assert (call.tool, dict(call.kwargs), str(call.result.value)) == ("count_kegs", GIVEN, RESULT)
    first = trace.spans[1]
    assert [(each.name, each.arguments) for each in first.output_messages[-1].tool_calls] == [
        ("count_kegs", GIVEN)
    ]


def test_counts_of_tokens_are_numbers_again(tmp_path):
    trace = read_trace(tmp_path, export_story("otel_genai"))
    assert trace.spans[1].usage.input_tokens == 12


def test_what_langfuses_own_sdk_wrote_is_read_as_langfuses(tmp_path):
    rows = [row | {"metadata": {"scope": {"name": "langfuse-sdk"}}} for row in export_story("pydantic_ai")]
    assert {span.dialect for span in read_trace(tmp_path, rows).spans} == {"langfuse"}


def test_an_observation_whose_producer_names_no_kind_has_langfuses(tmp_path):
    rows = export_story("otel_genai")
    rows[2]["metadata"]["attributes"] = {"gen_ai.system": "openai", "shop.cellar": "2"}
    tool = read_trace(tmp_path, rows).spans[2]
    assert (tool.kind, tool.tool.name, tool.output.text) == (SpanKind.TOOL, rows[2]["name"], RESULT)
