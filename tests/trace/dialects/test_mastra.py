"""Mastra's spans where they differ from those of its recordings."""

import json

import pytest

from spanproof.trace import SpanKind, ToolCall


def test_an_answer_of_a_schema_is_the_object_and_a_conversation_has_the_task(one_span):
    span = one_span(
        {
            "mastra.span.type": "agent_run",
            "gen_ai.agent.id": "weigher",
            "mastra.agent_run.input": json.dumps([{"role": "user", "content": "Weigh it."}]),
            "mastra.agent_run.output": '{"text": "{}", "object": {"kg": 4}}',
        }
    )
    assert (span.kind, span.agent, span.input.text) == (SpanKind.AGENT, "weigher", "Weigh it.")
    assert span.output.value["object"] == {"kg": 4}


def test_placeholders_of_content_that_was_left_out_are_none(one_span):
    conversation = [
        {"role": "user", "content": "Weigh it."},
        {"role": "assistant", "content": "[tool: weigh]"},
        {"role": "tool", "content": "[tool-result: weigh]"},
        {"role": "assistant", "tool_calls": [{"id": "c1", "function": {"name": "[MaxDepth]"}}]},
        {"role": "tool", "content": "4 kg", "tool_call_id": "c1"},
    ]
    span = one_span({"mastra.span.type": "model_step", "mastra.model_step.input": json.dumps(conversation)})
    assert [(message.role, message.text) for message in span.input_messages] == [
        ("user", "Weigh it."),
        ("tool", "4 kg"),
    ]


@pytest.mark.parametrize("kind", ["tool_call", "mcp_tool_call", "provider_tool_call"])
def test_each_kind_of_call_is_a_tools(one_span, kind):
    names = {"gen_ai.tool.name": "weigh", "gen_ai.tool.call.arguments": '{"shelf": 2}'}
    span = one_span({"mastra.span.type": kind, **names, "gen_ai.tool.call.result": "4 kg"})
    assert (span.tool, span.output.text) == (ToolCall("weigh", {"shelf": 2}, None), "4 kg")


@pytest.mark.parametrize("output", ["null", "[]", '{"text": null}', '{"toolCalls": [1]}', "{"])
def test_an_output_of_another_form_is_no_failure(one_span, output):
    span = one_span({"mastra.span.type": "model_step", "mastra.model_step.output": output})
    assert (span.dialect, span.error) == ("mastra", None)
