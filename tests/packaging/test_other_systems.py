"""macOS and Windows: agents and all that runs no code work there; what runs code says what to do."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
RECORDED = HERE.parent / "golden" / "dialects" / "openinference_smolagents.json"
AGENT = """
import sys
sys.path.insert(0, {here!r})
from other_system import take_away
take_away({system!r})
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
print(sorted({{span.name.split()[0] for span in kept.get_finished_spans()}}))
"""


def run(system: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(HERE / "other_system.py"), system, *arguments],
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip


@pytest.fixture(params=["darwin", "win32"])
def system(request: pytest.FixtureRequest) -> str:
    """A system that is not Linux."""
    name: str = request.param
    return name


def test_an_agent_is_traced(system: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", AGENT.format(here=str(HERE), system=system)],
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "['chat', 'execute_tool', 'invoke_agent', 'step']" in done.stdout


def test_a_file_is_evaluated_without_a_sandbox(system: str) -> None:
    done = run(system, "eval", "--no-replay", "--json", str(RECORDED))
    assert done.returncode == 0, done.stderr
    (line,) = done.stdout.splitlines()
    assert json.loads(line)["runs"]


def test_code_is_scanned_and_detected(system: str, tmp_path: Path) -> None:
    path = tmp_path / "deletes.py"
    path.write_text("import os\nos.remove('/etc/passwd')\n")
    assert "python.file.delete-outside" in run(system, "scan", str(path)).stdout
    assert "1 snippet" in run(system, "detect", str(path)).stdout


def test_the_gate_and_the_suite_commands_start(system: str) -> None:
    for command in ("gate", "suite", "report", "judge", "config"):
        done = run(system, command, "--help")
        assert done.returncode == 0, done.stderr


def test_doctor_says_in_one_line_how_code_is_run(system: str) -> None:
    done = run(system, "doctor", "--json", "--backend", "jail")
    assert done.returncode == 1, done.stderr
    (feature,) = json.loads(done.stdout)["features"]
    assert feature["detail"] == f"this system is {'macOS' if system == 'darwin' else 'Windows'}"
    assert "container" in feature["remedy"]
    assert "\n" not in feature["remedy"]


def test_an_evaluation_with_code_says_why_it_is_not_replayed(system: str) -> None:
    done = run(system, "eval", str(RECORDED))
    assert done.returncode == 0, done.stderr
    assert "run code in a container" in done.stderr
