"""Agents of three frameworks over one small shop: real tools, scripted models, and their traces.

A turn is what the model writes: code for a smolagents code agent, `{tool: {argument: value}}` for a call of a
tool, a text for an answer.
"""

from __future__ import annotations

import asyncio
import json
import random
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib.resources import files
from typing import Any

import yaml
from agents import Agent, ModelResponse, Runner, Usage, function_tool
from agents import Model as SDKModel
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import StructuredTool
from langgraph.prebuilt import create_react_agent
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from smolagents import ChatMessage, CodeAgent, MessageRole, Model, ToolCallingAgent, tool
from smolagents.local_python_executor import LocalPythonExecutor
from smolagents.models import ChatMessageToolCall, ChatMessageToolCallFunction
from smolagents.monitoring import LogLevel

from spanproof.instrumentors import (
    instrument_langchain,
    instrument_openai_agents,
    instrument_smolagents,
    uninstrument,
)
from spanproof.trace import Trace, trace_of
from spanproof.trace.dialects import normalise_request

TABLES = """
CREATE TABLE orders (id INTEGER, customer TEXT, total REAL, placed TEXT);
INSERT INTO orders VALUES (1, 'Ada', 120.5, '2026-03-02'), (2, 'Ben', 33.25, '2026-03-09'),
  (3, 'Ada', 61.0, '2026-04-01');
CREATE TABLE refunds (order_id INTEGER, amount REAL, status TEXT);
INSERT INTO refunds VALUES (2, 33.25, 'pending');
"""


def rows(query: str) -> str:
    """What the shop's database gives for a query."""
    with sqlite3.connect(":memory:") as database:
        database.executescript(TABLES)
        return str(database.execute(query).fetchall())


def run_sql(query: str) -> str:
    """Run a query; an error is returned as text.

    Args:
        query: SQL.
    """
    try:
        return rows(query)
    except sqlite3.Error as error:
        return f"Error: {error}"


def query_warehouse(query: str) -> str:
    """Run a query on the warehouse, which is down.

    Args:
        query: SQL.
    """
    raise ConnectionError("database is down")


def get_refund(order_id: int) -> dict:
    """Return an order's refund.

    Args:
        order_id: number of the order.
    """
    return {"order_id": order_id, "refund_status": "pending", "amount_usd": 45.0}


def exchange_rate(currency: str) -> str:
    """Return the dollar rate of a currency.

    Args:
        currency: three letters.
    """
    return '{"status": "error", "message": "rate service timed out"}'


def get_weather(city: str) -> str:
    """Return the weather of a city.

    Args:
        city: its name.
    """
    return f"{city}: 17.4 C, wind 12 km/h from the north"


def search_tickets(text: str) -> str:
    """Search the tickets of support.

    Args:
        text: words to look for.
    """
    return "No results found."


def fx_rate(base: str, quote: str) -> float:
    """Return the exchange rate of a currency pair.

    Args:
        base: three letters.
        quote: three letters.
    """
    raise TimeoutError("fx service timed out")


def list_employees(team: str) -> list:
    """List the employees of a team with their salaries.

    Args:
        team: its name.
    """
    paid = (("Mara", 58200), ("Jon", 61750), ("Ines", 49900))
    return [{"name": name, "team": team, "salary": salary} for name, salary in paid]


def web_search(query: str) -> str:
    """Search the web.

    Args:
        query: words to look for.
    """
    return "1. Elbe - river, 1,094 km long, basin 148,268 km2. 2. Rhine - river, 1,233 km long."


def read_sensor(sensor: str) -> str:
    """Read a sensor's last values as CSV.

    Args:
        sensor: its name.
    """
    if sensor != "boiler":
        return ""
    return "t,temp_c,bar\n0,71.4,1.92\n1,72.9,1.95\n2,73.3,1.97\n3,70.8,1.90"


def fetch_page(url: str) -> str:
    """Fetch a web page.

    Args:
        url: its address.
    """
    raise ConnectionError("403 Forbidden")


def run_python(code: str) -> str:
    """Run Python and return what it printed.

    Args:
        code: the program.
    """
    executor = LocalPythonExecutor(additional_authorized_imports=[])
    executor.send_tools({})
    try:
        return str(executor(code).logs)
    except Exception as error:
        return f"Error: {error}"


TOOLS = (
    *(run_sql, query_warehouse, get_refund, exchange_rate, get_weather, search_tickets),
    *(fx_rate, list_employees, web_search, read_sensor, fetch_page),
)


class CodeModel(Model):
    """Writes these snippets, one a turn."""

    def __init__(self, turns):
        super().__init__(model_id="scripted")
        self._turns = iter(turns)

    def generate(self, messages, **options):
        return ChatMessage(role=MessageRole.ASSISTANT, content=f"So.\n<code>\n{next(self._turns)}\n</code>")


