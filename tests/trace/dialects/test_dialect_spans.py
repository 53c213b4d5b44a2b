import json
import logging

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import KeyValue

from spanproof.trace import SpanError, SpanKind, ToolCall, Usage
from spanproof.trace.dialects import DIALECTS, normalise_request
from spanproof.trace.otlp import build_any_value

TRACEBACK = """Traceback (most recent call last):
  File "shop.py", line 2, in price
    return prices[9]
KeyError: 9

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "shop.py", line 5, in price
    raise PriceError("no price")
shop.errors.PriceError: no price
"""


def _request(*spans, scope="openinference.test"):
    """A request of spans given as (id, parent, attributes, events, status message)."""
    request = ExportTraceServiceRequest()
    scope_spans = request.resource_spans.add().scope_spans.add()
    scope_spans.scope.name = scope
    for number, parent, attributes, *more in spans:
        span = scope_spans.spans.add(
            name=f"s{number}",
            trace_id=b"\1" * 16,
            span_id=bytes([0] * 7 + [number]),
            start_time_unix_nano=number,
        )
        if parent:
            span.parent_span_id = bytes([0] * 7 + [parent])
        span.attributes.extend(_pairs(attributes))
        for event in more[0] if more else ():
            span.events.add(name="exception").attributes.extend(_pairs(event))
        if len(more) > 1:
            span.status.code, span.status.message = 2, more[1]
    return request


def _pairs(attributes):
    return [KeyValue(key=key, value=build_any_value(value)) for key, value in attributes.items()]


def test_the_scope_decides_before_the_attributes(one_span):
    both = {
        "gen_ai.operation.name": "chat",
        "openinference.span.kind": "TOOL",
        "langfuse.observation.type": "agent",
    }
    assert one_span(both, scope="openinference.instrumentation.x").kind is SpanKind.TOOL
    assert one_span(both, scope="langfuse-sdk").kind is SpanKind.AGENT
    assert one_span(both, scope="opentelemetry.instrumentation.genai.x").kind is SpanKind.LLM


@pytest.mark.parametrize(
    ("attributes", "dialect", "kind"),
    [
        ({"openinference.span.kind": "CHAIN", "gen_ai.system": "x"}, "openinference", SpanKind.CHAIN),
        ({"spanproof.code.source": "1", "openinference.span.kind": "CHAIN"}, "spanproof", SpanKind.CHAIN),
        ({"traceloop.span.kind": "tool", "gen_ai.operation.name": "chat"}, "traceloop", SpanKind.TOOL),
        ({"llm.request.type": "chat", "gen_ai.prompt.0.role": "user"}, "traceloop", SpanKind.LLM),
        ({"gen_ai.span.kind": "AGENT"}, "traceai", SpanKind.AGENT),
        ({"fi.span.kind": "LLM"}, "traceai", SpanKind.LLM),
        ({"ai.operationId": "ai.toolCall"}, "vercel", SpanKind.TOOL),
        ({"mlflow.spanType": '"RETRIEVER"'}, "mlflow", SpanKind.RETRIEVER),
        ({"gen_ai.operation.name": "invoke_workflow"}, "otel_genai", SpanKind.CHAIN),
        ({"http.method": "GET"}, "generic", SpanKind.OTHER),
    ],
)
def test_a_scope_that_says_nothing_leaves_it_to_the_attributes(one_span, attributes, dialect, kind):
    span = one_span(attributes, scope="app")
    assert (span.dialect, span.kind) == (dialect, kind)


def test_an_exception_recorded_twice_is_one_error_with_its_chain():
    event = {
        "exception.type": "shop.errors.PriceError",
        "exception.message": "no price",
        "exception.stacktrace": TRACEBACK,
    }
    (span,) = normalise_request(
        _request((1, None, {"openinference.span.kind": "TOOL"}, [event, event], "PriceError: no price"))
    )
    assert span.error == SpanError("PriceError", "no price", ("PriceError", "KeyError"))


