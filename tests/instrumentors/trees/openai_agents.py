"""The OpenAI Agents SDK."""

import asyncio
from contextlib import suppress

import agents
from agents import Agent, GuardrailFunctionOutput, Runner, function_tool, input_guardrail

from ..agents_sdk import Scripted, ScriptedResponses, calls, chat_completions, says


@function_tool
def add(a: int, b: int) -> int:
    """Adds."""
    if a == 9:
        raise ValueError("nine")
    return a + b


@function_tool
def run_python(code: str) -> str:
    """Runs code."""
    return "42\n"


def calculator(*turns, model=Scripted, name="calculator", **options):
    return Agent(name=name, tools=options.pop("tools", [add]), model=model(*turns), **options)


def run(agent, **options):
    return asyncio.run(Runner.run(agent, "1 + 2?", **options)).final_output


_TURNS = (calls("add", a=1, b=2), says("It is 3."))


def generations(_):
    assert run(calculator(*_TURNS)) == "It is 3."


def responses(_):
    assert run(calculator(*_TURNS, model=ScriptedResponses)) == "It is 3."


def streamed(_):
    async def work():
        result = Runner.run_streamed(calculator(*_TURNS, model=ScriptedResponses), "1 + 2?")
        async for _event in result.stream_events():
            pass
        return result.final_output

    assert asyncio.run(work()) == "It is 3."


_CHAT_TURNS = (("add", {"a": 1, "b": 2}), "It is 3.")


def chat(_):
    with chat_completions(*_CHAT_TURNS) as model:
        assert run(Agent(name="calculator", tools=[add], model=model)) == "It is 3."


def chat_streamed(_):
    async def work(model):
        result = Runner.run_streamed(Agent(name="calculator", tools=[add], model=model), "1 + 2?")
        async for _event in result.stream_events():
            pass
        return result.final_output

    with chat_completions(*_CHAT_TURNS) as model:
        assert asyncio.run(work(model)) == "It is 3."


def hosted_interpreter(_):
    ran = {
        "type": "code_interpreter_call", "id": "ci_1", "container_id": "box", "status": "completed",
        "code": "print(6 * 7)", "outputs": [{"type": "logs", "logs": "42\n"}],
    }  # fmt: skip
    run(calculator([ran, *says("42.")], model=ScriptedResponses))


def tool_that_takes_code(_):
    run(calculator(calls("run_python", code="print(6 * 7)"), says("42."), tools=[run_python]))


def handoff(_):
    helper = calculator(says("It is 3."), name="helper")
    boss = calculator(calls("transfer_to_helper"), name="boss", tools=[], handoffs=[helper])
    assert run(boss) == "It is 3."


def guardrail_tripped(_):
    @input_guardrail(run_in_parallel=False)
    async def refuse(context, agent, given):
        return GuardrailFunctionOutput(output_info="no", tripwire_triggered=True)

    with suppress(agents.InputGuardrailTripwireTriggered):
        run(calculator(says("hi"), input_guardrails=[refuse]))


def agent_as_a_tool(_):
    helper = calculator(says("3"), name="helper", tools=[])
    boss = calculator(
        calls("ask_helper", input="1 + 2?"),
        says("It is 3."),
        name="boss",
        tools=[helper.as_tool("ask_helper", "Asks.")],
    )
    run(boss)


def tool_failed(_):
    run(calculator(calls("add", a=9, b=2), says("No.")))


def model_failed(_):
    with suppress(ConnectionError):
        run(calculator(ConnectionError("away")))


def out_of_turns(_):
    with suppress(agents.MaxTurnsExceeded):
        run(calculator(*[calls("add", a=1, b=2)] * 3), max_turns=2)
