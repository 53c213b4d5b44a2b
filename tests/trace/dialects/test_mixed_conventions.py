"""Spans that give their kind by one convention and their content by another lose nothing."""

import json

from spanproof.evaluators.detect import list_snippets
from spanproof.evaluators.runs import list_runs
from spanproof.trace import SpanKind, trace_of

USER = json.dumps([{"role": "user", "parts": [{"type": "text", "content": "How much?"}]}])
REPLY = json.dumps(
    [{"role": "assistant", "parts": [{"type": "text", "content": "45.00"}], "finish_reason": "stop"}]
)


def test_a_genai_agent_with_values_has_task_and_answer(one_span):
    span = one_span(
        {"gen_ai.operation.name": "invoke_agent", "input.value": "How much?", "output.value": "45.00"}
    )
    (run,) = list_runs(trace_of([span]), list_snippets(trace_of([span])))
    assert (span.kind, run.task, run.answer.text) == (SpanKind.AGENT, "How much?", "45.00")


def test_an_openinference_agent_with_genai_messages_has_task_and_answer(one_span):
    span = one_span(
        {"openinference.span.kind": "AGENT", "gen_ai.input.messages": USER, "gen_ai.output.messages": REPLY}
    )
    (run,) = list_runs(trace_of([span]), list_snippets(trace_of([span])))
    assert (run.task, run.answer.text) == ("How much?", "45.00")


def test_a_genai_call_with_values_has_messages(one_span):
    span = one_span({"gen_ai.operation.name": "chat", "input.value": "How much?", "output.value": "45.00"})
    assert [message.text for message in span.input_messages] == ["How much?"]
    assert [(message.role, message.text) for message in span.output_messages] == [("assistant", "45.00")]


def test_a_genai_tool_with_values_has_arguments_and_result(one_span):
    span = one_span(
        {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": "get_refund",
            "input.value": '{"order": 2}',
            "output.value": "45.0",
        }
    )
    assert (span.tool.arguments, span.output.text) == ({"order": 2}, "45.0")


def test_system_instructions_come_first(one_span):
    instructions = json.dumps([{"type": "text", "content": "You answer."}])
    given = {"gen_ai.system_instructions": instructions, "gen_ai.input.messages": USER}
    span = one_span({"gen_ai.operation.name": "chat", **given})
    assert [(message.role, message.text) for message in span.input_messages] == [
        ("system", "You answer."),
        ("user", "How much?"),
    ]


def test_older_prompt_and_completion_are_messages(one_span):
    span = one_span(
        {"gen_ai.operation.name": "chat", "gen_ai.prompt": "How much?", "gen_ai.completion": "45.00"}
    )
    assert span.input_messages[0].text == "How much?"
    assert span.output_messages[0].text == "45.00"


def test_a_tool_call_that_names_no_operation_is_a_tool_call(one_span):
    span = one_span({"gen_ai.tool.name": "count_kegs", "input.value": '{"cellar": 2}', "output.value": "17"})
    assert (span.kind, span.tool.name, span.tool.arguments) == (SpanKind.TOOL, "count_kegs", {"cellar": 2})
    assert span.output.text == "17"


def test_a_model_call_that_names_no_operation_is_a_model_call(one_span):
    span = one_span(
        {"gen_ai.request.model": "m-1", "gen_ai.input.messages": USER, "gen_ai.output.messages": REPLY}
    )
    assert (span.kind, span.output_messages[0].text) == (SpanKind.LLM, "45.00")


def test_a_model_alone_makes_no_call(one_span):
    assert one_span({"gen_ai.request.model": "m-1"}).kind is SpanKind.OTHER
