"""Models that write a fixed script, one turn after the other, for each of the frameworks."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any


def for_smolagents(*turns: str) -> Any:
    """Return a smolagents model; each turn is what it writes."""
    from smolagents import ChatMessage, MessageRole, Model
    from smolagents.monitoring import TokenUsage

    class Scripted(Model):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__(model_id="scripted")
            self.turns = list(turns)

        def generate(self, messages: list[Any], **options: Any) -> ChatMessage:
            text = self.turns.pop(0)
            usage = TokenUsage(input_tokens=len(str(messages)) // 4, output_tokens=len(text) // 4)
            return ChatMessage(role=MessageRole.ASSISTANT, content=text, token_usage=usage)

    return Scripted()


def for_langchain(*turns: str | tuple[str, dict[str, Any]]) -> Any:
    """Return a LangChain chat model; a turn is an answer, or a tool's name with its arguments."""
    from langchain_core.language_models import FakeMessagesListChatModel
    from langchain_core.messages import AIMessage

    messages = [
        AIMessage(turn)
        if isinstance(turn, str)
        else AIMessage("", tool_calls=[{"name": turn[0], "args": turn[1], "id": f"call_{number}"}])
        for number, turn in enumerate(turns)
    ]
    return FakeMessagesListChatModel(responses=messages)


def for_agents_sdk(*turns: str | tuple[str, dict[str, Any]]) -> Any:
    """Return a model of the OpenAI Agents SDK; a turn is an answer, or a tool's name with its arguments."""
    from agents import Model, ModelResponse, Usage
    from agents.tracing import generation_span
    from openai.types.responses import (
        ResponseFunctionToolCall,
        ResponseOutputMessage,
        ResponseOutputText,
    )

    def output_of(number: int, turn: str | tuple[str, dict[str, Any]]) -> Any:
        if isinstance(turn, str):
            text = ResponseOutputText(type="output_text", text=turn, annotations=[])
            return ResponseOutputMessage(
                id=f"message_{number}", type="message", role="assistant", status="completed", content=[text]
            )
        return ResponseFunctionToolCall(
            type="function_call", call_id=f"call_{number}", name=turn[0], arguments=json.dumps(turn[1])
        )

    class Scripted(Model):
        def __init__(self, outputs: Sequence[Any]) -> None:
            self.outputs = list(outputs)

        async def get_response(
            self, system_instructions: Any, input: Any, *rest: Any, **options: Any
        ) -> ModelResponse:
            messages = input if isinstance(input, list) else [{"role": "user", "content": input}]
            with generation_span(input=messages, model="scripted") as span:
                output = self.outputs.pop(0)
                span.span_data.output = [output.model_dump()]
                return ModelResponse(output=[output], usage=Usage(), response_id=None)

        def stream_response(self, *rest: Any, **options: Any) -> Any:
            raise NotImplementedError

    return Scripted([output_of(number, turn) for number, turn in enumerate(turns)])
