"""LangChain and LangGraph: trees with the right parents, sync, async, streamed, batched, interrupted."""

import asyncio
import copy
import json
import pickle
import threading
from operator import itemgetter

import pytest
from langchain_core.callbacks import CallbackManager
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import RunnableLambda, RunnableParallel
from langchain_core.tools import StructuredTool, ToolException, tool
from langgraph.checkpoint.memory import MemorySaver
from langgraph.errors import GraphRecursionError
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode
from langgraph.types import Command, interrupt

from .coders import messages_of
from .graphs import add, calculator, calls, requested


def test_a_graph_is_an_agent_with_its_question_and_answer(recorded):
    calculator().invoke(requested())
    run = recorded.named("invoke_agent calculator").attributes
    assert run["openinference.span.kind"] == "AGENT"
    assert run["input.value"] == "What is 1 + 2?"
    assert run["output.value"] == "It is 3."
    assert run["spanproof.run.ending"] == "answered"


async def test_an_async_run_has_the_tree_of_a_sync_one(recorded):
    graph = calculator()
    graph.invoke(requested())
    sync = recorded.tree()
    recorded.clear()
    await graph.ainvoke(requested())
    assert recorded.tree() == sync


def test_a_streamed_run_has_the_tree_of_an_invoked_one(recorded):
    graph = calculator()
    graph.invoke(requested())
    whole = recorded.tree()
    recorded.clear()
    for _ in graph.stream(requested(), stream_mode=["updates", "messages"]):
        pass
    assert recorded.tree().replace("spanproof.run.ending: answered\n", "") == whole.replace(
        "spanproof.run.ending: answered\n", ""
    )


async def test_runs_side_by_side_in_one_loop_do_not_mix(recorded):
    graphs = [calculator(calls(("add", {"a": i})), AIMessage("done"), name=f"g{i}") for i in range(4)]
    await asyncio.gather(*(graph.ainvoke(requested()) for graph in graphs))
    for i in range(4):
        run = recorded.named(f"invoke_agent g{i}")
        own = [span for span in recorded.spans if span.context.trace_id == run.context.trace_id]
        (call,) = [span for span in own if span.name == "execute_tool add"]
        assert json.loads(call.attributes["gen_ai.tool.call.arguments"]) == {"a": i}


def test_parallel_tool_calls_are_siblings(recorded):
    calculator(calls(("add", {"a": 1}), ("add", {"a": 2})), AIMessage("done")).invoke(requested())
    added = recorded.of_kind("TOOL")
    assert sorted(span.attributes["gen_ai.tool.call.result"] for span in added) == ['"2"', '"3"']
    assert len({recorded.parent(span).name for span in added}) == 1


def test_a_tool_that_raises_fails_its_run(recorded):
    with pytest.raises(ValueError, match="on purpose"):
        calculator(calls(("failing", {"reason": "on purpose"}))).invoke(requested())
    assert recorded.named("execute_tool failing").attributes["error.type"] == "ValueError"
    run = recorded.named("invoke_agent calculator")
    assert run.attributes["spanproof.run.ending"] == "failed"
    assert run.attributes["error.type"] == "ValueError"


def test_a_failure_made_into_an_answer_is_still_a_failed_tool(recorded):
    @tool
    def strict() -> str:
        """Fails politely."""
        raise ToolException("no")

    strict.handle_tool_error = True
    strict.invoke({"name": "strict", "args": {}, "id": "c1", "type": "tool_call"})
    call = recorded.named("execute_tool strict")
    assert call.status.status_code.name == "ERROR"
    assert call.attributes["error.type"]


def test_running_out_of_steps_is_how_the_run_ended(recorded):
    looping = [calls(("add", {"a": i})) for i in range(9)]
    with pytest.raises(GraphRecursionError):
        calculator(*looping).invoke(requested(), {"recursion_limit": 4})
    assert recorded.named("invoke_agent calculator").attributes["spanproof.run.ending"] == "max_steps"


