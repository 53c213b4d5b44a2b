"""CrewAI under OpenInference's instrumentor."""

import os

os.environ["CREWAI_DISABLE_TELEMETRY"] = "true"
os.environ["OTEL_SDK_DISABLED"] = "false"
os.environ["CREWAI_TRACING_ENABLED"] = "false"

from crewai import LLM, Agent, Crew, Task
from crewai.tools import tool
from openinference.instrumentation.crewai import CrewAIInstrumentor
from story import INSTRUCTIONS, MODEL, TASK, run_python, stock_of


def run(url, provider):
    CrewAIInstrumentor().instrument(tracer_provider=provider)
    model = LLM(model=f"openai/{MODEL}", base_url=url, api_key="none")
    clerk = Agent(
        role="clerk",
        goal=INSTRUCTIONS,
        backstory="You know the shop.",
        llm=model,
        tools=[tool("run_python")(run_python), tool("stock_of")(stock_of)],
    )
    Crew(agents=[clerk], tasks=[Task(description=TASK, expected_output="A price.", agent=clerk)]).kickoff()
