"""The public client against a real server, waiting and awaited."""

from __future__ import annotations

import asyncio

import pytest

from spanproof.api import ConsoleServer, ConsoleSettings
from spanproof.client import AsyncClient, Client, ClientError
from spanproof.trace import Layer, State

TRACE, RUN = "5" * 32, "a" * 16
YEARS = 24.0 * 366


@pytest.fixture(scope="module")
def url(store, tmp_path_factory):
    settings = ConsoleSettings(("reader",), ("writer",), workspace=tmp_path_factory.mktemp("suites"))
    with ConsoleServer(lambda: store, "127.0.0.1", 0, settings) as server:
        yield server.url


@pytest.fixture
def client(url):
    with Client(url, token="writer") as opened:
        yield opened


def test_traces_are_a_table_with_a_row_for_each_run(client):
    rows = client.traces(failing=True, layer=Layer.GROUNDEDNESS, agent="pricing agent")
    assert [row.trace_id for row in rows] == [TRACE]
    assert [row.trace_id for row in client.traces(state=State.FAIL)] == [TRACE]
    assert not client.traces(state=State.OPEN)
    table = rows.to_arrow()
    assert table.column("run.layers.groundedness.verdict").to_pylist() == ["fail"]
    frame = rows.to_pandas()
    assert str(frame["start"].iloc[0].tz) == "UTC"


def test_every_method_gives_its_model(client):
    assert client.trace(TRACE[:8]).runs[0].verdict == "fail"
    assert client.overview(YEARS).layers[Layer.GROUNDEDNESS].failed == 1
    assert client.timeline(Layer.GROUNDEDNESS, by=["agent"], hours=YEARS).points[0].values == [
        "pricing agent"
    ]
    assert "groundedness" in {score.name for score in client.scores(TRACE, history=True)}
    (cluster,) = client.failures(YEARS)
    assert client.failure(cluster.id, YEARS).runs[0].trace_id == TRACE
    assert client.compare(hours=YEARS).layers[Layer.GROUNDEDNESS].after.failed == 1
    assert client.gate("groundedness.score >= 0.9 for all cases", YEARS).passed is False
    assert client.boundary(YEARS).attempts == []
    assert client.alerts().alerts == []
    assert len(client.sessions()) == 0


def test_a_label_and_a_case_are_written(client):
    assert client.label(TRACE, RUN, Layer.EXECUTION, "pass").ours == "pass"
    assert [row.verdict for row in client.labels(layer=Layer.EXECUTION)] == ["pass"]
    assert client.agreement().layers[0].compared >= 1
    assert client.promote("mine", [(TRACE, None)]).cases[0].change == "added"


def test_a_refusal_names_what_to_do(url):
    with Client(url, token="reader") as reader, pytest.raises(ClientError, match="writer's token") as refused:
        reader.promote("mine", [(TRACE, None)])
    assert refused.value.status == 403
    with Client("http://127.0.0.1:9") as nowhere, pytest.raises(ClientError, match="does not answer"):
        nowhere.overview()


def test_the_same_is_awaited(url):
    async def read() -> str:
        async with AsyncClient(url, token="reader") as client:
            rows = await client.traces(failing=True)
            return (await client.trace(rows[0].trace_id)).trace_id

    assert asyncio.run(read()) == TRACE
