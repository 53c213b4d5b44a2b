"""AutoGen's AgentChat with its own spans of agents and tools, and OpenInference's of the model's calls."""

import asyncio

from opentelemetry.trace import set_tracer_provider
from story import INSTRUCTIONS, MODEL, TASK, run_python, stock_of


def run(url, provider):
    set_tracer_provider(provider)
    from autogen_agentchat.agents import AssistantAgent
    from autogen_ext.models.openai import OpenAIChatCompletionClient
    from openinference.instrumentation.autogen_agentchat import AutogenAgentChatInstrumentor

    AutogenAgentChatInstrumentor().instrument(tracer_provider=provider)
    model = OpenAIChatCompletionClient(model=MODEL, base_url=url, api_key="none")
    agent = AssistantAgent(
        "clerk",
        model,
        tools=[run_python, stock_of],
        system_message=INSTRUCTIONS,
        max_tool_iterations=5,
    )
    asyncio.run(agent.run(task=TASK))
