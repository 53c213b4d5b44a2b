"""Agents of frameworks that take seconds to import, on scripted models; run in processes of their own."""

from __future__ import annotations

import json
import random
from typing import Any

from agents import Agent, ModelResponse, Usage, function_tool
from langchain_core.language_models import FakeMessagesListChatModel
from langchain_core.messages import AIMessage
from langchain_core.tools import tool as langchain_tool
from langgraph.prebuilt import create_react_agent
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText


class ScriptedChat(FakeMessagesListChatModel):
    """A LangChain chat model that gives its responses in order, whatever tools it is offered."""

    def bind_tools(self, tools: Any, **_options: Any) -> Any:
        return self


@langchain_tool
def refund_cents(order_id: str) -> int:
    """Look up what was refunded for an order, in cents."""
    raise ConnectionError("the shop is not reached from a test")


def graph() -> Any:
    call = {"name": "refund_cents", "args": {"order_id": "A-17"}, "id": "call-1"}
    answers = [AIMessage("", tool_calls=[call]), AIMessage("The refund of order A-17 is $45.00.")]
    return create_react_agent(ScriptedChat(responses=answers), [refund_cents], name="clerk")


class _ScriptedResponses:
    """A model of the OpenAI Agents SDK: one tool call, then the answer."""

    def __init__(self) -> None:
        self._given = 0

    async def get_response(self, *_args: Any, **_options: Any) -> ModelResponse:
        self._given += 1
        if self._given == 1:
            item: Any = ResponseFunctionToolCall(
                arguments=json.dumps({"order_id": "A-17"}),
                call_id="call-1",
                name="look_up",
                type="function_call",
            )
        else:
            text = ResponseOutputText(
                annotations=[], text="The refund of order A-17 is $45.00.", type="output_text"
            )
            item = ResponseOutputMessage(
                id="m", content=[text], role="assistant", status="completed", type="message"
            )
        return ModelResponse(output=[item], usage=Usage(), response_id=None)


def handler() -> Agent:
    from agents import Model

    @function_tool
    def look_up(order_id: str) -> str:
        raise ConnectionError("the shop is not reached from a test")

    class Scripted(_ScriptedResponses, Model):
        def stream_response(self, *_args: Any, **_options: Any) -> Any:
            raise NotImplementedError

    return Agent(name="handler", model=Scripted(), tools=[look_up])


def wavering_graph() -> Any:
    """Fail in 30 % of the trials."""
    answers = [AIMessage(f"The refund of order A-17 is {_draw_amount()}.")]
    return create_react_agent(ScriptedChat(responses=answers), [refund_cents], name="clerk")


def wavering_handler() -> Agent:
    """Fail in 30 % of the trials."""
    from agents import Model

    text = f"The refund of order A-17 is {_draw_amount()}."

    class Scripted(Model):
        async def get_response(self, *_args: Any, **_options: Any) -> ModelResponse:
            part = ResponseOutputText(annotations=[], text=text, type="output_text")
            item = ResponseOutputMessage(
                id="m", content=[part], role="assistant", status="completed", type="message"
            )
            return ModelResponse(output=[item], usage=Usage(), response_id=None)

        def stream_response(self, *_args: Any, **_options: Any) -> Any:
            raise NotImplementedError

    return Agent(name="handler", model=Scripted())


def _draw_amount() -> str:
    return "$45.00" if random.random() >= 0.3 else "$54.00"
