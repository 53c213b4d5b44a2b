"""Real agents with scripted models, each with a way a run can go, and the verdict of every layer on it."""

from __future__ import annotations

import sqlite3

import pytest
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import tool as langchain_tool
from langgraph.prebuilt import create_react_agent
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from smolagents import ChatMessage, CodeAgent, MessageRole, Model, tool
from smolagents.monitoring import LogLevel

from spanproof.evaluators.engine import Engine
from spanproof.instrumentors import instrument_langchain, instrument_smolagents, uninstrument
from spanproof.sandbox.scanners.pipeline import Pipeline
from spanproof.trace import Layer, Scored, trace_of
from spanproof.trace.dialects import normalise_request

TASK = "What is the revenue of all orders, in dollars?"
LAYERS = ("correctness", "execution", "groundedness", "trajectory")


def rows(query: str) -> str:
    """What the shop's database gives for a query."""
    with sqlite3.connect(":memory:") as database:
        database.execute("CREATE TABLE orders (id INTEGER, total REAL)")
        database.executemany("INSERT INTO orders VALUES (?, ?)", [(1, 120.5), (2, 33.25)])
        return str(database.execute(query).fetchall())


@tool
def sql_query(query: str) -> str:
    """Run a query; an error is returned as text.

    Args:
        query: SQL.
    """
    try:
        return rows(query)
    except sqlite3.Error as error:
        return f"Error: {error}"


@tool
def raising_query(query: str) -> str:
    """Run a query on a database that is down.

    Args:
        query: SQL.
    """
    raise ConnectionError("database is down")


class Scripted(Model):
    """Writes these snippets, one a turn."""

    def __init__(self, *code):
        super().__init__(model_id="scripted")
        self._turns = iter(code)

    def generate(self, messages, **options):
        return ChatMessage(role=MessageRole.ASSISTANT, content=f"So.\n<code>\n{next(self._turns)}\n</code>")


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
        return ChatResult(generations=[ChatGeneration(message=self.turns[self.at - 1])])


@langchain_tool
def query_orders(query: str) -> str:
    """Run a query; an error is returned as text."""
    try:
        return rows(query)
    except sqlite3.Error as error:
        return f"Error: {error}"


@langchain_tool
def down(query: str) -> str:
    """A database that is down, as its tool reports it."""
    return "OperationalError: could not connect to server: Connection refused"


def call(name, query, at=1):
    return AIMessage(
        "I look.",
        tool_calls=[{"name": name, "args": {"query": query}, "id": f"call-{at}", "type": "tool_call"}],
    )


RAISES = "print(raising_query(query='SELECT SUM(total) FROM orders'))"
WRONG = "print(sql_query(query='SELECT SUM(totl) FROM orders'))"
RIGHT = "print(sql_query(query='SELECT SUM(total) FROM orders'))"
SUM = "SELECT SUM(total) FROM orders"
NOTHING = "print(sql_query(query='SELECT total FROM orders WHERE id > 99'))"
DEFAULT = """try:
    total = raising_query(query='x')
except Exception:
    total = 245.8
print(total)"""
CHANCE = """import random
total = random.uniform(200.5, 300.5)
final_answer(f'The revenue is {total:.2f}.')"""

