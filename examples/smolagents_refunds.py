"""A CodeAgent of smolagents that looks up a refund and misquotes it."""

from __future__ import annotations

import os

from scripted_models import for_smolagents
from smolagents import CodeAgent, tool

from spanproof.instrumentors import register, set_cohort

ENDPOINT = os.environ.get("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:4318")


@tool  # type: ignore[untyped-decorator]
def refund_lines(order_id: str) -> list[dict[str, object]]:
    """The refunds of an order, one entry per item, in cents.

    Args:
        order_id: Number of the order, like "A-17".
    """
    return [{"item": "lamp", "cents": 3000}, {"item": "bulb", "cents": 1500}]


MODEL = for_smolagents(
    "Thought: I look up the refunds.\n<code>\nlines = refund_lines(order_id='A-17')\nprint(lines)\n</code>",
    "Thought: I add them up.\n<code>\nprint(sum(line['cents'] for line in lines) / 100)\n</code>",
    "Thought: That is it.\n<code>\nfinal_answer('The refund of order A-17 is $54.00.')\n</code>",
)

if __name__ == "__main__":
    register(service_name="refunds", endpoint=ENDPOINT)
    agent = CodeAgent(tools=[refund_lines], model=MODEL, name="refund_clerk", description="Refunds")
    with set_cohort(prompt_version="v2", task="refund-total"):
        print(agent.run("What is the total refund in dollars for order A-17?"))
