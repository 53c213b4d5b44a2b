from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanproof.gate import BadScores, CaseState, Verdict, check, parse, read_scores
from spanproof.trace import Cohort, Errored, Label, Layer, Outcome, Score, Scored, Skipped

PASS, FAIL = Scored(1.0, Label.PASS, "fine"), Scored(0.2, Label.FAIL, "$54.00 is said, 45.00 was returned")


def score(case: int, outcome: Outcome, name: str = "groundedness", agent: str = "a", part: int = 0) -> Score:
    layer = Layer.GROUNDEDNESS if name == "groundedness" else Layer.TRAJECTORY
    return Score(
        id=f"{case}-{name}-{part}",
        trace_id=f"{case:032x}",
        run_span_id="a" * 16,
        span_id=f"{part:016x}",
        snippet_id=None,
        layer=layer,
        name=name,
        evaluator="e",
        version="1",
        outcome=outcome,
        cohort=Cohort(agent=agent),
        span_time_ns=0,
        input_digest="",
    )


def verdict(text: str, *scores: Score) -> tuple[Verdict, str]:
    (report,) = check([parse(text)], scores).assertions
    return report.verdict, report.reason


def test_nine_of_ten_are_ninety_percent_exactly():
    cases = [score(number, PASS) for number in range(9)] + [score(9, FAIL)]
    assert verdict("groundedness.score >= 0.85 for at_least 90% of cases", *cases) == (
        Verdict.PASSED,
        "9 of 10 judged cases satisfy it, 9 must",
    )
    assert verdict("groundedness.score >= 0.85 for at_least 90.1% of cases", *cases)[0] is Verdict.FAILED


