"""LlamaIndex, which makes no OpenTelemetry spans of its own, under OpenInference's instrumentor."""

import asyncio

from llama_index.core import set_global_tokenizer
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.tools import FunctionTool
from llama_index.llms.openai_like import OpenAILike
from openinference.instrumentation.llama_index import LlamaIndexInstrumentor
from story import INSTRUCTIONS, MODEL, TASK, run_python, stock_of


def run(url, provider):
    set_global_tokenizer(str.split)  # the default is downloaded
    LlamaIndexInstrumentor().instrument(tracer_provider=provider)
    model = OpenAILike(
        model=MODEL, api_base=url, api_key="none", is_chat_model=True, is_function_calling_model=True
    )
    tools = [FunctionTool.from_defaults(run_python), FunctionTool.from_defaults(stock_of)]
    agent = FunctionAgent(
        name="clerk", description="A clerk", system_prompt=INSTRUCTIONS, tools=tools, llm=model
    )

    async def ask():
        await agent.run(TASK)

    asyncio.run(ask())
