"""What a reader of one project gets never depends on what another one has in the same store."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from emptied_store import empty
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from spanproof.semconv import spanproof as ours
from spanproof.store import AmbiguousTrace, DeadLetter, ExternalScore, Store
from spanproof.store.breakdown import Fact
from spanproof.trace import Cohort, Label, Layer
from spanproof.trace.dimensions import Subject
from spanproof.trace.project import TraceKey

from .conftest import RUN, START_NS, STEP, make_evaluation

OURS, THEIRS = "ours", "theirs"
WINDOW = {"start_ns": 0, "end_ns": 2**62}
TRACE = f"{1:032x}"


def write_evaluation(store: Store, project: str, number: int) -> None:
    """Write a trace whose ids are the same in each project, and whose content is not."""
    cohort = Cohort(project=project, agent=f"{project}-agent", release=f"{project}-1")
    made = make_evaluation(1, cohort=cohort, source=f"print('{project} {number}')", version=str(number))
    spans = [replace(span, resource={ours.COHORT_PROJECT: project}) for span in made.trace.spans]
    store.write([replace(made, trace=replace(made.trace, spans=tuple(spans)))])


def write_spans(store: Store, project: str, number: int) -> None:
    request = ExportTraceServiceRequest()
    scope = request.resource_spans.add().scope_spans.add()
    for span_id, parent in ((RUN, ""), (STEP, RUN)):
        span = scope.spans.add(
            trace_id=bytes.fromhex(TRACE),
            span_id=bytes.fromhex(span_id),
            parent_span_id=bytes.fromhex(parent),
            name=f"{project} {number}",
            start_time_unix_nano=time.time_ns() - 10**9 if number else START_NS,
            end_time_unix_nano=time.time_ns() if number else START_NS + 1,
        )
        span.attributes.add(key="session.id").value.string_value = "shared"
    store.write_spans([request], project)


def write_rating(store: Store, project: str, number: int) -> None:
    request = ExportTraceServiceRequest()
    span = (
        request.resource_spans.add()
        .scope_spans.add()
        .spans.add(
            trace_id=bytes([9] * 16),
            span_id=bytes([9] * 8),
            name="feedback",
            start_time_unix_nano=START_NS + number,
            end_time_unix_nano=START_NS + number,
        )
    )
    named = {ours.FEEDBACK_TRACE_ID: TRACE, ours.FEEDBACK_KIND: "thumbs_down"}
    for key, value in (named | {ours.FEEDBACK_COMMENT: project}).items():
        span.attributes.add(key=key).value.string_value = value
    store.write_spans([request], project)


def write_label(store: Store, project: str, number: int) -> None:
    label = Label.PASS if number % 2 else Label.FAIL
    given_score = ExternalScore(
        TRACE, RUN, Layer.GROUNDEDNESS, "label", "human", float(label is Label.PASS), label, project,
        None, "", START_NS + number, project,
    )  # fmt: skip
    store.write_external([given_score])


def write_letter(store: Store, project: str, number: int) -> None:
    letter = DeadLetter(TRACE, "evaluate", "ValueError", f"{project} {number}", 3, b"", START_NS, project)
    store.write_dead_letters([letter])


def erase(store: Store, project: str, _: int) -> None:
    store.erase_traces([TRACE], project)


WRITES: dict[str, Callable[[Store, str, int], None]] = {
    "evaluation": write_evaluation,
    "spans": write_spans,
    "rating": write_rating,
    "label": write_label,
    "letter": write_letter,
    "erase": erase,
}


def read_all(store: Store, project: str) -> dict[str, Any]:
    """Return what a reader of one project gets by each way to read, without when it was written."""
    reader = store.limited_to(project)
    found = reader.evaluations([TRACE])
    waiting = reader.waiting_traces(project)
    return {
        "evaluations": found,
        "traces": reader.traces(),
        "ids": reader.trace_ids(),
        "scores": list(reader.scores(every_version=True)),
        "documents": reader.readable_documents([TraceKey(project, TRACE)]),
        "foreign document": reader.readable_documents([TraceKey(OURS, TRACE), TraceKey(THEIRS, TRACE)]),
        "parents": reader.span_parents([TraceKey(project, TRACE)]),
        "feedback": reader.feedback(),
        "letters": reader.dead_letters(),
        "waiting": [(each.key, each.is_whole) for each in waiting.traces],
        "clusters": reader.failure_clusters(**WINDOW),
        "rate": reader.fail_rate(Layer.GROUNDEDNESS, **WINDOW),
        "by agent": reader.verdicts_by("agent", **WINDOW),
        "by session": reader.verdicts_by("session", **WINDOW),
        "causes": reader.causes(**WINDOW),
        "facts": reader.break_down(Fact.FAILURE_CLASS, **WINDOW),
        "changed code": reader.traces_of_changed_code(),
        "session": reader.traces_of(Subject.SESSION, "shared"),
        "rows": reader.browse.fetch_trace_rows([TRACE]),
        "labels": reader.browse.list_labels(limit=10),
        "unlabelled": reader.browse.list_unlabelled(start_ns=0, limit=50),
        "snippets": reader.browse.list_snippets(start_ns=0, verdict=None, rule=None, limit=10, after=None),
        "replays": reader.browse.list_replays(
            start_ns=0, failure_class=None, agrees=None, limit=10, after=None
        ),
        "attempts": reader.browse.list_attempts(start_ns=0, kind=None, limit=10),
        "findings": reader.browse.list_findings(start_ns=0, limit=10),
        "sources": reader.browse.list_sources(start_ns=0, limit=10),
        "sessions": [each.spans for each in reader.browse.list_sessions(start_ns=0, limit=9)],
        "by sql": reader.select("SELECT uniqExact(SpanId) FROM otel_traces", 10),
    }


_STEP = st.tuples(st.sampled_from(sorted(WRITES)), st.sampled_from([OURS, THEIRS]))


# Each example writes into a real engine: a few of them find what a pair of writes can do.
@settings(max_examples=3, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(_STEP, min_size=2, max_size=6))
def test_what_one_project_reads_never_depends_on_what_another_writes(
    shared_store: Store, steps: list[tuple[str, str]]
) -> None:
    if not shared_store.exclusive:
        pytest.skip("a server that is stood in for by an engine limits no reader")
    empty(shared_store)
    for number, (write, project) in enumerate(steps):
        WRITES[write](shared_store, project, number)
    beside = read_all(shared_store, OURS)
    empty(shared_store)
    for number, (write, project) in enumerate(steps):
        if project == OURS:
            WRITES[write](shared_store, project, number)
    assert beside == read_all(shared_store, OURS)


def test_a_trace_of_two_projects_is_two_and_one_is_named_to_read_it(emptied: Store) -> None:
    for project in (OURS, THEIRS):
        write_evaluation(emptied, project, 1)
        write_spans(emptied, project, 0)
    with pytest.raises(AmbiguousTrace, match=f"{OURS}, {THEIRS}"):
        emptied.evaluation(TRACE)
    for project in (OURS, THEIRS):
        found = emptied.evaluation(TRACE, project)
        assert found is not None
        assert found.key == TraceKey(project, TRACE)
        assert project in found.runs[0].run.snippets[0].source
    assert [each.key.project for each in emptied.evaluations([TRACE])] == [OURS, THEIRS]
    assert len(emptied.traces()) == 2
    assert emptied.erase_traces([TRACE], THEIRS) == 1
    assert emptied.evaluation(TRACE) == emptied.evaluation(TRACE, OURS) is not None


def test_a_score_of_no_project_is_of_every_trace_with_its_id(emptied: Store) -> None:
    write_evaluation(emptied, OURS, 1)
    shared = ExternalScore(
        TRACE, RUN, Layer.TRAJECTORY, "tone", "human", 1.0, Label.PASS, "fine", None, "", START_NS
    )
    assert emptied.write_external([shared]) == 1
    write_evaluation(emptied, THEIRS, 1)
    named = [score.cohort.project for score in emptied.scores() if score.name == "tone"]
    assert sorted(named) == [OURS, THEIRS]
