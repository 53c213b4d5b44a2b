"""Agents on scripted models, as a user's module would have them; run in processes of their own."""

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
from smolagents import ChatMessage, CodeAgent, MessageRole, Model, tool
from smolagents.monitoring import TokenUsage


def turn(thought: str, code: str) -> str:
    """Return what a model writes for CodeAgent: a thought, and code."""
    return f"Thought: {thought}\n<code>\n{code}\n</code>"


class ScriptedModel(Model):
    """A smolagents model that writes its turns in order."""

    def __init__(self, turns: list[str]) -> None:
        super().__init__(model_id="scripted-coder")
        self._turns = iter(turns)

    def generate(self, messages: list[Any], **_options: Any) -> ChatMessage:
        usage = TokenUsage(input_tokens=10, output_tokens=10)
        return ChatMessage(role=MessageRole.ASSISTANT, content=next(self._turns), token_usage=usage)


class ScriptedChat(FakeMessagesListChatModel):
    """A LangChain chat model that gives its responses in order, whatever tools it is offered."""

    def bind_tools(self, tools: Any, **_options: Any) -> Any:
        return self


RAMBLING = """
total = 0
for line in lines:
    if line['item'] == 'tea':
        total += line['cents']
    elif line['item'] == 'cup':
        total += line['cents']
    else:
        total += 0
print(total, total / 100)
"""
LINES = [{"item": "tea", "cents": 3000}, {"item": "cup", "cents": 1500}]


@tool
def refund_lines(order_id: str) -> list:
    """Look up the refunds of an order.

    Args:
        order_id: the order.
    """
    raise ConnectionError("the shop is not reached from a test")


@langchain_tool
def refund_cents(order_id: str) -> int:
    """Look up what was refunded for an order, in cents."""
    raise ConnectionError("the shop is not reached from a test")


def _coder(answer: str) -> CodeAgent:
    turns = [
        turn("I look them up.", "lines = refund_lines(order_id='A-17')\nprint(lines)"),
        turn("I add them up.", "total = sum(line['cents'] for line in lines)\nprint(total, total / 100)"),
        turn("Done.", f"final_answer({answer!r})"),
    ]
    return CodeAgent(tools=[refund_lines], model=ScriptedModel(turns), verbosity_level=0)


def misquoting() -> CodeAgent:
    return _coder("The refund of order A-17 is $54.00.")


def mended() -> CodeAgent:
    return _coder("The refund of order A-17 is $45.00.")


def rambling() -> CodeAgent:
    """Do what `misquoting` does, by more code."""
    turns = [
        turn("I look them up.", "lines = refund_lines(order_id='A-17')\nprint(lines)"),
        turn("I add them up.", RAMBLING),
        turn("Done.", "final_answer('The refund of order A-17 is $54.00.')"),
    ]
    return CodeAgent(tools=[refund_lines], model=ScriptedModel(turns), verbosity_level=0)


def wavering() -> CodeAgent:
    return _coder(f"The refund of order A-17 is ${random.choice(['45', '54'])}.00.")


def curious() -> CodeAgent:
    turns = [
        turn("I look up another one.", "lines = refund_lines(order_id='B-99')\nprint(lines)"),
        turn("Done.", "final_answer('I do not know.')"),
    ]
    return CodeAgent(tools=[refund_lines], model=ScriptedModel(turns), verbosity_level=0)


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