class CallModel(Model):
    """Requests these tools, one a turn; a text is the final answer."""

    def __init__(self, turns):
        super().__init__(model_id="scripted")
        self._turns = iter(enumerate(turns))

    def generate(self, messages, **options):
        number, turn = next(self._turns)
        name, given = (
            next(iter(turn.items())) if isinstance(turn, dict) else ("final_answer", {"answer": turn})
        )
        call = ChatMessageToolCall(ChatMessageToolCallFunction(given, name), f"call-{number}", "function")
        return ChatMessage(role=MessageRole.ASSISTANT, content="I look.", tool_calls=[call])


class Chat(BaseChatModel):
    """Answers with these messages, one a turn."""

    turns: list
    at: int = 0

    @property
    def _llm_type(self):
        return "scripted"

    def bind_tools(self, tools, **options):
        return self

    def _generate(self, messages, stop=None, run_manager=None, **options):
        self.at += 1
        turn = self.turns[self.at - 1]
        message = AIMessage(turn) if isinstance(turn, str) else self._call(turn)
        return ChatResult(generations=[ChatGeneration(message=message)])

    def _call(self, turn):
        ((name, given),) = turn.items()
        return AIMessage(
            "I look.",
            tool_calls=[{"name": name, "args": given, "id": f"call-{self.at}", "type": "tool_call"}],
        )


class BareModel(SDKModel):
    """A model of the Agents SDK that makes no spans of its own, as one that people write."""

    def __init__(self, turns):
        self._turns = iter(enumerate(turns))

    async def get_response(self, system_instructions, input, *args, **options):
        number, turn = next(self._turns)
        if isinstance(turn, str):
            text = ResponseOutputText(type="output_text", text=turn, annotations=[])
            said = ResponseOutputMessage(
                id=f"m{number}", type="message", role="assistant", status="completed", content=[text]
            )
        else:
            ((name, given),) = turn.items()
            said = ResponseFunctionToolCall(
                type="function_call", call_id=f"c{number}", name=name, arguments=json.dumps(given)
            )
        return ModelResponse(output=[said], usage=Usage(), response_id=None)

    async def stream_response(self, *args, **options):
        raise NotImplementedError
        yield


@cache
def _returned_as_text(function):
    """A tool that gives what it raises as text, as most tools of graphs do."""

    def guarded(**given):
        try:
            return str(function(**given))
        except Exception as error:
            return f"{type(error).__name__}: {error}"

    described = StructuredTool.from_function(function)
    return StructuredTool(
        name=function.__name__,
        description=described.description,
        args_schema=described.args_schema,
        func=guarded,
    )


# What a framework makes of a function takes longer than a run.
_smolagents_tool, _agents_sdk_tool = cache(tool), cache(function_tool)


@cache
def _prompts(name: str) -> Any:
    """The templates that smolagents reads for each agent anew."""
    return yaml.safe_load(files("smolagents.prompts").joinpath(name).read_text(encoding="utf-8"))


def _smolagents(task: str, turns: list, tools: tuple) -> None:
    CodeAgent(
        [_smolagents_tool(each) for each in tools],
        CodeModel(turns),
        prompt_templates=_prompts("code_agent.yaml"),
        max_steps=8,
        verbosity_level=LogLevel.OFF,
        additional_authorized_imports=["pandas", "numpy.*", "json", "io", "string"],
    ).run(task)


def _smolagents_calls(task: str, turns: list, tools: tuple) -> None:
    given = [_smolagents_tool(each) for each in (*tools, run_python)]
    prompts = _prompts("toolcalling_agent.yaml")
    ToolCallingAgent(
        given, CallModel(turns), prompt_templates=prompts, max_steps=8, verbosity_level=LogLevel.OFF
    ).run(task)


def _langgraph(task: str, turns: list, tools: tuple) -> None:
    given = [_returned_as_text(each) for each in (*tools, run_python)]
    agent = create_react_agent(Chat(turns=turns), given, name="clerk")
    agent.invoke({"messages": [HumanMessage(task)]})


def _agents_sdk(task: str, turns: list, tools: tuple) -> None:
    agent = Agent(
        name="clerk",
        instructions="You answer questions about the shop.",
        model=BareModel(turns),
        tools=[_agents_sdk_tool(each) for each in (*tools, run_python)],
    )
    asyncio.run(Runner.run(agent, task))


_FRAMEWORKS: dict[str, Any] = {
    "smolagents": _smolagents,
    "smolagents calls": _smolagents_calls,
    "langgraph": _langgraph,
    "agents sdk": _agents_sdk,
}


@contextmanager
def traced() -> Iterator[Any]:
    """Gives a function from framework, task, turns and more tools to the trace of that run."""
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    instrument_smolagents(tracer_provider=provider)
    instrument_langchain(tracer_provider=provider)
    instrument_openai_agents(tracer_provider=provider)

    def run(framework: str, task: str, turns: list, tools: tuple = TOOLS) -> Trace:
        exporter.clear()
        # What a scripted agent draws at random must not be a number of its system prompt by chance.
        random.seed(23)
        _FRAMEWORKS[framework](task, list(turns), tools)
        return trace_of(list(normalise_request(encode_spans(exporter.get_finished_spans()))))

    try:
        yield run
    finally:
        uninstrument()
