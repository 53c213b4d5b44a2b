"""The story that every framework is recorded with, and what its agent needs: a scripted model, two tools.

The task is what three boxes cost. The agent runs Python, looks a shelf up that does not exist, and answers.
Imported by the files of `programs/` in an environment that holds the framework, and nothing of Spanproof.
Annotations are types here and no texts: old frameworks read those of the tools.
"""

import json
import sys
import threading
from base64 import b64decode
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from pathlib import Path
from typing import Any

import opentelemetry.sdk
from google.protobuf.json_format import MessageToDict
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

INSTRUCTIONS = "Be exact."
TASK = "What do three boxes cost?"
CODE = "total = 12 * 3\nprint(total)"
ANSWER = "Three boxes cost 36 euros."
MODEL = "gpt-4o-mini"
# What an agent that writes code instead of calls runs.
SNIPPETS = (CODE, "print(stock_of(9))", f"final_answer({ANSWER!r})")
CALLS: tuple[tuple[str, dict[str, Any]], ...] = (("run_python", {"code": CODE}), ("stock_of", {"shelf": 9}))


class StockError(Exception):
    """There is no such shelf."""


def run_python(code: str) -> str:
    """Run Python code and return what it prints."""
    assert code == CODE, code  # the model's only snippet: what it prints is known, and nothing is run
    return "36"


def stock_of(shelf: int) -> str:
    """Return how many boxes a shelf holds."""
    raise StockError(f"no shelf {shelf}")


def next_reply(request: dict[str, Any], answered: int) -> dict[str, Any]:
    """Return the model's message after this many turns, in the form of OpenAI's chat API.

    A model that is offered no tools writes its calls as text, or code between marks, as its instructions say.
    """
    tools = {tool["function"]["name"]: tool["function"] for tool in request.get("tools") or ()}
    prompt = json.dumps(request["messages"])
    if not tools and "Action Input:" in prompt:
        return {"role": "assistant", "content": _write_action(answered)}
    if not tools:
        marks = ("<code>", "</code>") if "<code>" in prompt else ("```py", "```<end_code>")
        code = SNIPPETS[min(answered, len(SNIPPETS) - 1)]
        return {"role": "assistant", "content": f"I compute it.\n{marks[0]}\n{code}\n{marks[1]}"}
    calls = CALLS
    if "final_answer" in tools:
        (parameter,) = tools["final_answer"]["parameters"]["properties"]
        calls = (*CALLS, ("final_answer", {parameter: ANSWER}))
    if answered >= len(calls):
        return {"role": "assistant", "content": ANSWER}
    name, arguments = calls[answered]
    function = {"name": name, "arguments": json.dumps(arguments)}
    call = {"id": f"call_{answered + 1}", "type": "function", "function": function}
    return {"role": "assistant", "content": None, "tool_calls": [call]}


def _write_action(answered: int) -> str:
    if answered >= len(CALLS):
        return f"Thought: I now know the final answer\nFinal Answer: {ANSWER}"
    name, arguments = CALLS[answered]
    return f"Thought: I compute it.\nAction: {name}\nAction Input: {json.dumps(arguments)}"


class _ScriptedModel(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    turns: Iterator[int]

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["content-length"])))
        turn = next(self.turns)
        # smolagents gives the model results as a user's words.
        answered = sum(message["role"] == "tool" for message in request["messages"]) or turn
        message = next_reply(request, answered)
        ending = "tool_calls" if message.get("tool_calls") else "stop"
        usage = {"prompt_tokens": 10, "completion_tokens": 4, "total_tokens": 14}
        reply = {"id": f"chatcmpl-{answered}", "created": 1_700_000_000, "model": MODEL, "usage": usage}
        if request.get("stream"):
            for index, call in enumerate(message.get("tool_calls", ())):
                call["index"] = index
            piece = {"index": 0, "delta": message, "finish_reason": ending}
            chunk = {**reply, "object": "chat.completion.chunk", "choices": [piece]}
            body = f"data: {json.dumps(chunk)}\n\ndata: [DONE]\n\n".encode()
            kind = "text/event-stream"
        else:
            choice = {"index": 0, "message": message, "finish_reason": ending}
            body = json.dumps({**reply, "object": "chat.completion", "choices": [choice]}).encode()
            kind = "application/json"
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        pass


@contextmanager
def serve_model() -> Iterator[int]:
    """Serve the scripted model, and yield its port."""
    handler = type("Handler", (_ScriptedModel,), {"turns": count()})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server.server_port
    finally:
        server.shutdown()


def record(run: Callable[[str, TracerProvider], None], target: str) -> None:
    """Call `run` with the base URL of the model and a provider, and write the spans it makes as OTLP JSON."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider(resource=Resource({"service.name": "shop"}))
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    with serve_model() as port:
        run(f"http://127.0.0.1:{port}/v1", provider)
    document = MessageToDict(encode_spans(exporter.get_finished_spans()))
    text = json.dumps(_in_hex(document), indent=1, ensure_ascii=False)
    # A stack trace names folders of the machine that it was recorded on.
    folders = (
        (_site_packages(), "/site-packages"),
        (str(Path(__file__).parent), "/shop"),
        (sys.base_prefix, "/usr"),
    )
    for folder, stand_in in folders:
        text = text.replace(folder, stand_in)
    Path(target).write_text(text.replace(str(port), "8000") + "\n")


def _site_packages() -> str:
    return str(Path(opentelemetry.sdk.__path__[0]).parents[1])


def _in_hex(value: Any) -> Any:
    """Return the document with ids as OTLP JSON has them: protobuf's JSON has them in base64."""
    if isinstance(value, dict):
        ids = {"traceId", "spanId", "parentSpanId"}
        return {key: b64decode(each).hex() if key in ids else _in_hex(each) for key, each in value.items()}
    return [_in_hex(each) for each in value] if isinstance(value, list) else value
