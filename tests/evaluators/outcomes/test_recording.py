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
from spanproof.trace import Label, Layer, Scored, trace_of
from spanproof.trace.dialects import normalise

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
        trace = trace_of(list(normalise(encode_spans(exporter.get_finished_spans()))))
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
