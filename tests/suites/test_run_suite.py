from __future__ import annotations

import socket
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from spanproof.evaluators.engine import Engine
from spanproof.gate.outputs import format_junit
from spanproof.sandbox.scanners.pipeline import Pipeline
from spanproof.suites import CaseStatus, SuiteError, load_suite, promote_run, run_suite
from spanproof.trace import Layer

RUN_ID = "a" * 16
GOLDEN = Path(__file__).parent.parent / "golden" / "suites" / "shop"


def edit(suite: Path, layer: Layer, old: str, new: str) -> None:
    """Change one layer's frozen verdict, and drop the details."""
    (path,) = suite.glob("cases/*/case.yaml")
    head, _, rest = path.read_text().partition("details:")
    frozen = "frozen:" + rest.partition("frozen:")[2]
    before, found, after = head.partition(f"- layer: {layer.value}\n  verdict: {old}")
    assert found
    path.write_text(f"{before}- layer: {layer.value}\n  verdict: {new}{after}details: []\n{frozen}")


def test_a_promoted_misquote_fails_again_in_the_same_way(evaluation, engine, suite):
    promote_run(evaluation, RUN_ID, suite)
    report = run_suite(suite, engine)
    (case,) = report.cases
    assert (case.status, case.differences) == (CaseStatus.REPRODUCED, ())
    assert report.passed
    frozen = {each.layer: each.verdict for each in case.case.expectations if each.is_of_layer}
    assert frozen[Layer.GROUNDEDNESS] == "fail"


