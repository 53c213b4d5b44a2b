"""The demo's scenarios as span trees: what each kind of run looks like on the trace."""

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import ClassVar

import pytest

from spanproof.cli.demo.agents.scenarios import SCENARIOS
from spanproof.instrumentors import set_cohort


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.name)
def test_a_scenarios_span_tree_is_the_golden_one(scenario, recorded, golden):
    answer = scenario.run()
    golden(f"scenario_{scenario.name}.txt", f"answer: {answer}\n{recorded.tree()}")


def test_every_span_of_a_run_carries_its_cohort(recorded):
    with set_cohort(prompt_version="v7", task="refund", release="2026.11", fixture_set="f1", project="shop"):
        for scenario in SCENARIOS:
            scenario.run()
    expected = {
        "spanproof.cohort.prompt_version": "v7",
        "spanproof.cohort.task": "refund",
        "spanproof.cohort.release": "2026.11",
        "spanproof.cohort.fixture_set": "f1",
        "spanproof.cohort.project": "shop",
    }
    assert recorded.spans
    for span in recorded.spans:
        assert expected.items() <= dict(span.attributes).items(), span.name


def test_the_failed_step_reports_the_real_exception(recorded):
    next(each for each in SCENARIOS if each.name == "misquote").run()
    step = recorded.named("step 2")
    assert step.attributes["error.type"] == "ZeroDivisionError"
    assert step.attributes["spanproof.execution.error.chain"] == (
        "AgentExecutionError",
        "InterpreterError",
        "ZeroDivisionError",
    )
    event = next(event for event in step.events if event.name == "exception")
    assert event.attributes["exception.type"] == "ZeroDivisionError"
    assert "division by zero" in event.attributes["exception.message"]


_COMMAND = (sys.executable, "-m", "spanproof.cli.demo.agents", "--endpoint")


class _Receiver(BaseHTTPRequestHandler):
    bodies: ClassVar[list[bytes]] = []

    def do_POST(self):
        self.bodies.append(self.rfile.read(int(self.headers["Content-Length"])))
        self.send_response(200)
        self.send_header("Content-Type", "application/x-protobuf")
        self.end_headers()

    def log_message(self, *arguments):
        pass


def test_the_agents_process_reports_its_answers_and_exports_over_otlp():
    server = HTTPServer(("127.0.0.1", 0), _Receiver)
    _Receiver.bodies.clear()
    with ThreadPoolExecutor(1) as pool:
        pool.submit(server.serve_forever, 0.05)
        try:
            ended = subprocess.run(
                [*_COMMAND, f"http://127.0.0.1:{server.server_port}"],
                capture_output=True,
                timeout=120,
                check=False,
                env={name: value for name, value in os.environ.items() if not name.startswith("OTEL_")},
            )
        finally:
            server.shutdown()
            server.server_close()
    assert ended.returncode == 0, ended.stderr.decode()
    lines = [json.loads(line) for line in ended.stdout.splitlines()]
    assert [line["scenario"] for line in lines] == [scenario.name for scenario in SCENARIOS]
    assert all(len(line["trace_id"]) == 32 for line in lines)
    assert len({line["trace_id"] for line in lines}) == len(lines)
    exported = b"".join(_Receiver.bodies)
    assert all(bytes.fromhex(line["trace_id"]) in exported for line in lines)
