"""No value the host handles can break it, lose its span, or stop the export.

Every hook of the three frameworks and of the API for any code is given such values. `HOSTILE_EXAMPLES` sets
how many each of the properties is given: 1,500 make over 10,000.
"""

import asyncio
import json
import os
from contextlib import contextmanager
from functools import cache
from typing import ClassVar

import agents
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from langchain_core.callbacks import CallbackManager
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.language_models.llms import LLM
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import StructuredTool
from langgraph.graph import START, StateGraph
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from smolagents import ChatMessage, Model, Tool

from spanproof.instrumentors import (
    instrument_langchain,
    instrument_openai_agents,
    instrument_smolagents,
    trace,
    uninstrument,
)
from spanproof.instrumentors.serialise import encode

from .coders import ScriptedChatModel, coder
from .hostile import LEAVES, EndlessList, EverythingRaises, leaf, value_of

many = settings(
    max_examples=int(os.environ.get("HOSTILE_EXAMPLES", "60")),
    deadline=None,
    suppress_health_check=list(HealthCheck),
    database=None,
)


_ANYTHING = {"type": "object", "properties": {"value": {}}}

seeds = st.integers(0, 2**32)


class Passing(Tool):
    """Returns the very object it is given."""

    name = "passing"
    description = "Passes."
    inputs: ClassVar = {"value": {"type": "any", "description": "Anything."}}
    output_type = "any"

    def forward(self, value):
        return value


class AnsweringModel(Model):
    """Answers with whatever it is told to."""

    answer: object = None

    def generate(self, messages, **options):
        return self.answer

    def generate_stream(self, messages, **options):
        yield self.answer
        yield from ()


class AnsweringChatModel(ScriptedChatModel):
    """The same for LangChain: an answer that no validation has seen."""

    def _generate(self, messages, stop=None, run_manager=None, **options):
        generation = ChatGeneration.model_construct(message=self.answers[0], text="", generation_info=None)
        return ChatResult.model_construct(generations=[generation], llm_output=options.get("llm_output"))


class AnsweringLLM(LLM):
    """The same for completions."""

    answer: object = None

    @property
    def _llm_type(self):
        return "answering"

    def _call(self, prompt, stop=None, run_manager=None, **options):
        return self.answer


class AnsweringRetriever(BaseRetriever):
    """The same for retrievers."""

    found: object = None

    def _get_relevant_documents(self, query, *, run_manager):
        return self.found


@cache
def _exporter():
    return InMemorySpanExporter()


def _instrument():
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(_exporter()))
    instrument_smolagents(provider)
    instrument_langchain(provider)
    agents.set_trace_processors([])
    instrument_openai_agents(provider)
    trace.configure(provider)
    return provider.get_tracer("application")


@contextmanager
def uninstrumented():
    uninstrument()
    try:
        yield
    finally:
        _instrument()


@pytest.fixture(scope="module", autouse=True)
def tracer():
    yield _instrument()
    uninstrument()
    trace.configure()


def exported():
    """The spans so far, which must be ended, valid for OTLP, and hold JSON where they say so."""
    spans = _exporter().get_finished_spans()
    _exporter().clear()
    encode_spans(spans).SerializeToString()
    for span in spans:
        for name in ("gen_ai.tool.call.arguments", "gen_ai.tool.call.result", "gen_ai.input.messages"):
            if name in span.attributes:
                json.loads(span.attributes[name])
    return spans


@many
@given(seeds)
def test_any_value_encodes_to_json_of_bounded_size(seed):
    value = value_of(seed)
    encoded = encode(value, 10_000)
    json.loads(encoded.text)
    encoded.text.encode()
    assert len(encoded.text) < 40_000


@many
@given(seed=seeds)
def test_a_smolagents_tool_passes_any_value(tracer, seed):
    value = value_of(seed)
    with tracer.start_as_current_span("outer"):
        assert Passing()(value=value) is value
    call = exported()[0]
    assert call.name == "execute_tool passing"
    assert {"gen_ai.tool.call.arguments", "gen_ai.tool.call.result"} <= call.attributes.keys()


