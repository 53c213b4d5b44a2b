"""Models of the OpenAI Agents SDK that the tests share: scripted, traced as the SDK's own are."""

from __future__ import annotations

import json
import threading
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from agents import Model, ModelResponse, OpenAIChatCompletionsModel, Usage
from agents.tracing import generation_span, response_span
from openai import AsyncOpenAI
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
    """A turn that requests a tool."""
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


_USAGE = {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}


@contextmanager
def chat_completions(*turns: Any) -> Iterator[OpenAIChatCompletionsModel]:
    """The SDK's own chat model, of a server on the loopback that gives these turns in order.

    A turn is a text, or the name and arguments of a requested tool.
    """
    waiting = list(turns)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            requested = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            turn = waiting.pop(0)
            self.send_response(200)
            self.send_header(
                "Content-Type", "text/event-stream" if requested.get("stream") else "application/json"
            )
            self.end_headers()
            if not requested.get("stream"):
                choice = {"index": 0, "message": _said(turn), "finish_reason": _reason(turn)}
                self.wfile.write(_completion("chat.completion", [choice], usage=_USAGE))
                return
            for delta in _pieces(turn):
                choice = {"index": 0, "delta": delta, "finish_reason": None}
                self._send(_completion("chat.completion.chunk", [choice]))
            last = {"index": 0, "delta": {}, "finish_reason": _reason(turn)}
            self._send(_completion("chat.completion.chunk", [last]))
            self._send(_completion("chat.completion.chunk", [], usage=_USAGE))
            self._send(b"[DONE]")

        def _send(self, data: bytes) -> None:
            self.wfile.write(b"data: " + data + b"\n\n")

        def log_message(self, *_: Any) -> None:
            """Nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        client = AsyncOpenAI(
            base_url=f"http://127.0.0.1:{server.server_port}/v1", api_key="none", max_retries=0
        )
        yield OpenAIChatCompletionsModel("chatty", client)
    finally:
        server.shutdown()
        server.server_close()


def _completion(kind: str, choices: list[Any], **more: Any) -> bytes:
    said = {"id": "cc1", "object": kind, "created": 0, "model": "chatty", "choices": choices, **more}
    return json.dumps(said).encode()


def _reason(turn: Any) -> str:
    return "stop" if isinstance(turn, str) else "tool_calls"


def _said(turn: Any) -> dict[str, Any]:
    if isinstance(turn, str):
        return {"role": "assistant", "content": turn}
    call = {"id": "c1", "type": "function", "function": {"name": turn[0], "arguments": json.dumps(turn[1])}}
    return {"role": "assistant", "content": "I ask.", "tool_calls": [call]}


def _pieces(turn: Any) -> list[dict[str, Any]]:
    """A turn as the deltas of a stream: texts and arguments come in halves."""
    said = _said(turn)
    text = said["content"]
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": text[:3]}, {"content": text[3:]}]
    for call in said.get("tool_calls", ()):
        arguments = call["function"]["arguments"]
        begun = {**call, "index": 0, "function": {"name": turn[0], "arguments": arguments[:4]}}
        deltas.append({"tool_calls": [begun]})
        deltas.append({"tool_calls": [{"index": 0, "function": {"arguments": arguments[4:]}}]})
    return deltas


class Bare(Model):
    """A model that makes no span, as most that people write."""

    def __init__(self, *turns: Any) -> None:
        self.turns = list(turns)

    async def get_response(self, *args: Any, **options: Any) -> ModelResponse:
        turn = self.turns.pop(0)
        if isinstance(turn, BaseException):
            raise turn
        return ModelResponse(output=turn, usage=Usage(), response_id=None)

    async def stream_response(self, *args: Any, **options: Any) -> AsyncIterator[Any]:
        response = response_of(self.turns.pop(0))
        yield ResponseCompletedEvent(response=response, sequence_number=0, type="response.completed")
