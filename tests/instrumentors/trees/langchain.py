"""LangChain and LangGraph, through langchain-core alone."""

import asyncio
import threading
from contextlib import suppress

from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import tool
from langgraph.checkpoint.memory import MemorySaver
from langgraph.errors import GraphRecursionError
from langgraph.graph import MessagesState
from langgraph.prebuilt import create_react_agent
from langgraph.types import Command, interrupt

from ..coders import ScriptedChatModel
from ..graphs import add, calculator, calls, requested, turns


class BindableChatModel(ScriptedChatModel):
    def bind_tools(self, tools, **options):
        return self


def chain(_):
    prompt = ChatPromptTemplate.from_messages([("system", "Be brief."), ("user", "{question}")])
    model = GenericFakeChatModel(messages=iter([AIMessage("Four.")]))
    assert (prompt | model | StrOutputParser()).invoke({"question": "2 + 2?"}) == "Four."


def agent(_):
    calculator().invoke(requested())


def agent_async(_):
    asyncio.run(calculator().ainvoke(requested()))


def agent_streamed(_):
    list(calculator().stream(requested(), stream_mode="updates"))


def agent_prebuilt(_):
    create_react_agent(BindableChatModel(answers=turns()), [add], name="react").invoke(requested())


def tools_side_by_side(_):
    calculator(calls(("add", {"a": 1}), ("add", {"a": 2})), AIMessage("done")).invoke(requested())


def tool_failed(_):
    with suppress(ValueError):
        calculator(calls(("failing", {"reason": "on purpose"}))).invoke(requested())


def out_of_steps(_):
    with suppress(GraphRecursionError):
        calculator(*[calls(("add", {"a": n})) for n in range(9)]).invoke(requested(), {"recursion_limit": 4})


def interrupted_and_resumed(_):
    def ask(state: MessagesState):
        return {"messages": [AIMessage(f"You said {interrupt('sure?')}.")]}

    waiting = calculator(node=ask, checkpointer=MemorySaver())
    thread = {"configurable": {"thread_id": "1"}}
    waiting.invoke(requested(), thread)
    waiting.invoke(Command(resume="yes"), thread)


def stream_abandoned(_):
    stream = calculator().stream(requested())
    next(stream)
    stream.close()


def graph_in_a_graph(_):
    inner = calculator(name="inner")
    calculator(node=lambda state: {"messages": [inner.invoke(state)["messages"][-1]]}, name="outer").invoke(
        requested()
    )


def batched_side_by_side(_):
    doubling = RunnableLambda(lambda x: x + 1, name="next") | RunnableLambda(lambda x: x * 2, name="double")
    assert doubling.batch([1, 2, 3]) == [4, 6, 8]


def retried(_):
    attempts = iter([ConnectionError("away"), ConnectionError("away"), None])

    def flaky(value):
        error = next(attempts)
        if error is not None:
            raise error
        return value

    retrying = RunnableLambda(flaky).with_retry(stop_after_attempt=3, wait_exponential_jitter=False)
    assert retrying.invoke(1) == 1


def raw_threads_side_by_side(_):
    threads = [
        threading.Thread(target=RunnableLambda(lambda x: x, name="same").invoke, args=(n,)) for n in (1, 2)
    ]
    for each in threads:
        each.start()
    for each in threads:
        each.join()


def within_an_application(recorded):
    tracer = recorded.provider.get_tracer("application")

    @tool
    def asking() -> int:
        """Opens a span."""
        with tracer.start_as_current_span("query"):
            return 1

    with tracer.start_as_current_span("request"):
        calculator(calls(("asking", {})), AIMessage("done"), tools=(asking,)).invoke(requested())
