"""The OpenAI Agents SDK: trees, failures derived from their parts, hosted code."""

import asyncio
import json
from contextlib import nullcontext

import agents
import pytest
from agents import (
    Agent,
    GuardrailFunctionOutput,
    RunConfig,
    Runner,
    UserError,
    function_tool,
    input_guardrail,
    set_trace_processors,
)
from agents.tracing import generation_span, response_span
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans

from spanproof.instrumentors import instrument_openai_agents, uninstrument
from spanproof.instrumentors.frameworks.openai_agents.instrumentor import _list_processors

from .agents_sdk import Bare, Scripted, ScriptedResponses, calls, chat_completions, response_of, says
from .coders import messages_of


@pytest.fixture(autouse=True)
def _instrumented(recorded):
    set_trace_processors([])
    instrument_openai_agents(recorded.provider)
    yield
    uninstrument()


@function_tool
def add(a: int, b: int) -> int:
    """Adds."""
    if a == 9:
        raise ValueError("nine")
    return a + b


def calculator(*turns, **options):
    return Agent(name="calculator", tools=[add], model=Scripted(*turns), **options)


async def test_a_run_records_its_question_answer_and_calls(recorded):
    agent = calculator(calls("add", a=1, b=2), says("It is 3."))
    assert (await Runner.run(agent, "1 + 2?")).final_output == "It is 3."
    run = recorded.named("invoke_agent calculator").attributes
    assert run["input.value"] == "1 + 2?"
    assert run["output.value"] == "It is 3."
    call = recorded.named("execute_tool add").attributes
    assert json.loads(call["gen_ai.tool.call.arguments"]) == {"a": 1, "b": 2}


async def test_calls_record_their_new_messages_only(recorded):
    await Runner.run(calculator(calls("add", a=1, b=2), says("It is 3.")), "1 + 2?")
    first, second = recorded.of_kind("LLM")
    assert len(messages_of(first)) == 1
    assert [message["role"] for message in messages_of(second)] == ["tool"]
    assert second.attributes["spanproof.messages.omitted"] == 2
    assert second.attributes["gen_ai.usage.input_tokens"] == 3


@pytest.mark.parametrize("streamed", [False, True])
async def test_a_chat_completions_messages_have_their_calls_and_answers(recorded, streamed):
    with chat_completions(("add", {"a": 1, "b": 2}), "It is 3.") as model:
        agent = Agent(name="calculator", tools=[add], model=model)
        if streamed:
            result = Runner.run_streamed(agent, "1 + 2?")
            assert [event async for event in result.stream_events()]
        else:
            await Runner.run(agent, "1 + 2?")
    first, second = recorded.of_kind("LLM")
    assert messages_of(first) == [{"role": "user", "parts": [{"type": "text", "content": "1 + 2?"}]}]
    call = {"type": "tool_call", "id": "c1", "name": "add", "arguments": {"a": 1, "b": 2}}
    (requested,) = messages_of(first, "gen_ai.output.messages")
    assert requested["parts"] == [{"type": "text", "content": "I ask."}, call]
    answered = {"type": "tool_call_response", "id": "c1", "response": "3"}
    assert messages_of(second) == [{"role": "tool", "parts": [answered]}]
    assert second.attributes["output.value"] == "It is 3."
    assert second.attributes["gen_ai.usage.input_tokens"] == 3


async def test_an_answer_of_very_many_parts_takes_time_in_proportion(recorded):
    many = [{"role": "assistant", "content": str(number)} for number in range(20_000)]
    with agents.trace("workflow"), generation_span(input=many, output=many, model="m"):
        pass
    (call,) = recorded.of_kind("LLM")
    assert "output.value" in call.attributes


def test_an_error_that_utf8_has_no_form_for_does_not_stop_the_export(recorded):
    with agents.trace("workflow"), agents.handoff_span("a", "b") as handed:
        handed.set_error({"message": "lone \ud800 surrogate", "data": None})
    encode_spans(recorded.spans).SerializeToString()
    assert recorded.named("handoff from a").status.description == "lone \ufffd surrogate"


