"""AG2 before version 1, with its own spans of agents, tools and the model's calls."""

from autogen import ConversableAgent, LLMConfig
from autogen.opentelemetry import instrument_agent, instrument_llm_wrapper
from story import INSTRUCTIONS, MODEL, TASK, run_python, stock_of


def run(url, provider):
    model = LLMConfig({"model": MODEL, "base_url": url, "api_key": "none"})
    agent = ConversableAgent("clerk", system_message=INSTRUCTIONS, llm_config=model, human_input_mode="NEVER")
    for function in (run_python, stock_of):
        agent.register_for_llm()(function)
        agent.register_for_execution()(function)
    instrument_llm_wrapper(tracer_provider=provider, capture_messages=True)
    instrument_agent(agent, tracer_provider=provider)
    agent.run(message=TASK, max_turns=3, user_input=False).process()