def test_an_interrupt_is_no_error_and_its_resumption_a_run_of_its_own(recorded):
    def ask(state: MessagesState):
        return {"messages": [AIMessage(f"You said {interrupt('sure?')}.")]}

    graph = calculator(node=ask, checkpointer=MemorySaver())
    thread = {"configurable": {"thread_id": "1"}}
    graph.invoke(requested(), thread)
    assert {span.status.status_code.name for span in recorded.spans} == {"UNSET"}
    graph.invoke(Command(resume="yes"), thread)
    assert {span.status.status_code.name for span in recorded.spans} == {"UNSET"}
    requested_back, resumed = recorded.of_kind("AGENT")
    assert "spanproof.run.ending" not in requested_back.attributes
    assert resumed.attributes["spanproof.run.ending"] == "answered"


def test_an_abandoned_stream_is_no_error(recorded):
    stream = calculator(calls(("add", {"a": 1})), AIMessage("done")).stream(requested())
    next(stream)
    stream.close()
    assert {span.status.status_code.name for span in recorded.spans} == {"UNSET"}


def test_a_graph_that_stops_before_its_tools_has_requested_and_not_answered(recorded):
    graph = calculator(checkpointer=MemorySaver())
    graph.interrupt_before_nodes = ["tools"]
    config = {"configurable": {"thread_id": "1"}}
    graph.invoke(requested(), config)
    graph.invoke(None, config)
    stopped, went_on = (span.attributes for span in recorded.of_kind("AGENT"))
    assert "spanproof.run.ending" not in stopped
    assert json.loads(stopped["gen_ai.output.messages"])[0]["finish_reason"] == "tool_call"
    assert "add" in stopped["output.value"]
    assert went_on["spanproof.run.ending"] == "answered"


def test_a_tool_that_answers_directly_has_answered(recorded):
    graph = StateGraph(MessagesState)
    graph.add_node("model", lambda state: {"messages": [calls(("add", {"a": 1, "b": 2}))]})
    graph.add_node("tools", ToolNode([add]))
    graph.add_edge(START, "model")
    graph.add_edge("model", "tools")
    graph.compile(name="direct").invoke(requested())
    run = recorded.named("invoke_agent direct").attributes
    assert run["output.value"] == "3"
    assert run["spanproof.run.ending"] == "answered"


@pytest.mark.parametrize("read", range(2, 6))
async def test_abandoned_events_leave_no_span_open(recorded, read):
    async def wait(given):
        await asyncio.sleep(0.001)
        return given

    events = (RunnableLambda(wait) | RunnableLambda(wait)).astream_events(1, version="v2")
    for _ in range(read):
        await anext(events)
    await events.aclose()
    assert _handler()._runs == {}
    assert {span.status.status_code.name for span in recorded.spans} == {"UNSET"}
    assert len(recorded.spans) in (2, 3)


async def test_runs_whose_end_is_never_reported_do_not_pile_up(recorded, monkeypatch):
    monkeypatch.setattr("spanproof.instrumentors.frameworks.langchain.instrumentor._MAX_GOING_ON", 3)
    for number in range(8):
        events = RunnableLambda(lambda given: given).astream_events(number, version="v2")
        await anext(events)
        await events.aclose()
    assert len(_handler()._runs) == 3
    assert [span.name for span in recorded.spans] == ["RunnableLambda"] * 5


def _handler():
    manager = CallbackManager.configure()
    (handler,) = [each for each in manager.handlers if type(each).__name__ == "SpanHandler"]
    return handler


async def test_a_run_that_its_caller_cancels_has_not_failed(recorded):
    begun = asyncio.Event()

    async def wait(state):
        begun.set()
        await asyncio.Event().wait()

    running = asyncio.create_task(calculator(node=wait, name="waiting").ainvoke(requested()))
    await begun.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert {span.status.status_code.name for span in recorded.spans} == {"UNSET"}
    assert "spanproof.run.ending" not in recorded.named("invoke_agent waiting").attributes


