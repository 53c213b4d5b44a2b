"""Agno under OpenInference's instrumentor."""

import os

os.environ["AGNO_TELEMETRY"] = "false"

from agno.agent import Agent
from agno.models.openai import OpenAIChat
from openinference.instrumentation.agno import AgnoInstrumentor
from story import INSTRUCTIONS, MODEL, TASK, run_python, stock_of


def run(url, provider):
    AgnoInstrumentor().instrument(tracer_provider=provider)
    model = OpenAIChat(id=MODEL, base_url=url, api_key="none")
    Agent(model=model, name="clerk", instructions=INSTRUCTIONS, tools=[run_python, stock_of]).run(TASK)
