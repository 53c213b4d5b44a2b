"""Without orjson, which is optional, JSON is written by `json`, and says the same."""

import json
import os
import sys
from pathlib import Path

import pytest

from .conftest import AGENT_PROGRAM, run_program

_ROOT = str(Path(__file__).parents[2])
_BLOCKED = "import sys\nsys.modules['orjson'] = None\n"

_VALUES = """
import json, random
from spanproof.instrumentors.content.capture import Content, ContentPolicy
chance = random.Random(7)
texts = ["", "plain", 'q"uo\\\\te', "\\x00\\x1f\\x7f", "\\u2028 é 😀", "lone \\ud800", "x" * 300]
numbers = [0, -1, 2**31, 2**53 + 1, 2**64, -(2**70), 0.1, -0.0, 1e16, 1e-7, 1.5e300, float("nan")]
def value(depth):
    kind = chance.randrange(8 if depth else 4)
    if kind < 2: return chance.choice(texts)
    if kind == 2: return chance.choice(numbers)
    if kind == 3: return chance.choice([True, False, None, b"bytes", {1, 2}.__class__([3]), object])
    if kind == 4: return tuple(value(depth - 1) for _ in range(chance.randrange(4)))
    if kind < 7: return [value(depth - 1) for _ in range(chance.randrange(5))]
    keys = [*texts, 1, 2.5, None, (1, 2)]
    return {chance.choice(keys): value(depth - 1) for _ in range(chance.randrange(5))}
def nested(levels):
    made = 1
    for _ in range(levels): made = [made]
    return made
values = [value(4) for _ in range(400)] + [nested(n) for n in (30, 254, 255, 500, 2000)] + [list(range(3000))]
for each in values:
    for policy in (ContentPolicy(), ContentPolicy(max_value_chars=120)):
        content = Content(policy)
        content.json("json", each)
        content.input(each)
        content.output_json("twice", each)
        content.json("said", [{"role": "user", "parts": [{"type": "tool_call", "arguments": each}]}])
        print(json.dumps(content.finished()))
print(json.dumps("orjson" if sys.modules.get("orjson") else "json"))
"""

_RUN = """
import asyncio, json
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry import trace as global_trace
from spanproof.instrumentors import diagnostics, instrument_openai_agents, instrument_smolagents, trace
exporter, provider = InMemorySpanExporter(), TracerProvider()
provider.add_span_processor(SimpleSpanProcessor(exporter))
global_trace.set_tracer_provider(provider)
instrument_smolagents()
assert answer() == 42
@trace.tool
def look(order, **details): return {"total": [1.5, None, "é"], "order": order, **details}
look("A-17", cents=100, nested={"a": (1, 2)})
from agents import Agent, Runner, function_tool, set_trace_processors
from tests.instrumentors.agents_sdk import ScriptedResponses, calls, says
set_trace_processors([])
instrument_openai_agents()
@function_tool
def add(a: int, b: int) -> int:
    "Adds."
    return a + b
agent = Agent(name="calculator", tools=[add], model=ScriptedResponses(calls("add", a=1, b=2), says("3")))
asyncio.run(Runner.run(agent, "1 + 2?"))
assert diagnostics().errors == {}
varying = ("duration_s", "messages.base")
for span in sorted(exporter.get_finished_spans(), key=lambda span: span.start_time):
    shown = {name: v for name, v in span.attributes.items() if not name.endswith(varying)}
    print(json.dumps([span.name, span.status.status_code.name, shown]))
print(json.dumps("orjson" if sys.modules.get("orjson") else "json"))
"""


@pytest.mark.parametrize("program", [_VALUES, AGENT_PROGRAM + _RUN], ids=["values", "runs"])
def test_what_is_recorded_is_the_same_without_orjson(program):
    path = os.pathsep.join(filter(None, [_ROOT, os.environ.get("PYTHONPATH")]))
    said = []
    for beginning in ("import sys\n", _BLOCKED):
        ended = run_program(sys.executable, "-c", beginning + program, PYTHONPATH=path)
        assert ended.returncode == 0, ended.stderr
        said.append([json.loads(line) for line in ended.stdout.splitlines()])
    (*quick, wrote_quick), (*slow, wrote_slow) = said
    assert (wrote_quick, wrote_slow) == ("orjson", "json")
    assert len(quick) > 5
    for one, other in zip(quick, slow, strict=True):
        assert _meant(one) == _meant(other)


def _meant(value):
    """With JSON within texts read, since the exponents of numbers may be written in two ways."""
    if isinstance(value, dict):
        return {name: _meant(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_meant(each) for each in value]
    if isinstance(value, str) and value[:1] in ("{", "[", '"', "-", *"0123456789"):
        try:
            return ("read", json.loads(value))
        except (ValueError, RecursionError):
            return value
    return value
