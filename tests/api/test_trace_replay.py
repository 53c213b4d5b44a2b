"""A stored run is changed, run again and judged over HTTP, in a real sandbox; kept as a case, and audited."""

from __future__ import annotations

import pytest
from starlette.testclient import TestClient

from spanproof.api import ConsoleSettings, build_app
from spanproof.collector.receive.auth import Grant
from spanproof.config.model import Role
from spanproof.sandbox.registry import open_sandbox
from spanproof.suites import load_suite

TRACE, RUN = "5" * 32, "a" * 16
FOLLOWING = "final_answer(f'A box of tea costs ${cents / 100:.2f}.')"
GRANTS = {
    "ann": Grant(frozenset({Role.READ, Role.WRITE}), None, "ann on call"),
    "other": Grant(frozenset({Role.READ, Role.WRITE}), "other", "another team"),
    "reader": Grant(frozenset({Role.READ}), None, "a reader"),
}


def accept(token: str, role: Role) -> Grant | None:
    grant = GRANTS.get(token)
    return grant if grant and role in grant.roles else None


@pytest.fixture
def send(store, tmp_path):
    settings = ConsoleSettings(
        accepts=accept, workspace=tmp_path, open_sandbox=lambda: open_sandbox("jail", workers=1)
    )
    app = TestClient(build_app(lambda: store, settings))

    def request(token: str, method: str, path: str, **how):
        return app.request(method, f"/api/v1/{path}", headers={"authorization": f"Bearer {token}"}, **how)

    return request


def test_a_changed_run_is_judged_kept_as_a_case_and_audited(send, tmp_path):
    editable = send("reader", "GET", f"traces/{TRACE}/editable").json()
    assert (editable["run_span_id"], editable["can_replay"]) == (RUN, True)
    assert [(call["tool"], call["result"]) for call in editable["calls"]] == [("price_of", "4500")]
    change = {"sources": {editable["code"][1]["id"]: FOLLOWING}, "suite": "prices"}
    answer = send("ann", "POST", f"traces/{TRACE}/replay", json=change)
    assert answer.status_code == 200, answer.text
    run, case = answer.json()["run"], answer.json()["case"]
    assert run["answer"] == "A box of tea costs $45.00."
    verdicts = {score["layer"]: score["outcome"]["verdict"] for score in run["layers"]}
    assert verdicts["groundedness"] == "pass"
    assert case["change"] == "added"
    (kept,) = load_suite(tmp_path / "prices")
    assert kept.id == case["case"]
    (event,) = send("ann", "GET", "audit").json()["events"]
    assert (event["actor"], event["action"], event["subject"]) == ("ann on call", "replay and save", TRACE)
    assert event["detail"] == "code of 1 and results of 0 changed; kept in prices"
    stored = send("ann", "GET", f"traces/{TRACE}").json()["runs"][0]
    assert stored["answer"] == "A box of tea costs $54.00."


@pytest.mark.parametrize(("token", "status"), [("reader", 403), ("other", 404), ("nobody", 401)])
def test_who_may_not_write_runs_nothing(send, token, status):
    answer = send(token, "POST", f"traces/{TRACE}/replay", json={"sources": {}, "results": {}})
    assert answer.status_code == status


def test_a_change_of_what_is_not_there_is_refused(send):
    answer = send("ann", "POST", f"traces/{TRACE}/replay", json={"results": {"7": 1}})
    assert (answer.status_code, "none of number 7" in answer.json()["detail"]) == (422, True)