def test_a_graph_within_a_graph_is_an_agent_of_its_own(recorded):
    inner = calculator(calls(("add", {"a": 1})), AIMessage("inner done"), name="inner")
    outer = calculator(node=lambda state: {"messages": [inner.invoke(state)["messages"][-1]]}, name="outer")
    outer.invoke(requested())
    assert recorded.named("invoke_agent inner").attributes["openinference.span.kind"] == "AGENT"
    assert recorded.named("invoke_agent inner").attributes["input.value"] == "What is 1 + 2?"
    assert recorded.parent(recorded.named("invoke_agent inner")).name == "model"
    assert recorded.named("invoke_agent outer").parent is None


def test_a_chain_is_no_agent(recorded):
    chain = (
        ChatPromptTemplate.from_messages([("system", "Be brief."), ("user", "{question}")])
        | GenericFakeChatModel(messages=iter([AIMessage("Four.")]))
        | StrOutputParser()
    )
    assert chain.invoke({"question": "2 + 2?"}) == "Four."
    root = recorded.named("RunnableSequence")
    assert root.attributes["openinference.span.kind"] == "CHAIN"
    assert root.attributes["output.value"] == "Four."
    (call,) = recorded.of_kind("LLM")
    assert [message["role"] for message in messages_of(call)] == ["system", "user"]


def test_batched_calls_are_siblings(recorded):
    chain = RunnableLambda(lambda x: x + 1) | RunnableLambda(lambda x: x * 2)
    assert chain.batch([1, 2, 3]) == [4, 6, 8]
    roots = [span for span in recorded.spans if span.parent is None]
    assert [span.name for span in roots] == ["RunnableSequence"] * 3


def test_a_retried_call_shows_each_attempt(recorded):
    attempts = iter([ConnectionError("away"), ConnectionError("away"), None])

    def flaky(value):
        error = next(attempts)
        if error is not None:
            raise error
        return value

    retrying = RunnableLambda(flaky).with_retry(stop_after_attempt=3, wait_exponential_jitter=False)
    assert retrying.invoke(1) == 1
    assert [span.status.status_code.name for span in recorded.spans if span.name == "flaky"][-1] == "UNSET"


@pytest.mark.parametrize("asynchronous", [False, True])
def test_application_spans_inside_a_tool_are_its_children(recorded, asynchronous):
    tracer = recorded.provider.get_tracer("application")

    def work() -> str:
        with tracer.start_as_current_span("query", attributes={"openinference.span.kind": "X"}):
            return "ok"

    async def awork() -> str:
        await asyncio.sleep(0)
        return work()

    traced = StructuredTool.from_function(work, coroutine=awork, name="traced", description="d")
    asyncio.run(traced.ainvoke({})) if asynchronous else traced.invoke({})
    assert recorded.parent(recorded.named("query")).name == "execute_tool traced"


def test_runs_in_raw_threads_are_recorded(recorded):
    thread = threading.Thread(target=lambda: RunnableLambda(lambda x: x).invoke(1))
    thread.start()
    thread.join()
    assert len(recorded.spans) == 1


def test_a_run_under_an_application_span_is_its_child(recorded):
    tracer = recorded.provider.get_tracer("application")
    with tracer.start_as_current_span("request", attributes={"openinference.span.kind": "X"}):
        RunnableParallel(a=itemgetter("x"), b=itemgetter("x")).invoke({"x": 1})
    assert recorded.parent(recorded.named("RunnableParallel<a,b>")).name == "request"


def test_a_runs_configuration_can_be_copied_and_sent_away(recorded):
    def send(given, config):
        manager = config["callbacks"]
        assert copy.deepcopy(config)["callbacks"].handlers == manager.handlers
        arrived = pickle.loads(pickle.dumps(config))
        return RunnableLambda(lambda there: there + 1).invoke(given, arrived)

    assert RunnableLambda(send).invoke(1) == 2
    assert [span.name for span in recorded.spans] == ["send"], "nothing of it is recorded where it was sent"
