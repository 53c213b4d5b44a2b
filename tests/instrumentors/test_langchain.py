"""LangChain and LangGraph: trees with the right parents, sync, async, streamed, batched, interrupted."""

import asyncio
import json
import threading
from operator import itemgetter

import pytest
from langchain_core.documents import Document
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.language_models.fake import FakeListLLM
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnableLambda, RunnableParallel
from langchain_core.tools import ToolException, tool
from langgraph.checkpoint.memory import MemorySaver
from langgraph.errors import GraphRecursionError
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition
from langgraph.types import Command, interrupt
from opentelemetry import trace as otel

from spanproof.instrumentors import instrument_langchain, uninstrument

from .coders import ScriptedChatModel, messages_of


@tool
def add(a: int, b: int = 1) -> int:
    """Add two numbers."""
    return a + b


@tool
def failing(reason: str) -> str:
    """Always fails."""
    raise ValueError(reason)


def agent(*answers, tools=(add, failing), node=None, name="calculator", **compiled):
    model = ScriptedChatModel(answers=list(answers))

    def ask(state: MessagesState):
        return {"messages": [model.invoke(state["messages"])]}

    graph = StateGraph(MessagesState)
    graph.add_node("model", node or ask)
    graph.add_node("tools", ToolNode(list(tools), handle_tool_errors=False))
    graph.add_edge(START, "model")
    graph.add_conditional_edges("model", tools_condition)
    graph.add_edge("tools", "model")
    return graph.compile(name=name, **compiled)


def calls(*given):
    return AIMessage("", tool_calls=[{"name": n, "args": a, "id": f"c{i}"} for i, (n, a) in enumerate(given)])


def asked(text="What is 1 + 2?"):
    return {"messages": [HumanMessage(text)]}


def test_a_graph_is_an_agent_with_its_question_and_answer(recorded):
    agent(calls(("add", {"a": 1, "b": 2})), AIMessage("It is 3.")).invoke(asked())
    run = recorded.named("invoke_agent calculator").attributes
    assert run["openinference.span.kind"] == "AGENT"
    assert run["input.value"] == "What is 1 + 2?"
    assert run["output.value"] == "It is 3."
    assert run["spanproof.run.ending"] == "answered"


def test_a_tool_call_has_arguments_result_and_id(recorded):
    agent(calls(("add", {"a": 1, "b": 2})), AIMessage("It is 3.")).invoke(asked())
    call = recorded.named("execute_tool add")
    assert json.loads(call.attributes["gen_ai.tool.call.arguments"]) == {"a": 1, "b": 2}
    assert call.attributes["gen_ai.tool.call.result"] == '"3"'
    assert call.attributes["gen_ai.tool.call.id"] == "c0"
    assert recorded.parent(call).name == "tools"


def test_a_tool_called_directly_keeps_the_type_of_its_result(recorded):
    assert add.invoke({"a": 1, "b": 2}) == 3
    assert recorded.named("execute_tool add").attributes["gen_ai.tool.call.result"] == "3"


async def test_an_async_run_has_the_tree_of_a_sync_one(recorded):
    graph = agent(calls(("add", {"a": 1, "b": 2})), AIMessage("It is 3."))
    graph.invoke(asked())
    sync = recorded.tree()
    recorded.clear()
    await graph.ainvoke(asked())
    assert recorded.tree() == sync


def test_a_streamed_run_has_the_tree_of_an_invoked_one(recorded):
    graph = agent(calls(("add", {"a": 1, "b": 2})), AIMessage("It is 3."))
    graph.invoke(asked())
    whole = recorded.tree()
    recorded.clear()
    for _ in graph.stream(asked(), stream_mode=["updates", "messages"]):
        pass
    assert recorded.tree().replace("spanproof.run.ending: answered\n", "") == whole.replace(
        "spanproof.run.ending: answered\n", ""
    )


async def test_runs_side_by_side_in_one_loop_do_not_mix(recorded):
    graphs = [agent(calls(("add", {"a": i})), AIMessage("done"), name=f"g{i}") for i in range(4)]
    await asyncio.gather(*(graph.ainvoke(asked()) for graph in graphs))
    for i in range(4):
        run = recorded.named(f"invoke_agent g{i}")
        own = [span for span in recorded.spans if span.context.trace_id == run.context.trace_id]
        (call,) = [span for span in own if span.name == "execute_tool add"]
        assert json.loads(call.attributes["gen_ai.tool.call.arguments"]) == {"a": i}


def test_parallel_tool_calls_are_siblings(recorded):
    agent(calls(("add", {"a": 1}), ("add", {"a": 2})), AIMessage("done")).invoke(asked())
    added = recorded.of_kind("TOOL")
    assert sorted(span.attributes["gen_ai.tool.call.result"] for span in added) == ['"2"', '"3"']
    assert len({recorded.parent(span).name for span in added}) == 1


def test_a_tool_that_raises_fails_its_run(recorded):
    with pytest.raises(ValueError, match="on purpose"):
        agent(calls(("failing", {"reason": "on purpose"}))).invoke(asked())
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
        agent(*looping).invoke(asked(), {"recursion_limit": 4})
    assert recorded.named("invoke_agent calculator").attributes["spanproof.run.ending"] == "max_steps"