def test_a_suite_runs_without_the_network(evaluation, engine, suite, monkeypatch):
    promote_run(evaluation, RUN_ID, suite)

    def refuse(*args: object, **kwargs: object) -> None:
        raise AssertionError("a suite asked for the network")

    monkeypatch.setattr(socket, "create_connection", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    assert run_suite(suite, engine).passed


def test_running_a_suite_changes_none_of_its_files(evaluation, engine, suite):
    promote_run(evaluation, RUN_ID, suite)
    before = {path: path.read_bytes() for path in suite.rglob("*") if path.is_file()}
    run_suite(suite, engine)
    assert {path: path.read_bytes() for path in suite.rglob("*") if path.is_file()} == before


@pytest.mark.parametrize(
    ("layer", "found", "frozen", "status"),
    [
        (Layer.CORRECTNESS, "pass", "fail", CaseStatus.FIXED),
        (Layer.GROUNDEDNESS, "fail", "pass", CaseStatus.REGRESSED),
        (Layer.GROUNDEDNESS, "fail", "skipped", CaseStatus.REGRESSED),
        (Layer.CORRECTNESS, "pass", "skipped", CaseStatus.CHANGED),
        (Layer.CORRECTNESS, "pass", "open", CaseStatus.CHANGED),
    ],
)
def test_a_verdict_other_than_the_frozen_one_fails_the_suite(
    evaluation, engine, suite, layer, found, frozen, status
):
    promote_run(evaluation, RUN_ID, suite)
    edit(suite, layer, found, frozen)
    report = run_suite(suite, engine)
    (case,) = report.cases
    assert not report.passed
    assert case.status is status
    (difference,) = case.differences
    assert (difference.expected.verdict, difference.found) == (frozen, found)
    assert difference.explanation


def test_a_verdict_lost_for_want_of_a_sandbox_is_inconclusive_never_a_pass(evaluation, suite):
    promote_run(evaluation, RUN_ID, suite)
    blind = Engine(pipeline=Pipeline(), sandbox=None, replay_disabled_reason="no jail here")
    report = run_suite(suite, blind)
    (case,) = report.cases
    assert case.status is CaseStatus.INCONCLUSIVE
    assert not report.passed
    assert ET.fromstring(format_junit(report.to_table()).encode()).find("testsuite").get("errors") == "1"


def test_an_empty_suite_does_not_pass(evaluation, engine, suite):
    case = promote_run(evaluation, RUN_ID, suite)
    (suite / "cases" / case.id / "case.yaml").unlink()
    assert not run_suite(suite, engine).passed


def test_one_broken_case_is_reported_before_anything_runs(evaluation, engine, suite):
    case = promote_run(evaluation, RUN_ID, suite)
    (suite / "cases" / case.id / "trace.json").write_text("{")
    with pytest.raises(SuiteError, match=r"trace\.json is no longer what was frozen"):
        run_suite(suite, engine)


def test_reports_for_machines_say_what_differs(evaluation, engine, suite):
    promote_run(evaluation, RUN_ID, suite)
    edit(suite, Layer.GROUNDEDNESS, "fail", "pass")
    report = run_suite(suite, engine)
    document = report.to_json()
    assert (document["passed"], document["counts"]["regressed"]) == (False, 1)
    assert document["cases"][0]["differences"][0]["layer"] == "groundedness"
    tests = ET.fromstring(format_junit(report.to_table()).encode()).find("testsuite")
    assert (tests.get("tests"), tests.get("failures")) == ("1", "1")
    assert "groundedness.groundedness: pass frozen" in tests.find("testcase/failure").text


def test_the_golden_suite_still_fails_groundedness_in_the_same_way(engine):
    (case,) = run_suite(GOLDEN, engine).cases
    found = {each.expected.layer for each in case.differences if each.expected.is_of_layer}
    assert Layer.GROUNDEDNESS not in found


def test_tests_beside_a_case_decide_its_correctness_and_stay_out_of_every_score(evaluation, engine, suite):
    case = promote_run(evaluation, RUN_ID, suite)
    path = suite / "cases" / case.id / "tests.yaml"
    path.write_text("unit: |\n  assert cents == 4500\n  assert cents == 98765\nbudget: {wall_s: 60}\n")
    report = run_suite(suite, engine).cases[0]
    scores = {score.name: score.outcome for run in report.evaluation.runs for score in run.scores}
    assert (scores["tests_pass"].value, scores["correctness"].value) == (0.5, 0.5)
    assert "1 of 2 tests" in scores["correctness"].explanation
    assert "line 2" in scores["correctness"].explanation
    assert scores["within_budget"].label == "pass"
    assert "98765" not in repr(report.evaluation)
    assert report.status is CaseStatus.REGRESSED
    assert promote_run(evaluation, RUN_ID, suite, replace=True).tests is not None


def test_tests_that_are_not_what_they_must_be_are_reported_before_anything_runs(evaluation, engine, suite):
    case = promote_run(evaluation, RUN_ID, suite)
    (suite / "cases" / case.id / "tests.yaml").write_text("unit: 'assert ('\n")
    with pytest.raises(SuiteError, match=r"tests\.yaml: unit: it is no Python"):
        run_suite(suite, engine)


def test_without_a_sandbox_tests_are_errored(evaluation, suite):
    case = promote_run(evaluation, RUN_ID, suite)
    (suite / "cases" / case.id / "tests.yaml").write_text("unit: assert 1\n")
    (report,) = run_suite(suite, Engine(pipeline=Pipeline(), sandbox=None)).cases
    scores = {score.name: score.outcome for run in report.evaluation.runs for score in run.scores}
    assert scores["tests_pass"].error_type == "SandboxUnavailable"
    assert "replay is switched off" in scores["tests_pass"].message


def test_a_case_holds_fixtures_of_its_own(evaluation, suite):
    case = promote_run(evaluation, RUN_ID, suite)
    folder = suite / "cases" / case.id
    (folder / "fixtures.yaml").write_text("sets: [{name: shop, files: {a.csv: a.csv}}]\n")
    with pytest.raises(SuiteError, match=r"files\.a\.csv names .*a\.csv, which cannot be read"):
        load_suite(suite)
    (folder / "a.csv").write_text("hat,45\n")
    (loaded,) = load_suite(suite)
    assert loaded.fixtures.get_fixture_set(loaded.cohort).files == {"a.csv": b"hat,45\n"}
