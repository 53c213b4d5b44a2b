"""Agents, tools and models of smolagents that the tests share."""

from __future__ import annotations

import json
from typing import Any, ClassVar

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from opentelemetry.sdk.trace import ReadableSpan
from smolagents import ChatMessage, ChatMessageStreamDelta, CodeAgent, MessageRole, Model, Tool, tool
from smolagents.models import ChatMessageToolCall, ChatMessageToolCallFunction
from smolagents.monitoring import LogLevel, TokenUsage


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
    inputs: ClassVar = {"who": {"type": "string", "description": "Whom."}}
    output_type = "string"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return super().__call__(*args, **kwargs) + "!"

    def forward(self, who: str) -> str:
        return f"hello {who}"


class ScriptedModel(Model):
    """Gives its turns in order, the last one again when they are used up."""

    def __init__(self, turns: list[str]) -> None:
        super().__init__(model_id="scripted-coder")
        self.turns = turns
        self.given = 0

    def generate(self, messages: list[Any], **options: Any) -> ChatMessage:
        text = self.turns[min(self.given, len(self.turns) - 1)]
        self.given += 1
        usage = TokenUsage(input_tokens=11, output_tokens=5)
        return ChatMessage(role=MessageRole.ASSISTANT, content=text, token_usage=usage)


class ScriptedChatModel(BaseChatModel):
    """LangChain's; the conversation shows how far it is."""

    answers: list[AIMessage]

    @property
    def _llm_type(self) -> str:
        return "scripted-chat"

    def _generate(
        self, messages: Any, stop: Any = None, run_manager: Any = None, **options: Any
    ) -> ChatResult:
        given = sum(isinstance(message, AIMessage) for message in messages)
        answer = self.answers[min(given, len(self.answers) - 1)]
        return ChatResult(generations=[ChatGeneration(message=answer)])


def written(code: str) -> str:
    """A turn in which the model writes code."""
    return f"I go on.\n<code>\n{code}\n</code>"


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
    """Requests the given calls, all of a turn in one message."""

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
    turns = [written(each) if each else "Nothing to do." for each in code] or ["Nothing to do."]
    return CodeAgent(tools=[cents_of, echo, *tools], model=model or ScriptedModel(turns), **options)


def messages_of(span: ReadableSpan, name: str = "gen_ai.input.messages") -> list[dict[str, Any]]:
    """The messages an LLM span records."""
    return json.loads(span.attributes[name])
