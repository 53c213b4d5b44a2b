"""A graph of LangGraph's that calculates, and what is said to it and by it."""

from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.tools import tool
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition

from .coders import ScriptedChatModel


@tool
def add(a: int, b: int = 1) -> int:
    """Add two numbers."""
    return a + b


@tool
def failing(reason: str) -> str:
    """Always fails."""
    raise ValueError(reason)


def calls(*given):
    return AIMessage("", tool_calls=[{"name": n, "args": a, "id": f"c{i}"} for i, (n, a) in enumerate(given)])


def requested():
    return {"messages": [HumanMessage("What is 1 + 2?")]}


def turns():
    """Made anew each time: an agent writes its name into the messages it gets."""
    return [calls(("add", {"a": 1, "b": 2})), AIMessage("It is 3.")]


def calculator(*answers, tools=(add, failing), node=None, name="calculator", **compiled):
    """An agent that answers with these, or takes its turns; `node` may stand in the model's place."""
    model = ScriptedChatModel(answers=list(answers or turns()))

    def ask(state: MessagesState):
        return {"messages": [model.invoke(state["messages"])]}

    graph = StateGraph(MessagesState)
    graph.add_node("model", node or ask)
    graph.add_node("tools", ToolNode(list(tools), handle_tool_errors=False))
    graph.add_edge(START, "model")
    graph.add_conditional_edges("model", tools_condition)
    graph.add_edge("tools", "model")
    return graph.compile(name=name, **compiled)
