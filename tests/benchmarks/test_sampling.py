"""A model behind an endpoint answers a benchmark; every completion is kept and requested once."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from tests.benchmarks.conftest import WriteRows

from spanproof.benchmarks import BenchmarkError
from spanproof.benchmarks.sampling import ModelRequest, run_sampling
from spanproof.cli.app import run as run_command
from spanproof.evaluators.prices import Price

TASKS = {"own/1": "Write one.", "own/2": "Write two."}
DOUBLE = "Here:\n```python\ndef double(x):\n    return 2 * x\n```"


class Endpoint:
    """An OpenAI-compatible endpoint that gives one answer; its first replies may have other statuses."""

    def __init__(self, answer: str) -> None:
        requests = self.requests = list[dict[str, Any]]()
        statuses = self.statuses = list[int]()

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                status = statuses.pop(0) if statuses else 200
                requests.append(body)
                choice = {
                    "index": 0,
                    "message": {"role": "assistant", "content": answer},
                    "finish_reason": "stop",
                }
                usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
                reply = {"id": "1", "object": "chat.completion", "created": 1, "model": "own"}
                reply |= (
                    {"choices": [choice], "usage": usage} if status == 200 else {"error": {"message": "no"}}
                )
                content = json.dumps(reply).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(content)))
                self.send_header("retry-after-ms", "1")
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}/v1"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    opened = Endpoint(DOUBLE)
    yield opened
    opened.close()


def request_of(endpoint: Endpoint, **more: Any) -> ModelRequest:
    return ModelRequest("own", endpoint.url, **more)


def test_completions_are_kept_and_not_requested_again(endpoint: Endpoint, tmp_path: Path) -> None:
    path = tmp_path / "kept.jsonl"
    request = request_of(endpoint, temperature=0.8, price=Price(100.0, 200.0))
    found = run_sampling(TASKS, request, path, 2, jobs=2)
    assert (found.kept, found.requested, found.tokens_in, found.tokens_out) == (4, 4, 40, 20)
    assert found.cost_usd == pytest.approx(40 * 100e-6 + 20 * 200e-6)
    assert {each["temperature"] for each in endpoint.requests} == {0.8}
    assert len({each["seed"] for each in endpoint.requests}) == 4
    # One more of each, after an interrupt within the last line.
    path.write_bytes(path.read_bytes() + b'{"task_id": "own/1", "comp')
    found = run_sampling(TASKS, request, path, 3)
    assert (found.kept, found.requested, len(endpoint.requests)) == (6, 2, 6)
    assert len(path.read_text().splitlines()) == 6


def test_a_budget_ends_the_requests(endpoint: Endpoint, tmp_path: Path) -> None:
    request = request_of(endpoint, price=Price(1e5, 0.0), max_cost_usd=2.5)
    found = run_sampling(TASKS, request, tmp_path / "kept.jsonl", 50)
    assert 3 <= found.kept < 10
    assert found.stopped == "the budget of $2.5 is spent"
    with pytest.raises(BenchmarkError, match="needs a price"):
        run_sampling(TASKS, request_of(endpoint, max_cost_usd=1.0), tmp_path / "other.jsonl", 1)


def test_a_rate_limit_is_waited_for_and_an_error_keeps_what_came(endpoint: Endpoint, tmp_path: Path) -> None:
    path = tmp_path / "kept.jsonl"
    endpoint.statuses += [429, 200, 400]
    with pytest.raises(BenchmarkError, match="the same command goes on from it"):
        run_sampling(TASKS, request_of(endpoint), path, 1)
    assert len(path.read_text().splitlines()) == 1
    assert run_sampling(TASKS, request_of(endpoint), path, 1).requested == 1


def test_completions_of_another_request_are_refused(endpoint: Endpoint, tmp_path: Path) -> None:
    path = tmp_path / "kept.jsonl"
    run_sampling(TASKS, request_of(endpoint), path, 1)
    with pytest.raises(BenchmarkError, match="line 1: it is of another request: its temperature is None"):
        run_sampling(TASKS, request_of(endpoint, temperature=0.2), path, 1)


def test_the_command_requests_grades_and_says_the_cost(
    endpoint: Endpoint, write_rows: WriteRows, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    problem = {
        "task_id": "Own/0",
        "prompt": "def double(x):\n",
        "entry_point": "double",
        "canonical_solution": "    return 2 * x\n",
        "test": "def check(candidate):\n    assert candidate(3) == 6\n",
    }
    words = ["bench", "humaneval", "--problems", str(write_rows(problem)), "--model", "own", "-n", "3"]
    words += ["--endpoint", endpoint.url, "--completions", str(tmp_path / "kept.jsonl"), "--json"]
    words += ["--price", "1", "2", "--judge", "own", "--judgements", str(tmp_path / "judged.jsonl")]
    for new in (3, 0):
        assert run_command(words) == 0
        shown = capfd.readouterr()
        assert json.loads(shown.out)["rates"]["tests"]["pass_at"]["1"] == 1.0
        assert json.loads(shown.out)["protocol"]["n"] == [3, 3]
        judged = json.loads(shown.out)["judged"]
        assert judged["models"]["own"]["executed"] == 1.0
        assert judged["models"]["own"]["judged"] is None, "its reply is neither yes nor no"
        assert judged["costs"]["execution"]["seconds"] > 0
        assert f"{new} new; 30 tokens in, 15 out; $0.0001" in shown.err.replace("\n", " ")
    assert len(endpoint.requests) == 6, "three answers and three judgements, each requested once"
    assert "whole code in one fenced block" in endpoint.requests[0]["messages"][0]["content"]


def test_the_security_run_requests_its_completions(
    endpoint: Endpoint, write_rows: WriteRows, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    prompts = write_rows({"id": "p", "cwe": "89", "prompt": "Write a function that doubles."})
    words = ["bench", "security", "--problems", str(prompts), "--model", "own", "-n", "2", "--json"]
    words += ["--endpoint", endpoint.url, "--completions", str(tmp_path / "kept.jsonl")]
    assert run_command(words) == 0
    assert json.loads(capfd.readouterr().out)["completions"] == 2
