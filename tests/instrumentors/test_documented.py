"""docs/instrument.md: its programs run as they stand there, around an application that is the reader's."""

import re
import sys
from pathlib import Path

import pytest

from .conftest import run_program

pytestmark = pytest.mark.e2e
_PAGE = Path(__file__).parents[2] / "docs" / "instrument.md"
_PROGRAMS = re.findall(r"```python\n(?!>>>)(.*?)```", _PAGE.read_text(), re.DOTALL)
_READERS = {
    "task": 'task = "Go."',
    "code, ": 'code, shown, printed, error = "print(1)", "1", "1", None',
    "my_filter": "my_filter = str",
    "tracer_provider": """
from opentelemetry.sdk.trace import TracerProvider
tracer_provider = TracerProvider()
""",
    "agent.run(": 'from instrumentors.coders import coder\nagent = coder("final_answer(42)")',
    "guard.smolagents(": 'from instrumentors.coders import coder\nagent = coder("final_answer(42)")',
    "python_repl": """
from langchain_core.tools import tool
@tool
def python_repl(code: str) -> str:
    "Runs code."
    return code
""",
    "search, None": """
from langchain_core.tools import tool
@tool
def search(text: str) -> str:
    "Searches the web."
    return text
""",
    "run_sql": """
from agents import function_tool
@function_tool
def run_sql(query: str) -> str:
    "Runs SQL."
    return query
""",
}
"""What a program takes to be there, by what the program contains."""
_AFTERWARDS = {
    "@trace.agent": 'answer("Go.")',
    '"openai-agents"': """
from agents import Agent, Runner
from instrumentors.agents_sdk import Scripted, says
Runner.run_sync(Agent(name="a", model=Scripted(says("Done."))), "Go.")
""",
    "": """
from opentelemetry import trace as otel
from spanproof.instrumentors import diagnostics
getattr(otel.get_tracer_provider(), "force_flush", bool)()
assert diagnostics().errors == {}, diagnostics()
""",
}
_KINDS = {
    "agent.run(": {"AGENT", "CHAIN", "LLM", "TOOL"},
    '"openai-agents"': {"AGENT", "CHAIN", "LLM"},
    "@trace.agent": {"AGENT", "CHAIN"},
}
"""What arrives at a collector, by what a program has in it; of the others it is enough that they run."""


def test_the_page_has_a_program_for_each_way():
    for marker in _KINDS:
        assert [each for each in _PROGRAMS if marker in each], marker


@pytest.mark.parametrize("program", _PROGRAMS, ids=range(len(_PROGRAMS)))
def test_a_program_of_the_page_runs(program, receiving, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "policy.yaml").write_text("")
    wanted = next((kinds for marker, kinds in _KINDS.items() if marker in program), set())
    if wanted and "register(" not in program:
        program = f"from spanproof.instrumentors import register\nregister()\n{program}"
    program = program.replace("http://127.0.0.1:4318", receiving.http)
    before, afterwards = _of(program, _READERS), _of(program, _AFTERWARDS)
    found = f"import sys\nsys.path.insert(0, {str(_PAGE.parents[1] / 'tests')!r})"
    whole = "\n".join([found, *before, program, *afterwards])
    ended = run_program(sys.executable, "-c", whole, OTEL_EXPORTER_OTLP_ENDPOINT=receiving.http)
    assert ended.returncode == 0, ended.stderr
    assert wanted <= set(receiving.kinds())


def _of(program, pieces):
    return [piece for marker, piece in pieces.items() if marker in program]
