"""A case with hidden tests passes only where they ran and all passed, whatever else it requires."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET

import pytest
import yaml

from spanproof.cli.app import run as run_command
from spanproof.evaluators.engine import Engine
from spanproof.experiments import (
    CaseStatus,
    Settings,
    TrialVerdict,
    build_module_agent,
    build_program_agent,
    evaluate_again,
    run_experiment,
)
from spanproof.experiments.scores import list_scores
from spanproof.gate import Verdict, evaluate_assertions, parse_assertion
from spanproof.sandbox.scanners.pipeline import Pipeline

SETTINGS = Settings(timeout_s=60)
# What every answer does.
MET = [{"answer": {"matches": ""}}]
UNIT = "def test_double():\n    assert double(7) == 14\n"
UNCOLLECTED = "def load_tests(loader, tests, pattern):\n    return tests\n"


@pytest.fixture
def write_tested(write_suite):
    """Write a suite of cases with hidden tests: by id, the document of `tests.yaml`."""

    def write(must=None, **tests):
        suite = write_suite(**{name: {"must": must} if must else {} for name in tests})
        for name, document in tests.items():
            (suite / "cases" / name / "tests.yaml").write_text(yaml.safe_dump(document))
        return suite

    return write


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("idle", "could not be run: the run has no Python to test|first to fail: test_double (NameError)"),
        ("wrong", "0 of 1 test of the case passes; first to fail: test_double."),
        ("missing", "first to fail: test_double (NameError)"),
        ("graph_missing", "first to fail: test_double (ModuleNotFoundError)"),
        ("handler_idle", "could not be run: the run has no Python to test"),
    ],
)
def test_an_agent_that_does_not_do_its_task_fails(write_tested, engine, tmp_path, name, reason):
    tests = {"unit": UNIT}
    suite = write_tested(MET, default=tests, own=tests)
    (suite / "cases" / "default" / "case.yaml").write_text("format: 1\ntask: Double a number.\n")
    found = run_experiment(build_module_agent(f"idle_agents:{name}"), suite, tmp_path / "x", engine, SETTINGS)
    for trial in found.trials:
        assert trial.verdict is TrialVerdict.FAILED, trial
        of_tests = trial.findings[-1]
        assert (of_tests.requirement, of_tests.holds) == ("all tests of the case pass", False)
        assert any(words in of_tests.reason for words in reason.split("|"))
    assert (found.passed, found.compute_pass_at(1), found.compute_pass_hat(1)) == (False, 0.0, 0.0)


def test_an_agent_that_does_its_task_passes(write_tested, engine, tmp_path):
    suite = write_tested(double={"unit": UNIT})
    found = run_experiment(build_module_agent("idle_agents:right"), suite, tmp_path / "x", engine, SETTINGS)
    assert found.passed, found.trials


def test_an_agent_that_leaves_no_trace_fails_with_the_remedy(write_tested, engine, tmp_path):
    suite = write_tested(MET, double={"unit": UNIT})
    found = run_experiment(build_program_agent("cat"), suite, tmp_path / "x", engine, SETTINGS)
    (trial,) = found.trials
    assert trial.verdict is TrialVerdict.FAILED
    assert "could not be run: it left no trace of an agent's run" in trial.reason
    assert "OTEL_EXPORTER_OTLP_ENDPOINT" in trial.reason


def test_tests_that_our_side_cannot_run_are_errored_and_count_as_not_passed(write_tested, engine, tmp_path):
    suite = write_tested(
        right={"unit": UNIT},
        uncollected={"unit": UNIT + UNCOLLECTED},
        empty={"unit": "print(double(7))"},
        without={"files": {"a.txt": "1"}},
        module={"unit": "from solution import double\nassert double(7) == 14"},
    )
    found = run_experiment(build_module_agent("idle_agents:right"), suite, tmp_path / "x", engine, SETTINGS)
    cases = {each.case.id: each for each in found.cases}
    assert cases.pop("right").status is CaseStatus.PASSED
    for case in cases.values():
        assert (case.status, case.errored, case.rate) == (CaseStatus.ERRORED, 1, 0.0)
    assert "function load_tests" in cases["uncollected"].trials[0].reason
    assert "no test that this runner collects" in cases["empty"].trials[0].reason
    assert "has no tests" in cases["without"].trials[0].reason
    assert "No module named 'solution'" in cases["module"].trials[0].reason
    assert (found.passed, found.compute_pass_at(1), found.compute_pass_hat(1)) == (False, 0.2, 0.2)
    assert found.to_json()["counts"]["errored"] == 4

    # The gate reads the same, and a stored trial is read as it was written.
    (report,) = evaluate_assertions([parse_assertion("pass@1 >= 0.5")], list_scores(found)).assertions
    assert (report.verdict, report.value) == (Verdict.FAILED, 0.2)
    again = evaluate_again(tmp_path / "x", suite, tmp_path / "again", engine)
    assert {each.case: each.verdict for each in again.trials} == {
        each.case: each.verdict for each in found.trials
    }


def test_without_a_sandbox_no_case_with_tests_passes(write_tested, tmp_path):
    suite = write_tested(MET, double={"unit": UNIT})
    unsandboxed = Engine(pipeline=Pipeline(), sandbox=None, replay_disabled_reason="there is no sandbox here")
    agent = build_module_agent("idle_agents:right")
    (trial,) = run_experiment(agent, suite, tmp_path / "x", unsandboxed, SETTINGS).trials
    assert trial.verdict is TrialVerdict.ERRORED
    assert "there is no sandbox here" in trial.reason


def test_a_budget_alone_is_no_test(write_tested, engine, tmp_path):
    suite = write_tested(MET, double={"budget": {"wall_s": 100}})
    found = run_experiment(build_module_agent("idle_agents:idle"), suite, tmp_path / "x", engine, SETTINGS)
    assert found.passed, found.trials


def test_an_errored_case_is_shown_in_each_form_of_report_and_ends_with_1(write_tested, tmp_path, capsys):
    suite = write_tested(double={"unit": UNCOLLECTED})
    files = {form: tmp_path / form for form in ("junit", "markdown", "sarif", "html")}
    out, reported = tmp_path / "x", "function load_tests (line 1), which this runner does not collect"
    words = ["suite", "run", str(suite), "--agent", "idle_agents:right", "--out", str(out)]
    options = [word for form, file in files.items() for word in (f"--{form}", str(file))]

    assert run_command([*words, *options]) == 1
    shown = " ".join(capsys.readouterr().out.split())
    assert "errored double !" in shown
    assert reported in shown
    root = ET.parse(files["junit"]).getroot()
    assert (root.get("failures"), root.get("errors")) == ("0", "1")
    error = root.find(".//testcase/error")
    assert error is not None
    assert reported in (error.get("message") or "")
    assert "🛑 errored" in files["markdown"].read_text()
    assert "load_tests" in files["html"].read_text()
    (run,) = json.loads(files["sarif"].read_text())["runs"]
    assert {each["level"] for each in run["results"]} == {"error"}

    assert run_command([*words, "--json"]) == 1
    report = json.loads(capsys.readouterr().out)
    (case,) = report["cases"]
    assert (report["counts"]["errored"], case["status"], case["errored"]) == (1, "errored", 1)
    (trial,) = case["trials"]
    assert (trial["verdict"], trial["requirements"][-1]["errored"]) == ("errored", True)
    assert reported in trial["reason"]
