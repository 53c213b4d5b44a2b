"""A ToolCallingAgent of smolagents under OpenInference's instrumentor."""

from openinference.instrumentation.smolagents import SmolagentsInstrumentor
from programs.smolagents import instruct, stock_of
from smolagents import OpenAIServerModel, ToolCallingAgent, tool
from story import MODEL, TASK
from story import run_python as run_code


@tool
def run_python(code: str) -> str:
    """Run Python code and return what it prints.

    Args:
        code: The code.
    """
    return run_code(code)


def run(url, provider):
    SmolagentsInstrumentor().instrument(tracer_provider=provider)
    model = OpenAIServerModel(MODEL, api_base=url, api_key="none")
    agent = ToolCallingAgent([run_python, stock_of], model, max_steps=5)
    instruct(agent)
    agent.run(TASK)
