"""Teams of the OpenAI Agents SDK and of LangGraph with scripted models, judged as a whole."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import agents
import pytest
from agents import Agent, Model, ModelResponse, Runner, Usage, function_tool
from langchain_core.language_models import FakeMessagesListChatModel
from langchain_core.messages import AIMessage
from langchain_core.tools import tool
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import create_react_agent
from langgraph.types import Command
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from spanproof.evaluators.engine import Engine
from spanproof.evaluators.model import TraceEvaluation
from spanproof.evaluators.sessions import evaluate_session
from spanproof.instrumentors import instrument_langchain, instrument_openai_agents, uninstrument
from spanproof.sandbox.scanners.pipeline import Pipeline
from spanproof.trace import Label, trace_of
from spanproof.trace.dialects import normalise_request

REQUEST = "What is the refund of order A-17?"
RIGHT, MISQUOTED, OF_ANOTHER = (f"The refund of order A-17 is ${price}.00." for price in (45, 54, 12))
REFUNDS = {"A-17": 45.0, "A-71": 12.0}
PROVIDER = TracerProvider()
Evaluate = Callable[[Callable[[], object]], TraceEvaluation]


@pytest.fixture
def evaluate() -> Iterator[Evaluate]:
    """Run a team and evaluate its trace."""
    exporter, provider = InMemorySpanExporter(), PROVIDER
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    agents.set_trace_processors([])
    instrument_openai_agents(provider)
    instrument_langchain(provider)
    engine = Engine(pipeline=Pipeline(), sandbox=None)

    def run(team: Callable[[], object]) -> TraceEvaluation:
        exporter.clear()
        team()
        return engine.evaluate(trace_of(list(normalise_request(encode_spans(exporter.get_finished_spans())))))

    yield run
    uninstrument()


class ScriptedModel(Model):
    """A model of the Agents SDK that gives its items in order."""

    def __init__(self, *items: Any) -> None:
        self._items = list(items)

    async def get_response(self, *_args: Any, **_options: Any) -> ModelResponse:
        return ModelResponse(output=[self._items.pop(0)], usage=Usage(), response_id=None)

    def stream_response(self, *_args: Any, **_options: Any) -> Any:
        raise NotImplementedError


@function_tool
def refund(order_id: str) -> float:
    """Look up a refund."""
    return REFUNDS[order_id]


def call_of(name: str, **arguments: str) -> ResponseFunctionToolCall:
    text = json.dumps(arguments)
    return ResponseFunctionToolCall(arguments=text, call_id=f"call-{name}", name=name, type="function_call")


def message_of(text: str) -> ResponseOutputMessage:
    part = ResponseOutputText(annotations=[], text=text, type="output_text")
    return ResponseOutputMessage(id="m", content=[part], role="assistant", status="completed", type="message")


def hand_off(order: str, answer: str) -> None:
    """A desk that hands over to billing, which answers."""
    model = ScriptedModel(call_of("refund", order_id=order), message_of(answer))
    billing = Agent(name="billing", model=model, tools=[refund])
    desk = Agent(name="desk", model=ScriptedModel(call_of("transfer_to_billing")), handoffs=[billing])
    Runner.run_sync(desk, REQUEST)


class ScriptedChat(FakeMessagesListChatModel):
    """A chat model that gives its responses in order, whatever tools it is offered."""

    def bind_tools(self, tools: Any, **_options: Any) -> Any:
        return self


@tool
def look_up(order_id: str) -> float:
    """Look up a refund."""
    return REFUNDS[order_id]


def make_billing(order: str, answer: str) -> Any:
    call = {"name": "look_up", "args": {"order_id": order}, "id": "call-1"}
    model = ScriptedChat(responses=[AIMessage("", tool_calls=[call]), AIMessage(answer)])
    return create_react_agent(model, [look_up], name="billing")


def supervise(order: str, answer: str, last_word: str = "") -> None:
    """A supervisor's graph around billing, which passes its answer on, or has the last word."""
    model = ScriptedChat(responses=[AIMessage("billing"), AIMessage(last_word or answer)])

    def desk(state: MessagesState) -> Command[str]:
        reply = model.invoke(state["messages"])
        if reply.content == "billing":
            return Command(goto="billing")
        return Command(goto=END, update={"messages": [reply]})

    graph = StateGraph(MessagesState)
    graph.add_node("desk", desk)
    graph.add_node("billing", make_billing(order, answer))
    graph.add_edge(START, "desk")
    graph.add_edge("billing", "desk")
    graph.compile(name="support").invoke({"messages": [("user", REQUEST)]})


TEAMS = {"hand-off": hand_off, "supervisor": supervise}


@pytest.mark.parametrize("team", TEAMS)
def test_the_agent_that_answered_is_judged_for_the_turn(evaluate: Evaluate, team: str) -> None:
    verdict = evaluate_session([evaluate(lambda: TEAMS[team]("A-17", RIGHT))])
    (turn,) = verdict.turns
    assert (verdict.label, turn.label, turn.answer) == (Label.PASS, Label.PASS, RIGHT)
    assert verdict.first_mistake is None


@pytest.mark.parametrize("team", TEAMS)
def test_a_misquote_of_the_agent_that_answered_fails_the_turn(evaluate: Evaluate, team: str) -> None:
    verdict = evaluate_session([evaluate(lambda: TEAMS[team]("A-17", MISQUOTED))])
    (turn,) = verdict.turns
    assert (verdict.label, turn.label) == (Label.FAIL, Label.FAIL)
    assert turn.why.startswith("billing: groundedness: The answer says $54.00")
    assert verdict.first_mistake is not None
    assert verdict.first_mistake.agent == "billing"


@pytest.mark.parametrize("team", TEAMS)
def test_a_right_answer_to_the_same_request_counts(evaluate: Evaluate, team: str) -> None:
    answers = [evaluate(lambda answer=answer: TEAMS[team]("A-17", answer)) for answer in (MISQUOTED, RIGHT)]
    verdict = evaluate_session(answers)
    assert [turn.label for turn in verdict.turns] == [Label.FAIL, Label.PASS]
    assert verdict.label is Label.PASS


@pytest.mark.parametrize("team", TEAMS)
def test_work_on_an_order_that_no_source_names_leaves_the_turn_open(evaluate: Evaluate, team: str) -> None:
    verdict = evaluate_session([evaluate(lambda: TEAMS[team]("A-71", OF_ANOTHER))])
    (turn,) = verdict.turns
    assert (verdict.label, turn.label) == (None, None)
    assert turn.why == "billing worked on A-71, which nothing names, and never on A-17"


def test_a_mistake_is_of_the_turn_of_its_agent_where_a_trace_has_several(evaluate: Evaluate) -> None:
    def crew() -> None:
        with PROVIDER.get_tracer("crew").start_as_current_span("kickoff"):
            for answer in (RIGHT, MISQUOTED):
                make_billing("A-17", answer).invoke({"messages": [("user", REQUEST)]})

    verdict = evaluate_session([evaluate(crew)])
    assert [turn.label for turn in verdict.turns] == [Label.PASS, Label.FAIL]
    assert verdict.first_mistake is not None
    assert verdict.first_mistake.turn == 2


def test_a_last_word_that_no_layer_judged_leaves_the_turn_open(evaluate: Evaluate) -> None:
    verdict = evaluate_session([evaluate(lambda: supervise("A-17", RIGHT, MISQUOTED))])
    assert (verdict.label, verdict.turns[0].answer) == (None, MISQUOTED)
