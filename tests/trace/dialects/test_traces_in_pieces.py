"""A trace is the same whole, however its spans were split into requests and in whatever order they came."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanproof.trace import Defect, Trace
from spanproof.trace.codec import decode_value, encode_value
from spanproof.trace.dialects import build_extended_trace, read_traces
from spanproof.trace.otlp import ExportTraceServiceRequest, read_file

GOLDEN = Path(__file__).parents[2] / "golden"
FILES = sorted([*GOLDEN.glob("dialects/*.json"), *GOLDEN.glob("frameworks/*.json")])


def make_request(*spans: tuple[int, int | None]) -> ExportTraceServiceRequest:
    """Return a request with spans of one trace: (id, id of the parent)."""
    request = ExportTraceServiceRequest()
    scope = request.resource_spans.add().scope_spans.add()
    for number, parent in spans:
        scope.spans.add(
            trace_id=b"t" * 16,
            span_id=number.to_bytes(8, "big"),
            parent_span_id=b"" if parent is None else parent.to_bytes(8, "big"),
            start_time_unix_nano=number * 10**9,
            end_time_unix_nano=10**11,
        )
    return request


def split_spans(
    whole: ExportTraceServiceRequest, trace_id: bytes, seed: int, parts: int
) -> list[ExportTraceServiceRequest]:
    """Return requests that hold each span once, in an order and in parts that the seed draws."""
    drawn = random.Random(seed)
    pieces = []
    for resource in whole.resource_spans:
        for scope in resource.scope_spans:
            for span in (span for span in scope.spans if span.trace_id == trace_id):
                piece = ExportTraceServiceRequest()
                of_resource = piece.resource_spans.add(resource=resource.resource)
                of_resource.scope_spans.add(scope=scope.scope).spans.append(span)
                pieces.append(piece)
    drawn.shuffle(pieces)
    requests = [ExportTraceServiceRequest() for _ in range(parts)]
    for piece in pieces:
        drawn.choice(requests).MergeFrom(piece)
    return [request for request in requests if request.resource_spans]


def store(trace: Trace) -> Trace:
    """Return a trace as a store gives it back."""
    return decode_value(Trace, encode_value(trace))


@pytest.mark.hypothesis
@given(file=st.sampled_from(FILES), seed=st.integers(0, 2**32), parts=st.integers(1, 6))
def test_a_trace_that_came_in_pieces_is_the_trace_that_came_at_once(
    file: Path, seed: int, parts: int
) -> None:
    requests = read_file(file)
    whole = read_traces(requests)[0]
    merged = ExportTraceServiceRequest()
    for request in requests:
        merged.MergeFrom(request)
    trace_id = bytes.fromhex(whole.trace_id)
    pieces = split_spans(merged, trace_id, seed, parts)
    healed = build_extended_trace(whole.trace_id, (), pieces[:1])
    for piece in pieces[1:]:
        healed = build_extended_trace(whole.trace_id, store(healed).spans, [piece])
    assert healed == whole


def test_a_span_keeps_its_parent_though_the_trace_has_it_not_yet() -> None:
    (orphans,) = read_traces([make_request((2, 1), (3, 2))])
    first, second = orphans.spans
    assert (first.parent_id, orphans.parents[first.span_id]) == (f"{1:016x}", None)
    assert orphans.defects == {Defect.MISSING_PARENT, Defect.NO_ROOT}
    whole = build_extended_trace(orphans.trace_id, store(orphans).spans, [make_request((1, None))])
    assert whole.parents == {f"{1:016x}": None, first.span_id: f"{1:016x}", second.span_id: first.span_id}
    assert not whole.defects


def test_a_span_that_was_sent_twice_counts_once_in_any_order() -> None:
    begun, ended = make_request((1, None)), make_request((1, None))
    ended.resource_spans[0].scope_spans[0].spans[0].end_time_unix_nano += 10**9
    (one,), (other,) = read_traces([begun, ended]), read_traces([ended, begun])
    assert one == other
    assert one.spans[0].end_ns == ended.resource_spans[0].scope_spans[0].spans[0].end_time_unix_nano
    assert one.defects == {Defect.DUPLICATE_SPAN_IDS}
