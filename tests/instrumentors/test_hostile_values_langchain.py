"""No value LangChain handles can break it, lose its span, or stop the export: see test_hostile_values.py."""

import pytest
from hypothesis import given
from langchain_core.callbacks import CallbackManager
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import StructuredTool
from langgraph.graph import START, StateGraph

from .hostile import EndlessList, EverythingRaises, value_of
from .hostile_hosts import (
    ANYTHING,
    AnsweringChatModel,
    AnsweringLLM,
    AnsweringRetriever,
    as_uninstrumented,
    exported,
    exporter,
    many,
    seeds,
)

pytestmark = pytest.mark.usefixtures("tracer")


@many
@given(seed=seeds)
def test_langchain_passes_any_value_as_without_instrumentation(tracer, seed):
    value = value_of(seed)
    tool = StructuredTool(name="passing", description="d", args_schema=ANYTHING, func=lambda value: value)
    calls = (
        lambda: tool.invoke({"value": value}),
        lambda: RunnableLambda(lambda _: value).invoke({"value": value}),
        lambda: RunnableLambda(lambda given: given["messages"][0]).invoke({"messages": [value]}),
    )
    as_uninstrumented(*calls)


@many
@given(seed=seeds)
def test_langchains_models_retrievers_and_graphs_pass_any_value(tracer, seed):
    value = value_of(seed)
    said = AIMessage.model_construct(
        type="ai",
        content=value,
        tool_calls=value,
        usage_metadata=value,
        response_metadata={"model_name": value},
    )
    # LangChain itself walks what a message holds, so one without an end would hang it, instrumented or not.
    held = "endless" if type(value) is EndlessList else value
    requested = HumanMessage.model_construct(type="human", content=held, id=value)
    graph = StateGraph(dict)
    graph.add_node("node", lambda state: {"messages": [value], "more": value})
    graph.add_edge(START, "node")
    compiled = graph.compile(name="graph")

    def failing(_):
        raise ValueError(value)

    raising = StructuredTool(name="raising", description="d", args_schema=ANYTHING, func=failing)
    config = {"metadata": {"value": value}, "tags": ["tag"]}
    calls = (
        lambda: AnsweringChatModel(answers=[said]).invoke([requested], llm_output=value),
        lambda: AnsweringLLM.model_construct(answer=value).invoke("asked"),
        lambda: AnsweringRetriever.model_construct(found=[value]).invoke("asked"),
        lambda: AnsweringRetriever.model_construct(found=value).invoke("asked"),
        lambda: compiled.invoke({"messages": [value], "more": value}),
        lambda: RunnableLambda(failing).invoke(value),
        lambda: raising.invoke({"value": value}),
        lambda: RunnableLambda(lambda given: given).invoke(value, config),
    )
    as_uninstrumented(*calls, same=False)


@many
@given(seed=seeds)
def test_langchains_callbacks_may_be_reported_anything(tracer, seed):
    value = value_of(seed)
    manager = CallbackManager.configure()
    exporter().clear()
    chain = manager.on_chain_start(value, value, name=value)
    within = chain.get_child()
    for run in (
        *within.on_chat_model_start(value, [[value]], invocation_params=value, name=value),
        *within.on_llm_start(value, [value], invocation_params={"model": value}),
    ):
        run.on_llm_end(value)
    (failing,) = within.on_llm_start(value, [value])
    failing.on_llm_error(ValueError(value))
    within.on_tool_start(value, value, inputs=value, tool_call_id=value).on_tool_end(value)
    within.on_tool_start({"name": "run_python"}, value, inputs={"code": value}).on_tool_error(OSError(value))
    within.on_retriever_start(value, value).on_retriever_end(value)
    chain.on_chain_end(value)
    assert len(exported()) == 7


def test_a_langchain_model_may_answer_with_anything_in_its_metadata():
    answer = AIMessage("hi", response_metadata={"model_name": EverythingRaises()})
    model = GenericFakeChatModel(messages=iter([answer]))
    assert model.invoke("hello").content == "hi"
    assert len(exported()) == 1
