"""What a producer records decides what can be said of a run: one that records no calls accuses nothing."""

from __future__ import annotations

import json

import pytest
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from spanproof.evaluators.engine import Engine
from spanproof.evaluators.outcomes.account import build_account
from spanproof.sandbox.scanners.pipeline import Pipeline
from spanproof.trace import (
    ExecutedCode,
    Label,
    Layer,
    Message,
    Payload,
    Scored,
    Span,
    SpanKind,
    ToolCall,
    trace_of,
)
from spanproof.trace.dialects import normalise_request

TASK = "What does our berth 4 cost a day?"
TOOLS = [{"type": "function", "name": "get_berth_price", "parameters": {"type": "object", "properties": {}}}]


def text(role: str, content: str) -> dict:
    return {"role": role, "parts": [{"type": "text", "content": content}]}


def call(number: str, name: str, arguments: dict) -> dict:
    part = {"type": "tool_call", "id": number, "name": name, "arguments": arguments}
    return {"role": "assistant", "parts": [part], "finish_reason": "tool_call"}


def response(number: str, result: object) -> dict:
    return {"role": "tool", "parts": [{"type": "tool_call_response", "id": number, "response": result}]}


@pytest.fixture
def evaluate():
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    tracer = provider.get_tracer("opentelemetry.instrumentation.example")

    def judge(answer: str, chats: list[tuple[list, list]], *, defines_tools: bool = True):
        """Evaluate the span of an agent with these turns of its model."""
        agent = {
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.agent.name": "clerk",
            "gen_ai.input.messages": json.dumps([text("user", TASK)]),
            "gen_ai.output.messages": json.dumps([text("assistant", answer)]),
        }
        if defines_tools:
            agent["gen_ai.tool.definitions"] = json.dumps(TOOLS)
        with tracer.start_as_current_span("invoke_agent clerk", attributes=agent):
            for given, said in chats:
                attributes = {
                    "gen_ai.operation.name": "chat",
                    "gen_ai.request.model": "m",
                    "gen_ai.input.messages": json.dumps(given),
                    "gen_ai.output.messages": json.dumps(said),
                }
                tracer.start_span("chat m", attributes=attributes).end()
        trace = trace_of(list(normalise_request(encode_spans(exporter.get_finished_spans()))))
        evaluation = Engine(pipeline=Pipeline(), sandbox=None).evaluate(trace)
        (run,) = evaluation.runs
        account = build_account(evaluation.trace, run.run, run.scans, run.replay)
        labels = {
            score.layer: score.outcome.label
            for score in run.scores
            if score.name == score.layer.value and isinstance(score.outcome, Scored)
        }
        return account, labels

    return judge


@pytest.mark.parametrize("defines_tools", [True, False])
def test_an_agent_without_turns_or_calls_is_not_accused(evaluate, defines_tools):
    account, labels = evaluate("Berth 4 costs 84.50 a day.", [], defines_tools=defines_tools)
    assert not account.fabricated
    assert Label.FAIL not in labels.values()


def test_a_requested_call_without_its_result_accuses_nothing(evaluate):
    chats = [([text("user", TASK)], [call("c1", "get_berth_price", {"berth": 4})])]
    account, labels = evaluate("Berth 4 costs 84.50 a day.", chats)
    assert not account.fabricated
    assert labels.get(Layer.GROUNDEDNESS) is not Label.FAIL


def test_turns_without_any_call_show_that_none_was_made(evaluate):
    answer = "Berth 4 costs 84.50 a day."
    account, labels = evaluate(answer, [([text("user", TASK)], [text("assistant", answer)])])
    assert account.fabricated
    assert labels[Layer.GROUNDEDNESS] is Label.FAIL


@pytest.mark.parametrize(("said", "fails"), [("84.50", False), ("48.50", True)])
def test_calls_and_results_in_messages_are_the_record(evaluate, said, fails):
    answer = f"Berth 4 costs {said} a day."
    sent = [text("user", TASK), call("c1", "get_berth_price", {"berth": 4})]
    done = [*sent, response("c1", '{"berth": 4, "price_per_day": 84.5}')]
    chats = [([text("user", TASK)], [sent[1]]), (done, [text("assistant", answer)])]
    _, labels = evaluate(answer, chats)
    assert (labels.get(Layer.GROUNDEDNESS) is Label.PASS) is not fails


def test_a_failure_in_messages_denies_what_is_said_to_be_done(evaluate):
    answer = "Berth 4 is booked."
    sent = [text("user", "Book berth 4."), call("c1", "book_berth", {"berth": 4})]
    done = [*sent, response("c1", '{"success": false, "reason": "berth 4 is taken"}')]
    account, _ = evaluate(answer, [([sent[0]], [sent[1]]), (done, [text("assistant", answer)])])
    assert [origin.kind.value for origin in account.fabricated] == ["undone"]


FEES = "fees = {'Isolde': 412.50, 'Norne': 231.75, 'Frigg': 96.20}\nprint(sum(fees.values()))"
SECOND = 1_000_000_000


@pytest.mark.parametrize("tools", [(), ("send_invoice",)])
@pytest.mark.parametrize(("has_first_turn", "fails"), [(False, False), (True, True)])
def test_values_typed_into_code_are_invented_only_where_its_prompt_is_recorded(has_first_turn, fails, tools):
    """The table may stand in a file or a message that the trace does not have."""
    task, answer = "What did our customers pay in fees?", "They paid 740.45 in fees."

    def build_span(number: int, kind: SpanKind, **content) -> Span:
        span_id, root_id = f"{number:016x}", None if kind is SpanKind.AGENT else f"{1:016x}"
        return Span(
            "b" * 32, span_id, root_id, "clerk", kind, number * SECOND, (number + 1) * SECOND, **content
        )

    sent, said = (Message("user", task),), (Message("assistant", answer),)
    tool = ToolCall("run_python", {"code": FEES})
    code = ExecutedCode(FEES, "code", "python", logs="740.45")
    spans = [build_span(3, SpanKind.TOOL, tool=tool, code=code, output=Payload("740.45", 740.45))]
    spans += [
        build_span(4, SpanKind.TOOL, tool=ToolCall(name, {"to": "Isolde"}), output=Payload("sent", "sent"))
        for name in tools
    ]
    spans.append(build_span(6, SpanKind.LLM, input_messages=sent, output_messages=said))
    if has_first_turn:
        spans.append(build_span(2, SpanKind.LLM, input_messages=sent))
    root = Span("b" * 32, f"{1:016x}", None, "clerk", SpanKind.AGENT, SECOND, 9 * SECOND, agent="clerk",
                input=Payload(task, task), output=Payload(answer, answer))  # fmt: skip
    evaluation = Engine(pipeline=Pipeline(), sandbox=None).evaluate(trace_of([root, *spans]))
    (outcome,) = (each.outcome for each in evaluation.scores if each.name == Layer.GROUNDEDNESS.value)
    assert isinstance(outcome, Scored)
    assert outcome.label is (Label.FAIL if fails else None)
