"""Content that frameworks hand to any producer: events, documents, messages, calls at the provider."""

from __future__ import annotations

import json

import pytest

from spanproof.trace import SpanKind
from spanproof.trace.dialects.messages import read_messages


def answered(value):
    return [(m.role, m.text, [(c.name, c.arguments) for c in m.tool_calls]) for m in read_messages([value])]


@pytest.mark.parametrize(
    ("call", "response", "arguments", "text"),
    [
        ({"code": "print(7)"}, {"outputs": [{"type": "logs", "logs": "7\n"}]}, {"code": "print(7)"}, "7\n"),
        (
            {"command": "ls"},
            {"stdout": "a.csv\n", "stderr": "", "return_code": 0},
            {"command": "ls"},
            "a.csv\n",
        ),
        ({"arguments": {"q": "hops"}}, {"response": "3 kg"}, {"q": "hops"}, "3 kg"),
        (
            {"query": "hops"},
            {"results": [{"title": "t", "kg": 3}]},
            {"query": "hops"},
            '[{"title":"t","kg":3}]',
        ),
    ],
)
@pytest.mark.parametrize("with_id", [True, False])
def test_a_call_at_the_provider_is_read_whatever_its_members(call, response, arguments, text, with_id):
    identity = {"id": "s1"} if with_id else {}
    tool = "hosted"
    message = {
        "role": "assistant",
        "parts": [
            {
                "type": "server_tool_call",
                **identity,
                "name": tool,
                "server_tool_call": {"type": tool, **call},
            },
            {
                "type": "server_tool_call_response",
                **identity,
                "server_tool_call_response": {"type": tool, **response},
            },
            {"type": "text", "content": "Done."},
        ],
    }
    spoken, result = read_messages([message])
    assert (spoken.text, spoken.tool_calls[0].name, spoken.tool_calls[0].arguments) == (
        "Done.",
        tool,
        arguments,
    )
    assert (result.role, result.text, result.tool_call_id) == ("tool", text, spoken.tool_calls[0].call_id)


def test_a_call_at_the_provider_that_holds_its_outputs_is_call_and_result():
    inner = {"code": "print(7)", "outputs": [{"type": "logs", "logs": "7"}, {"type": "image", "url": "u"}]}
    part = {"type": "server_tool_call", "id": "s", "server_tool_call": {"type": "code_interpreter", **inner}}
    assert answered({"role": "assistant", "parts": [part]}) == [
        ("assistant", "", [("code_interpreter", {"code": "print(7)"})]),
        ("tool", "7", []),
    ]


@pytest.mark.parametrize("role", ["tool", "user"])
@pytest.mark.parametrize("as_part", [True, False])
def test_results_that_stand_as_json_in_a_text_are_results(role, as_part):
    text = json.dumps(
        [{"type": "tool-result", "toolCallId": "c", "output": {"type": "json", "value": {"stdout": "7\n"}}}]
    )
    content = [{"type": "text", "text": text}] if as_part else text
    (message,) = read_messages([{"role": role, "content": content}])
    assert (message.role, message.text, message.tool_call_id) == ("tool", "7\n", "c")


def test_what_a_model_writes_is_no_result_of_a_tool():
    text = json.dumps([{"type": "tool-result", "toolCallId": "c", "output": "7"}])
    (message,) = read_messages([{"role": "assistant", "content": text}])
    assert (message.role, message.text) == ("assistant", text)


EVENT = {
    "content": {"parts": [{"text": "It is 84."}], "role": "model"},
    "author": "clerk",
    "id": "k9",
    "timestamp": 1756370000.1,
}


@pytest.mark.parametrize(
    ("scope", "attributes"),
    [
        (
            "openinference.instrumentation.google_adk",
            {"openinference.span.kind": "AGENT", "output.value": json.dumps(EVENT)},
        ),
        (
            "langfuse-sdk",
            {"langfuse.observation.type": "agent", "langfuse.observation.output": json.dumps(EVENT)},
        ),
        ("gcp.vertex.agent", {"gen_ai.operation.name": "invoke_agent", "output.value": json.dumps([EVENT])}),
    ],
)
def test_an_event_of_adk_is_what_it_says(one_span, scope, attributes):
    span = one_span(attributes, scope)
    assert (span.kind, span.output.text) == (SpanKind.AGENT, "It is 84.")


