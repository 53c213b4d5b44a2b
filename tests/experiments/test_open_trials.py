"""Open trials: an agent that invents every third answer, and what an experiment counts."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from itertools import combinations_with_replacement
from pathlib import Path

import pytest
from result_schemas import check_junit

from spanproof.cli.app import run as run_command
from spanproof.experiments import (
    CaseStatus,
    Experiment,
    Trial,
    TrialVerdict,
    read_baseline,
)
from spanproof.experiments.folder import ExperimentFolder
from spanproof.experiments.trial import encode_trial, read_trial
from spanproof.gate import OpenPolicy
from spanproof.gate.pass_rates import pass_at_k, pass_hat_k
from spanproof.suites import Case
from spanproof.suites.requirements import Finding
from spanproof.trace import Cause, Layer, State


def write_refunds(write_suite) -> Path:
    """Write nine cases without requirements of their own, each with the refunds of its order."""

    def build(number: int) -> dict[str, object]:
        lines = [{"item": "tea", "cents": 1000 * number}, {"item": "cup", "cents": 500}]
        call = {"tool": "refund_lines", "args": {"order_id": f"Q-{number}"}, "result": lines}
        return {"task": f"What is the total refund of order Q-{number}, in dollars?", "recorded": [call]}

    return write_suite(**{f"q{number}": build(number) for number in range(1, 10)})


def test_an_agent_that_invents_three_of_nine_answers_passes_six(write_suite, tmp_path, capfd):
    suite = write_refunds(write_suite)
    agent = ["--agent", "support_agents:inventing", "--tools", "recorded", "--trials", "2", "--jobs", "2"]
    out, junit = tmp_path / "out", tmp_path / "suite.xml"
    run = ["suite", "run", str(suite), *agent, "--out", str(out)]

    assert run_command([*run, "--json", "--junit", str(junit)]) == 1
    head = json.loads(capfd.readouterr().out)
    assert (head["passed"], head["open_counts_as"]) == (False, "not-passed")
    missed = {each["id"] for each in head["cases"] if each["status"] != "passed"}
    assert missed == {"q3", "q6", "q9"}
    assert (head["counts"]["passed"], head["counts"]["open"] + head["counts"]["failed"]) == (6, 3)
    assert head["pass_at"]["2"] == pytest.approx(6 / 9)
    assert head["pass_hat"]["2"] == pytest.approx(6 / 9)
    root = check_junit(junit.read_text())
    assert int(root.get("errors")) + int(root.get("failures")) == 3

    assert run_command(run) == 1
    shown = capfd.readouterr().out
    assert "6 of 9 cases passed in every trial" in shown
    assert "pass@2 66.7%" in shown

    if head["counts"]["open"]:
        # What was left open may be counted otherwise, and the report states it.
        assert run_command([*run, "--open", "pass"]) == 0
        assert "open counts as passed (--open pass)" in capfd.readouterr().out


PASSED, FAILED, ERRORED, OPEN, UNJUDGED = (
    TrialVerdict.PASSED,
    TrialVerdict.FAILED,
    TrialVerdict.ERRORED,
    TrialVerdict.OPEN,
    TrialVerdict.UNJUDGED,
)
STATES = {
    PASSED: State.PASS,
    FAILED: State.FAIL,
    ERRORED: State.ERRORED,
    OPEN: State.OPEN,
    UNJUDGED: State.SKIPPED,
}


def build_trial(case: str, number: int, verdict: TrialVerdict) -> Trial:
    is_open = verdict is OPEN
    cause = Cause.VALUE_NOT_FOUND
    finding = Finding("groundedness", None, "no source has 12.34", Layer.GROUNDEDNESS, True, cause)
    state = STATES[verdict]
    return Trial(
        case,
        number,
        verdict,
        "no source has 12.34" if is_open else "",
        Layer.GROUNDEDNESS if is_open else None,
        (finding,) if is_open else (),
        {"groundedness": state},
    )


def build_experiment(policy: OpenPolicy = OpenPolicy.NOT_PASSED, **cases: list[TrialVerdict]) -> Experiment:
    trials = tuple(
        build_trial(case, number, verdict)
        for case, verdicts in cases.items()
        for number, verdict in enumerate(verdicts, start=1)
    )
    wanted = max(map(len, cases.values()))
    return Experiment("x", "a", tuple(map(Case, cases)), trials, wanted, open_policy=policy)


def expect_status(verdicts: tuple[TrialVerdict, ...], policy: OpenPolicy) -> CaseStatus:
    """Return the status by its definition, with open trials counted as the policy says."""
    as_open = {OpenPolicy.PASS: [PASSED], OpenPolicy.FAIL: [FAILED], OpenPolicy.IGNORE: []}.get(
        policy, [OPEN]
    )
    counted = Counter(each for verdict in verdicts for each in (as_open if verdict is OPEN else [verdict]))
    if counted[PASSED] and counted[FAILED]:
        return CaseStatus.FLAKY
    if counted[FAILED]:
        return CaseStatus.FAILED
    if counted[ERRORED]:
        return CaseStatus.ERRORED
    if counted[UNJUDGED] or not counted:
        return CaseStatus.INCONCLUSIVE
    return CaseStatus.OPEN if counted[OPEN] else CaseStatus.PASSED


@pytest.mark.parametrize("policy", OpenPolicy)
def test_the_status_and_the_rates_of_a_case_follow_from_its_trials(policy):
    for size in range(1, 5):
        for verdicts in combinations_with_replacement(TrialVerdict, size):
            found = build_experiment(policy, a=list(verdicts))
            (case,) = found.cases
            assert case.status is expect_status(verdicts, policy), (verdicts, policy)
            assert found.passed is (case.status is CaseStatus.PASSED)
            counts = Counter(verdicts)
            passed = counts[PASSED] + (counts[OPEN] if policy is OpenPolicy.PASS else 0)
            # Trials that could not be tested count, and not as passed.
            counted = counts[PASSED] + counts[FAILED] + counts[ERRORED]
            counted += 0 if policy is OpenPolicy.IGNORE else counts[OPEN]
            for k in range(1, counted + 1):
                assert found.compute_pass_at(k) == pass_at_k(counted, passed, k)
                assert found.compute_pass_hat(k) == pass_hat_k(counted, passed, k)


def test_open_trials_are_a_number_of_their_own_in_every_report():
    found = build_experiment(a=[PASSED, OPEN], b=[PASSED, PASSED], c=[FAILED, OPEN])
    assert [each.status for each in found.cases] == [CaseStatus.OPEN, CaseStatus.PASSED, CaseStatus.FAILED]
    head = found.to_json()
    assert (head["counts"]["open"], head["open_trials"]) == (1, 2)
    assert head["layers"]["groundedness"] == {
        "failed": 1,
        "judged": 4,
        "open": 2,
        "interval": head["layers"]["groundedness"]["interval"],
    }
    assert [(each["open"], each["judged"], each["counted"]) for each in head["cases"]] == [
        (1, 1, 2),
        (0, 2, 2),
        (1, 1, 2),
    ]
    table = found.to_table()
    assert table.headline == "failed: 1 of 3 cases passed in every trial, 2 open"
    assert "<caption>failed: 1 of 3 cases passed in every trial, 2 open</caption>" in found._repr_html_()
    assert [row.open for row in table.rows] == [1, 0, 1]
    facts = dict(table.all_facts)
    assert facts["groundedness failed"] == "1 of 4 trials, 2 open"
    assert facts["gravest cause of open trials"] == "2 answers hold a value that no source has"
    assert facts["open"] == "2"
    # The trial that failed is shown, not the one that is open.
    assert found.cases[2].first_failure.verdict is FAILED


def test_a_case_that_went_from_judged_to_open_is_a_change_and_neither_fixed_nor_regressed():
    before = build_experiment(a=[PASSED], b=[OPEN], c=[PASSED], d=[FAILED])
    now = build_experiment(a=[OPEN], b=[PASSED], c=[FAILED], d=[PASSED])
    found = now.compare(before)
    assert (found.opened, found.closed) == (("a",), ("b",))
    assert (found.regressed, found.fixed) == (("c",), ("d",))
    assert found.to_json()["opened"] == ["a"]
    assert dict(found.flipped)["were judged, are open now"] == ("a",)
    assert list(found.to_pandas()["change"]) == ["fixed", "regressed", "opened", "closed"]
    assert "<td>regressed</td><td>c</td>" in found._repr_html_()


def test_a_baseline_keeps_which_cases_are_open(tmp_path):
    folder = ExperimentFolder(tmp_path)
    folder.load_trials({})
    for trial in (build_trial("a", 1, OPEN), build_trial("b", 1, PASSED)):
        folder.add_trial(trial)
    found = read_baseline(tmp_path)
    assert (found.rates, found.open_shares) == ({"a": 0.0, "b": 1.0}, {"a": 1.0, "b": 0.0})
    assert read_baseline(tmp_path, OpenPolicy.IGNORE).rates == {"b": 1.0}
    now = replace(build_experiment(a=[PASSED], b=[OPEN]), baseline=found)
    facts = dict(now.to_table().facts)
    assert facts["were judged, are open now"] == "b"
    assert facts["were open, are judged now"] == "a"


def test_trials_are_read_again_and_those_of_an_older_version_too():
    trial = build_trial("a", 1, OPEN)
    assert read_trial(json.loads(json.dumps(encode_trial(trial)))) == trial
    old = json.loads(json.dumps(encode_trial(build_trial("a", 1, PASSED))))
    old["layers"] = {"groundedness": "uncertain"}
    old["findings"] = [{"requirement": "r", "holds": True, "reason": "", "layer": None}]
    assert read_trial(old).layers == {"groundedness": State.OPEN}