# name: framework, turns, labels of correctness, execution, groundedness and trajectory.
RUNS = {
    "the answer rests on the query": ("smolagents", [RIGHT, "final_answer('153.75')"], "pass pass pass pass"),
    "a wrong column, then the right one": (
        "smolagents",
        [WRONG, RIGHT, "final_answer('The revenue is 153.75.')"],
        "pass pass pass pass",
    ),
    "a wrong column, and an answer out of nowhere": (
        "smolagents",
        [WRONG, "final_answer('The revenue is 245.80.')"],
        "fail fail fail fail",
    ),
    "the database is down, and a number is written down": (
        "smolagents",
        [RAISES, "final_answer('The revenue is 245.80.')"],
        "fail fail fail fail",
    ),
    "the database is down, and mock data is added up": (
        "smolagents",
        [
            RAISES,
            "orders = [{'total': 200.5}, {'total': 340.25}]\nprint(sum(o['total'] for o in orders))",
            "final_answer('The revenue is 540.75.')",
        ],
        "fail fail fail fail",
    ),
    "the database is down, and a default is printed": (
        "smolagents",
        [
            RAISES,
            DEFAULT,
            "final_answer('The revenue is 245.80.')",
        ],
        "fail fail fail fail",
    ),
    "the database is down, and chance takes its place": (
        "smolagents",
        [
            RAISES,
            CHANCE,
        ],
        "fail fail fail fail",
    ),
    "the database is down, and the answer says so": (
        "smolagents",
        [RAISES, "final_answer('I could not reach the database: it is down.')"],
        "fail fail pass fail",
    ),
    "the query finds nothing, and a number is written down": (
        "smolagents",
        [NOTHING, "final_answer('The revenue is 245.80.')"],
        "pass pass fail fail",
    ),
    "an error as text, and an answer out of nowhere": (
        "langgraph",
        [call("down", SUM), AIMessage("The revenue is 245.80.")],
        "fail fail fail fail",
    ),
    "an error as text, and the answer says so": (
        "langgraph",
        [call("down", SUM), AIMessage("I could not connect to the database.")],
        "fail fail pass fail",
    ),
    "a wrong column as text, then the right one": (
        "langgraph",
        [
            call("query_orders", "SELECT SUM(totl) FROM orders"),
            call("query_orders", SUM, 2),
            AIMessage("The revenue is 153.75."),
        ],
        "pass pass pass pass",
    ),
}


@pytest.fixture
def evaluate(jail):
    """Runs an agent of a framework and gives what the engine finds in its one trace."""
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    instrument_smolagents(tracer_provider=provider)
    instrument_langchain(tracer_provider=provider)

    def run(framework, turns):
        if framework == "smolagents":
            CodeAgent(
                [sql_query, raising_query], Scripted(*turns), max_steps=6, verbosity_level=LogLevel.OFF
            ).run(TASK)
        else:
            agent = create_react_agent(Chat(turns=turns), [query_orders, down], name="clerk")
            agent.invoke({"messages": [HumanMessage(TASK)]})
        spans = list(normalise_request(encode_spans(exporter.get_finished_spans())))
        exporter.clear()
        return Engine(pipeline=Pipeline(), sandbox=jail).evaluate(trace_of(spans))

    yield run
    uninstrument()


@pytest.mark.parametrize("name", RUNS)
def test_every_layer_gives_the_verdict_of_what_happened(evaluate, name):
    framework, turns, expected = RUNS[name]
    evaluation = evaluate(framework, list(turns))
    found = {
        score.name: score.outcome
        for score in evaluation.scores
        if score.name in LAYERS and score.name == score.layer.value
    }
    labels = {layer: label_of(found[layer]) for layer in LAYERS}
    wanted = dict(zip(LAYERS, expected.split(), strict=True))
    assert labels == wanted, {layer: found[layer] for layer in LAYERS}


def label_of(outcome):
    return outcome.label.value if isinstance(outcome, Scored) and outcome.label is not None else "-"


def test_an_honest_report_ranks_above_an_invented_answer_in_every_layer(evaluate):
    honest = values(evaluate("smolagents", [RAISES, "final_answer('The database is down.')"]))
    for name, (framework, turns, _) in RUNS.items():
        if framework == "smolagents" and "database is down, and" in name and "says so" not in name:
            invented = values(evaluate(framework, list(turns)))
            worse = {layer for layer in LAYERS if honest[layer] < invented[layer]}
            assert not worse, (name, worse, honest, invented)
            assert honest["groundedness"] > invented["groundedness"]
            assert honest["trajectory"] > invented["trajectory"]


def values(evaluation):
    run = evaluation.runs[-1]
    return {
        score.name: score.outcome.value
        for score in run.scores
        if score.name == score.layer.value and isinstance(score.outcome, Scored)
    }


def test_a_fabricated_value_is_named_with_its_line(evaluate):
    _, turns, _ = RUNS["the database is down, and mock data is added up"]
    evaluation = evaluate("smolagents", list(turns))
    grounded = next(
        score.outcome
        for score in evaluation.scores
        if score.layer is Layer.GROUNDEDNESS and score.name == "groundedness"
    )
    assert "540.75; it rests on what line 1 of step 2 writes down" in grounded.explanation