def test_the_cause_in_a_frameworks_own_message_joins_the_chain():
    message = "Code execution failed at line 'x / 0' due to: ZeroDivisionError: division by zero"
    (span,) = normalise_request(_request((1, None, {}, [], f"AgentExecutionError: {message}")))
    assert span.error == SpanError(
        "AgentExecutionError", message, ("AgentExecutionError", "ZeroDivisionError")
    )


@pytest.mark.parametrize(
    ("calling", "arguments"),
    [
        ("tool_name='weigh' arguments={'of': \"it's\"}", {"of": "it's"}),
        ("tool_name='weigh' arguments={'of': Box(1)}", None),
        ("weigh", None),
    ],
)
def test_a_call_of_crewai_has_its_own_arguments_and_the_failure_in_its_result(one_span, calling, arguments):
    own = {"tool": "CrewStructuredTool(name='weigh')", "calling": calling}
    reported = "\nI encountered an error while trying to use the tool. This was the error: no scale 4.\n"
    attributes = {
        "openinference.span.kind": "TOOL",
        "tool.name": "weigh",
        "input.value": json.dumps(own),
        "output.value": f"{reported} Tool weigh accepts these inputs: Tool Name: weigh\nMoving on then.",
    }
    span = one_span(attributes, scope="openinference.instrumentation.crewai")
    assert span.tool == ToolCall("weigh", arguments or own, None)
    assert span.error == SpanError(None, "no scale 4")


def test_the_turns_in_a_chat_of_ag2_are_no_runs_and_its_last_words_are_the_answer():
    said = [("assistant", "Weigh it."), ("tool", "4 kg"), ("user", "It is 4 kg."), ("assistant", "")]
    chat = [{"role": role, "parts": [{"type": "text", "content": text}]} for role, text in said]
    turn = {"gen_ai.operation.name": "invoke_agent", "ag2.span.type": "agent"}
    started = {"gen_ai.operation.name": "conversation", "ag2.span.type": "conversation"}
    spans = normalise_request(
        _request(
            (1, None, {**started, "gen_ai.output.messages": json.dumps(chat)}),
            (2, 1, turn),
            (3, 2, turn),  # of a group: the manager's turn is over those of its agents
            (4, 3, {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "ask"}),
            (5, 4, turn),  # the agent that a tool runs
            (6, None, turn),
            scope="opentelemetry.instrumentation.ag2",
        )
    )
    agent, chain, tool = SpanKind.AGENT, SpanKind.CHAIN, SpanKind.TOOL
    assert [span.kind for span in spans] == [agent, chain, chain, tool, agent, agent]
    assert spans[0].output.text == "It is 4 kg."


def test_the_failure_in_the_json_of_a_message_is_taken_out_of_it():
    data = '{"tool_name":"weigh","error":"ScaleError: no scale 4"}'
    event = {"exception.message": f"Error running tool (non-fatal): {data}"}
    (span,) = normalise_request(_request((1, None, {"openinference.span.kind": "TOOL"}, [event], "")))
    message = "Error running tool (non-fatal): ScaleError: no scale 4"
    assert span.error == SpanError(None, message, ("ScaleError",))


@pytest.mark.parametrize("name", ["GeneratorExit", "langgraph.errors.GraphInterrupt"])
def test_a_closed_stream_or_a_paused_graph_is_no_error(name):
    (span,) = normalise_request(
        _request((1, None, {}, [{"exception.type": name, "exception.message": ""}], ""))
    )
    assert span.error is None


def test_an_unknown_error_type_is_none_and_its_message_is_kept(one_span):
    span = one_span({"gen_ai.operation.name": "execute_tool", "error.type": "_OTHER"})
    assert span.error == SpanError(None, "")


def test_langfuse_marks_failure_by_its_level(one_span):
    prefix = "langfuse.observation."
    failed = {
        prefix + "type": "tool",
        prefix + "level": "ERROR",
        prefix + "status_message": "ValueError: bad shelf",
    }
    assert one_span(failed).error == SpanError("ValueError", "bad shelf")
    assert one_span({**failed, prefix + "level": "WARNING"}).error is None


