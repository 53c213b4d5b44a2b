"""BeeAI under OpenInference's instrumentor."""

import asyncio
import os

os.environ["OPENAI_API_KEY"] = "none"
os.environ["BEEAI_INSTRUMENTATION_ENABLED"] = "true"

from beeai_framework.backend.chat import ChatModel
from openinference.instrumentation.beeai import BeeAIInstrumentor
from story import INSTRUCTIONS, MODEL, TASK, run_python, stock_of


def run(url, provider):
    BeeAIInstrumentor().instrument(tracer_provider=provider)
    from beeai_framework.tools import tool

    os.environ["OPENAI_API_BASE"] = url
    model = ChatModel.from_name(f"openai:{MODEL}", {"base_url": url, "api_key": "none"})
    model.tool_call_fallback_via_response_format = False
    tools = [tool(run_python), tool(stock_of)]
    try:
        from beeai_framework.agents.requirement import RequirementAgent

        agent = RequirementAgent(llm=model, tools=tools, instructions=INSTRUCTIONS)
    except ImportError:
        from beeai_framework.agents.tool_calling import ToolCallingAgent

        agent = ToolCallingAgent(llm=model, tools=tools)

    async def ask():
        await agent.run(TASK)

    asyncio.run(ask())
