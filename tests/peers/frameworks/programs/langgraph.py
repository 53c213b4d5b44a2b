"""LangGraph and LangChain under OpenInference's instrumentor."""

from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from langgraph.prebuilt import ToolNode
from story import INSTRUCTIONS, MODEL, TASK, StockError, run_python, stock_of


def make_agent(url):
    """Return LangChain's agent, or the one that LangGraph had before it."""
    model = ChatOpenAI(model=MODEL, base_url=url, api_key="none")
    tools = [tool(run_python), tool(stock_of)]
    try:
        from langchain.agents import create_agent
        from langchain.agents.middleware import wrap_tool_call
        from langchain_core.messages import ToolMessage
    except ImportError:
        from langgraph.prebuilt import create_react_agent

        return create_react_agent(model, ToolNode(tools), state_modifier=INSTRUCTIONS)

    @wrap_tool_call
    def return_error(request, handler):
        try:
            return handler(request)
        except StockError as error:
            return ToolMessage(str(error), tool_call_id=request.tool_call["id"], status="error")

    return create_agent(model, tools, system_prompt=INSTRUCTIONS, middleware=[return_error], name="clerk")


def ask(url, config=None):
    make_agent(url).invoke({"messages": [("user", TASK)]}, config)


def run(url, provider):
    from openinference.instrumentation.langchain import LangChainInstrumentor

    LangChainInstrumentor().instrument(tracer_provider=provider)
    ask(url)
