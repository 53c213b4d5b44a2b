"""A judge behind an OpenAI-compatible endpoint on loopback that knows which part of each answer is untrue.

It answers the prompts of `spanproof.evaluators.judge` in their schema: a sentence is false where it overlaps
the untrue part of its answer. With an accuracy below 1 it errs in so many sentences, drawn with a fixed seed.
Nothing of the evaluation is bypassed: prompts, client, checks and rulings are those of production.
"""

from __future__ import annotations

import json
import random
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final

MODEL: Final = "scripted-2026-01-01"
_SENTENCES: Final = re.compile(r"<<<(\w+) sentences>>>\n(.*)\n<<<end \1>>>", re.DOTALL)
_NUMBERED: Final = re.compile(r"^(\d+)\. (.*)$", re.MULTILINE)


class ScriptedJudge:
    """Rules on the sentences of the answer that is being judged.

    Attributes:
        text, wrong: the answer and its untrue part; None where it is right.
        accuracy: share of the sentences in which it is right.
        requests, sentences: how many came.
        of_answer: how many sentences came for the answer that is judged.
    """

    def __init__(self, accuracy: float, seed: int) -> None:
        self.accuracy = accuracy
        self._random = random.Random(seed)
        self.text = ""
        self.wrong: str | None = None
        self.requests = self.sentences = self.of_answer = 0

    def answer(self, prompt: str) -> str:
        """Return the reply to a prompt."""
        match = _SENTENCES.search(prompt)
        assert match is not None, "the prompt is about sentences"
        numbered = [(int(number), text) for number, text in _NUMBERED.findall(match[2])]
        self.requests += 1
        self.sentences += len(numbered)
        # Earlier turns of a conversation are judged before it.
        self.of_answer = len(numbered)
        entries = [
            {"number": number, "verdict": self._rule_on(text), "reason": "as scripted", "quotes": []}
            for number, text in numbered
        ]
        return json.dumps({"sentences": entries})

    def _rule_on(self, sentence: str) -> str:
        answer, wrong = " ".join(self.text.split()), " ".join((self.wrong or "").split())
        at, start = answer.find(wrong) if wrong else -1, answer.find(sentence)
        is_false = at >= 0 and start < at + len(wrong) and at < start + len(sentence)
        if self._random.random() >= self.accuracy:
            is_false = not is_false
        return "false" if is_false else "true"


@contextmanager
def serve_judge(judge: ScriptedJudge) -> Iterator[str]:
    """Yield the address of an endpoint with this judge behind it."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            body = _build_completion(judge.answer(request["messages"][-1]["content"]))
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/v1"
    finally:
        server.shutdown()
        server.server_close()


def _build_completion(text: str) -> bytes:
    message = {"role": "assistant", "content": text}
    return json.dumps(
        {
            "id": "1",
            "object": "chat.completion",
            "created": 1,
            "model": MODEL,
            "choices": [{"index": 0, "finish_reason": "stop", "message": message}],
            "usage": {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0},
        }
    ).encode()
