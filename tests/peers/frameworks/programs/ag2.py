"""AG2 1 with its own telemetry middleware."""

import asyncio

from ag2 import Agent
from ag2.config import OpenAIConfig
from ag2.middleware import TelemetryMiddleware
from story import INSTRUCTIONS, MODEL, TASK, run_python, stock_of


def run(url, provider):
    model = OpenAIConfig(model=MODEL, base_url=url, api_key="none")
    telemetry = TelemetryMiddleware(tracer_provider=provider, agent_name="clerk")
    agent = Agent("clerk", INSTRUCTIONS, config=model, tools=[run_python, stock_of], middleware=[telemetry])
    asyncio.run(agent.ask(TASK))
