"""A judge's endpoint on loopback that answers as each test says: well, badly, late, or not at all."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest


def rule(*verdicts: str, quotes: tuple[str, ...] = (), reason: str = "so it reads") -> str:
    """Return a reply with these verdicts on sentences 1, 2, …."""
    entries = [
        {"number": number, "verdict": verdict, "reason": reason, "quotes": list(quotes)}
        for number, verdict in enumerate(verdicts, 1)
    ]
    return json.dumps({"sentences": entries})


class Endpoint:
    """Speaks `POST /v1/chat/completions`.

    Attributes:
        answers: taken in order, the last one again and again: a text for the message, an `int` for a status
            (with headers: a tuple of both),
            a `float` for seconds to wait first, at most until the test is over, bytes for a raw body, `None`
            to cut the connection.
        requests: what came, decoded.
    """

    def __init__(self) -> None:
        self.answers: list[Any] = ['{"reasoning": "fine", "quotes": [], "score": 1}']
        self.requests: list[dict[str, Any]] = []
        self.at_once = self.most_at_once = 0
        self.lock = threading.Lock()
        self.over = threading.Event()

    def next(self, request: dict[str, Any]) -> Any:
        with self.lock:
            self.requests.append(request)
            return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


def completion(text: str) -> bytes:
    return json.dumps(
        {
            "id": "1",
            "object": "chat.completion",
            "created": 1,
            "model": "a-model",
            "choices": [
                {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}
            ],
            "usage": {"prompt_tokens": 1000, "completion_tokens": 100, "total_tokens": 1100},
        }
    ).encode()


def handler_of(endpoint: Endpoint) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            with endpoint.lock:
                endpoint.at_once += 1
                endpoint.most_at_once = max(endpoint.most_at_once, endpoint.at_once)
            try:
                self.answer(endpoint.next(json.loads(body) | {"_key": self.headers.get("Authorization")}))
            finally:
                with endpoint.lock:
                    endpoint.at_once -= 1

        def answer(self, what: Any) -> None:
            status, headers = 200, {}
            if isinstance(what, tuple):
                what, headers = what
            if isinstance(what, float):
                endpoint.over.wait(what)
                what = '{"reasoning": "late", "quotes": [], "score": 1}'
            if what is None:
                self.close_connection = True
                self.connection.close()
                return
            if isinstance(what, int):
                status, what = what, b'{"error": {"message": "not today"}}'
            body = what if isinstance(what, bytes) else completion(what)
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            return

    return Handler


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> Iterator[Endpoint]:
    found = Endpoint()
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler_of(found))
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    monkeypatch.setenv("OPENAI_BASE_URL", f"http://127.0.0.1:{server.server_address[1]}/v1")
    monkeypatch.setenv("OPENAI_API_KEY", "a-key")
    yield found
    found.over.set()
    server.shutdown()
    server.server_close()
