"""The list of traces over HTTP: words, orders, facets, files, and views that a project shares."""

from __future__ import annotations

import csv
import io

import pyarrow.parquet as pq
import pytest
from starlette.testclient import TestClient

from spanproof.api import ConsoleSettings, build_app
from spanproof.collector.receive.auth import Grant
from spanproof.config.model import Role

TRACE = "5" * 32
OURS = {"host": "testserver", "origin": "http://testserver", "sec-fetch-site": "same-origin"}


@pytest.fixture(scope="module")
def filled(store, evaluation_of):
    store.write([evaluation_of(number) for number in range(3)])
    return store


@pytest.fixture
def app(filled):
    return TestClient(build_app(lambda: filled))


def test_a_row_has_the_task_and_the_answer_of_its_runs(app):
    (row,) = app.get("/api/v1/traces?text=54.00").json()["traces"]
    assert row["trace_id"] == TRACE
    (run,) = row["runs"]
    assert "tea" in run["task"]
    assert "$54.00" in run["answer"]


def test_words_choose_traces_and_an_unknown_one_chooses_none(app):
    assert len(app.get("/api/v1/traces?text=TEA").json()["traces"]) == 4
    assert app.get("/api/v1/traces?text=nosuchword").json() == {
        "traces": [],
        "next": None,
        "command": "spanproof traces --text nosuchword",
    }
    assert app.get("/api/v1/traces?text=").status_code == 400


@pytest.mark.parametrize("order", ["newest", "slowest", "tokens", "cost"])
def test_every_order_is_paged_without_a_gap(app, order):
    whole = [row["trace_id"] for row in app.get(f"/api/v1/traces?order={order}").json()["traces"]]
    paged, cursor = [], ""
    for _ in range(4):
        page = app.get(f"/api/v1/traces?order={order}&limit=1{cursor}").json()
        paged += [row["trace_id"] for row in page["traces"]]
        cursor = f"&cursor={page['next']}"
    assert paged == whole
    assert page["next"] is None


def test_facets_have_counts_within_the_filter(app):
    found = app.get("/api/v1/facets?by=agent&by=model&text=54.00").json()
    assert (found["traces"], found["states"]) == (1, {"fail": 1})
    assert found["facets"][0] == {"dimension": "agent", "values": [{"value": "pricing agent", "traces": 1}]}
    assert app.get("/api/v1/facets?by=session").status_code == 422


def test_a_list_is_a_file_for_spreadsheets_and_for_data_frames(app):
    answer = app.get("/api/v1/exports/csv?text=54.00")
    assert answer.headers["content-disposition"] == 'attachment; filename="traces.csv"'
    ((row),) = csv.DictReader(io.StringIO(answer.text))
    assert (row["trace_id"], row["groundedness"]) == (TRACE, "fail")
    table = pq.read_table(io.BytesIO(app.get("/api/v1/exports/parquet").content))
    assert table.num_rows == 4
    assert set(table.column_names) == set(row)


def test_a_view_is_kept_for_its_project_by_writers_alone(filled):
    grants = {"ours": Grant(frozenset({Role.WRITE}), "shop"), "reads": Grant(frozenset({Role.READ}), "shop")}

    def accept(token: str, role: Role) -> Grant | None:
        grant = grants.get(token)
        return grant if grant and role in grant.roles else None

    app = TestClient(build_app(lambda: filled, ConsoleSettings(writers=["all"], accepts=accept)))

    def send(token: str, method: str, path: str, **how):
        return app.request(
            method, f"/api/v1/{path}", headers={**OURS, "authorization": f"Bearer {token}"}, **how
        )

    view = {"name": "tea, failing", "query": 'state:fail "box of tea"', "author": "ann"}
    assert send("reads", "POST", "views", json=view).status_code == 403
    assert send("ours", "POST", "views", json={**view, "project": "other"}).status_code == 403
    assert send("ours", "POST", "views", json=view).json()["project"] == "shop"
    send("all", "POST", "views", json={**view, "project": "other"})
    assert [each["project"] for each in send("reads", "GET", "views").json()["views"]] == ["shop"]
    listed = send("all", "GET", "views").json()["views"]
    assert [(each["project"], each["query"]) for each in listed] == [
        ("other", view["query"]), ("shop", view["query"])
    ]  # fmt: skip
    gone = send("ours", "DELETE", "views/tea, failing")
    assert (gone.status_code, gone.json()["author"]) == (200, "ann")
    assert send("reads", "GET", "views").json()["views"] == []
