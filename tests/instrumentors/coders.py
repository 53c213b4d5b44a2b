"""Agents, tools and models of smolagents that the tests share."""

from __future__ import annotations

import json
from typing import Any

from opentelemetry.sdk.trace import ReadableSpan
from smolagents import ChatMessage, ChatMessageStreamDelta, CodeAgent, MessageRole, Model, Tool, tool
from smolagents.models import ChatMessageToolCall, ChatMessageToolCallFunction
from smolagents.monitoring import LogLevel, TokenUsage

from spanproof.cli.demo.agents.scripted import ScriptedModel, Turn


@tool
def cents_of(order_id: str, factor: int = 1) -> int:
    """Cents of an order.

    Args:
        order_id: Number of the order.
        factor: Multiplies the cents.
    """
    if order_id == "missing":
        raise LookupError("no such order")
    return 4500 * factor


@tool
def echo(value: Any) -> Any:
    """Returns what it is given.

    Args:
        value: Anything.
    """
    return value


class Greeting(Tool):
    """A tool that overrides `__call__`."""

    name = "greeting"
    description = "Greets."
    inputs = {"who": {"type": "string", "description": "Whom."}}
    output_type = "string"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return super().__call__(*args, **kwargs) + "!"

    def forward(self, who: str) -> str:
        return f"hello {who}"


class StreamingModel(ScriptedModel):
    """Gives its turns in pieces, as well."""

    def generate_stream(self, messages: list[Any], **options: Any) -> Any:
        text = str(self.generate(messages, **options).content)
        half = len(text) // 2
        yield ChatMessageStreamDelta(content=text[:half])
        yield ChatMessageStreamDelta(content=text[half:], token_usage=TokenUsage(7, 3))


class RaisingModel(Model):
    """A model whose provider fails."""

    def __init__(self, error: BaseException) -> None:
        super().__init__(model_id="raising")
        self._error = error

    def generate(self, messages: list[Any], **options: Any) -> ChatMessage:
        raise self._error


class ToolCallingModel(Model):
    """Asks for the given calls, all of a turn in one message."""

    def __init__(self, *turns: list[tuple[str, dict[str, Any]]]) -> None:
        super().__init__(model_id="caller")
        self._turns = iter(turns)

    def generate(self, messages: list[Any], **options: Any) -> ChatMessage:
        calls = [
            ChatMessageToolCall(
                function=ChatMessageToolCallFunction(name=name, arguments=arguments),
                id=f"call_{number}",
                type="function",
            )
            for number, (name, arguments) in enumerate(next(self._turns))
        ]
        return ChatMessage(role=MessageRole.ASSISTANT, content="", tool_calls=calls)


def coder(*code: str, model: Model | None = None, tools: tuple[Tool, ...] = (), **options: Any) -> CodeAgent:
    """A CodeAgent whose model writes these snippets, one per step."""
    options.setdefault("max_steps", max(len(code), 1))
    options.setdefault("verbosity_level", LogLevel.OFF)
    turns = [Turn("I go on.", each) for each in code] or [Turn("Nothing to do.")]
    return CodeAgent(tools=[cents_of, echo, *tools], model=model or ScriptedModel(turns), **options)


def messages_of(span: ReadableSpan, name: str = "gen_ai.input.messages") -> list[dict[str, Any]]:
    """The messages an LLM span records."""
    return json.loads(span.attributes[name])