async def test_a_tool_whose_failure_the_sdk_handles_is_failed_and_the_run_is_not(recorded):
    await Runner.run(calculator(calls("add", a=9, b=2), says("No.")), "9 + 2?")
    assert recorded.named("execute_tool add").status.status_code.name == "ERROR"
    run = recorded.named("invoke_agent calculator")
    assert run.attributes["spanproof.run.ending"] == "answered"
    assert run.status.status_code.name == "UNSET"


async def test_a_models_failure_is_the_runs_with_its_type(recorded):
    with pytest.raises(ConnectionError):
        await Runner.run(calculator(ConnectionError("away")), "1 + 2?")
    assert recorded.of_kind("LLM")[0].attributes["error.type"] == "ConnectionError"
    run = recorded.named("invoke_agent calculator").attributes
    assert run["spanproof.run.ending"] == "failed"
    assert run["error.type"] == "ConnectionError"


@pytest.mark.parametrize("how", ["cancelled", "abandoned", "stopped after its turn"])
def test_a_stream_that_its_caller_gave_up_is_no_failure(recorded, how):
    async def run():
        agent = Agent(
            name="calculator",
            tools=[add],
            model=ScriptedResponses(calls("add", a=1, b=2), says("It is 3.")),
        )
        result = Runner.run_streamed(agent, "1 + 2?")
        async for event in result.stream_events():
            if event.type == "run_item_stream_event" and how == "abandoned":
                return  # and the loop is over with it
            if event.type == "run_item_stream_event":
                result.cancel(mode="after_turn" if how == "stopped after its turn" else "immediate")

    asyncio.run(run())
    _assert_given_up(recorded)


@pytest.mark.parametrize("own_trace", [True, False])
async def test_a_run_that_answers_in_the_turn_it_is_stopped_after_has_answered(recorded, own_trace):
    agent = Agent(name="calculator", model=ScriptedResponses(says("It is 3.")))
    with nullcontext() if own_trace else agents.trace("sums"):
        result = Runner.run_streamed(agent, "1 + 2?")
        async for _ in result.stream_events():
            result.cancel(mode="after_turn")
    assert recorded.named("invoke_agent calculator").attributes["spanproof.run.ending"] == "answered"


async def test_a_run_stopped_within_a_trace_of_the_applications_has_not_answered(recorded):
    agent = Agent(name="calculator", tools=[add], model=ScriptedResponses(calls("add", a=1, b=2), says("3")))
    with agents.trace("sums"):
        result = Runner.run_streamed(agent, "1 + 2?")
        async for _ in result.stream_events():
            result.cancel(mode="after_turn")
    assert recorded.named("execute_tool add")
    _assert_given_up(recorded)


async def test_a_run_that_its_caller_had_no_more_time_for_is_no_failure(recorded):
    begun = asyncio.Event()

    @function_tool
    async def wait() -> None:
        """Waits."""
        begun.set()
        await asyncio.Event().wait()

    agent = Agent(name="calculator", tools=[wait], model=Scripted(calls("wait")))
    running = asyncio.create_task(Runner.run(agent, "1 + 2?"))
    await begun.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    _assert_given_up(recorded)
    assert recorded.named("execute_tool wait")


def _assert_given_up(recorded):
    """Nothing failed, nothing was answered: as with an abandoned stream of any other framework."""
    run = recorded.named("invoke_agent calculator")
    assert "spanproof.run.ending" not in run.attributes
    for span in recorded.spans:
        assert (span.status.status_code.name, span.events) == ("UNSET", ()), span.name
        assert "error.type" not in span.attributes


async def test_running_out_of_turns_is_how_the_run_ended(recorded):
    with pytest.raises(agents.MaxTurnsExceeded):
        await Runner.run(calculator(*[calls("add", a=1, b=2)] * 3), "1 + 2?", max_turns=2)
    assert recorded.named("invoke_agent calculator").attributes["spanproof.run.ending"] == "max_steps"


async def test_a_tripped_guardrail_fails_the_run(recorded):
    @input_guardrail
    async def refuse(context, agent, given):
        return GuardrailFunctionOutput(output_info="no", tripwire_triggered=True)

    with pytest.raises(agents.InputGuardrailTripwireTriggered):
        await Runner.run(calculator(says("hi"), input_guardrails=[refuse]), "1 + 2?")
    (guard,) = recorded.of_kind("GUARDRAIL")
    assert json.loads(guard.attributes["output.value"]) == {"triggered": True}
    assert recorded.named("invoke_agent calculator").attributes["spanproof.run.ending"] == "failed"


