"""Frozen runs whose answer could not be settled, and what a case requires of a layer that is open."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from spanproof.cli.app import run as run_command
from spanproof.evaluators.model import RunEvaluation, TraceEvaluation
from spanproof.gate import OpenPolicy
from spanproof.gate.outputs import Verdict
from spanproof.suites import CaseStatus, SuiteError, find_suite_policy, load_suite, promote_run, run_suite
from spanproof.suites.requirements import Attempt, list_failure_requirements, read_requirements
from spanproof.trace import Cause, Errored, Label, Layer, Outcome, Scored, Skipped, State

from .conftest import RUN_ID, misquote

OPEN_ANSWER = "The box of tea is on its way to Lisbon."


@pytest.fixture(scope="module")
def unsettled(engine) -> TraceEvaluation:
    found = engine.evaluate(misquote(OPEN_ANSWER))
    (run,) = found.runs
    outcome = run.layers[Layer.GROUNDEDNESS]
    assert isinstance(outcome, Scored), outcome
    assert (outcome.label, outcome.cause is not None) == (None, True)
    return found


def write_frozen(suite: Path, verdict: str, *, with_cause: bool = False) -> None:
    """Change the frozen verdict of groundedness, and drop the details."""
    (path,) = suite.glob("cases/*/case.yaml")
    head, _, rest = path.read_text().partition("details:")
    before, _, after = head.partition("- layer: groundedness\n")
    entry, _, others = after.partition("- layer: trajectory\n")
    kept = [line for line in entry.splitlines() if not line.startswith(("  verdict:", "  cause:"))]
    cause = ["  cause: no-answer"] if with_cause else []
    text = "\n".join(["- layer: groundedness", f"  verdict: {verdict}", *cause, *kept, "- layer: trajectory"])
    frozen = "frozen:" + rest.partition("frozen:")[2]
    path.write_text(f"{before}{text}\n{others}details: []\n{frozen}")


def test_what_was_open_and_is_open_is_reproduced_and_counted(unsettled, engine, suite):
    case = promote_run(unsettled, RUN_ID, suite)
    (frozen,) = [each for each in case.expectations if each.layer is Layer.GROUNDEDNESS and each.is_of_layer]
    assert (frozen.verdict, frozen.cause is not None) == (State.OPEN, True)
    report = run_suite(suite, engine)
    assert (report.passed, report.open, report.to_json()["open"]) == (True, 1, 1)
    assert report.to_table().open == 1


STATUSES = {
    OpenPolicy.NOT_PASSED: CaseStatus.INCONCLUSIVE,
    OpenPolicy.PASS: CaseStatus.REPRODUCED,
    OpenPolicy.FAIL: CaseStatus.REGRESSED,
    OpenPolicy.IGNORE: CaseStatus.REPRODUCED,
}


@pytest.mark.parametrize("frozen", ["pass", "fail"])
def test_what_was_judged_and_is_open_is_a_difference(unsettled, engine, suite, frozen):
    promote_run(unsettled, RUN_ID, suite)
    write_frozen(suite, frozen)
    for policy, status in STATUSES.items():
        report = run_suite(suite, engine, open_policy=policy)
        (case,) = report.cases
        (difference,) = case.differences
        assert (difference.expected.verdict, difference.found) == (frozen, State.OPEN)
        assert case.status is status
        assert report.passed is (status is CaseStatus.REPRODUCED)
        (row,) = report.to_table().rows
        assert row.open == 1
        if policy is OpenPolicy.NOT_PASSED:
            assert (row.verdict, row.reason) == (
                Verdict.INCONCLUSIVE,
                "inconclusive: 1 verdict differs, 1 open now",
            )


def test_an_old_case_that_froze_skipped_where_open_is_said_today_is_reproduced(unsettled, engine, suite):
    promote_run(unsettled, RUN_ID, suite)
    write_frozen(suite, "skipped")
    assert run_suite(suite, engine).passed
    # Since then, a skipped verdict is frozen with its cause: it was another thing than open.
    write_frozen(suite, "skipped", with_cause=True)
    (case,) = run_suite(suite, engine).cases
    assert case.status is CaseStatus.CHANGED


def test_a_suite_says_what_open_counts_as_and_the_option_comes_first(unsettled, suite, capfd):
    promote_run(unsettled, RUN_ID, suite)
    write_frozen(suite, "pass")
    assert run_command(["suite", "run", str(suite)]) == 1
    assert run_command(["suite", "run", str(suite), "--open", "ignore"]) == 0
    out = capfd.readouterr().out
    assert "groundedness.groundedness: expected pass, found open" in out
    assert "1 with an open layer" in out
    assert "open is left out (--open ignore)" in out
    head = suite / "suite.yaml"
    head.write_text(head.read_text() + "open: ignore\n")
    assert find_suite_policy(suite) is OpenPolicy.IGNORE
    assert run_command(["suite", "run", str(suite)]) == 0
    assert "open is left out (--open ignore)" in capfd.readouterr().out
    assert run_command(["suite", "run", str(suite), "--open", "not-passed"]) == 1
    head.write_text(head.read_text().replace("open: ignore", "open: maybe"))
    with pytest.raises(SuiteError, match="open must be one of not-passed, pass, fail, ignore, got 'maybe'"):
        find_suite_policy(suite)


OUTCOMES: dict[State, Outcome] = {
    State.PASS: Scored(1.0, Label.PASS, "fine"),
    State.FAIL: Scored(0.0, Label.FAIL, "another number"),
    State.OPEN: Scored(0.5, None, "no source has it", cause=Cause.VALUE_NOT_FOUND),
    State.SKIPPED: Skipped("no answer", Cause.NO_ANSWER),
    State.ERRORED: Errored("Broken", "oops"),
}


def build_run(unsettled: TraceEvaluation, outcome: Outcome) -> RunEvaluation:
    """Return the run with another outcome of groundedness."""
    (run,) = unsettled.runs
    scores = tuple(
        replace(score, outcome=outcome)
        if (score.layer, score.name) == (Layer.GROUNDEDNESS, "groundedness")
        else score
        for score in run.scores
    )
    return replace(run, scores=scores)


@pytest.mark.parametrize(
    ("state", "of_other", "of_failed"),
    [
        (State.PASS, True, True),
        (State.FAIL, False, False),
        (State.OPEN, None, None),
        (State.SKIPPED, True, None),
        (State.ERRORED, None, None),
    ],
)
def test_no_failure_is_not_met_by_what_is_open(unsettled, state, of_other, of_failed):
    attempt = Attempt(build_run(unsettled, OUTCOMES[state]))
    for before, holds in (((), of_other), ((Layer.GROUNDEDNESS,), of_failed)):
        found = [each.evaluate(attempt) for each in list_failure_requirements(before)]
        (finding,) = [each for each in found if each.layer is Layer.GROUNDEDNESS]
        assert finding.holds is holds
        assert finding.is_open is (state is State.OPEN)
        assert finding.cause is (Cause.VALUE_NOT_FOUND if finding.is_open else None)


@pytest.mark.parametrize("key", ["must", "must_not"])
def test_an_assertion_over_an_open_score_is_neither_met_nor_missed(unsettled, key):
    verdict = "pass" if key == "must" else "fail"
    entries = {key: [f"groundedness.score == {verdict}"]}
    (requirement,) = read_requirements("x", entries.get("must"), entries.get("must_not"))
    finding = requirement.evaluate(Attempt(build_run(unsettled, OUTCOMES[State.OPEN])))
    assert (finding.holds, finding.is_open) == (None, True)
    errored = requirement.evaluate(Attempt(build_run(unsettled, OUTCOMES[State.ERRORED])))
    assert (errored.holds, errored.is_open) == (None, False)


def test_cases_keep_the_cause_of_what_is_open_or_skipped(unsettled, suite):
    promote_run(unsettled, RUN_ID, suite)
    (case,) = load_suite(suite)
    causes = {each.verdict for each in case.expectations if each.cause is not None}
    assert State.OPEN in causes
    assert causes <= {State.OPEN, State.SKIPPED}
