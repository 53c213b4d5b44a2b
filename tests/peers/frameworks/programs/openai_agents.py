"""The OpenAI Agents SDK under OpenInference's instrumentor."""

from agents import Agent, OpenAIChatCompletionsModel, Runner, function_tool, set_trace_processors
from openai import AsyncOpenAI
from story import INSTRUCTIONS, MODEL, TASK, run_python, stock_of


def ask(url):
    model = OpenAIChatCompletionsModel(MODEL, AsyncOpenAI(base_url=url, api_key="none"))
    tools = [function_tool(run_python), function_tool(stock_of)]
    Runner.run_sync(Agent("clerk", instructions=INSTRUCTIONS, model=model, tools=tools), TASK)


def run(url, provider):
    from openinference.instrumentation.openai_agents import OpenAIAgentsInstrumentor

    set_trace_processors([])  # none that sends to OpenAI
    OpenAIAgentsInstrumentor().instrument(tracer_provider=provider)
    ask(url)