def test_an_interrupt_is_no_error_and_its_resumption_a_run_of_its_own(recorded):
    def ask(state: MessagesState):
        return {"messages": [AIMessage(f"You said {interrupt('sure?')}.")]}

    graph = agent(node=ask, checkpointer=MemorySaver())
    thread = {"configurable": {"thread_id": "1"}}
    graph.invoke(asked(), thread)
    assert {span.status.status_code.name for span in recorded.spans} == {"UNSET"}
    graph.invoke(Command(resume="yes"), thread)
    assert {span.status.status_code.name for span in recorded.spans} == {"UNSET"}
    asked_back, resumed = recorded.of_kind("AGENT")
    assert "spanproof.run.ending" not in asked_back.attributes
    assert resumed.attributes["spanproof.run.ending"] == "answered"


def test_an_abandoned_stream_is_no_error(recorded):
    stream = agent(calls(("add", {"a": 1})), AIMessage("done")).stream(asked())
    next(stream)
    stream.close()
    assert {span.status.status_code.name for span in recorded.spans} == {"UNSET"}


def test_a_graph_within_a_graph_is_an_agent_of_its_own(recorded):
    inner = agent(calls(("add", {"a": 1})), AIMessage("inner done"), name="inner")
    outer = agent(node=lambda state: {"messages": [inner.invoke(state)["messages"][-1]]}, name="outer")
    outer.invoke(asked())
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


def test_model_calls_record_the_difference_only(recorded):
    agent(calls(("add", {"a": 1})), calls(("add", {"a": 2})), AIMessage("done")).invoke(asked())
    llm = recorded.of_kind("LLM")
    assert [len(messages_of(call)) for call in llm] == [1, 1, 1]
    assert [call.attributes.get("spanproof.messages.omitted", 0) for call in llm] == [0, 2, 4]
    (answer,) = messages_of(llm[0], "gen_ai.output.messages")
    assert answer["parts"] == [{"type": "tool_call", "id": "c0", "name": "add", "arguments": {"a": 1}}]
    assert messages_of(llm[1])[0] == {
        "role": "tool",
        "parts": [{"type": "tool_call_response", "id": "c0", "response": "2"}],
        "name": "add",
    }


def test_a_tools_long_answer_stands_whole_in_the_next_calls_messages_and_begins_its_input(recorded):
    @tool
    def fetch() -> str:
        """Much."""
        return "abc " * 500

    agent(calls(("fetch", {})), AIMessage("done"), tools=(fetch,)).invoke(asked())
    second = recorded.of_kind("LLM")[1]
    assert messages_of(second)[0]["parts"][0]["response"] == "abc " * 500
    assert second.attributes["input.value"] == "abc " * 30 + " … [2000 characters]"
    assert "spanproof.content.truncated" not in second.attributes
    assert recorded.named("execute_tool fetch").attributes["output.value"] == "abc " * 500


def test_the_bytes_of_a_run_grow_with_its_new_messages(recorded):
    @tool
    def echo(text: str) -> str:
        """Answers what it is told."""
        return text

    def size(turns: int) -> int:
        recorded.clear()
        answers = [calls(("echo", {"text": "x" * 500})) for _ in range(turns)]
        agent(*answers, AIMessage("done"), tools=(echo,)).invoke(asked(), {"recursion_limit": 100})
        return sum(len(str(value)) for span in recorded.spans for value in span.attributes.values())

    ten, twenty = size(10), size(20)
    assert twenty < 2.2 * ten


def test_usage_and_model_are_taken_from_the_answer(recorded):
    answer = AIMessage(
        "Hi.",
        usage_metadata={"input_tokens": 12, "output_tokens": 3, "total_tokens": 15},
        response_metadata={"model_name": "tiny-2", "finish_reason": "length"},
    )
    ScriptedChatModel(answers=[answer]).invoke([SystemMessage("Be kind."), HumanMessage("Hello?")])
    call = recorded.spans[0].attributes
    assert call["gen_ai.usage.input_tokens"] == 12
    assert call["llm.token_count.completion"] == 3
    assert call["gen_ai.response.model"] == "tiny-2"
    assert call["gen_ai.response.finish_reasons"] == ("length",)


def test_a_completion_model_is_an_llm(recorded):
    assert FakeListLLM(responses=["four"]).invoke("2 + 2?") == "four"
    (call,) = recorded.of_kind("LLM")
    assert call.attributes["input.value"] == "2 + 2?"
    assert call.attributes["output.value"] == "four"


def test_a_retriever_records_what_it_found(recorded):
    class Shelf(BaseRetriever):
        def _get_relevant_documents(self, query, *, run_manager):
            return [Document("about " + query)]

    Shelf().invoke("refunds")
    (found,) = recorded.of_kind("RETRIEVER")
    assert json.loads(found.attributes["output.value"]) == ["about refunds"]


