"""macOS and Windows: agents and all that runs no code work there; what runs code says what to do."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

pytestmark = pytest.mark.e2e
HERE = Path(__file__).parent
RECORDED = HERE.parent / "golden" / "dialects" / "openinference_smolagents.json"
AGENT = """
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from spanproof.instrumentors import instrument_smolagents, register
from smolagents import CodeAgent
from smolagents.models import ChatMessage, MessageRole, Model
class Scripted(Model):
    def generate(self, messages, **_):
        code = "Thought: add.\\n<code>\\nfinal_answer(2 + 3)\\n</code>"
        return ChatMessage(role=MessageRole.ASSISTANT, content=code)
kept = InMemorySpanExporter()
provider = TracerProvider()
provider.add_span_processor(SimpleSpanProcessor(kept))
instrument_smolagents(provider)
assert CodeAgent(tools=[], model=Scripted()).run("add") == 5
print(sorted({span.name.split()[0] for span in kept.get_finished_spans()}))
"""
START = """
from spanproof.cli.app import run
for command in ("gate", "suite", "report", "judge", "config"):
    assert run([command, "--help"]) == 0, command
"""


class OtherSystem:
    """Runs the command line, or a program, as on a system that is not Linux."""

    def __init__(self, runner: subprocess.Popen[str], system: str, folder: Path) -> None:
        self._runner, self.name = runner, system
        self._stdout, self._stderr = folder / "stdout", folder / "stderr"

    def run(self, *arguments: str, program: str = "") -> subprocess.CompletedProcess[str]:
        assert self._runner.stdin is not None
        assert self._runner.stdout is not None
        job = {"system": self.name, "arguments": arguments, "program": program}
        files = {"stdout": str(self._stdout), "stderr": str(self._stderr)}
        self._runner.stdin.write(json.dumps(job | files) + "\n")
        self._runner.stdin.flush()
        code = int(self._runner.stdout.readline())
        return subprocess.CompletedProcess(
            arguments, code, self._stdout.read_text(), self._stderr.read_text()
        )


@pytest.fixture(scope="module")
def runner() -> Iterator[subprocess.Popen[str]]:
    """The process that runs each command in a fork: it has imported the packages of others."""
    command = [sys.executable, str(HERE / "other_system.py")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        yield process
        assert process.stdin is not None
        process.stdin.close()


@pytest.fixture(params=["darwin", "win32"])
def system(request: pytest.FixtureRequest, runner: subprocess.Popen[str], tmp_path: Path) -> OtherSystem:
    """A system that is not Linux."""
    return OtherSystem(runner, request.param, tmp_path)


def test_an_agent_is_traced(system: OtherSystem) -> None:
    done = system.run(program=AGENT)
    assert done.returncode == 0, done.stderr
    assert "['chat', 'execute_tool', 'invoke_agent', 'step']" in done.stdout


def test_a_file_is_evaluated_without_a_sandbox(system: OtherSystem) -> None:
    done = system.run("eval", "--no-replay", "--json", str(RECORDED))
    assert done.returncode == 0, done.stderr
    (line,) = done.stdout.splitlines()
    assert json.loads(line)["runs"]


def test_code_is_scanned_and_detected(system: OtherSystem, tmp_path: Path) -> None:
    path = tmp_path / "deletes.py"
    path.write_text("import os\nos.remove('/etc/passwd')\n")
    assert "python.file.delete-outside" in system.run("scan", str(path)).stdout
    assert "1 snippet" in system.run("detect", str(path)).stdout


def test_the_gate_and_the_suite_commands_start(system: OtherSystem) -> None:
    done = system.run(program=START)
    assert done.returncode == 0, done.stderr


def test_doctor_says_in_one_line_how_code_is_run(system: OtherSystem) -> None:
    done = system.run("doctor", "--json", "--backend", "jail")
    assert done.returncode == 1, done.stderr
    (feature,) = json.loads(done.stdout)["features"]
    assert feature["detail"] == f"this system is {'macOS' if system.name == 'darwin' else 'Windows'}"
    assert "container" in feature["remedy"]
    assert "\n" not in feature["remedy"]


def test_an_evaluation_with_code_says_why_it_is_not_replayed(system: OtherSystem) -> None:
    done = system.run("eval", str(RECORDED))
    assert done.returncode == 0, done.stderr
    assert "run code in a container" in done.stderr
