"""Two runs beside each other, a case with its history, and its replay with edits."""

from __future__ import annotations

import pytest
from starlette.testclient import TestClient

from spanproof.api import ConsoleSettings, build_app
from spanproof.sandbox.registry import open_sandbox
from spanproof.suites import promote_run

TRACE, RUN = "5" * 32, "a" * 16
OURS = {"host": "testserver", "origin": "http://testserver", "sec-fetch-site": "same-origin"}


@pytest.fixture
def case(store, tmp_path):
    return promote_run(store.evaluation(TRACE), RUN, tmp_path / "prices")


@pytest.fixture
def app(store, tmp_path, case):
    settings = ConsoleSettings(workspace=tmp_path, open_sandbox=lambda: open_sandbox("jail"))
    return TestClient(build_app(lambda: store, settings))


def test_a_run_is_aligned_with_the_case_that_was_made_of_it(app, case):
    runs = {"before": f"traces/{TRACE}", "after": f"cases/prices/{case.id}"}
    found = app.get("/api/v1/compare/runs", params=runs).json()
    assert found["sentence"] == "the verdicts are the same; the runs are the same, step by step"
    assert {pair["change"] for pair in found["steps"]} == {"same"}


@pytest.mark.parametrize(
    ("reference", "status"),
    [("traces/" + "7" * 32, 404), ("cases/prices/none", 404), ("trials/a/b/1", 404), ("pictures/a", 422)],
)
def test_a_reference_without_a_run_is_named(app, reference, status):
    runs = {"before": f"traces/{TRACE}", "after": reference}
    answer = app.get("/api/v1/compare/runs", params=runs)
    assert answer.status_code == status
    assert answer.headers["content-type"] == "application/problem+json"


def test_a_case_is_shown_with_what_can_be_edited(app, case):
    page = app.get(f"/api/v1/suites/prices/cases/{case.id}").json()
    assert page["can_replay"] is True
    assert page["history"] == []
    assert page["frozen"]["verdict"] == "fail"
    assert all(code["source"] for code in page["code"])
    assert app.get("/api/v1/suites/prices/cases/none").status_code == 404


def test_edited_code_is_replayed_in_the_sandbox(app, case):
    path = f"/api/v1/suites/prices/cases/{case.id}"
    edited = app.get(path).json()["code"][0]["id"]
    answer = app.post(f"{path}/replay", json={"sources": {edited: "print(6 * 7)"}}, headers=OURS)
    assert answer.status_code == 200

    assert "42" in answer.text


def test_an_edit_of_what_is_not_there_is_refused(app, case):
    path = f"/api/v1/suites/prices/cases/{case.id}/replay"
    for body in ({"sources": {"none": "1"}}, {"results": {"99": 1}}):
        assert app.post(path, json=body, headers=OURS).status_code == 422
    elsewhere = {**OURS, "origin": "http://evil.example"}
    assert app.post(path, json={}, headers=elsewhere).status_code == 403


def test_a_console_without_a_sandbox_replays_nothing(store, tmp_path, case):
    client = TestClient(build_app(lambda: store, ConsoleSettings(workspace=tmp_path)))
    path = f"/api/v1/suites/prices/cases/{case.id}"
    assert client.get(path).json()["can_replay"] is False
    assert client.post(f"{path}/replay", json={}, headers=OURS).status_code == 409
