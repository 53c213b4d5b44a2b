"""A LangGraph agent that answers a question by querying a database in SQL."""

from __future__ import annotations

import json
import os
import sqlite3
from typing import Any

from langchain_core.messages import HumanMessage
from langchain_core.tools import tool
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition
from scripted_models import for_langchain

from spanproof.instrumentors import register, set_cohort

ENDPOINT = os.environ.get("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:4318")


@tool
def query_database(sql: str) -> str:
    """Run a SELECT on the shop's database: orders(id, customer, total).

    Args:
        sql: The query.
    """
    with sqlite3.connect(":memory:") as database:
        database.executescript(
            "CREATE TABLE orders (id TEXT, customer TEXT, total REAL);"
            "INSERT INTO orders VALUES ('A-17', 'C-204', 125.0), ('B-02', 'C-204', 75.5);"
            "INSERT INTO orders VALUES ('C-09', 'C-117', 60.0);"
        )
        database.row_factory = sqlite3.Row
        return json.dumps([dict(row) for row in database.execute(sql)])


MODEL = for_langchain(
    ("query_database", {"sql": "SELECT SUM(total) AS total FROM orders WHERE customer = 'C-204'"}),
    "Customer C-204 ordered for $200.50 in all.",
)


def generate(state: MessagesState) -> dict[str, Any]:
    """Return the model's next message."""
    return {"messages": [MODEL.invoke(state["messages"])]}


def make_graph() -> Any:
    """Return the agent: the model and its tool take turns until there is an answer."""
    graph = StateGraph(MessagesState)
    graph.add_node("model", generate)
    graph.add_node("tools", ToolNode([query_database]))
    graph.add_edge(START, "model")
    graph.add_conditional_edges("model", tools_condition)
    graph.add_edge("tools", "model")
    return graph.compile(name="order_analyst")


if __name__ == "__main__":
    register(service_name="orders", endpoint=ENDPOINT)
    with set_cohort(prompt_version="v1", task="order-total"):
        question = HumanMessage("For how much did customer C-204 order in all?")
        print(make_graph().invoke({"messages": [question]})["messages"][-1].content)
