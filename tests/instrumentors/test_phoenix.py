"""Traces of ours in Arize Phoenix: really started, sent to over OTLP, queried through its API."""

import json
import urllib.request

import pytest
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from phoenix_server import phoenix_server
from waiting import becomes

from spanproof.instrumentors import (
    instrument_langchain,
    instrument_openai_agents,
    instrument_smolagents,
    uninstrument,
)

from .environments import phoenix_python
from .trees import langchain, openai_agents, smolagents

_SHOWS_WITHIN_S = 120
_SPANS = """{projects{edges{node{name spans(first: 100){edges{node{
  name spanKind statusCode spanId parentId startTime input{value} output{value}
}}}}}}}"""


@pytest.fixture(scope="module")
def phoenix(tmp_path_factory):
    """Phoenix on the loopback; the base URL."""
    with phoenix_server(phoenix_python(), tmp_path_factory.mktemp("phoenix")) as url:
        yield url


def _shown(url: str, project: str) -> list[dict]:
    """What Phoenix shows of a project's spans."""
    requested = urllib.request.Request(
        f"{url}/graphql", json.dumps({"query": _SPANS}).encode(), {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(requested, timeout=120) as answer:
        reported = json.load(answer)
    assert "errors" not in reported, reported
    nodes = {each["node"]["name"]: each["node"] for each in reported["data"]["projects"]["edges"]}
    return [each["node"] for each in nodes[project]["spans"]["edges"]] if project in nodes else []


def _settled(url: str, project: str, sent: int) -> list[dict]:
    """The same, once it shows as many spans as were sent: Phoenix takes them in behind its answer."""
    shown: list[dict] = []

    def complete() -> bool:
        shown[:] = _shown(url, project)
        return len(shown) >= sent

    assert becomes(complete, _SHOWS_WITHIN_S, pause_s=0.2), (
        f"Phoenix shows {len(shown)} of {sent} spans of {project} after {_SHOWS_WITHIN_S} s"
    )
    return shown


def _tree(spans: list[dict]) -> str:
    """One line per span as Phoenix has it, and below it what it shows as input and output."""
    lines: list[str] = []

    def add(parent: str | None, margin: str) -> None:
        for span in sorted(spans, key=lambda each: each["startTime"]):
            if span["parentId"] != parent:
                continue
            lines.append(f"{margin}{span['spanKind'].upper()} {span['name']} [{span['statusCode']}]")
            for end in ("input", "output"):
                value = (span[end] or {}).get("value")
                lines.append(f"{margin}  . {end}: {None if value is None else _short(value)}")
            add(span["spanId"], margin + "  ")

    add(None, "")
    assert len(lines) == 3 * len(spans), "a span is not in the tree"
    return "\n".join(lines) + "\n"


def _short(value: str) -> str:
    return json.dumps(value if len(value) <= 160 else f"{value[:80]} … {value[-60:]}", ensure_ascii=False)


@pytest.mark.parametrize(
    ("name", "instrument", "scenario"),
    [
        ("smolagents", instrument_smolagents, smolagents.run),
        ("langchain", instrument_langchain, langchain.agent),
        ("openai_agents", instrument_openai_agents, openai_agents.responses),
    ],
)
def test_phoenix_shows_the_tree_with_kinds_inputs_and_outputs(phoenix, golden, name, instrument, scenario):
    provider = TracerProvider(resource=Resource({"openinference.project.name": name}))
    sent = InMemorySpanExporter()
    provider.add_span_processor(SimpleSpanProcessor(sent))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(f"{phoenix}/v1/traces", timeout=120)))
    if name == "openai_agents":
        openai_agents.agents.set_trace_processors([])
    instrument(provider)
    try:
        scenario(None)
    finally:
        uninstrument()
    provider.shutdown()
    golden(f"shown_by_phoenix_{name}.txt", _tree(_settled(phoenix, name, len(sent.get_finished_spans()))))
