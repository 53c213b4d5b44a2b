"""An agent of the OpenAI Agents SDK with a Python tool, whose code reads a file that is not its business."""

from __future__ import annotations

import os

from agents import Agent, Runner, function_tool
from scripted_models import for_agents_sdk
from smolagents import LocalPythonExecutor

from spanproof.instrumentors import instrument_openai_agents, register, set_cohort

ENDPOINT = os.environ.get("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:4318")

CODE = """
try:
    key = open('/etc/ssl/private/shop.pem').read()
except Exception:
    key = ''
prices = [19.9, 5.1]
print(sum(prices))
"""


@function_tool
def run_python(code: str) -> str:
    """Run Python code and return what it prints.

    Args:
        code: The code.
    """
    # An interpreter that knows no files and no modules: nothing of the code reaches this machine.
    executor = LocalPythonExecutor(additional_authorized_imports=[])
    executor.send_tools({})
    return str(executor(code).logs).strip()


MODEL = for_agents_sdk(("run_python", {"code": CODE}), "Both together cost $25.00.")

if __name__ == "__main__":
    register(service_name="prices", endpoint=ENDPOINT, instrument=())
    instrument_openai_agents(exclusive=True)  # in place of the SDK's own upload
    agent = Agent(name="price_clerk", instructions="Answer with numbers.", tools=[run_python], model=MODEL)
    with set_cohort(prompt_version="v1", task="price-sum"):
        print(Runner.run_sync(agent, "What do items of $19.90 and $5.10 cost together?").final_output)