@many
@given(seed=seeds)
def test_a_model_may_be_given_and_answer_any_value(tracer, seed):
    value = value_of(seed)
    model = AnsweringModel()
    model.answer = value
    with tracer.start_as_current_span("outer"):
        assert model([{"role": "user", "content": value}], temperature=value) is value
        assert model.generate([value]) is value
    assert len(exported()) == 3


@many
@given(seed=seeds)
def test_a_message_may_have_any_content(tracer, seed):
    value = value_of(seed)
    model = AnsweringModel()
    model.answer = ChatMessage(role="assistant", content=value)
    model.answer.token_usage = value
    model.answer.raw = value
    with tracer.start_as_current_span("outer"):
        assert (
            model([ChatMessage(role=value, content=[value, {"type": "text", "text": value}])]) is model.answer
        )
    assert len(exported()) == 2


def outcome(run, *, same=True):
    """What a call returns or raises, as far as it can be compared."""
    try:
        result = run()
    except BaseException as error:  # what the framework itself makes of such a value
        return type(error)
    return id(result) if same else type(result)


@many
@given(seed=seeds)
def test_langchain_passes_any_value_as_without_instrumentation(tracer, seed):
    value = value_of(seed)
    tool = StructuredTool(name="passing", description="d", args_schema=_ANYTHING, func=lambda value: value)
    calls = (
        lambda: tool.invoke({"value": value}),
        lambda: RunnableLambda(lambda _: value).invoke({"value": value}),
        lambda: RunnableLambda(lambda given: given["messages"][0]).invoke({"messages": [value]}),
    )
    _exporter().clear()
    instrumented = [outcome(call) for call in calls]
    exported()
    with uninstrumented():
        assert [outcome(call) for call in calls] == instrumented


@many
@given(seed=seeds)
def test_a_smolagents_stream_and_its_steps_pass_any_value(tracer, seed):
    value = value_of(seed)
    model = AnsweringModel()
    model.answer = value
    with tracer.start_as_current_span("outer"):
        model([])  # patches the class
        assert next(iter(model.generate_stream([value]))) is value
    exported()

    class Failing(Passing):
        def forward(self, value):
            raise ValueError(value)

    def run():
        agent = coder(
            "passing(thing)",
            "failing(thing)",
            "final_answer(passing(value=thing))",
            tools=(Passing(), named(Failing(), "failing")),
        )
        return agent.run("Go.", additional_args=Arguments(thing=value))

    instrumented = outcome(run, same=False)
    assert [span for span in exported() if span.name.startswith("invoke_agent")]
    with uninstrumented():
        assert outcome(run, same=False) == instrumented


def named(tool, name):
    tool.name = name
    return tool


class Arguments(dict):
    """smolagents writes a run's variables into its prompt."""

    def __str__(self):
        return "{…}"


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
    asked = HumanMessage.model_construct(type="human", content=held, id=value)
    graph = StateGraph(dict)
    graph.add_node("node", lambda state: {"messages": [value], "more": value})
    graph.add_edge(START, "node")
    compiled = graph.compile(name="graph")

    def failing(_):
        raise ValueError(value)

    raising = StructuredTool(name="raising", description="d", args_schema=_ANYTHING, func=failing)
    config = {"metadata": {"value": value}, "tags": ["tag"]}
    calls = (
        lambda: AnsweringChatModel(answers=[said]).invoke([asked], llm_output=value),
        lambda: AnsweringLLM.model_construct(answer=value).invoke("asked"),
        lambda: AnsweringRetriever.model_construct(found=[value]).invoke("asked"),
        lambda: AnsweringRetriever.model_construct(found=value).invoke("asked"),
        lambda: compiled.invoke({"messages": [value], "more": value}),
        lambda: RunnableLambda(failing).invoke(value),
        lambda: raising.invoke({"value": value}),
        lambda: RunnableLambda(lambda given: given).invoke(value, config),
    )
    _exporter().clear()
    instrumented = [outcome(call, same=False) for call in calls]
    exported()
    with uninstrumented():
        assert [outcome(call, same=False) for call in calls] == instrumented