async def test_an_agent_as_a_tool_is_a_run_within_the_call(recorded):
    helper = Agent(name="helper", model=Scripted(says("3")))
    boss = Agent(
        name="boss",
        tools=[helper.as_tool("ask_helper", "Asks.")],
        model=Scripted(calls("ask_helper", input="1 + 2?"), says("It is 3.")),
    )
    await Runner.run(boss, "1 + 2?")
    above = recorded.parent(recorded.named("invoke_agent helper"))
    while above is not None and above.name != "execute_tool ask_helper":
        above = recorded.parent(above)
    assert above is not None


async def test_application_spans_inside_a_tool_are_its_children(recorded):
    @function_tool
    def traced() -> str:
        """Opens a span."""
        tracer = recorded.provider.get_tracer("application")
        with tracer.start_as_current_span("query", attributes={"openinference.span.kind": "X"}):
            return "ok"

    agent = Agent(name="a", tools=[traced], model=Scripted(calls("traced"), says("done")))
    await Runner.run(agent, "go")
    assert recorded.parent(recorded.named("query")).name == "execute_tool traced"


def test_code_of_the_hosted_interpreter_is_a_tool_call_with_its_logs(recorded):
    ran = {
        "type": "code_interpreter_call",
        "id": "ci_1",
        "container_id": "box",
        "status": "completed",
        "code": "print(6 * 7)",
        "outputs": [{"type": "logs", "logs": "42\n"}],
    }
    response = response_of([ran])
    with agents.trace("workflow"), response_span(response) as span:
        span.span_data.input = "6 * 7?"
    call = recorded.named("execute_tool code_interpreter")
    assert call.attributes["spanproof.code.source"] == "print(6 * 7)"
    assert call.attributes["spanproof.execution.logs"] == "42\n"
    assert recorded.parent(call).attributes["openinference.span.kind"] == "LLM"


def test_what_hosted_code_showed_is_reported_in_order_and_nothing_where_the_api_reports_none(recorded):
    ran = {"type": "code_interpreter_call", "id": "ci_1", "container_id": "box", "status": "completed"}
    image = {"type": "image", "url": "https://files.example/plot.png"}
    outputs = [{"type": "logs", "logs": "4"}, image, {"type": "logs", "logs": "2\n"}]
    response = response_of([{**ran, "code": "plot()", "outputs": outputs}, {**ran, "code": "1"}])
    with agents.trace("workflow"), response_span(response):
        pass
    seen, untold = (span.attributes for span in recorded.of_kind("TOOL"))
    assert seen["spanproof.execution.logs"] == "42\n"
    assert seen["spanproof.execution.observation"] == seen["output.value"] == "4[image]\n2\n"
    assert not {"spanproof.execution.logs", "spanproof.execution.observation", "output.value"} & set(untold)


async def test_a_tool_that_raises_names_what_it_raised_and_has_no_result(recorded):
    @function_tool(failure_error_function=None)
    def failing() -> int:
        """Fails."""
        raise LookupError("no such order")

    agent = Agent(name="a", tools=[failing], model=Scripted(calls("failing"), says("done")))
    with pytest.raises(UserError):
        await Runner.run(agent, "go")
    call = recorded.named("execute_tool failing").attributes
    assert call["error.type"] == recorded.named("invoke_agent a").attributes["error.type"] == "LookupError"
    assert call["spanproof.execution.error.chain"] == ("UserError", "LookupError")
    assert not {"gen_ai.tool.call.result", "output.value"} & set(call)


async def test_what_the_sdk_is_reported_to_keep_back_is_hidden_and_not_null(recorded):
    agent = calculator(calls("add", a=1, b=2), says("3"))
    await Runner.run(agent, "1 + 2?", run_config=RunConfig(trace_include_sensitive_data=False))
    call = recorded.named("execute_tool add").attributes
    assert call["spanproof.content.hidden"] is True
    assert not {"gen_ai.tool.call.arguments", "gen_ai.tool.call.result", "input.value"} & set(call)
    recorded.clear()
    with agents.trace("workflow"), response_span():
        pass
    assert recorded.of_kind("LLM")[0].attributes["spanproof.content.hidden"] is True