def test_an_event_that_requests_a_call_says_nothing(one_span):
    content = {"parts": [{"functionCall": {"id": "f", "name": "total", "args": {}}}], "role": "model"}
    event = json.dumps({**EVENT, "content": content})
    assert one_span({"openinference.span.kind": "AGENT", "output.value": event}).output is None


def test_the_message_that_a_run_of_adk_is_given_is_its_task(one_span):
    given = json.dumps({"user_id": "u", "new_message": {"parts": [{"text": "How much?"}], "role": "user"}})
    span = one_span({"openinference.span.kind": "CHAIN", "input.value": given})
    assert span.input.text == "How much?"


def test_a_function_response_is_what_the_tool_gave(one_span):
    given = json.dumps({"id": "f", "name": "total", "response": {"result": 84}})
    span = one_span({"openinference.span.kind": "TOOL", "tool.name": "total", "output.value": given})
    assert span.output.value == 84


MESSAGE = {"type": "tool", "content": "84", "name": "total", "tool_call_id": "c1", "status": "success"}


@pytest.mark.parametrize("wrapped", [MESSAGE, {"lc": 1, "kwargs": MESSAGE}, {"output": MESSAGE}])
def test_a_span_that_gave_a_tools_message_is_a_tool_call(one_span, wrapped):
    span = one_span(
        {
            "langfuse.observation.type": "span",
            "langfuse.observation.input": "{'order': 'K-3'}",
            "langfuse.observation.output": json.dumps(wrapped),
        },
        "langfuse-sdk",
    )
    assert (span.kind, span.tool.name, span.tool.arguments) == (SpanKind.TOOL, "total", {"order": "K-3"})
    assert (span.tool.call_id, span.output.text) == ("c1", "84")


def test_a_result_of_mcp_is_its_text_and_its_failure(one_span):
    result = {"content": [{"type": "text", "text": "no cellar 9"}], "isError": True}
    span = one_span(
        {"openinference.span.kind": "TOOL", "tool.name": "kegs", "output.value": json.dumps(result)}
    )
    assert (span.output.text, span.error.message) == ("no cellar 9", "no cellar 9")


# Name, kind and further attributes of the spans that BeeAI has of an agent's one turn.
BEEAI_EVENTS = [
    ("agent.react.start-1", "AGENT", {"input.value": "[]"}),
    ("backend.openai.chat.start-1", "LLM", {}),
    (
        "backend.openai.chat.success-1",
        "LLM",
        {f"llm.output_messages.{n}.message.content": text for n, text in enumerate(["17", " kegs"])},
    ),
    ("backend.openai.chat.finish-1", "LLM", {}),
    ("tool.cellar.start-1", "TOOL", {"tool.parameters": '{"cellar": 2}'}),
    ("tool.cellar.success-1", "TOOL", {"tool.parameters": '{"cellar": 2}', "output.value": "17"}),
    ("tool.cellar.finish-1", "TOOL", {}),
    ("agent.react.success-1", "AGENT", {"output.value": "17"}),
]


def test_each_call_of_beeai_is_one_span_and_its_events_are_no_agents(one_span):
    scope = "openinference.instrumentation.beeai"
    spans = [
        one_span({"openinference.span.kind": kind, **attributes}, scope=scope, name=name)
        for name, kind, attributes in BEEAI_EVENTS
    ]
    calls = [span for span in spans if span.kind is not SpanKind.CHAIN]
    assert [span.kind for span in calls] == [SpanKind.LLM, SpanKind.TOOL]
    model, tool = calls
    assert [message.text for message in model.output_messages] == ["17 kegs"]
    assert (tool.tool.name, tool.tool.arguments, tool.output.text) == ("cellar", {"cellar": 2}, "17")


BEEAI = "openinference.instrumentation.beeai"


def test_a_call_of_beeai_is_its_own_span_and_the_events_below_it_are_none(one_span):
    call = one_span(
        {
            "openinference.span.kind": "TOOL",
            "tool.name": "count_kegs",
            "input.value": '{"input": {"cellar": 9}, "options": null}',
            "output.value": "0",
        },
        scope=BEEAI,
        name="count_kegs",
    )
    assert (call.kind, call.tool.arguments, call.output.text) == (SpanKind.TOOL, {"cellar": 9}, "0")
    event = {"openinference.span.kind": "TOOL", "metadata.path": "tool.custom.count_kegs.error"}
    assert one_span(event, scope=BEEAI, name="error").kind is SpanKind.CHAIN


