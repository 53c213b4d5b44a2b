"""Pydantic AI with its own instrumentation."""

from pydantic_ai import Agent, InstrumentationSettings, ModelRetry
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider
from story import INSTRUCTIONS, MODEL, TASK, StockError, run_python, stock_of


def ask_stock(shelf: int) -> str:
    """Return how many boxes a shelf holds."""
    try:
        return stock_of(shelf)
    except StockError as error:
        raise ModelRetry(str(error)) from error


def run(url, provider):
    model = OpenAIChatModel(MODEL, provider=OpenAIProvider(base_url=url, api_key="none"))
    ask_stock.__name__ = "stock_of"
    settings = InstrumentationSettings(tracer_provider=provider)
    agent = Agent(model, name="clerk", instructions=INSTRUCTIONS, tools=[run_python, ask_stock])
    agent.instrument = settings
    agent.run_sync(TASK)
