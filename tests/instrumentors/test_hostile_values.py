"""No value the host handles can break it, lose its span, or stop the export.

Every hook of the three frameworks and of the API for any code is given such values. `HOSTILE_EXAMPLES` sets
how many each of the properties is given: 1,500 make over 10,000.
"""

import asyncio
import json

import agents
import numpy
import pytest
from hypothesis import given
from smolagents import ChatMessage

from spanproof.instrumentors import Redaction, diagnostics, trace
from spanproof.instrumentors.content.serialise import encode_value
from spanproof.instrumentors.frameworks.diagnostics import remove_diagnostics

from .coders import coder
from .hostile import LEAVES, leaf, value_of
from .hostile_hosts import (
    AnsweringModel,
    Arguments,
    Passing,
    as_uninstrumented,
    exported,
    many,
    named,
    seeds,
)

pytestmark = pytest.mark.usefixtures("tracer")


@pytest.fixture(autouse=True)
def _counted_anew():
    remove_diagnostics()


@many
@given(seeds)
def test_any_value_encodes_to_json_of_bounded_size(seed):
    value = value_of(seed)
    encoded = encode_value(value, 10_000)
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


@pytest.mark.parametrize("number", range(LEAVES))
def test_a_smolagents_tool_passes_each_value(tracer, number):
    value = leaf(number)
    with tracer.start_as_current_span("outer"):
        assert Passing()(value=value) is value
    call = exported()[0].attributes
    assert json.loads(call["gen_ai.tool.call.arguments"]).keys() == {"value"}
    assert "gen_ai.tool.call.result" in call
    assert diagnostics().errors == {}


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

    spans = as_uninstrumented(run, same=False)
    assert [span for span in spans if span.name.startswith("invoke_agent")]


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
        raise REPORTED(given)

    class REPORTED(Exception):
        pass

    given_out = []  # not returned: asyncio prints what a task returns

    async def work():
        given_out.extend([item async for item in generating(value)])

    asyncio.run(work())
    assert [id(item) for item in given_out] == [id(value)]
    with pytest.raises(REPORTED) as reported:
        failing(value)
    assert reported.value.args[0] is value
    with trace.tool(name="block") as block:
        block.input(value)
        block.output(value)
        trace.record_execution("x", "python", output=value, error=REPORTED(value), is_final=True)
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

    spans = as_uninstrumented(run, same=False)
    (run_span,) = [span for span in spans if span.name.startswith("invoke_agent")]
    ended = run_span.attributes["spanproof.run.ending"]
    assert ended != "answered" or {"output.value", "gen_ai.output.messages"} <= set(run_span.attributes)


def test_an_answer_of_the_hosts_may_be_called_what_the_frameworks_are():
    class RunResult:
        pass

    def run():
        return coder("final_answer(passing(thing))", tools=(Passing(),)).run(
            "Go.", additional_args=Arguments(thing=RunResult())
        )

    (run_span,) = [span for span in as_uninstrumented(run, same=False) if span.parent is None]
    assert run_span.attributes["spanproof.run.ending"] == "answered"


def test_a_model_may_have_any_parameters(tracer):
    for value in (numpy.array([1, 2]), *map(leaf, range(LEAVES))):
        model = AnsweringModel()
        model.answer = ChatMessage(role="assistant", content="Yes.")
        model.kwargs = value
        with tracer.start_as_current_span("outer"):
            model([ChatMessage(role="user", content="Really?")])
        assert "gen_ai.input.messages" in exported()[0].attributes, type(value)


def test_an_exception_that_ends_the_process_when_it_is_looked_at_ends_nothing(tracer):
    class Deadly(Exception):
        def __str__(self):
            raise SystemExit(3)

        __repr__ = __str__

        @property
        def __notes__(self):
            raise SystemExit(4)

    @trace.tool
    def failing():
        raise Deadly

    def redacting(text):
        raise Deadly

    with pytest.raises(Deadly):
        failing()
    assert Redaction(function=redacting).format_redacted("secret") == "[redacted]"
    assert "no text, SystemExit" in diagnostics().last["redaction"]
    assert exported()[0].attributes["error.type"] == "Deadly"
