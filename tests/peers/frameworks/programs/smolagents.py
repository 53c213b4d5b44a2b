"""A CodeAgent of smolagents under OpenInference's instrumentor."""

from openinference.instrumentation.smolagents import SmolagentsInstrumentor
from smolagents import CodeAgent, OpenAIServerModel, tool
from story import INSTRUCTIONS, MODEL, TASK
from story import stock_of as look_up


@tool
def stock_of(shelf: int) -> str:
    """Return how many boxes a shelf holds.

    Args:
        shelf: The shelf.
    """
    return look_up(shelf)


def instruct(agent):
    """Add to the system prompt, by the way that every version has."""
    agent.prompt_templates["system_prompt"] += f"\n{INSTRUCTIONS}"


def run(url, provider):
    SmolagentsInstrumentor().instrument(tracer_provider=provider)
    model = OpenAIServerModel(MODEL, api_base=url, api_key="none")
    agent = CodeAgent([stock_of], model, max_steps=5)
    instruct(agent)
    agent.run(TASK)