@given(st.integers(0, 300), st.integers(0, 300), st.integers(0, 1000))
def test_the_count_needed_is_the_exact_share_rounded_up(passed, failed, permille):
    judged = passed + failed
    scores = [score(number, PASS if number < passed else FAIL) for number in range(judged)]
    percent = Fraction(permille, 10)
    text = f"groundedness.score == pass for at_least {permille // 10}.{permille % 10}% of cases"
    (report,) = check([parse(text)], scores).assertions
    assert report.needed == -(-percent * judged // 100)
    if judged:
        assert (report.verdict is Verdict.PASSED) == (Fraction(passed * 100) >= percent * judged)
    else:
        assert report.verdict is Verdict.FAILED


def test_skipped_cases_are_shown_and_count_for_nothing():
    scores = [score(1, PASS), score(2, Skipped("the answer is hidden"))]
    assert verdict("groundedness.score >= 0.5 for all cases", *scores) == (
        Verdict.PASSED,
        "1 of 1 judged cases satisfy it, 1 must; 1 skipped",
    )
    assert verdict("groundedness.score >= 0.5 for at_least 2 cases", *scores)[0] is Verdict.FAILED


def test_a_gate_over_no_judged_case_does_not_pass():
    skipped = [score(number, Skipped("hidden")) for number in range(3)]
    assert verdict("groundedness.score >= 0 for at_least 0% of cases", *skipped) == (
        Verdict.INCONCLUSIVE,
        "no case could be judged: 3 skipped",
    )


def test_errored_cases_make_it_inconclusive_never_passed_and_never_zero():
    scores = [score(number, PASS) for number in range(9)] + [score(9, Errored("Broken", "oops"))]
    assert verdict("groundedness.score >= 0.5 for at_least 50% of cases", *scores) == (
        Verdict.INCONCLUSIVE,
        "1 of 10 cases errored; 9 of 9 judged cases satisfy it, 5 must",
    )


def test_what_fails_for_certain_is_failed_though_some_errored():
    scores = [score(1, FAIL), score(2, Errored("Broken", "oops"))]
    assert verdict("groundedness.score >= 0.5 for all cases", *scores)[0] is Verdict.FAILED


def test_a_metric_no_case_has_fails():
    assert verdict("trajectory.recovery == pass for all cases", score(1, PASS)) == (
        Verdict.FAILED,
        "no case has a trajectory.recovery score",
    )


def test_a_misspelt_sub_score_is_told_with_the_nearest():
    reason = verdict("trajectory.recovry == pass for all cases", score(1, PASS, "recovery"))[1]
    assert reason == "no case has a trajectory.recovry score; did you mean trajectory.recovery?"


def test_a_score_of_another_layer_is_told_with_its_own():
    reason = verdict("trajectory.stable == 1 for all cases", score(1, PASS))[1]
    assert reason == "no case has a trajectory.stable score; did you mean execution.stable?"


def test_a_score_that_must_be_asked_for_is_told_with_what_makes_it():
    reason = verdict("execution.stable >= 1 for all cases", score(1, PASS))[1]
    assert reason.startswith("no case has an execution.stable score: only runs that were replayed twice have")
    assert "evaluation.repeat_share" in reason


def test_a_verdict_that_is_asked_of_advice_is_told_with_what_to_write():
    advice = [score(number, Scored(1.0, None, "the same"), "stable") for number in range(2)]
    skipped = score(3, Skipped("hidden"), "stable")
    assert verdict("trajectory.stable == pass for all cases", *advice, skipped) == (
        Verdict.INCONCLUSIVE,
        (
            "no case could be judged: 1 skipped, 2 have a value and no verdict; trajectory.stable is advice,"
            " so compare its value, as in trajectory.stable >= 1"
        ),
    )


def test_an_open_verdict_is_told_apart_from_a_skipped_one():
    undecided = score(1, Scored(0.5, None, "free prose"))
    assert verdict("groundedness.score == pass for all cases", undecided)[1] == (
        "no case could be judged: 1 has a value and no verdict"
    )
    assert verdict("groundedness.score == pass for all cases", undecided, score(2, PASS)) == (
        Verdict.PASSED,
        "1 of 1 judged cases satisfy it, 1 must; 1 has a value and no verdict",
    )


def test_a_case_without_the_value_every_case_has_counts_as_wrong():
    scores = [score(1, PASS), score(2, PASS, name="recovery")]
    (report,) = check([parse("groundedness.score >= 0.5 for all cases")], scores).assertions
    assert report.verdict is Verdict.FAILED
    assert [case.state for case in report.failing] == [CaseState.MISSING]


def test_a_sub_score_only_some_cases_have_is_about_those():
    scores = [score(1, PASS), score(2, PASS), score(2, PASS, name="recovery")]
    assert verdict("trajectory.recovery == pass for all cases", *scores)[0] is Verdict.PASSED


def test_no_case_at_all_fails():
    assert verdict("groundedness.score >= 0 for all cases") == (Verdict.FAILED, "there is no case to check")
    assert verdict('groundedness.score >= 0 for all cases where agent = "b"', score(1, PASS)) == (
        Verdict.FAILED,
        "there is no case to check with this cohort",
    )


def test_a_cohort_narrows_the_cases():
    scores = [score(1, PASS, agent="good"), score(2, FAIL, agent="bad")]
    assert (
        verdict('groundedness.score == pass for all cases where agent = "good"', *scores)[0] is Verdict.PASSED
    )
    assert verdict("groundedness.score == pass for all cases", *scores)[0] is Verdict.FAILED


def test_a_case_satisfies_with_every_one_of_its_scores():
    scores = [score(1, PASS, "compiles", part=1), score(1, FAIL, "compiles", part=2)]
    assert verdict("trajectory.compiles == pass for all cases", *scores)[0] is Verdict.FAILED


def test_no_verdict_is_neither_pass_nor_fail():
    undecided = score(1, Scored(0.5, None, "free prose"))
    for text in ("groundedness.score == pass for all cases", "groundedness.score != fail for all cases"):
        assert verdict(text, undecided)[0] is Verdict.INCONCLUSIVE
    assert verdict("groundedness.score >= 0.5 for all cases", undecided)[0] is Verdict.PASSED


def test_the_report_says_which_layer_fails_and_why():
    report = check(
        [
            parse("groundedness.score >= 0.85 for all cases"),
            parse("trajectory.recovery == pass for all cases"),
        ],
        [score(1, FAIL), score(1, PASS, name="recovery")],
    )
    assert report.failed_layers == ("groundedness",)
    (case,) = report.assertions[0].failing
    assert (case.value, case.explanation) == (0.2, FAIL.explanation)
    document = report.to_json()
    assert document["passed"] is False
    assert document["assertions"][0]["failing"][0]["trace_id"] == f"{1:032x}"


def test_junit_tells_failures_from_errors_and_holds_hostile_text():
    hostile = Scored(0.0, Label.FAIL, "a\x00b\ud800 <![CDATA[ ]]> &")
    report = check(
        [
            parse("groundedness.score == pass for all cases"),
            parse("trajectory.recovery == pass for all cases"),
        ],
        [score(1, hostile), score(1, Errored("Broken", "x"), name="recovery")],
    )
    suite = ET.fromstring(report.to_junit().encode()).find("testsuite")
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("2", "1", "1")
    failure = suite.find("testcase/failure")
    assert failure.get("message") == "0 of 1 judged cases satisfy it, 1 must"
    assert "<![CDATA[ ]]> &" in failure.text


LINE = (
    b'{"trace_id":"t","file":"f","runs":[{"span_id":"r","name":"agent","scores":['
    b'{"layer":"groundedness","name":"groundedness","span_id":"r","outcome":"scored","value":0.2,'
    b'"label":"fail","explanation":"misquote","reason":null},'
    b'{"layer":"execution","name":"execution","span_id":"r","outcome":"skipped","value":null,"label":null,'
    b'"explanation":null,"reason":"hidden"},'
    b'{"layer":"boundary","name":"boundary","span_id":"r","outcome":"errored","value":null,"label":null,'
    b'"explanation":null,"reason":"Broken: x"}]}],"spans":3,"code_bearing_span_ids":[]}\n'
)


def test_lines_of_eval_are_read_as_scores():
    scores = list(read_scores([LINE, b"\n"]))
    assert [item.outcome for item in scores] == [
        Scored(0.2, Label.FAIL, "misquote"),
        Skipped("hidden"),
        Errored("error", "Broken: x"),
    ]
    assert {item.cohort.agent for item in scores} == {"agent"}
    assert len({item.id for item in scores}) == 3


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (b"{", "not JSON"),
        (b"[]", "expected an object, got list"),
        (b'{"runs":[]}', "no field 'trace_id'"),
        (b'{"trace_id":"t","error":"broken"}', "the trace was not evaluated: broken"),
        (LINE.replace(b'"scored"', b'"maybe"'), "'outcome' must be scored, skipped or errored, got 'maybe'"),
        (LINE.replace(b":0.2", b':"0.2"'), "'value' must be a number, got '0.2'"),
        (LINE.replace(b":0.2", b":2"), "a score is within 0..1, got 2.0"),
        (LINE.replace(b'"layer":"groundedness"', b'"layer":"vibes"'), "'vibes' is not a valid Layer"),
    ],
)
def test_a_line_that_is_none_is_an_error_that_names_it(line, words):
    with pytest.raises(BadScores) as caught:
        list(read_scores([LINE, line], "scores.jsonl"))
    assert str(caught.value).startswith("scores.jsonl, line 2: ")
    assert words in str(caught.value)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["trace_id", "runs", "span_id", "name", "scores", "layer", "outcome", "value", "cohort"]
            ),
            inner,
            max_size=6,
        )
    ),
    max_leaves=12,
)


@given(json_values)
def test_any_line_of_json_is_scores_or_one_clear_error(value):
    try:
        found = list(read_scores([json.dumps(value)]))
    except BadScores as problem:
        found = []
        told = str(problem)
        assert told.startswith("scores, line 1: ")
    assert all(isinstance(item, Score) for item in found)
