"""A gate over verdicts that are mostly missing does not pass, and says what is missing."""

from __future__ import annotations

import pytest

from spanproof.gate import (
    GateError,
    OpenPolicy,
    Verdict,
    evaluate_assertions,
    parse_assertion,
    read_gate_file,
)
from spanproof.trace import OPEN_VALUE, Cause, Cohort, Label, Layer, Score, Scored, Skipped

PASS = Scored(1.0, Label.PASS, "fine")
OPEN = Scored(OPEN_VALUE, None, "$12.34 is in no output", cause=Cause.VALUE_NOT_FOUND)
HIDDEN = Skipped("the answer is hidden", Cause.CONTENT_HIDDEN)
NO_CODE = Skipped("the run has no code", Cause.NO_CODE)


def gate(text: str, *outcomes, policy: OpenPolicy = OpenPolicy.NOT_PASSED, **more: float):
    scores = [
        Score(
            id=str(number),
            trace_id=f"{number:032x}",
            run_span_id="a" * 16,
            span_id="b" * 16,
            snippet_id=None,
            layer=Layer.GROUNDEDNESS,
            name="groundedness",
            evaluator="e",
            version="1",
            outcome=outcome,
            cohort=Cohort(),
            span_time_ns=0,
            input_digest="",
        )
        for number, outcome in enumerate(outcomes)
    ]
    (report,) = evaluate_assertions([parse_assertion(text)], scores, open_policy=policy, **more).assertions
    return report


@pytest.mark.parametrize(
    "text", ["groundedness.score == pass for all cases", "avg(groundedness.score) >= 0.5"]
)
def test_below_the_least_judged_share_nothing_passes(text):
    report = gate(text, *[PASS] * 3, HIDDEN)
    assert report.verdict is Verdict.INCONCLUSIVE
    assert "3 of 4" in report.reason
    assert "75.0%" in report.reason
    assert gate(text, *[PASS] * 4, HIDDEN).verdict is Verdict.PASSED
    assert gate(text, *[PASS] * 3, HIDDEN, least_judged=0.7).verdict is Verdict.PASSED


def test_what_has_nothing_to_judge_does_not_count():
    assert gate("groundedness.score == pass for all cases", PASS, *[NO_CODE] * 9).verdict is Verdict.PASSED


@pytest.mark.parametrize(
    ("policy", "verdict"), [(OpenPolicy.IGNORE, Verdict.INCONCLUSIVE), (OpenPolicy.PASS, Verdict.PASSED)]
)
def test_open_cases_that_are_left_out_were_not_judged(policy, verdict):
    text = "groundedness.score == pass for all cases"
    assert gate(text, PASS, PASS, OPEN, policy=policy).verdict is verdict


def test_a_case_that_fails_stays_failed():
    failed = Scored(0.2, Label.FAIL, "wrong")
    text = "groundedness.score == pass for all cases"
    assert gate(text, failed, *[HIDDEN] * 9).verdict is Verdict.FAILED


@pytest.mark.parametrize("share", ["0%", "0.0% of cases", "0 cases"])
def test_at_least_nothing_is_refused(share):
    with pytest.raises(GateError, match="holds whatever was found"):
        parse_assertion(f"groundedness.score == pass for at_least {share}")


def test_a_file_states_the_least_share(tmp_path):
    file = tmp_path / "gate.yaml"
    file.write_text("assertions: [boundary.score == pass for all cases]\nleast_judged: 0.9\n")
    assert read_gate_file(file).least_judged == 0.9
    file.write_text("assertions: [boundary.score == pass for all cases]\nleast_judged: most\n")
    with pytest.raises(GateError, match="least_judged must be a number from 0 to 1"):
        read_gate_file(file)