async def test_an_agent_that_hands_over_has_not_answered(recorded):
    helper = Agent(name="helper", model=Scripted(says("helped")))
    boss = Agent(name="boss", model=Scripted(calls("transfer_to_helper")), handoffs=[helper])
    await Runner.run(boss, "Help.")
    assert "spanproof.run.ending" not in recorded.named("invoke_agent boss").attributes
    assert recorded.named("invoke_agent helper").attributes["spanproof.run.ending"] == "answered"


async def test_uninstrumenting_in_the_middle_of_a_run_ends_its_spans(recorded, caplog):
    @function_tool
    def leaving() -> str:
        """Leaves."""
        uninstrument()
        return "left"

    agent = Agent(name="a", tools=[leaving], model=Scripted(calls("leaving"), says("done")))
    assert (await Runner.run(agent, "go")).final_output == "done"
    names = {span.name for span in recorded.spans}
    assert {"Agent workflow", "invoke_agent a", "step 1", "execute_tool leaving"} <= names
    assert not [record for record in caplog.records if record.name.startswith("opentelemetry")]
    set_trace_processors([])
    instrument_openai_agents(recorded.provider)


def test_the_sdks_own_processors_stay_or_make_room_as_requested(recorded):
    uninstrument()
    other = type(
        "Other",
        (agents.TracingProcessor,),
        dict.fromkeys(agents.TracingProcessor.__abstractmethods__, lambda *_: None),
    )()
    set_trace_processors([other])
    instrument_openai_agents(recorded.provider)
    assert _list_processors()[0] is other
    assert len(_list_processors()) == 2
    uninstrument()
    assert _list_processors() == [other]
    instrument_openai_agents(recorded.provider, exclusive=True)
    assert other not in _list_processors()
    uninstrument()
    assert _list_processors() == [other]
    instrument_openai_agents(recorded.provider)  # as `opentelemetry-instrument` does
    instrument_openai_agents(exclusive=True)
    instrument_openai_agents()
    assert other not in _list_processors()
    assert len(_list_processors()) == 1
    uninstrument()
    assert _list_processors() == [other]
    set_trace_processors([])
    instrument_openai_agents(recorded.provider)


@pytest.mark.parametrize("streamed", [False, True])
async def test_a_model_that_makes_no_span_has_its_calls_recorded(recorded, streamed):
    model = Bare(calls("add", a=1, b=2), says("It is 3."))
    agent = Agent(name="clerk", instructions="Answer.", tools=[add], model=model)
    if streamed:
        result = Runner.run_streamed(agent, "1 + 2?")
        async for _ in result.stream_events():
            pass
    else:
        result = await Runner.run(agent, "1 + 2?")
    assert result.final_output == "It is 3."
    run = recorded.named("invoke_agent clerk").attributes
    assert (run["input.value"], run["output.value"]) == ("1 + 2?", "It is 3.")
    models = [span for span in recorded.spans if span.name == "chat Bare"]
    assert [message["role"] for message in json.loads(models[0].attributes["gen_ai.input.messages"])] == [
        "system",
        "user",
    ]
    assert len(models) == 2


async def test_a_bare_models_content_is_kept_back_where_the_sdk_is_set_to(recorded):
    agent = Agent(name="clerk", model=Bare(says("It is 3.")))
    await Runner.run(agent, "1 + 2?", run_config=RunConfig(trace_include_sensitive_data=False))
    span = recorded.named("chat Bare")
    assert "3" not in json.dumps(dict(span.attributes))
    assert span.attributes["spanproof.content.hidden"] is True


async def test_a_bare_models_failure_is_its_spans(recorded):
    with pytest.raises(RuntimeError):
        await Runner.run(Agent(name="clerk", model=Bare(RuntimeError("no model"))), "1 + 2?")
    assert recorded.named("chat Bare").status.description == "RuntimeError: no model"
