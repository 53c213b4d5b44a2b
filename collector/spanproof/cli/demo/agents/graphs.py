"""The LangGraph scenario: an agent whose one tool runs Python.

The tool runs the model's code in smolagents' interpreter, which knows a fixed set of modules and functions;
it never hands code to Python's own `exec`.
"""

from __future__ import annotations

from typing import Any

from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.tools import tool
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition
from smolagents import LocalPythonExecutor

from spanproof.cli.demo.agents.scripted import ScriptedChatModel

TASK = "Order A-17 has refunds of 3000 and 1500 cents. What is the total in dollars?"

_CODE = (
    "cents = [3000, 1500]\n"
    "total_cents = sum(cents)\n"
    'print("total cents:", total_cents)\n'
    'print("total dollars:", total_cents / 100)'
)


@tool
def run_python(code: str) -> str:
    """Run Python code and return what it prints.

    Args:
        code: The code to run.
    """
    executor = LocalPythonExecutor(additional_authorized_imports=[])
    executor.send_tools({})
    return str(executor(code).logs).strip()


def langgraph() -> str:
    """A model and its Python tool take turns until the model has its answer."""
    model = ScriptedChatModel(
        answers=[
            AIMessage("", tool_calls=[{"name": "run_python", "args": {"code": _CODE}, "id": "call_1"}]),
            AIMessage("The refunds of order A-17 add up to $45.00."),
        ]
    )

    def ask(state: MessagesState) -> dict[str, Any]:
        return {"messages": [model.invoke(state["messages"])]}

    graph = StateGraph(MessagesState)
    graph.add_node("model", ask)
    graph.add_node("tools", ToolNode([run_python]))
    graph.add_edge(START, "model")
    graph.add_conditional_edges("model", tools_condition)
    graph.add_edge("tools", "model")
    agent = graph.compile(name="refund_graph")
    final = agent.invoke({"messages": [HumanMessage(TASK)]})
    return str(final["messages"][-1].content)
