"""Every area of the API over a store with one failing run: what it reads, and what it writes."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest
from starlette.testclient import TestClient

from spanproof.alerts import AlertRule
from spanproof.api import ConsoleSettings, build_app
from spanproof.store import Delivery
from spanproof.suites import promote_run

TRACE, RUN = "5" * 32, "a" * 16
YEARS = 24 * 366
OURS = {"host": "testserver", "origin": "http://testserver", "sec-fetch-site": "same-origin"}


@pytest.fixture
def workspace(store, tmp_path):
    """A suite with an experiment that fixed its case, one that did not, and a report of the gate."""
    case = promote_run(store.evaluation(TRACE), RUN, tmp_path / "suites" / "prices")
    for name, passed in (("before", False), ("after", True)):
        folder = tmp_path / "runs" / name
        folder.mkdir(parents=True)
        head = {
            "format": 1,
            "suite": str((tmp_path / "suites" / "prices").resolve()),
            "agent": {"target": "a:b"},
        }
        (folder / "experiment.json").write_text(json.dumps(head))
        trial = {
            "case": case.id, "number": 1, "verdict": "passed" if passed else "failed",
            "reason": "", "layer": None,
            "findings": [], "layers": {"groundedness": "pass" if passed else "fail"}, "answer": "$45.00",
            "wall_s": 1.0, "tokens": 10, "cost_usd": 0.01, "steps": 2, "ok_steps": 2, "models": [],
            "unknown_calls": [], "trace_id": TRACE, "trace_file": "", "row": None,
        }  # fmt: skip
        whole = json.dumps(trial)
        (folder / "trials.jsonl").write_text(f"{whole}\n{whole[:40]}")
    report = {"passed": False, "failed_layers": ["groundedness"], "assertions": [_ASSERTION]}
    (tmp_path / "runs" / "gate.json").write_text(json.dumps(report))
    return tmp_path


_ASSERTION = {
    "assertion": "groundedness.score >= 0.9", "layer": "groundedness", "verdict": "failed",
   "reason": "1 of 1",
    "interval": [0.1, 0.9], "share": 0.0, "judged": 1, "satisfied": 0,
    "failing": [{"trace_id": TRACE, "run_span_id": RUN, "agent": "a", "state": "violated", "value": 0.0,
                 "explanation": "says $54.00"}],
}  # fmt: skip


@pytest.fixture
def app(store, workspace):
    return TestClient(build_app(lambda: store, ConsoleSettings(workspace=workspace)))


def test_one_score_is_measured_over_time_and_by_dimension(app):
    found = app.get(f"/api/v1/timelines?layer=groundedness&by=agent&hours={YEARS}").json()
    assert found["by"] == ["agent"]
    assert [point["rate"]["failed"] for point in found["points"] if point["values"] == ["pricing agent"]] == [
        1
    ]
    assert app.get(f"/api/v1/dimensions/agent?hours={YEARS}&prefix=pri").json()["values"] == ["pricing agent"]


def test_code_and_replays_are_listed(app):
    rows = app.get(f"/api/v1/snippets?hours={YEARS}&verdict=allow").json()["snippets"]
    assert {row["trace_id"] for row in rows} == {TRACE}
    first = app.get(f"/api/v1/traces/{TRACE}/snippets/{rows[0]['snippet_id']}").json()
    assert first["scan"] == "allow"
    replays = app.get(f"/api/v1/replays?hours={YEARS}&agrees=true").json()["replays"]
    assert replays[0]["ended"] == "ok"
    assert app.get(f"/api/v1/replays?hours={YEARS}&agrees=false").json()["replays"] == []


def test_scores_come_with_the_versions_of_their_evaluators(app):
    rows = app.get(f"/api/v1/traces/{TRACE}/scores?history=true").json()["scores"]
    assert "groundedness" in {row["name"] for row in rows}
    assert all(row["evaluator"] and row["version"] for row in rows)


def test_windows_and_releases_are_compared(app):
    found = app.get(f"/api/v1/compare?hours={YEARS}&by=agent").json()
    assert found["layers"]["groundedness"]["after"]["failed"] == 1
    assert found["layers"]["groundedness"]["difference"] is None
    assert [row["value"] for row in found["values"]] == ["pricing agent"]
    assert app.get("/api/v1/compare?dimension=release").status_code == 400


def test_latency_tokens_and_cost_are_counted_over_time_and_by_agent(app):
    found = app.get(f"/api/v1/usage?hours={YEARS}").json()
    (point,) = found["points"]
    assert (point["traces"], point["p50_s"], point["tokens"], point["cost_usd"]) == (1, 0.09, 0, None)
    assert (point["failed"], point["errored"], point["open"], point["passed"]) == (1, 0, 0, 0)
    (share,) = found["shares"]
    assert (share["agent"], share["runs"], share["tokens"]) == ("pricing agent", 1, 0)
    assert app.get(f"/api/v1/usage?hours={YEARS}&agent=nobody").json()["shares"] == []
    assert app.get(f"/api/v1/usage?hours={YEARS}&state=open&text=tea&by_model=false").json()["points"] == []


def test_a_rule_is_tried_over_the_past(app):
    rule = "{name: quotes, layer: groundedness, threshold: 0.5, min_count: 1, window_s: 86400}"
    found = app.post("/api/v1/alerts/trials", json={"rule": rule, "hours": 24}, headers=OURS).json()
    assert (found["name"], found["fired"]) == ("quotes", 0)
    assert found["words"] == "would have fired 0 times in the last 24 h"
    wrong = app.post("/api/v1/alerts/trials", json={"rule": "{name: x, layer: colour}"}, headers=OURS)
    assert (wrong.status_code, wrong.json()["detail"].startswith("layer: ")) == (422, True)


def test_a_rule_is_made_refused_and_removed(store, workspace):
    configured = AlertRule.model_validate(
        {"name": "taken", "layer": "boundary", "notify": [{"name": "chat", "url": "http://127.0.0.1:9"}]}
    )
    app = TestClient(build_app(lambda: store, ConsoleSettings(workspace=workspace, rules=(configured,))))

    def save(rule: str):
        body = {"rule": rule, "author": "ann"}
        return app.post("/api/v1/alerts/rules", json=body, headers=OURS)

    saved = save("{name: steps/10, layer: trajectory, score: steps, measure: p95, fires_when: '> 10 steps',"
                 " notify: [chat]}")  # fmt: skip
    assert (saved.status_code, saved.json()["problem"]) == (201, "")
    found = app.get("/api/v1/alerts").json()
    assert [(each["name"], each["made_by"], each["notify"]) for each in found["rules"]] == [
        ("taken", "", ["chat"]), ("steps/10", "ann", ["chat"]),
    ]  # fmt: skip
    assert "10 steps" in found["rules"][1]["bound"]
    assert (found["targets"], [each["author"] for each in found["made"]]) == (["chat"], ["ann"])
    refused = save("{name: x, layer: boundary, notify: [pager]}")
    assert (refused.status_code, refused.json()["detail"]) == (
        422, "notify: no target 'pager' is configured; there are: chat",
    )  # fmt: skip
    assert save("{name: taken, layer: boundary}").status_code == 409
    assert app.delete("/api/v1/alerts/rules/steps/10", headers=OURS).json()["name"] == "steps/10"
    assert app.get("/api/v1/alerts").json()["made"] == []
    assert app.delete("/api/v1/alerts/rules/steps/10", headers=OURS).status_code == 404


def test_deliveries_have_their_state_and_error(app, store):
    store.alerts.write_delivery(Delivery("n1", "chat", "quotes", "undelivered", 3, "HTTP 500; next try", 7))
    (row,) = app.get("/api/v1/alerts/deliveries").json()["deliveries"]
    assert (row["target"], row["rule"], row["state"], row["attempts"], row["error"]) == (
        "chat", "quotes", "undelivered", 3, "HTTP 500; next try",
    )  # fmt: skip


def test_a_label_is_written_read_and_compared_with_ours(app):
    waiting = app.get(f"/api/v1/review?layer=groundedness&hours={YEARS}").json()["waiting"]
    assert [each["trace_id"] for each in waiting] == [TRACE]
    assert "$54.00" in waiting[0]["answer"]
    first, whole = (app.get(f"/api/v1/review?hours={YEARS}&limit={limit}").json() for limit in (1, 200))
    assert first["total"] == len(whole["waiting"])
    label = {"trace_id": TRACE, "run_span_id": RUN, "layer": "groundedness", "verdict": "pass",
            "author": "ann",
             "note": "cents", "correction": "$45.00"}  # fmt: skip
    written = app.post("/api/v1/labels", json=label, headers=OURS)
    assert (written.status_code, written.json()["ours"]) == (201, "fail")
    assert app.get(f"/api/v1/review?layer=groundedness&hours={YEARS}").json()["waiting"] == []
    (row,) = app.get("/api/v1/labels?wrong=true").json()["labels"]
    assert (row["author"], row["verdict"], row["ours"], row["note"]) == ("ann", "pass", "fail", "cents")
    agreement = app.get("/api/v1/agreement").json()
    (layer,), (week,) = agreement["layers"], agreement["weeks"]
    assert (week["layer"], week["agreed"]["part"], week["agreed"]["whole"]) == ("groundedness", 0, 1)
    assert (layer["compared"], layer["only_we_fail"], layer["precision"]["share"]) == (1, 1, 0.0)
    assert app.post("/api/v1/labels", json={**label, "run_span_id": "b"}, headers=OURS).status_code == 404


def test_runs_become_cases_of_a_suite(app, workspace):
    body = {"suite": "new-one", "runs": [{"trace_id": TRACE}]}
    (added,) = app.post("/api/v1/promotions", json=body, headers=OURS).json()["cases"]
    assert added["change"] == "added"
    assert (workspace / "new-one" / "cases" / added["case"] / "case.yaml").exists()
    (again,) = app.post("/api/v1/promotions", json=body, headers=OURS).json()["cases"]
    assert again["change"] == "known"
    outside = app.post("/api/v1/promotions", json={**body, "suite": "../outside"}, headers=OURS)
    assert outside.status_code == 422


def test_a_suite_is_a_matrix_of_cases_and_experiments(app):
    (row,) = app.get("/api/v1/suites").json()["suites"]
    assert (row["name"], row["cases"], row["experiments"], row["verdicts"]) == (
        "suites/prices", 1, 2, {"groundedness": 1},
    )  # fmt: skip
    page = app.get("/api/v1/suites/suites/prices?baseline=runs/before").json()
    by_name = {column["name"]: column for column in page["columns"]}
    assert (by_name["runs/after"]["fixed"], by_name["runs/after"]["difference"]) == (1, 1.0)
    (case,) = page["rows"]
    assert case["flipped"] is True
    assert {cell["status"] for cell in case["cells"]} == {"fixed", "failed"}
    assert app.get("/api/v1/suites/nothing").status_code == 404
    (found,) = app.get("/api/v1/cases?text=BOX of").json()["cases"]
    assert (found["suite"], found["task"]) == ("suites/prices", "What does a box of tea cost, in dollars?")
    assert app.get("/api/v1/cases?text=nowhere").json() == {"cases": []}


def get_statuses(app, baseline: str) -> dict[str, str]:
    """Return the status of the only case of the suite, by experiment."""
    page = app.get("/api/v1/suites/suites/prices", params={"baseline": baseline}).json()
    (row,) = page["rows"]
    names = [column["name"] for column in page["columns"]]
    return dict(zip(names, (cell["status"] for cell in row["cells"]), strict=True))


def test_cells_of_a_suite_are_all_compared_with_the_baseline_and_it_with_nothing(app):
    # The run that the case was promoted from failed.
    assert get_statuses(app, "") == {"runs/before": "reproduced", "runs/after": "fixed"}
    assert get_statuses(app, "runs/before") == {"runs/before": "failed", "runs/after": "fixed"}
    assert get_statuses(app, "runs/after") == {"runs/before": "regressed", "runs/after": "passed"}


def test_a_case_that_fails_before_and_after_did_not_regress(app, workspace):
    # Its promoted run passed, and it fails in the baseline and in the experiment.
    (case,) = (workspace / "suites" / "prices" / "cases").glob("*/case.yaml")
    case.write_text(re.sub(r"(layer: groundedness\n  verdict: )fail", r"\1pass", case.read_text()))
    trials = workspace / "runs" / "after" / "trials.jsonl"
    trials.write_text((workspace / "runs" / "before" / "trials.jsonl").read_text())
    assert get_statuses(app, "") == {"runs/before": "regressed", "runs/after": "regressed"}
    assert get_statuses(app, "runs/before") == {"runs/before": "failed", "runs/after": "reproduced"}
    page = app.get("/api/v1/experiments/runs/after?baseline=runs/before").json()
    assert (page["rows"][0]["status"], page["column"]["regressed"]) == ("reproduced", 0)
    assert [case["reason"] for case in page["cases"]] == ["reproduced: "]


def test_a_case_that_is_open_now_did_not_regress(app, workspace):
    trials = workspace / "runs" / "before" / "trials.jsonl"
    trials.write_text(trials.read_text().replace('"verdict": "failed"', '"verdict": "open"'))
    page = app.get("/api/v1/suites/suites/prices?baseline=runs/after").json()
    (column,) = (column for column in page["columns"] if column["name"] == "runs/before")
    assert (column["regressed"], get_statuses(app, "runs/after")["runs/before"]) == (0, "open")


def test_an_experiment_lists_its_cases_and_why_they_did_not_pass(app):
    page = app.get("/api/v1/experiments/runs/before").json()
    assert (page["passed"], page["title"]) == (False, "spanproof experiment a:b")
    assert page["command"].startswith("spanproof suite run suites/prices --agent a:b")
    (case,) = page["cases"]
    assert (case["verdict"], case["reason"]) == ("failed", "reproduced: ")
    assert case["details"][0] == "0 of 1 trial passed"
    assert app.get("/api/v1/experiments/runs/after").json()["passed"] is True
    missing = app.get("/api/v1/experiments/nothing")
    assert (missing.status_code, "no experiment is named 'nothing'" in missing.text) == (404, True)


def test_an_experiment_is_a_grid_of_cases_and_trials_beside_a_baseline(app):
    rows = {row["column"]["name"]: row for row in app.get("/api/v1/experiments").json()["experiments"]}
    assert {row["suite"] for row in rows.values()} == {"suites/prices"}
    page = app.get("/api/v1/experiments/runs/after?baseline=runs/before").json()
    assert (page["suite"], page["baseline"], page["baselines"]) == (
        "suites/prices", "runs/before", ["runs/before"],
    )  # fmt: skip
    column = page["column"]
    assert (column["fixed"], column["difference"], column["cost_usd"]) == (1, 1.0, 0.01)
    (row,) = page["rows"]
    assert (row["status"], row["flipped"], row["before"]["state"]) == ("fixed", True, "fail")
    (trial,) = row["trials"]
    assert (trial["answer"], trial["layer_states"]) == ("$45.00", {"groundedness": "pass"})
    alone = app.get("/api/v1/experiments/runs/after?baseline=").json()
    assert (alone["baseline"], alone["column"]["difference"]) == ("", None)
    assert [(row["flipped"], row["before"]) for row in alone["rows"]] == [(False, None)]
    unknown = app.get("/api/v1/experiments/runs/after?baseline=none")
    assert (unknown.status_code, "no experiment is named 'none'" in unknown.text) == (404, True)


def test_experiments_are_listed_beside_a_suite_that_has_none(app, store, workspace):
    promote_run(store.evaluation(TRACE), RUN, workspace / "suites" / "what-if")
    listed = app.get("/api/v1/experiments")
    assert listed.status_code == 200
    assert {row["column"]["name"]: row["baseline"] for row in listed.json()["experiments"]} == {
        "runs/after": "runs/before", "runs/before": "",
    }  # fmt: skip


def test_a_report_that_is_cut_is_named_and_json_of_another_kind_is_not(app, workspace):
    report = workspace / "runs" / "gate.json"
    (workspace / "cut.json").write_text(report.read_text()[:60])
    (workspace / "tsconfig.json").write_text('{"strict": true, // as everywhere\n}')
    (workspace / "gone.json").symlink_to(workspace / "nowhere")
    listed = app.get("/api/v1/gates").json()
    assert [row["name"] for row in listed["reports"]] == ["runs/gate.json"]
    (problem,) = listed["problems"]
    assert problem.startswith("cut.json: not JSON")
    assert "`spanproof gate --json` writes it again" in problem


def test_gate_reports_are_shown_and_assertions_tried(app):
    (row,) = app.get("/api/v1/gates").json()["reports"]
    assert (row["name"], row["passed"]) == ("runs/gate.json", False)
    page = app.get(f"/api/v1/gates/{row['name']}").json()
    assert page["assertions"][0]["failing"][0]["explanation"] == "says $54.00"
    given = {"hours": YEARS, "assertion": "groundedness.answer_grounded >= 0.9 for all cases"}
    tried = app.get("/api/v1/gate", params=given).json()
    assert (tried["passed"], tried["assertions"][0]["verdict"]) == (False, "failed")
    wrong = app.get("/api/v1/gate?assertion=groundedness.score >")
    assert (wrong.status_code, "column" in wrong.json()["detail"]) == (422, True)


def test_a_policy_is_tried_on_stored_code(app):
    same = app.post("/api/v1/policy/dry-run", json={"policy": "", "hours": YEARS}, headers=OURS).json()
    assert (same["changes"], same["left_out"]) == ([], False)
    strict = {"policy": "denied_calls: [print]", "hours": YEARS}
    denied = app.post("/api/v1/policy/dry-run", json=strict, headers=OURS)
    (change, *_) = denied.json()["changes"]
    assert (change["before"], change["after"]) == ("allow", "deny")
    for refused in (
        "scanner_files: [x.py]",
        "overrides: [{when: {agent: a}, scanner_files: [x.py]}]",
        "- a",
        "host: a",
    ):
        answer = app.post("/api/v1/policy/dry-run", json={"policy": refused}, headers=OURS)
        assert answer.status_code == 422, refused


def test_silences_begin_and_end(app):
    body = {"matchers": {"agent": "pri*"}, "hours": 1, "author": "ann"}
    silence = app.post("/api/v1/silences", json=body, headers=OURS).json()
    assert [each["id"] for each in app.get("/api/v1/alerts").json()["silences"]] == [silence["id"]]
    assert app.delete(f"/api/v1/silences/{silence['id']}", headers=OURS).status_code == 200
    assert app.get("/api/v1/alerts").json()["silences"] == []
    assert app.delete(f"/api/v1/silences/{silence['id']}", headers=OURS).status_code == 404


def test_a_cluster_is_settled(app):
    (found,) = app.get(f"/api/v1/failures?hours={YEARS}").json()["failures"]
    assert sum(found["trend"]) == 1
    settled = app.post(f"/api/v1/failures/{found['id']}/state", json={"state": "acknowledged"}, headers=OURS)
    assert settled.json()["state"] == "acknowledged"
    app.post(f"/api/v1/failures/{found['id']}/state", json={"state": "open"}, headers=OURS)


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({**OURS, "origin": "http://evil.example"}, 403),
        ({"sec-fetch-site": "cross-site"}, 403),
        ({**OURS, "content-type": "text/plain"}, 415),
    ],
)
def test_another_site_writes_nothing(app, headers, status):
    body = json.dumps({"matchers": {"agent": "a"}, "hours": 1, "author": "a"})
    sent = {"content-type": "application/json", **headers}
    assert app.post("/api/v1/silences", content=body, headers=sent).status_code == status


def test_a_reader_s_token_does_not_write(store):
    body = {"matchers": {"agent": "a"}, "hours": 1, "author": "a"}
    settings = ConsoleSettings(tokens=("reader",), writers=("writer",))
    client = TestClient(build_app(lambda: store, settings))
    statuses = {
        token: client.post(
            "/api/v1/silences", json=body, headers={"authorization": f"Bearer {token}"}
        ).status_code
        for token in ("reader", "writer", "other")
    }
    assert statuses == {"reader": 403, "writer": 201, "other": 401}
    for_reading = TestClient(build_app(lambda: store, replace(settings, writers=())))
    refused = for_reading.post("/api/v1/silences", json=body, headers={"authorization": "Bearer reader"})
    assert (refused.status_code, "console.writers" in refused.json()["detail"]) == (403, True)


def test_settings_name_origins_and_count_tokens(store):
    settings = ConsoleSettings(tokens=("hidden",), configured=(("a.b", "1", "file:3"),))
    client = TestClient(build_app(lambda: store, settings), headers={"authorization": "Bearer hidden"})
    answer = client.get("/api/v1/settings")
    assert "hidden" not in answer.text
    found = answer.json()
    assert (found["readers"], found["may_write"]) == (1, False)
    assert found["settings"] == [{"key": "a.b", "value": "1", "origin": "file:3"}]
    assert client.get("/api/v1/health").json() == {"readings": []}
