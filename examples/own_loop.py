"""An agent without a framework: a loop of one's own, traced with decorators."""

from __future__ import annotations

import os

from smolagents import LocalPythonExecutor

from spanproof.instrumentors import register, set_cohort, trace

ENDPOINT = os.environ.get("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:4318")

# What a model would write, turn by turn.
SCRIPT = [
    "stock = stock_of('tea')\nprint(stock['count'])",
    "print(stock['boxes'])",
]


@trace.tool
def stock_of(item: str) -> dict[str, int]:
    """Return the stock of an item, as the warehouse's service would."""
    return {"boxes": 18, "reserved": 4}


@trace.agent(name="stock_clerk")
def answer(task: str) -> str:
    """Run the script, a step each, and answer."""
    executor = LocalPythonExecutor(additional_authorized_imports=[])
    executor.send_tools({"stock_of": stock_of})
    for number, code in enumerate(SCRIPT, start=1):
        with trace.step(f"step {number}"):
            try:
                printed = str(executor(code).logs)
            except Exception as failure:
                trace.record_execution(code, "python", observation=str(failure), error=failure)
            else:
                trace.record_execution(code, "python", observation=printed, logs=printed)
    return "There are 18 boxes of tea."


if __name__ == "__main__":
    register(service_name="stock", endpoint=ENDPOINT)
    with set_cohort(prompt_version="v1", task="stock"):
        print(answer("How many boxes of tea are in stock?"))