def test_a_tool_message_of_status_error_is_the_calls_error(one_span):
    message = {"type": "tool", "content": "no shelf 9", "tool_call_id": "c", "status": "error"}
    span = one_span({"openinference.span.kind": "TOOL", "output.value": json.dumps(message)})
    assert span.error == SpanError(None, "no shelf 9")


def test_an_old_prompt_is_read_where_only_the_model_was_instrumented(one_span):
    span = one_span(
        {
            "llm.request.type": "chat",
            "gen_ai.prompt.0.role": "user",
            "gen_ai.prompt.0.content": "What do three boxes cost?",
            "gen_ai.completion.0.content": "36",
            "gen_ai.usage.prompt_tokens": 9,
        },
        scope="opentelemetry.instrumentation.openai",
    )
    assert [message.text for message in span.input_messages] == ["What do three boxes cost?"]
    assert [(message.role, message.text) for message in span.output_messages] == [("assistant", "36")]
    assert span.usage == Usage(9)


def test_usage_stays_on_the_innermost_model_call():
    kind, prompt = "openinference.span.kind", "llm.token_count.prompt"
    spans = normalise_request(
        _request(
            (1, None, {kind: "AGENT", prompt: 30}),
            (2, 1, {kind: "LLM", prompt: 10}),
            (3, 2, {kind: "CHAIN", prompt: 10}),
            (4, 3, {kind: "LLM", prompt: 10}),
            (5, 1, {kind: "LLM", prompt: 20}),
        )
    )
    assert [span.usage for span in spans] == [None, None, None, Usage(10), Usage(20)]


def test_messages_lost_to_limits_come_back_from_the_next_call():
    def history(*indices):
        texts = {0: "Be exact.", 1: "Task", 2: "Answer"}
        return {f"llm.input_messages.{i}.message.content": texts[i] for i in indices}

    request = _request(
        (1, None, {"openinference.span.kind": "LLM", **history(0, 1)}),
        (2, None, {"openinference.span.kind": "LLM", **history(1, 2)}),
    )
    request.resource_spans[0].scope_spans[0].spans[1].dropped_attributes_count = 4
    _, later = normalise_request(request)
    assert [message.text for message in later.input_messages] == ["Be exact.", "Task", "Answer"]


def test_messages_of_another_conversation_are_not_taken():
    request = _request(
        (
            1,
            None,
            {
                "openinference.span.kind": "LLM",
                "llm.input_messages.0.message.content": "a",
                "llm.input_messages.1.message.content": "other",
            },
        ),
        (2, None, {"openinference.span.kind": "LLM", "llm.input_messages.1.message.content": "mine"}),
    )
    request.resource_spans[0].scope_spans[0].spans[1].dropped_attributes_count = 1
    assert [message.text for message in normalise_request(request)[1].input_messages] == ["mine"]


