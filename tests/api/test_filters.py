"""Questions filtered by what spans carry: session, user and any attribute."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from starlette.testclient import TestClient

from spanproof.api import build_app
from spanproof.evaluators.engine import Engine
from spanproof.sandbox.scanners.pipeline import Pipeline
from spanproof.store import Store, open_store
from spanproof.trace import Span, trace_of

from ..suites.conftest import misquote

YEARS = 24 * 366
WRONG, RIGHT = f"{1:032x}", f"{2:032x}"


@pytest.fixture(scope="module")
def filtered(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    """The API over two runs: Acme's in session s1, which misquotes, and Globex' in session s2."""
    with open_store(tmp_path_factory.mktemp("filters") / "store") as store:
        engine = Engine(pipeline=Pipeline(), sandbox=None, replay_disabled_reason="not in this test")
        for trace_id, answer, tenant, session in (
            (WRONG, misquote(), "acme", "s1"),
            (RIGHT, misquote("I do not know."), "globex", "s2"),
        ):
            spans = [replace(span, trace_id=trace_id) for span in answer.spans]
            store.write([engine.evaluate(trace_of(spans))])
            carry(store, spans[0], {"tenant.id": tenant, "session.id": session, "user.id": f"u-{tenant}"})
        yield TestClient(build_app(lambda: store))


def carry(store: Store, span: Span, attributes: dict[str, str]) -> None:
    """Store the span as it was received, with attributes."""
    request = ExportTraceServiceRequest()
    sent = request.resource_spans.add().scope_spans.add().spans.add(
        trace_id=bytes.fromhex(span.trace_id), span_id=bytes.fromhex(span.span_id), name=span.name,
        start_time_unix_nano=span.start_ns, end_time_unix_nano=span.end_ns,
    )  # fmt: skip
    for key, value in attributes.items():
        sent.attributes.add(key=key).value.string_value = value
    store.write_spans([request])


@pytest.mark.parametrize(
    ("where", "traces"),
    [
        ("session=s1", {WRONG}),
        ("user=u-globex", {RIGHT}),
        ("attribute:tenant.id=acme", {WRONG}),
        ("attribute:tenant.id=nobody", set()),
    ],
)
def test_runs_are_found_by_what_their_spans_carry(filtered: TestClient, where: str, traces: set[str]) -> None:
    answer = filtered.get("/api/v1/traces", params={"hours": YEARS, "where": where})
    assert answer.status_code == 200, answer.text
    assert {each["trace_id"] for each in answer.json()["traces"]} == traces


def test_rates_are_counted_within_and_by_an_attribute(filtered: TestClient) -> None:
    def rates(path: str, **params: str) -> dict[str, tuple[int, int]]:
        answer = filtered.get(f"/api/v1/cohorts/{path}", params={"hours": YEARS, **params})
        assert answer.status_code == 200, answer.text
        found = {each["value"]: each["layers"]["groundedness"] for each in answer.json()["values"]}
        return {value: (rate["failed"], rate["passed"]) for value, rate in found.items()}

    by_tenant = rates("attribute:tenant.id")
    assert by_tenant["acme"] == (1, 0)
    assert by_tenant["globex"][0] == 0
    (within,) = rates("agent", where="attribute:tenant.id=acme").values()
    assert within == (1, 0)
    assert set(rates("session", where="user=u-globex")) == {"s2"}


def test_a_query_line_finds_the_same_as_its_parameters(filtered: TestClient) -> None:
    found = filtered.get("/api/v1/traces", params={"q": "session:s1 since:366d"}).json()
    assert [row["trace_id"] for row in found["traces"]] == [WRONG]
    assert found["command"] == "spanproof traces --since 8784h --where session=s1"
    usage = filtered.get("/api/v1/usage", params={"q": "session:s1", "hours": YEARS}).json()
    assert sum(point["traces"] for point in usage["points"]) == 1


def test_a_line_goes_before_parameters_of_the_same_name(filtered: TestClient) -> None:
    params = {"q": "user:u-acme since:1h", "hours": YEARS}
    assert "--since 1h" in filtered.get("/api/v1/traces", params=params).json()["command"]


def test_a_line_that_cannot_be_read_is_refused(filtered: TestClient) -> None:
    answer = filtered.get("/api/v1/traces", params={"q": "state:red"})
    assert answer.status_code == 422
    assert "state:red names no state" in answer.json()["detail"]


def test_the_states_of_one_layer_are_not_counted_over_time(filtered: TestClient) -> None:
    params = {"q": "state:open layer:groundedness", "hours": YEARS}
    assert filtered.get("/api/v1/usage", params=params).json()["points"] == []
