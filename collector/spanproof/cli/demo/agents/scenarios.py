"""The demo's runs: what the scripted model writes, the tools there are, and which agent runs it.

Each is a kind of run that an evaluator has to distinguish; no verdict is written here. Everything around the
model (prompting, parsing, executing, remembering) is the frameworks' own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from langchain_core.language_models import FakeMessagesListChatModel
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.tools import tool as langchain_tool
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition
from smolagents import ChatMessage, CodeAgent, LocalPythonExecutor, MessageRole, Model, tool
from smolagents.monitoring import LogLevel, TokenUsage


@dataclass(frozen=True, slots=True)
class Scenario:
    """One agent run.

    Attributes:
        name: as it is shown and chosen.
        run: does the run and returns the agent's answer.
        prompt_version: `v1` is the prompt that works, `v2` the change that made it worse.
        task: what kind of task it is.
    """

    name: str
    run: Callable[[], str]
    prompt_version: str
    task: str


_CHARS_PER_TOKEN = 4
_ORDERS: dict[str, dict[str, Any]] = {
    "A-17": {"customer": "C-204", "currency": "USD", "total_cents": 12500, "items": 3},
    "B-02": {"customer": "C-204", "currency": "USD", "total_cents": 7500, "items": 2},
}
_REFUNDS: dict[str, list[dict[str, Any]]] = {
    "A-17": [
        {"item": "lamp", "cents": 3000, "status": "refunded"},
        {"item": "bulb", "cents": 1500, "status": "refunded"},
    ],
}


@tool  # type: ignore[untyped-decorator]
def refund_lines(order_id: str) -> list[dict[str, Any]]:
    """The refunds of an order, one entry per item.

    Args:
        order_id: Number of the order, like "A-17".
    """
    return [dict(line) for line in _REFUNDS[order_id]]


@tool  # type: ignore[untyped-decorator]
def find_order(order_id: str) -> dict[str, Any]:
    """An order's customer, currency, total in cents and number of items.

    Args:
        order_id: Number of the order, like "A-17".
    """
    return dict(_ORDERS[order_id])


@tool  # type: ignore[untyped-decorator]
def shipping_cents(order_id: str) -> int:
    """What shipping of an order cost, in cents.

    Args:
        order_id: Number of the order, like "A-17".
    """
    return 250 * int(_ORDERS[order_id]["items"])


class _ScriptedModel(Model):  # type: ignore[misc]
    """A smolagents model that writes one turn of its script after the other."""

    def __init__(self, turns: Sequence[str]) -> None:
        super().__init__(model_id="scripted-coder")
        self._turns = iter(turns)

    def generate(self, messages: list[Any], **_options: Any) -> ChatMessage:
        """Return the next turn, with token counts as a tokenizer would roughly give them."""
        text = next(self._turns)
        usage = TokenUsage(
            input_tokens=sum(len(str(message.content)) for message in messages) // _CHARS_PER_TOKEN,
            output_tokens=len(text) // _CHARS_PER_TOKEN,
        )
        return ChatMessage(role=MessageRole.ASSISTANT, content=text, token_usage=usage)


class ScriptedChatModel(FakeMessagesListChatModel):
    """A LangChain chat model that gives its answers in order; traces carry its name."""


def _format_turn(thought: str, code: str) -> str:
    """Return one turn of a model in the form that CodeAgent parses."""
    return f"Thought: {thought}\n<code>\n{code.strip()}\n</code>"


def _run_coder(task: str, turns: Sequence[str], *imports: str, max_steps: int = 6) -> str:
    agent = CodeAgent(
        tools=[refund_lines, find_order, shipping_cents],
        model=_ScriptedModel(turns),
        additional_authorized_imports=list(imports),
        max_steps=max_steps,
        name="refund_clerk",
        description="Answers questions about orders and refunds.",
        verbosity_level=LogLevel.OFF,
    )
    return str(agent.run(task))


@langchain_tool
def run_python(code: str) -> str:
    """Run Python code and return what it prints.

    Args:
        code: The code to run.
    """
    # smolagents' interpreter knows a fixed set of modules: no code reaches Python's own `exec`.
    executor = LocalPythonExecutor(additional_authorized_imports=[])
    executor.send_tools({})
    return str(executor(code).logs).strip()


def _run_graph(task: str, code: str, answer: str) -> str:
    """Run a LangGraph agent: a model and its Python tool take turns until the model has its answer."""
    call = {"name": "run_python", "args": {"code": code.strip()}, "id": "call_1"}
    model = ScriptedChatModel(responses=[AIMessage("", tool_calls=[call]), AIMessage(answer)])

    def generate(state: MessagesState) -> dict[str, Any]:
        return {"messages": [model.invoke(state["messages"])]}

    graph = StateGraph(MessagesState)
    graph.add_node("model", generate)
    graph.add_node("tools", ToolNode([run_python]))
    graph.add_edge(START, "model")
    graph.add_conditional_edges("model", tools_condition)
    graph.add_edge("tools", "model")
    final = graph.compile(name="refund_graph").invoke({"messages": [HumanMessage(task)]})
    return str(final["messages"][-1].content)


_REFUND_TASK = "What is the total refund in dollars for order A-17?"
_RIGHT = 'final_answer("The refund of order A-17 is $45.00.")'
# Put together here so that no scanner of repositories takes the demo for a leak.
_FAKE_KEY = "_".join(("sk", "live", "9aT4xQ7LmZ2vB8nKc5RdW1pY"))

_LOOK_UP = _format_turn(
    "I look up the refunds of order A-17.",
    """