def test_the_tool_by_which_beeai_answers_gives_the_answer(one_span):
    span = one_span(
        {
            "openinference.span.kind": "TOOL",
            "tool.name": "final_answer",
            "input.value": '{"input": {"response": "17 kegs."}, "options": null}',
            "output.value": "Message has been sent",
        },
        scope=BEEAI,
        name="final_answer",
    )
    assert span.output.text == "17 kegs."


@pytest.mark.parametrize(
    ("name", "kind"), [("agent_run [brewer]", SpanKind.AGENT), ("tool_call [kegs]", SpanKind.TOOL)]
)
def test_the_first_spans_of_adk_are_known_by_their_names(one_span, name, kind):
    span = one_span({"gcp.vertex.agent.tool_call_args": '{"cellar": 2}'}, scope="gcp.vertex.agent", name=name)
    assert span.kind is kind
    assert (span.agent, span.tool and span.tool.arguments) in [("brewer", None), (None, {"cellar": 2})]


def test_the_answer_of_llama_index_is_the_reply_without_the_calls_before_it(one_span):
    given = {
        "response": {"role": "assistant", "blocks": [{"text": "17 kegs."}]},
        "tool_calls": [{"tool_name": "kegs"}],
    }
    attributes = {"openinference.span.kind": "CHAIN", "output.value": json.dumps(given)}
    span = one_span(attributes, scope="openinference.instrumentation.llama_index", name="Workflow.run")
    assert span.output.text == "17 kegs."


def test_what_writes_the_result_of_a_node_of_langgraph_is_no_agent(one_span):
    span = one_span({"openinference.span.kind": "AGENT"}, name="ChannelWrite<...,brew_agent>")
    assert span.kind is SpanKind.CHAIN


def test_a_node_that_gave_messages_of_tools_is_none(one_span):
    given = json.dumps({"messages": [MESSAGE]})
    span = one_span({"openinference.span.kind": "CHAIN", "output.value": given})
    assert span.kind is SpanKind.CHAIN


@pytest.mark.parametrize(
    "attributes",
    [
        {
            "openinference.span.kind": "RETRIEVER",
            "retrieval.documents.0.document.content": "Hops: 3.",
            "retrieval.documents.1.document.content": "Malt: 9.",
            "retrieval.documents.0.document.score": 0.9,
        },
        {
            "openinference.span.kind": "RERANKER",
            "reranker.output_documents.0.document.content": "Hops: 3.",
            "reranker.output_documents.1.document.content": "Malt: 9.",
        },
        {
            "gen_ai.operation.name": "retrieval",
            "gen_ai.retrieval.documents": '[{"id": "a", "content": "Hops: 3."}, {"content": "Malt: 9."}]',
        },
        {
            "openinference.span.kind": "RETRIEVER",
            "output.value": '{"documents": [{"page_content": "Hops: 3."}, {"page_content": "Malt: 9."}]}',
            "output.mime_type": "application/json",
        },
        {
            "langfuse.observation.type": "retriever",
            "langfuse.observation.output": '[{"pageContent": "Hops: 3."}, {"pageContent": "Malt: 9."}]',
        },
        {
            "mlflow.spanType": '"RETRIEVER"',
            "mlflow.spanOutputs": '[{"page_content": "Hops: 3.", "id": 1}, {"page_content": "Malt: 9."}]',
        },
        {
            "traceloop.span.kind": "task",
            "gen_ai.operation.name": "retrieval",
            "retrieval.documents": '[{"node": {"text": "Hops: 3."}}, {"node": {"text": "Malt: 9."}}]',
        },
    ],
    ids=["openinference", "reranker", "genai", "langchain", "langfuse", "mlflow", "nodes"],
)
def test_documents_of_a_retriever_are_its_output(one_span, attributes):
    span = one_span(attributes)
    assert (span.kind, span.output.text) == (SpanKind.RETRIEVER, "Hops: 3.\n\nMalt: 9.")
