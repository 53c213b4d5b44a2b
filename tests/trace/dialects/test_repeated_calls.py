"""Calls that two instrumentors recorded, one within the other."""

from __future__ import annotations

import json

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import KeyValue

from spanproof.trace.dialects import normalise_request
from spanproof.trace.otlp import build_any_value

TOOL = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "run_python"}
FULL = {**TOOL, "gen_ai.tool.call.arguments": '{"code": "1"}'}
BARE = {**TOOL, "gen_ai.tool.call.id": "c1", "error.type": "ValueError"}
AGENT = {"gen_ai.operation.name": "invoke_agent"}


def kinds(*nested):
    return [span.kind for span in read(*nested)]


def read(*nested, scope=""):
    """The spans with these attributes, each within the one before."""
    request = ExportTraceServiceRequest()
    of_scope = request.resource_spans.add().scope_spans.add()
    of_scope.scope.name = scope
    spans = of_scope.spans
    for number, attributes in enumerate(nested, start=1):
        span = spans.add(name="s", trace_id=b"\1" * 16, span_id=bytes([0] * 7 + [number]))
        span.parent_span_id = bytes([0] * 7 + [number - 1]) if number > 1 else b""
        span.attributes.extend(
            KeyValue(key=key, value=build_any_value(value)) for key, value in attributes.items()
        )
    return normalise_request(request)


@pytest.mark.parametrize(("outer", "inner", "full"), [(FULL, BARE, 0), (BARE, FULL, 1)])
def test_the_span_with_content_is_the_call_and_gets_what_the_other_knows(outer, inner, full):
    spans = read(outer, inner)
    assert (spans[full].kind, spans[1 - full].kind) == ("TOOL", "CHAIN")
    assert spans[full].tool.call_id == "c1"
    assert spans[full].error.type == "ValueError"
    assert not spans[1 - full].hidden


@pytest.mark.parametrize("inner", [FULL, {**BARE, "gen_ai.tool.name": "stock_of"}])
def test_calls_that_both_have_content_or_other_names_are_two(inner):
    assert kinds(FULL, inner) == ["TOOL", "TOOL"]


def test_a_call_is_one_across_the_transport_of_mcp():
    sent = {"mcp.method.name": "tools/call"}
    served = {**BARE, **sent}
    assert [span.kind for span in read(FULL, sent, served, scope="mcp-python-sdk")].count("TOOL") == 1
    assert [span.kind for span in read(FULL, sent, served, scope="another")].count("TOOL") == 2


def test_agents_are_one_only_by_name():
    named = {**AGENT, "gen_ai.agent.name": "clerk"}
    assert kinds(named, named) == ["CHAIN", "AGENT"]
    assert kinds(AGENT, AGENT) == ["AGENT", "AGENT"]
    assert kinds(named, {**AGENT, "gen_ai.agent.name": "cook"}) == ["AGENT", "AGENT"]


@pytest.mark.parametrize(
    ("requested", "arguments"),
    [({"code": "print(6)"}, {"code": "print(6)"}), ({"code": "print(7)"}, "print(6)"), ({}, "print(6)")],
    ids=["the same text", "another text", "no argument"],
)
def test_a_bare_text_has_the_name_by_which_the_model_gave_it(requested, arguments):
    call = {"name": "run_python", "arguments": json.dumps(requested), "id": "c1", "type": "tool_call"}
    said = [{"role": "assistant", "parts": [call]}]
    model = {"gen_ai.operation.name": "chat", "gen_ai.output.messages": json.dumps(said)}
    tool = {"openinference.span.kind": "TOOL", "tool.name": "run_python", "input.value": "print(6)"}
    assert read(AGENT, model, tool)[2].tool.arguments == arguments
