"""A project is a part of what identifies a trace: senders of one see and change nothing of another.

Two tenants send the same trace ids and span ids on purpose, in any order, and name each other's project.
"""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from spanproof.collector.kafka.messages import iter_trace_messages
from spanproof.collector.receive.signals import Signal
from spanproof.collector.receive.tenant import set_project
from spanproof.collector.stages.assemble import Assembler, CompleteTrace
from spanproof.collector.stages.fragments import build_index, select_trace_spans
from spanproof.config.model import Assembly
from spanproof.semconv.spanproof import COHORT_PROJECT
from spanproof.trace.project import TraceKey

OURS, THEIRS = "ours", "theirs"
TRACES = 3
RULES = Assembly(quiet_s=6, orphan_quiet_s=35, max_wait_s=300, reopen_s=600)


def build_request(
    trace: int, *spans: tuple[int, int], resource: str = "", planted: str = ""
) -> ExportTraceServiceRequest:
    """Return spans, each an id and its parent's, with projects that the resource and the spans name."""
    request = ExportTraceServiceRequest()
    under = request.resource_spans.add()
    if resource:
        under.resource.attributes.add(key=COHORT_PROJECT).value.string_value = resource
    scope = under.scope_spans.add()
    for span_id, parent in spans:
        span = scope.spans.add(
            trace_id=trace.to_bytes(16, "big"),
            span_id=span_id.to_bytes(8, "big"),
            parent_span_id=parent.to_bytes(8, "big") if parent else b"",
            name="step",
        )
        if planted:
            span.attributes.add(key=COHORT_PROJECT).value.string_value = planted
    return request


def list_keys(request: ExportTraceServiceRequest, project: str = "default") -> list[TraceKey]:
    return [each.key for each in build_index(request, request.SerializeToString(), project).fragments]


def bind(request: ExportTraceServiceRequest, project: str) -> ExportTraceServiceRequest:
    """Return the request as a token of this project sends it."""
    set_project(request, Signal.TRACES, project, request.SerializeToString())
    return request


@given(st.sampled_from(["", OURS, THEIRS]), st.sampled_from(["", OURS, THEIRS]))
def test_the_token_s_project_wins_over_resource_and_span(resource: str, planted: str) -> None:
    request = bind(build_request(1, (1, 0), (2, 1), resource=resource, planted=planted), OURS)
    assert list_keys(request) == [TraceKey(OURS, f"{1:032x}")]
    assert THEIRS.encode() not in request.SerializeToString()


def test_without_a_token_s_project_the_resource_s_wins_then_a_span_s_then_the_configured_one() -> None:
    def project_of(**named: str) -> str:
        (key,) = list_keys(build_request(1, (1, 0), **named), "configured")
        return key.project

    assert project_of(resource="resource", planted="span") == "resource"
    assert project_of(planted="span") == "span"
    assert project_of(resource="resource") == "resource"
    assert project_of() == "configured"


def test_one_span_that_names_another_project_than_the_resource_makes_no_second_trace() -> None:
    request = build_request(1, (1, 0), (2, 1), (3, 1), resource=OURS)
    span = request.resource_spans[0].scope_spans[0].spans[1]
    span.attributes.add(key=COHORT_PROJECT).value.string_value = THEIRS
    (key,) = list_keys(request)
    assert key == TraceKey(OURS, f"{1:032x}")
    assert [message_key for message_key, _ in iter_trace_messages(request)] == [f"{OURS}/{1:032x}".encode()]
    (resource,) = select_trace_spans(request, key).resource_spans
    assert [len(span.attributes) for scope in resource.scope_spans for span in scope.spans] == [0, 0, 0]
    assert len(resource.scope_spans[0].spans) == 3


def test_a_trace_through_two_projects_is_two_traces_each_with_its_own_spans() -> None:
    both = build_request(1, (1, 0), resource=OURS)
    both.MergeFrom(build_request(1, (2, 1), (3, 1), resource=THEIRS))
    assert sorted(list_keys(both)) == [TraceKey(OURS, f"{1:032x}"), TraceKey(THEIRS, f"{1:032x}")]
    for project, ids in ((OURS, [1]), (THEIRS, [2, 3])):
        view = select_trace_spans(both, TraceKey(project, f"{1:032x}"))
        (resource,) = view.resource_spans
        spans = [span for scope in resource.scope_spans for span in scope.spans]
        assert [int.from_bytes(span.span_id, "big") for span in spans] == ids
        assert [each.value.string_value for each in resource.resource.attributes] == [project]


def test_messages_of_a_topic_are_of_one_project_and_keyed_by_it() -> None:
    both = build_request(1, (1, 0), resource=OURS)
    both.MergeFrom(build_request(1, (1, 0), resource=THEIRS))
    both.MergeFrom(build_request(1, (1, 0)))
    messages = dict(iter_trace_messages(both))
    # The configured project has the key that the OpenTelemetry Collector writes.
    assert set(messages) == {f"{each}{1:032x}".encode() for each in ("", f"{OURS}/", f"{THEIRS}/")}
    for value in messages.values():
        assert len(list_keys(ExportTraceServiceRequest.FromString(value))) == 1


Sent = tuple[str, int, tuple[tuple[int, int], ...], str, str, int]
"""Project of the token, trace, spans, what resource and spans name, and seconds until the next."""
_SPAN = st.tuples(st.integers(1, 4), st.integers(0, 4))
_SENT = st.tuples(
    st.sampled_from([OURS, THEIRS]),
    st.integers(1, TRACES),
    st.lists(_SPAN, min_size=1, max_size=3).map(tuple),
    st.sampled_from(["", OURS, THEIRS]),
    st.sampled_from(["", OURS, THEIRS]),
    st.integers(0, 40),
)


def assemble(sent: Sequence[Sent], reads: str, *, only: bool) -> list[tuple[CompleteTrace, bytes]]:
    """Return what a project's traces are given out as, with their spans.

    Args:
        sent: by both projects, in order.
        reads: the project.
        only: leave out what the other one sends; time goes on alike.
    """
    assembler = Assembler(RULES)
    log: list[ExportTraceServiceRequest] = []
    found: list[CompleteTrace] = []
    now_s = 0.0
    for project, trace, spans, resource, planted, pause_s in sent:
        request = bind(build_request(trace, *spans, resource=resource, planted=planted), project)
        log.append(request)
        if project == reads or not only:
            for fragment in build_index(request, request.SerializeToString()).fragments:
                assembler.add(fragment, len(log) - 1, now_s)
        for _ in range(pause_s):
            now_s += 1
            found += assembler.due(now_s)
    found += assembler.flush(now_s)
    return [
        (each, b"".join(select_trace_spans(log[at], each.key).SerializeToString() for at in each.bodies))
        for each in sorted(found, key=lambda each: (each.key, each.generation))
        if each.key.project == reads
    ]


@given(st.lists(_SENT, min_size=1, max_size=14))
def test_what_is_assembled_of_one_project_never_depends_on_what_another_sends(sent: list[Sent]) -> None:
    for project in (OURS, THEIRS):
        assert assemble(sent, project, only=False) == assemble(sent, project, only=True)
