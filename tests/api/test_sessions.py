"""Sessions: traces that one conversation joins, judged as a whole, whatever convention names it."""

from __future__ import annotations

import time

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.resource.v1.resource_pb2 import Resource
from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, ScopeSpans, Span

from spanproof.api import ConsoleServer
from spanproof.client import Client, ClientError

TRACE = "5" * 32


def write_root(
    store, trace_id: str, key: str, value: str, *, on_resource: bool = False, project: str = "default"
) -> None:
    """Store a root span of a trace that names its session, and one below it that does not."""
    named = [KeyValue(key=key, value=AnyValue(string_value=value))]
    below = Span(
        trace_id=bytes.fromhex(trace_id), span_id=b"below001", parent_span_id=b"root0001", name="step"
    )
    span = Span(
        trace_id=bytes.fromhex(trace_id),
        span_id=b"root0001",
        name="turn",
        start_time_unix_nano=time.time_ns(),
        end_time_unix_nano=time.time_ns(),
        attributes=[] if on_resource else named,
    )
    rows = ResourceSpans(
        resource=Resource(attributes=named if on_resource else []),
        scope_spans=[ScopeSpans(spans=[span, below])],
    )
    store.write_spans([ExportTraceServiceRequest(resource_spans=[rows])], project)


def test_a_session_has_its_verdict_turns_and_first_mistake(client, store):
    write_root(store, TRACE, "session.id", "desk/7 ü")
    found = client.get("/api/v1/sessions/desk%2F7%20%C3%BC").json()
    assert found["verdict"] == "fail"
    assert found["value"] == 0.0
    (turn,) = found["turns"]
    assert (turn["number"], turn["trace_id"], turn["verdict"]) == (1, TRACE, "fail")
    assert "$54.00" in turn["answer"]
    assert found["first_mistake"]["agent"] == "pricing agent"
    assert found["hand_overs"] == []
    assert [each["trace_id"] for each in found["traces"]] == [TRACE]
    assert client.get("/api/v1/sessions/none").status_code == 404


@pytest.mark.parametrize(
    ("key", "on_resource"),
    [
        ("gen_ai.conversation.id", False),
        ("langfuse.session.id", False),
        ("langsmith.trace.session_id", False),
        ("traceloop.association.properties.session_id", False),
        ("session.id", True),
    ],
)
def test_a_session_is_found_in_every_convention(client, store, evaluation_of, key, on_resource):
    number = 0x40 + len(key) + on_resource
    evaluation = evaluation_of(number)
    store.write([evaluation])
    name = f"chat of {key} {on_resource}"
    write_root(store, evaluation.trace.trace_id, key, name, on_resource=on_resource)
    assert name in [each["id"] for each in client.get("/api/v1/sessions").json()["sessions"]]
    turns = client.get(f"/api/v1/sessions/{name}").json()["turns"]
    assert [turn["trace_id"] for turn in turns] == [evaluation.trace.trace_id]


def test_a_session_counts_all_spans_of_its_traces_in_each_project(client, store):
    name = "chat of two projects"
    for project in ("shop", "bank"):
        write_root(store, "7" * 32, "session.id", name, project=project)

    def count(project: str) -> list[tuple[int, int]]:
        rows = client.get(f"/api/v1/sessions{project}").json()["sessions"]
        return [(row["traces"], row["spans"]) for row in rows if row["id"] == name]

    assert count("") == [(2, 4)]
    assert count("?project=shop") == [(1, 2)]
    assert count("?project=none") == []
    assert client.get(f"/api/v1/sessions/{name}?project=none").status_code == 404


def test_the_client_chooses_by_what_spans_carry(store):
    write_root(store, TRACE, "session.id", "desk/8")
    with ConsoleServer(lambda: store, "127.0.0.1", 0) as server, Client(server.url) as client:
        assert client.session("desk/8").turns[0].trace_id == TRACE
        chosen = client.traces(**{"attribute:session.id": "desk/8"})
        assert [row.trace_id for row in chosen] == [TRACE]
        assert len(client.traces(session="nobody's")) == 0
        with pytest.raises(ValueError, match="unknown dimension 'agnet'"):
            client.traces(agnet="pricing agent")
        with pytest.raises(ClientError, match="no span has the session id"):
            client.session("none")
