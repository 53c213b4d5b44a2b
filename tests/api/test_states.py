"""The API says which state a trace, a run, a rate and a case are in; a person's verdict settles it."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from starlette.testclient import TestClient

from spanproof.api import ConsoleSettings, build_app
from spanproof.api.report import format_trace_report
from spanproof.api.result_pages import build_result_page
from spanproof.api.states import get_trial_state
from spanproof.evaluators.engine import Engine
from spanproof.experiments import Trial, TrialVerdict
from spanproof.experiments.folder import ExperimentFolder
from spanproof.gate.outputs import ResultRow, ResultTable, Verdict
from spanproof.sandbox.scanners.pipeline import Pipeline
from spanproof.store import open_store
from spanproof.suites import promote_run
from spanproof.suites.requirements import Finding
from spanproof.trace import Layer, State, trace_of

from ..suites.conftest import RUN_ID, misquote

PASSING, OPEN, LATER, FAILING = "3" * 32, "4" * 32, "6" * 32, "5" * 32
HALF_CHECKED = "A box of tea costs $45.00, and 300 boxes were sold in 2021."
YEARS = 24 * 366


@pytest.fixture
def opened(tmp_path):
    """A store with a failing run, a passing one and two that are open, of two releases."""
    engine = Engine(pipeline=Pipeline(), sandbox=None, replay_disabled_reason="not in this test")
    answers = {
        PASSING: ("A box of tea costs $45.00.", "1"),
        OPEN: (HALF_CHECKED, "2"),
        LATER: (HALF_CHECKED, "2"),
        FAILING: ("A box of tea costs $54.00.", "2"),
    }
    with open_store(tmp_path / "store") as store:
        for trace_id, (answer, release) in answers.items():
            resource = {"service.name": "shop", "service.version": release}
            spans = [replace(span, trace_id=trace_id, resource=resource) for span in misquote(answer).spans]
            store.write([engine.evaluate(trace_of(spans))])
        yield store


@pytest.fixture
def app(opened, tmp_path):
    return TestClient(build_app(lambda: opened, ConsoleSettings(workspace=tmp_path)))


def list_ids(app, query):
    return [row["trace_id"] for row in app.get(f"/api/v1/traces?{query}").json()["traces"]]


def test_a_trace_and_its_run_say_their_state_and_why(app):
    page = app.get(f"/api/v1/traces/{OPEN}").json()
    (run,) = page["runs"]
    assert (page["state"], run["state"], run["verdict"], run["reason_layer"]) == (
        "open", "open", "open", "groundedness",
    )  # fmt: skip
    assert run["sentence"].startswith(
        "groundedness: 1 of 3 facts agrees with the outputs; not read: *sold*; "
    )
    layer = next(each for each in run["layers"] if each["layer"] == "groundedness")
    outcome = layer["outcome"]
    assert (outcome["state"], outcome["cause"], outcome["detail"]) == ("open", "value-not-found", "300")
    assert outcome["cause_words"] == "answer holds a value that no source has"
    claims = [fact["claim"] for fact in layer["evidence"] if fact["claim"]]
    # The numbers, the price, and the sentence of which a word is not read.
    assert claims == ["uncertain", "uncertain", "grounded", "uncertain"]


def test_advice_has_no_state(app):
    (run,) = app.get(f"/api/v1/traces/{OPEN}").json()["runs"]
    advice = next(each for each in run["scores"] if each["name"] == "context_adherence")
    assert (advice["outcome"]["state"], advice["outcome"]["verdict"]) == (None, "open")


def test_traces_are_listed_by_state(app):
    assert list_ids(app, "state=open") == [OPEN, LATER]
    assert list_ids(app, "state=pass") == [PASSING]
    assert list_ids(app, "state=fail") == [FAILING]
    assert list_ids(app, "state=skipped") == []
    assert list_ids(app, "state=open&layer=groundedness") == [OPEN, LATER]
    assert list_ids(app, "state=open&layer=boundary") == []
    assert list_ids(app, "state=pass&layer=boundary") == [PASSING, OPEN, FAILING, LATER]
    (row,) = app.get("/api/v1/traces?state=fail").json()["traces"]
    assert (row["state"], row["runs"][0]["state"]) == ("fail", "fail")
    assert row["runs"][0]["reason"].startswith("groundedness: The answer says $54.00")
    assert app.get("/api/v1/traces?state=green").status_code == 400


def test_pages_of_a_state_follow_each_other(app):
    first = app.get("/api/v1/traces?state=open&limit=1").json()
    second = app.get(f"/api/v1/traces?state=open&limit=1&cursor={first['next']}").json()
    assert [page["traces"][0]["trace_id"] for page in (first, second)] == [OPEN, LATER]


def test_a_rate_counts_what_is_open_and_is_not_green(app):
    rate = app.get(f"/api/v1/overview?hours={YEARS}").json()["layers"]["groundedness"]
    assert [rate[name] for name in ("judged", "passed", "failed", "open")] == [2, 1, 1, 2]
    assert rate["state"] == "fail"
    found = app.get(f"/api/v1/cohorts/release?hours={YEARS}").json()["values"]
    assert {each["value"]: each["state"] for each in found} == {"1": "pass", "2": "fail"}


def test_more_that_is_open_is_a_change(app):
    query = {"dimension": "release", "before": "1", "after": "2", "by": "agent", "hours": YEARS}
    pair = app.get("/api/v1/compare", params=query).json()["layers"]["groundedness"]
    assert pair["open_difference"] == pytest.approx(2 / 3)
    assert pair["open_low"] < pair["open_difference"] < pair["open_high"]
    assert pair["open_change"] == "unclear"


def test_a_layer_that_is_open_now_is_a_change_of_two_runs(app):
    runs = {"before": f"traces/{PASSING}", "after": f"traces/{OPEN}"}
    found = app.get("/api/v1/compare/runs", params=runs).json()
    assert found["sentence"].startswith("groundedness pass → open")


def test_a_person_settles_a_run_and_its_own_verdict_stays_beside(app):
    label = {"trace_id": OPEN, "run_span_id": RUN_ID, "layer": "groundedness", "verdict": "pass"}
    ours = {"host": "testserver", "origin": "http://testserver", "sec-fetch-site": "same-origin"}
    body = {**label, "note": "sold 300", "author": "ann"}
    assert app.post("/api/v1/labels", json=body, headers=ours).status_code == 201
    page = app.get(f"/api/v1/traces/{OPEN}").json()
    layer = next(each for each in page["runs"][0]["layers"] if each["layer"] == "groundedness")
    assert (page["state"], layer["outcome"]["state"]) == ("pass", "pass")
    assert (layer["settled_by"], layer["settled"]["state"]) == ("ann", "open")
    assert layer["settled"]["cause"] == "value-not-found"


def test_a_case_and_an_experiment_with_something_open_are_open(app, opened, tmp_path):
    case = promote_run(opened.evaluation(OPEN), RUN_ID, tmp_path / "prices")
    results = ExperimentFolder(tmp_path / "nightly")
    results.load_trials({"suite": str((tmp_path / "prices").resolve()), "agent": {"target": "a:b"}})
    layers = {"groundedness": "uncertain", "boundary": "pass"}
    results.add_trial(Trial(case.id, 1, TrialVerdict.UNJUDGED, "no source has 300", layers=layers))
    (row,) = app.get("/api/v1/suites").json()["suites"]
    assert row["states"]["open"] == 1
    page = app.get("/api/v1/suites/prices").json()
    (column,) = page["columns"]
    (cell,) = page["rows"][0]["cells"]
    assert (column["state"], column["counts"]["open"], column["counts"]["pass"]) == ("open", 1, 0)
    assert (cell["state"], cell["layer_states"]) == ("open", {"boundary": "pass", "groundedness": "open"})
    assert page["rows"][0]["case"]["state"] == "open"
    shown = app.get(f"/api/v1/suites/prices/cases/{case.id}").json()
    assert shown["frozen"]["state"] == "open"
    assert shown["history"][0]["trials"][0]["state"] == "open"
    found = app.get("/api/v1/experiments/nightly").json()
    assert (found["state"], found["counts"]["open"], found["cases"][0]["state"]) == ("open", 1, "open")


def test_a_trial_whose_evaluation_errored_is_errored():
    trial = Trial("a", 1, TrialVerdict.UNJUDGED, layers={"boundary": "errored", "groundedness": "pass"})
    assert get_trial_state(trial) is State.ERRORED


def test_a_trial_that_passes_beside_an_open_layer_is_open(app, opened, tmp_path):
    case = promote_run(opened.evaluation(OPEN), RUN_ID, tmp_path / "prices")
    results = ExperimentFolder(tmp_path / "nightly")
    results.load_trials({"suite": str((tmp_path / "prices").resolve()), "agent": {"target": "a:b"}})
    findings = (
        Finding("the answer is 45", True, "$45.00", None),
        Finding("no fail of groundedness", True, "300 has no source", Layer.GROUNDEDNESS, is_open=True),
    )
    layers = {"groundedness": "open", "boundary": "pass"}
    results.add_trial(Trial(case.id, 1, TrialVerdict.PASSED, findings=findings, layers=layers))
    page = app.get("/api/v1/experiments/nightly").json()
    assert (page["state"], page["counts"]["open"], page["column"]["counts"]["open"]) == ("open", 1, 1)
    assert page["headline"].endswith("; layers of 1 case have no verdict")
    (row,) = page["rows"]
    (trial,) = row["trials"]
    assert (row["state"], row["status"], trial["state"]) == ("open", "passed", "open")
    assert trial["reason"] == "it meets its own requirements; without a verdict: groundedness"
    assert (page["cases"][0]["state"], page["cases"][0]["verdict"]) == ("open", "passed")
    assert page["cases"][0]["reason"] == trial["reason"]
    (cell,) = app.get("/api/v1/suites/prices").json()["rows"][0]["cells"]
    assert (cell["state"], cell["passed"], cell["reason"]) == ("open", 1, trial["reason"])


def test_an_open_layer_that_a_case_leaves_out_does_not_count():
    findings = (Finding("no fail of boundary", True, "no finding", Layer.BOUNDARY),)
    layers = {"groundedness": "open", "boundary": "pass"}
    trial = Trial("a", 1, TrialVerdict.PASSED, findings=findings, layers=layers)
    assert get_trial_state(trial) is State.PASS


def test_an_assertion_that_holds_while_cases_are_open_is_open(app, tmp_path):
    assertion = {"assertion": "groundedness.score >= 0.5 for at_least 90% of cases", "layer": "groundedness"}
    counts = {"judged": 19, "satisfied": 19, "open": 1, "verdict": "passed"}
    report = {"passed": True, "failed_layers": [], "assertions": [{**assertion, **counts}]}
    (tmp_path / "gate.json").write_text(json.dumps(report))
    page = app.get("/api/v1/gates/gate.json").json()
    assert (page["state"], page["assertions"][0]["state"]) == ("open", "open")
    assert (page["passed"], page["assertions"][0]["verdict"]) == (True, "passed")


@pytest.mark.parametrize(
    ("passed", "verdicts", "state"),
    [
        (True, [Verdict.PASSED], "pass"),
        (True, [Verdict.PASSED, Verdict.INCONCLUSIVE], "open"),
        (False, [Verdict.INCONCLUSIVE], "open"),
        (False, [Verdict.FAILED, Verdict.INCONCLUSIVE], "fail"),
        (False, [Verdict.PASSED], "fail"),
        (False, [], "fail"),
    ],
)
def test_a_report_is_green_only_where_all_of_it_passed(passed, verdicts, state):
    rows = tuple(ResultRow("g", f"case {number}", each) for number, each in enumerate(verdicts))
    page = build_result_page(ResultTable("t", passed, "h", rows), "c", {})
    assert page.state.value == state


def test_a_report_of_the_gate_with_an_inconclusive_assertion_is_open(app, tmp_path):
    assertion = {"assertion": "x", "layer": "groundedness", "verdict": "inconclusive"}
    report = {"passed": False, "failed_layers": ["groundedness"], "assertions": [assertion]}
    (tmp_path / "gate.json").write_text(json.dumps(report))
    (row,) = app.get("/api/v1/gates").json()["reports"]
    page = app.get("/api/v1/gates/gate.json").json()
    assert (row["state"], page["state"], page["assertions"][0]["state"]) == ("open", "open", "open")


def test_the_title_of_a_file_says_the_state(opened):
    text = format_trace_report(opened.evaluation(OPEN), (), None)
    assert f"<title>open: trace {OPEN[:12]}</title>" in text