@many
@given(seed=seeds)
def test_langchains_callbacks_may_be_told_anything(tracer, seed):
    value = value_of(seed)
    manager = CallbackManager.configure()
    _exporter().clear()
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


@many
@given(seed=seeds)
def test_any_code_in_coroutines_and_blocks_passes_any_value(tracer, seed):
    value = value_of(seed)

    @trace.tool
    async def passing(given):
        return given

    @trace.agent(name="generating")
    async def generating(given):
        yield await passing(given)

    @trace.step(name="failing")
    def failing(given):
        raise Told(given)

    class Told(Exception):
        pass

    given_out = []  # not returned: asyncio prints what a task returns

    async def work():
        given_out.extend([item async for item in generating(value)])

    asyncio.run(work())
    assert [id(item) for item in given_out] == [id(value)]
    with pytest.raises(Told) as told:
        failing(value)
    assert told.value.args[0] is value
    with trace.tool(name="block") as block:
        block.input(value)
        block.output(value)
        trace.record_execution("x", "python", output=value, error=Told(value), is_final=True)
    names = ["block", "execute_tool passing", "failing", "invoke_agent generating"]
    assert sorted(span.name.removeprefix("execute_tool block") or "block" for span in exported()) == names


@many
@given(seed=seeds)
def test_decorated_functions_pass_any_value(tracer, seed):
    value = value_of(seed)
    passing = trace.tool(lambda given: given)

    @trace.agent(name="generating")
    def generating(given):
        yield passing(given)
        return given

    stream = generating(value)
    assert next(stream) is value
    with pytest.raises(StopIteration) as stopped:
        next(stream)
    assert stopped.value.value is value
    with trace.step("step") as step:
        step.input(value)
        trace.record_execution("x", observation=value, logs=value, output=value)
    assert sorted(span.name for span in exported()) == [
        "execute_tool <lambda>",
        "invoke_agent generating",
        "step",
    ]


@many
@given(seed=seeds)
def test_openai_agents_spans_may_hold_any_value(tracer, seed):
    value = value_of(seed)
    with agents.trace("workflow"), agents.agent_span("agent") as agent:
        agent.span_data.tools = value
        with agents.generation_span(input=value, output=value, model="m", usage=value):
            pass
        with agents.generation_span(input=[value], output=[value, {"role": "assistant", "content": value}]):
            pass
        with agents.function_span("run_python", input=value, output=value) as called:
            called.span_data.mcp_data = value
        with agents.response_span(value) as response:
            response.span_data.input = value
        with agents.custom_span("own", {"value": value}), agents.guardrail_span("guard", triggered=True):
            pass
        with agents.handoff_span(value, value) as handed:
            handed.set_error({"message": value, "data": value})
        with agents.generation_span(
            input=[{"role": "tool", "tool_call_id": value, "content": value}],
            output=[{"object": "response", "output": [{"type": "function_call", "name": value}, value]}],
        ):
            pass
    assert len(exported()) == 10


@pytest.mark.parametrize("number", range(LEAVES))
def test_an_agent_answers_any_value_as_without_instrumentation(number):
    arguments = Arguments(thing=leaf(number))

    def run():
        return coder("final_answer(passing(thing))", tools=(Passing(),)).run("Go.", additional_args=arguments)

    _exporter().clear()
    instrumented = outcome(run, same=False)
    assert [span for span in exported() if span.name.startswith("invoke_agent")]
    with uninstrumented():
        assert outcome(run, same=False) == instrumented


def test_a_langchain_model_may_answer_with_anything_in_its_metadata():
    answer = AIMessage("hi", response_metadata={"model_name": EverythingRaises()})
    model = GenericFakeChatModel(messages=iter([answer]))
    assert model.invoke("hello").content == "hi"
    assert len(exported()) == 1
