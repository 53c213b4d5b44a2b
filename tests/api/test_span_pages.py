"""A trace of any size is read page by page: no answer has more spans than its limit, or needs the whole."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NoReturn

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from starlette.testclient import TestClient

from spanproof.api import build_app
from spanproof.evaluators.model import TraceEvaluation
from spanproof.store import Store, open_store
from spanproof.trace import trace_of
from spanproof.trace.dialects import normalise_request

TRACE = "7c" * 16
SPANS, LIMIT = 250, 100
START_NS = 1_790_000_000_000_000_000
SECRET = "gh" + "p_" + "a8Xk29dLqPz0Wm3v7TnB5cR1yE4uHs6gJf2Q"


def build_request() -> ExportTraceServiceRequest:
    """Return a root and its children, of which always five start together; the last one fails."""
    request = ExportTraceServiceRequest()
    spans = request.resource_spans.add().scope_spans.add().spans
    for number in range(1, SPANS + 1):
        start_ns = START_NS + number // 5 * 1_000
        span = spans.add(
            trace_id=bytes.fromhex(TRACE),
            span_id=number.to_bytes(8, "big"),
            parent_span_id=b"" if number == 1 else (1).to_bytes(8, "big"),
            name=f"span {number}",
            start_time_unix_nano=start_ns,
            end_time_unix_nano=start_ns + 10,
        )
    span.status.code, span.status.message = span.status.STATUS_CODE_ERROR, f"refused {SECRET}"
    return request


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """A store with the trace."""
    request = build_request()
    with open_store(tmp_path_factory.mktemp("large") / "store") as opened:
        opened.write_spans([request], "default")
        opened.write([TraceEvaluation(trace_of(normalise_request(request)), (), ())])
        yield opened


@pytest.fixture
def app(large) -> TestClient:
    return TestClient(build_app(lambda: large))


def test_pages_of_spans_follow_each_other_and_read_no_document(app, monkeypatch) -> None:
    def fail(*_: object) -> NoReturn:
        raise AssertionError("the whole trace was read")

    monkeypatch.setattr("spanproof.store.store.read_document", fail)
    pages, query = [], {"limit": LIMIT}
    while not pages or pages[-1]["next"]:
        pages.append(app.get(f"/api/v1/traces/{TRACE[:9]}/spans", params=query).json())
        query = {"limit": LIMIT, "cursor": pages[-1]["next"]}
    assert [len(page["spans"]) for page in pages] == [LIMIT, LIMIT, SPANS - 2 * LIMIT]
    shown = [span for page in pages for span in page["spans"]]
    assert [span["span_id"] for span in shown] == [f"{number:016x}" for number in range(1, SPANS + 1)]
    assert shown[0] == {
        "span_id": f"{1:016x}",
        "parent_id": None,
        "name": "span 1",
        "kind": "OTHER",
        "start_ns": START_NS,
        "end_ns": START_NS + 10,
        "error": None,
    }
    assert shown[-1]["parent_id"] == f"{1:016x}"
    assert shown[-1]["error"].startswith("refused ")
    assert SECRET not in shown[-1]["error"]


@pytest.mark.parametrize(
    ("trace_id", "query", "status"),
    [("ab" * 16, {}, 404), (TRACE, {"limit": 5001}, 400), (TRACE, {"cursor": "x"}, 400)],
)
def test_a_page_that_cannot_be_is_refused(app, trace_id, query, status) -> None:
    assert app.get(f"/api/v1/traces/{trace_id}/spans", params=query).status_code == status


def test_of_two_projects_with_one_id_a_page_is_of_the_one_that_is_named(app, large) -> None:
    other = build_request()
    del other.resource_spans[0].scope_spans[0].spans[3:]
    resource = other.resource_spans[0].resource.attributes.add(key="spanproof.cohort.project")
    resource.value.string_value = "shop"
    large.write_spans([other])
    large.write([TraceEvaluation(trace_of(normalise_request(other)), (), ())])
    path = f"/api/v1/traces/{TRACE}/spans"
    assert app.get(path).status_code == 409
    assert len(app.get(path, params={"project": "shop"}).json()["spans"]) == 3
    assert len(app.get(path, params={"project": "default"}).json()["spans"]) == SPANS