@pytest.mark.parametrize("asynchronous", [False, True])
def test_application_spans_inside_a_tool_are_its_children(recorded, asynchronous):
    tracer = recorded.provider.get_tracer("application")

    def work() -> str:
        with tracer.start_as_current_span("query", attributes={"openinference.span.kind": "X"}):
            return "ok"

    async def awork() -> str:
        await asyncio.sleep(0)
        return work()

    from langchain_core.tools import StructuredTool

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


@pytest.mark.parametrize(
    ("name", "arguments", "code", "language"),
    [
        ("run_python", {"code": "6*7"}, "6*7", "python"),
        ("python_repl_ast", {"query": "6*7"}, "6*7", "python"),
        ("query_database", {"sql": "SELECT 1"}, "SELECT 1", "sql"),
        ("sql_db_query", {"query": "-- all\nselect * from t"}, "-- all\nselect * from t", "sql"),
        ("terminal", {"command": "ls -l"}, "ls -l", "bash"),
        ("run_command", {"cmd": "ls"}, "ls", "bash"),
        ("sandbox", {"language": "js", "code": "x = 1"}, "x = 1", "javascript"),
    ],
)
def test_a_tool_that_takes_code_records_it(recorded, name, arguments, code, language):
    from langchain_core.tools import StructuredTool

    parameters = ", ".join(f"{each}: str" for each in arguments)
    schema = {"type": "object", "properties": {each: {"type": "string"} for each in arguments}}
    runs = StructuredTool(name=name, description=parameters, args_schema=schema, func=lambda **_: "42")
    runs.invoke(arguments)
    call = recorded.spans[0].attributes
    assert json.loads(call["gen_ai.tool.call.arguments"])[call["spanproof.code.argument"]] == code
    assert call["spanproof.code.language"] == language
    assert call["gen_ai.tool.call.result"] == '"42"'


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("country", {"code": "US"}),
        ("postal", {"zip_code": "10115"}),
        ("vector_db_search", {"query": "what is a refund"}),
        ("python_docs_search", {"query": "how to sort"}),
        ("weather", {"input": "Berlin"}),
        ("connect", {"db": "sales"}),
    ],
)
def test_a_tool_that_takes_no_code_records_none(name, arguments):
    from spanproof.instrumentors.code_tools import code_in

    assert code_in(name, arguments) is None


def test_a_tool_message_is_recorded_by_its_content(recorded):
    message = add.invoke({"name": "add", "args": {"a": 1}, "id": "c9", "type": "tool_call"})
    assert isinstance(message, ToolMessage)
    assert recorded.named("execute_tool add").attributes["gen_ai.tool.call.id"] == "c9"


@pytest.fixture
def unsampled(recorded):
    """The frameworks instrumented with a provider that samples nothing; the application's samples all."""
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.sampling import ALWAYS_OFF

    uninstrument()
    instrument_langchain(TracerProvider(sampler=ALWAYS_OFF))
    return recorded


@pytest.mark.parametrize("asynchronous", [False, True])
def test_an_unsampled_run_records_nothing_and_its_tools_spans_are_as_unsampled(unsampled, asynchronous):
    tracer = unsampled.provider.get_tracer("application")
    sampled: list[bool] = []

    @tool
    def asking() -> int:
        """Looks at the current span."""
        sampled.append(otel.get_current_span().get_span_context().trace_flags.sampled)
        assert otel.get_current_span().get_span_context().is_valid
        return 1

    graph = agent(calls(("asking", {})), AIMessage("done"), tools=(asking,))
    answer = asyncio.run(graph.ainvoke(asked())) if asynchronous else graph.invoke(asked())
    assert answer["messages"][-1].content == "done"
    assert sampled == [False]
    assert otel.get_current_span() is otel.INVALID_SPAN
    with tracer.start_as_current_span("later", attributes={"openinference.span.kind": "X"}) as later:
        assert later.parent is None
    assert [span.name for span in unsampled.spans] == ["later"]


def test_the_applications_own_trace_goes_on_through_an_unsampled_run(unsampled):
    tracer = unsampled.provider.get_tracer("application")
    kind = {"openinference.span.kind": "X"}

    @tool
    def asking() -> int:
        """Opens a span."""
        with tracer.start_as_current_span("query", attributes=kind):
            return 1

    graph = agent(calls(("asking", {})), AIMessage("done"), tools=(asking,))
    with tracer.start_as_current_span("request", attributes=kind):
        graph.invoke(asked())
    assert unsampled.parent(unsampled.named("query")).name == "request"


def test_runs_within_an_unsampled_one_are_let_alone(unsampled, monkeypatch):
    from spanproof.instrumentors.langchain.handler import SpanHandler

    seen = []
    original = SpanHandler.on_chain_start

    def counting(self, *args, **given):
        seen.append(given["run_id"])
        return original(self, *args, **given)

    monkeypatch.setattr(SpanHandler, "on_chain_start", counting)
    step = RunnableLambda(lambda x: x + 1, name="step")

    def work(value):
        return step.invoke(step.invoke(step.invoke(value)))

    assert RunnableLambda(work).invoke(1) == 4
    assert len(seen) == 1
    assert RunnableLambda(work).invoke(1) == 4
    assert len(seen) == 2
