"""Strands Agents with its own telemetry, which takes the global provider."""

from opentelemetry.trace import set_tracer_provider
from story import INSTRUCTIONS, MODEL, TASK, run_python, stock_of


def run(url, provider):
    set_tracer_provider(provider)
    from strands import Agent, tool
    from strands.models.openai import OpenAIModel

    model = OpenAIModel(client_args={"base_url": url, "api_key": "none"}, model_id=MODEL)
    tools = [tool(run_python), tool(stock_of)]
    agent = Agent(model=model, name="clerk", system_prompt=INSTRUCTIONS, tools=tools, callback_handler=None)
    agent(TASK)
