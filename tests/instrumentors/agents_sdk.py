"""Models of the OpenAI Agents SDK that the tests share: scripted, traced as the SDK's own are."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from typing import Any

from agents import Model, ModelResponse, Usage
from agents.tracing import generation_span, response_span
from openai.types.responses import (
    Response,
    ResponseCompletedEvent,
    ResponseFunctionToolCall,
    ResponseOutputMessage,
    ResponseOutputText,
)


def says(text: str) -> list[Any]:
    """A turn that answers."""
    content = [ResponseOutputText(type="output_text", text=text, annotations=[])]
    return [
        ResponseOutputMessage(id="m", type="message", role="assistant", status="completed", content=content)
    ]


def calls(name: str, call_id: str = "c1", **arguments: Any) -> list[Any]:
    """A turn that asks for a tool."""
    return [
        ResponseFunctionToolCall(
            type="function_call", call_id=call_id, name=name, arguments=json.dumps(arguments)
        )
    ]


def response_of(output: Sequence[Any]) -> Response:
    """What the Responses API would answer."""
    items = [item if isinstance(item, dict) else item.model_dump() for item in output]
    return Response.model_validate(
        {
            "id": "r1",
            "object": "response",
            "created_at": 0,
            "model": "gpt-x",
            "parallel_tool_calls": False,
            "tool_choice": "auto",
            "tools": [],
            "output": items,
            "usage": {
                "input_tokens": 3,
                "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
                "output_tokens": 2,
                "output_tokens_details": {"reasoning_tokens": 0},
                "total_tokens": 5,
            },
        }
    )


def _messages(given: Any) -> list[Any]:
    return given if isinstance(given, list) else [{"role": "user", "content": given}]


class Scripted(Model):
    """A chat model: gives its turns in order; an exception among them is raised."""

    def __init__(self, *turns: Any) -> None:
        self.turns = list(turns)

    async def get_response(self, system_instructions: Any, input: Any, *args: Any, **options: Any) -> Any:
        with generation_span(input=_messages(input), model="scripted") as span:
            turn = self.turns.pop(0)
            if isinstance(turn, BaseException):
                raise turn
            span.span_data.output = [item.model_dump() for item in turn]
            span.span_data.usage = {"input_tokens": 3, "output_tokens": 2}
        return ModelResponse(output=turn, usage=Usage(), response_id=None)

    async def stream_response(self, *args: Any, **options: Any) -> AsyncIterator[Any]:
        raise NotImplementedError
        yield


class ScriptedResponses(Scripted):
    """A model of the Responses API, whole or streamed."""

    async def get_response(self, system_instructions: Any, input: Any, *args: Any, **options: Any) -> Any:
        with response_span() as span:
            response = response_of(self.turns.pop(0))
            span.span_data.response, span.span_data.input = response, _messages(input)
        return ModelResponse(output=response.output, usage=Usage(), response_id=response.id)

    async def stream_response(
        self, system_instructions: Any, input: Any, *args: Any, **options: Any
    ) -> AsyncIterator[Any]:
        with response_span() as span:
            response = response_of(self.turns.pop(0))
            span.span_data.response, span.span_data.input = response, _messages(input)
            yield ResponseCompletedEvent(type="response.completed", response=response, sequence_number=0)