def test_a_model_or_tool_call_without_any_content_is_hidden(one_span):
    assert one_span({"openinference.span.kind": "LLM", "llm.model_name": "m"}).hidden
    assert one_span({"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "t"}).hidden
    assert not one_span({"openinference.span.kind": "TOOL", "input.value": "{}"}).hidden
    assert not one_span({"openinference.span.kind": "CHAIN"}).hidden
    assert one_span({"openinference.span.kind": "LLM", "input.value": "__REDACTED__"}).hidden
    assert one_span({"spanproof.run.ending": "answered", "spanproof.content.hidden": True}).hidden


def test_what_a_scope_says_of_itself_holds_for_each_of_its_spans():
    step = {"openinference.span.kind": "CHAIN", "spanproof.step.number": 1}
    request = _request((1, 0, step), (2, 1, step), scope="spanproof.instrumentors.smolagents")
    scope = request.resource_spans[0].scope_spans[0].scope
    scope.attributes.extend(_pairs({"spanproof.content.hidden": True}))
    assert [span.hidden for span in normalise_request(request)] == [True, True]


def test_declared_json_that_breaks_off_is_truncated(one_span):
    attributes = {"openinference.span.kind": "TOOL", "output.mime_type": "application/json"}
    assert one_span({**attributes, "output.value": '{"a": [1, 2'}).truncated
    assert not one_span({**attributes, "output.value": '{"a": [1, 2]}'}).truncated


@pytest.mark.parametrize(
    ("value", "arguments"),
    [
        ('{"args": ["A"], "sanitize_inputs_outputs": false, "kwargs": {}}', ["A"]),
        ('{"args": [], "sanitize_inputs_outputs": true, "kwargs": {"x": 3}}', {"x": 3}),
        ('{"args": {}, "x": 3, "sanitize_inputs_outputs": true}', {"x": 3}),
        ('{"args": ["A"], "kwargs": {"x": 3}}', {"args": ["A"], "kwargs": {"x": 3}}),
        ('{"x": 3}', {"x": 3}),
        ("print(1)", "print(1)"),
    ],
)
def test_a_frameworks_wrapping_is_taken_off_arguments(one_span, value, arguments):
    span = one_span({"openinference.span.kind": "TOOL", "tool.name": "t", "input.value": value})
    assert span.tool.arguments == arguments


def test_a_graphs_node_named_agent_is_no_agent(one_span):
    node = {"openinference.span.kind": "AGENT", "metadata": '{"langgraph_node": "agent"}'}
    assert one_span(node, name="agent").kind is SpanKind.CHAIN
    assert one_span(node, name="research_agent").kind is SpanKind.AGENT


def test_a_stream_that_was_printed_is_no_output(one_span):
    printed = "<generator object Agent._run at 0x7f5b6ef2a6c0>"
    assert one_span({"openinference.span.kind": "AGENT", "output.value": printed}).output is None


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats() | st.text() | st.binary(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
_KEYS = st.sampled_from(
    [
        "openinference.span.kind",
        "input.value",
        "input.mime_type",
        "output.value",
        "tool.name",
        "metadata",
        "llm.input_messages.0.message.role",
        "llm.input_messages.0.message",
        "llm.output_messages.0.message.content",
        "llm.token_count.prompt",
        "gen_ai.operation.name",
        "gen_ai.input.messages",
        "gen_ai.output.messages",
        "gen_ai.tool.call.arguments",
        "gen_ai.usage.input_tokens",
        "gen_ai.span.kind",
        "traceloop.span.kind",
        "traceloop.entity.input",
        "traceloop.entity.output",
        "gen_ai.prompt.0.content",
        "langfuse.observation.type",
        "langfuse.observation.input",
        "langfuse.observation.usage_details",
        "langfuse.observation.level",
        "ai.operationId",
        "ai.prompt",
        "ai.response.toolCalls",
        "ai.toolCall.args",
        "pydantic_ai.all_messages",
        "events",
        "tool_arguments",
        "final_result",
        "request_data",
        "response_data",
        "mlflow.spanType",
        "mlflow.spanInputs",
        "mlflow.chat.tokenUsage",
        "spanproof.code.source",
        "spanproof.code.argument",
        "spanproof.step.number",
        "spanproof.execution.output",
        "spanproof.tool.call.positional",
        "spanproof.content.truncated",
        "spanproof.execution.error.chain",
        "error.type",
        "agent.name",
        "smolagents.max_steps",
    ]
)
_WORDS = st.sampled_from(
    [
        "LLM",
        "TOOL",
        "AGENT",
        "CHAIN",
        "chat",
        "execute_tool",
        "invoke_agent",
        "generation",
        "tool",
        "workflow",
        "ai.toolCall",
        "ai.generateText",
        '"TOOL"',
        '"CHAT_MODEL"',
        '[{"role": 3}]',
        '{"messages": [null, 1, {"role": "user"}]}',
        "content='x",
        "application/json",
        "Calling tools:\n[1]",
    ]
)


@given(
    attributes=st.dictionaries(_KEYS, _VALUES | _WORDS, max_size=12),
    scope=st.sampled_from(["", *(scope for dialect in DIALECTS for scope in dialect.scopes)]),
)
@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_value_at_any_key_gives_a_span_without_a_warning(one_span, attributes, scope, caplog):
    caplog.clear()
    with caplog.at_level(logging.WARNING):
        span = one_span(attributes, scope=scope)
    assert span.span_id == "02" * 8
    assert caplog.records == []