lines = refund_lines(order_id="A-17")
for line in lines:
    print(line["item"], line["cents"], line["status"])
""",
)

# Looks up cents, adds them up, and answers with what came out.
_FAITHFUL = [
    _LOOK_UP,
    _format_turn(
        "Both lines are refunded; I add the cents up and convert them to dollars.",
        'total_cents = sum(line["cents"] for line in lines)\nprint(total_cents, total_cents / 100)',
    ),
    _format_turn("4500 cents are $45.00.", _RIGHT),
]

# Divides by zero at step 2, recovers at step 3, and then answers with another number.
_MISQUOTE = [
    _LOOK_UP,
    _format_turn(
        "I add up the cents and also work out the average of the lines still open.",
        """
total_cents = sum(line["cents"] for line in lines)
open_lines = [line for line in lines if line["status"] == "open"]
average_open = total_cents / len(open_lines)
print(total_cents, average_open)
""",
    ),
    _format_turn(
        "No line is open, so there is no average; the total is all I need.",
        'total_cents = sum(line["cents"] for line in lines)\nprint(total_cents)',
    ),
    _format_turn("That is the total.", 'final_answer("The refund of order A-17 is $54.00.")'),
]

# Writes a key into its code and reads the environment.
_SECRET = [
    _format_turn(
        "I authenticate against the payment service first.",
        f"""
import os
api_key = "{_FAKE_KEY}"
region = os.environ.get("PAYMENT_REGION", "eu-west")
lines = refund_lines(order_id="A-17")
print(region, sum(line["cents"] for line in lines))
""",
    ),
    _format_turn("The sum is 4500 cents.", _RIGHT),
]

# Writes the same failing code at every step until no step is left.
_FAILS = _format_turn(
    "I read the refund from the order.",
    'order = find_order(order_id="A-17")\nprint(order["refund_cents"] / 100)',
)
_LOOP = [*[_FAILS] * 5, "I could not determine the refund of order A-17."]

# Calls two tools in one snippet and goes on with the variables in the next ones.
_TOOLS = [
    _format_turn(
        "I fetch both orders and what their shipping cost.",
        """
first = find_order(order_id="A-17")
second = find_order(order_id="B-02")
shipping = shipping_cents(order_id="A-17") + shipping_cents("B-02")
print(first["total_cents"], second["total_cents"], shipping)
""",
    ),
    _format_turn(
        "Now the totals without the shipping.",
        """
goods_cents = first["total_cents"] + second["total_cents"] - shipping
goods_dollars = goods_cents / 100
print(goods_cents, goods_dollars)
""",
    ),
    _format_turn(
        "The goods cost 18750 cents.",
        'final_answer(f"The goods of orders A-17 and B-02 cost ${goods_dollars:.2f} together.")',
    ),
]
_ORDER_TASK = "What do the goods of orders A-17 and B-02 cost together in dollars, without shipping?"

_GRAPH_TASK = "Order A-17 has refunds of 3000 and 1500 cents. What is the total in dollars?"
_GRAPH_CODE = """
cents = [3000, 1500]
total_cents = sum(cents)
print("total cents:", total_cents)
print("total dollars:", total_cents / 100)
"""
_GRAPH_ANSWER = "The refunds of order A-17 add up to $45.00."

SCENARIOS = (
    Scenario("faithful", partial(_run_coder, _REFUND_TASK, _FAITHFUL), "v1", "refund-total"),
    Scenario("misquote", partial(_run_coder, _REFUND_TASK, _MISQUOTE), "v2", "refund-total"),
    Scenario("secret", partial(_run_coder, _REFUND_TASK, _SECRET, "os"), "v2", "refund-total"),
    Scenario("loop", partial(_run_coder, _REFUND_TASK, _LOOP, max_steps=5), "v2", "refund-total"),
    Scenario("tools", partial(_run_coder, _ORDER_TASK, _TOOLS), "v1", "order-cost"),
    Scenario("langgraph", partial(_run_graph, _GRAPH_TASK, _GRAPH_CODE, _GRAPH_ANSWER), "v1", "refund-total"),
)
