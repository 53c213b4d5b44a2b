from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanproof.evaluators.intervals import compute_wilson_interval
from spanproof.gate import (
    BadScores,
    CaseState,
    NoBaseline,
    Verdict,
    evaluate_assertions,
    iter_scores,
    parse_assertion,
)
from spanproof.gate.outputs import format_junit
from spanproof.trace import (
    OPEN_VALUE,
    Cause,
    Cohort,
    Errored,
    Label,
    Layer,
    Outcome,
    Score,
    Scored,
    Skipped,
)

PASS, FAIL = Scored(1.0, Label.PASS, "fine"), Scored(0.2, Label.FAIL, "$54.00 is said, 45.00 was returned")
OPEN = Scored(OPEN_VALUE, None, "$12.34 is in no output", cause=Cause.VALUE_NOT_FOUND, detail="$12.34")


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
    (report,) = evaluate_assertions([parse_assertion(text)], scores).assertions
    return report.verdict, report.reason


def test_nine_of_ten_are_ninety_percent_exactly():
    cases = [score(number, PASS) for number in range(9)] + [score(9, FAIL)]
    assert verdict("groundedness.score >= 0.85 for at_least 90% of cases", *cases) == (
        Verdict.PASSED,
        "9 of 10 judged cases satisfy it, 9 must; 90.0%, 95% interval 59.6% to 98.2%",
    )
    assert verdict("groundedness.score >= 0.85 for at_least 90.1% of cases", *cases)[0] is Verdict.FAILED


@given(st.integers(0, 300), st.integers(0, 300), st.integers(1, 1000))
def test_the_count_needed_is_the_exact_share_rounded_up(passed, failed, permille):
    judged = passed + failed
    scores = [score(number, PASS if number < passed else FAIL) for number in range(judged)]
    percent = Fraction(permille, 10)
    text = f"groundedness.score == pass for at_least {permille // 10}.{permille % 10}% of cases"
    (report,) = evaluate_assertions([parse_assertion(text)], scores).assertions
    assert report.needed == -(-percent * judged // 100)
    if judged:
        assert (report.verdict is Verdict.PASSED) == (Fraction(passed * 100) >= percent * judged)
    else:
        assert report.verdict is Verdict.FAILED


def test_skipped_cases_are_shown_and_count_for_nothing():
    scores = [score(1, PASS), score(2, Skipped("the answer is hidden"))]
    assert verdict("groundedness.score >= 0.5 for all cases", *scores) == (
        Verdict.PASSED,
        "1 of 1 judged cases satisfy it, 1 must; 100.0%, 95% interval 20.7% to 100.0%; 1 skipped",
    )
    assert verdict("groundedness.score >= 0.5 for at_least 2 cases", *scores)[0] is Verdict.FAILED


def test_a_gate_over_no_judged_case_does_not_pass():
    skipped = [score(number, Skipped("hidden")) for number in range(3)]
    assert verdict("groundedness.score >= 0.5 for at_least 1% of cases", *skipped) == (
        Verdict.INCONCLUSIVE,
        "no case could be judged: 3 skipped",
    )


def test_errored_cases_make_it_inconclusive_never_passed_and_never_zero():
    scores = [score(number, PASS) for number in range(9)] + [score(9, Errored("Broken", "oops"))]
    assert verdict("groundedness.score >= 0.5 for at_least 50% of cases", *scores) == (
        Verdict.INCONCLUSIVE,
        (
            "1 of 10 cases errored; 9 of 9 judged cases satisfy it, 5 must;"
            " 100.0%, 95% interval 70.1% to 100.0%"
        ),
    )


def test_what_fails_for_certain_is_failed_though_some_errored():
    scores = [score(1, FAIL), score(2, Errored("Broken", "oops"))]
    assert verdict("groundedness.score >= 0.5 for all cases", *scores)[0] is Verdict.FAILED


def test_a_metric_no_case_has_fails():
    assert verdict("trajectory.recovery == pass for all cases", score(1, PASS)) == (
        Verdict.FAILED,
        "no case has a trajectory.recovery score",
    )


def test_a_misspelt_score_of_the_users_own_is_reported_with_the_nearest():
    reason = verdict("trajectory.politness >= 0.5 for all cases", score(1, PASS, "politeness"))[1]
    assert reason == "no case has a trajectory.politness score; did you mean trajectory.politeness?"


def test_a_quoted_name_is_taken_as_it_is_written():
    own = score(1, PASS, "recovry")
    assert verdict('trajectory."recovry" == pass for all cases', own)[0] is Verdict.PASSED
    reason = verdict('trajectory."stable" >= 0.5 for all cases', score(1, PASS))[1]
    assert reason == 'no case has a trajectory."stable" score; did you mean execution.stable?'


def test_a_score_that_must_be_configured_is_reported_with_its_setting():
    reason = verdict("execution.stable >= 1 for all cases", score(1, PASS))[1]
    assert reason.startswith("no case has an execution.stable score: only runs that were replayed twice have")
    assert "evaluation.repeat_share" in reason


def test_a_verdict_of_advice_is_reported_with_what_to_write():
    advice = [score(number, Scored(1.0, None, "polite"), "politeness") for number in range(2)]
    skipped = score(3, Skipped("hidden"), "politeness")
    assert verdict("trajectory.politeness == pass for all cases", *advice, skipped) == (
        Verdict.INCONCLUSIVE,
        (
            "no case could be judged: 1 skipped, 2 have a value and no verdict; trajectory.politeness is"
            " advice, so compare its value, as in trajectory.politeness >= 1"
        ),
    )


def test_an_open_verdict_is_distinguished_from_a_skipped_one():
    undecided = score(1, OPEN)
    assert verdict("groundedness.score == pass for all cases", undecided) == (
        Verdict.INCONCLUSIVE,
        "no case could be judged: 1 open: 1 answer holds a value that no source has",
    )
    assert verdict("groundedness.score == pass for all cases", undecided, score(2, PASS)) == (
        Verdict.INCONCLUSIVE,
        (
            "1 open: 1 answer holds a value that no source has; 1 of 2 cases satisfy it, 2 must; 50.0%, 95%"
            " interval 9.5% to 90.5%"
        ),
    )


def test_a_case_without_the_value_every_case_has_counts_as_wrong():
    scores = [score(1, PASS), score(2, PASS, name="recovery")]
    (report,) = evaluate_assertions(
        [parse_assertion("groundedness.score >= 0.5 for all cases")], scores
    ).assertions
    assert report.verdict is Verdict.FAILED
    assert [case.state for case in report.failing] == [CaseState.MISSING]


def test_a_sub_score_only_some_cases_have_is_about_those():
    scores = [score(1, PASS), score(2, PASS), score(2, PASS, name="recovery")]
    assert verdict("trajectory.recovery == pass for all cases", *scores)[0] is Verdict.PASSED


def test_no_case_at_all_fails():
    assert verdict("groundedness.score >= 0.1 for all cases") == (Verdict.FAILED, "there is no case to check")
    assert verdict('groundedness.score >= 0.1 for all cases where agent = "b"', score(1, PASS)) == (
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
    scores = [score(1, PASS, "politeness", part=1), score(1, FAIL, "politeness", part=2)]
    assert verdict("trajectory.politeness == pass for all cases", *scores)[0] is Verdict.FAILED


def test_no_verdict_is_neither_pass_nor_fail():
    for text in ("== pass", "!= fail", ">= 0.5", ">= 0.4", "< 0.6"):
        found = verdict(f"groundedness.score {text} for all cases", score(1, OPEN))
        assert found[0] is Verdict.INCONCLUSIVE, text


def test_the_report_says_which_layer_fails_and_why():
    report = evaluate_assertions(
        [
            parse_assertion("groundedness.score >= 0.85 for all cases"),
            parse_assertion("trajectory.recovery == pass for all cases"),
        ],
        [score(1, FAIL), score(1, PASS, name="recovery")],
    )
    assert report.failed_layers == ("groundedness",)
    (case,) = report.assertions[0].failing
    assert (case.value, case.explanation) == (0.2, FAIL.explanation)
    document = report.to_json()
    assert document["passed"] is False
    assert document["assertions"][0]["failing"][0]["trace_id"] == f"{1:032x}"


def test_junit_distinguishes_failures_from_errors_and_holds_hostile_text():
    hostile = Scored(0.0, Label.FAIL, "a\x00b\ud800 <![CDATA[ ]]> &")
    report = evaluate_assertions(
        [
            parse_assertion("groundedness.score == pass for all cases"),
            parse_assertion("trajectory.recovery == pass for all cases"),
        ],
        [score(1, hostile), score(1, Errored("Broken", "x"), name="recovery")],
    )
    suite = ET.fromstring(format_junit(report.to_table()).encode()).find("testsuite")
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("2", "1", "1")
    failure = suite.find("testcase/failure")
    assert failure.get("message").startswith("0 of 1 judged cases satisfy it, 1 must; 0.0%, 95% interval")
    assert "<![CDATA[ ]]> &" in failure.text


def metric(case: int, raw: float | None, name: str = "steps", unit: str = "steps") -> Score:
    return score(
        case, Scored(0.5, None, f"{raw} {unit}", raw=raw, unit=unit if raw is not None else ""), name
    )


def test_a_metric_is_compared_by_its_raw_value():
    runs = [metric(1, 5), metric(2, 7)]
    assert verdict("trajectory.steps <= 7 steps for all cases", *runs)[0] is Verdict.PASSED
    (report,) = evaluate_assertions([parse_assertion("trajectory.steps <= 6 for all cases")], runs).assertions
    assert (report.verdict, report.satisfied) == (Verdict.FAILED, 1)
    assert report.failing[0].value == 7
    assert verdict("trajectory.steps_score >= 0.5 for all cases", *runs)[0] is Verdict.PASSED
    assert verdict("trajectory.steps_score > 0.5 for all cases", *runs)[0] is Verdict.FAILED


def test_a_metric_that_was_stored_without_its_raw_value_is_skipped():
    (report,) = evaluate_assertions(
        [parse_assertion("trajectory.steps <= 6 for all cases")], [metric(1, None)]
    ).assertions
    assert report.verdict is Verdict.INCONCLUSIVE
    assert report.cases[0].state is CaseState.SKIPPED
    assert report.cases[0].explanation == "stored without its raw value: evaluate the trace again"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("avg(trajectory.steps) <= 3", (Verdict.PASSED, "avg is 3 steps over 5 scores")),
        ("avg(trajectory.steps) < 3", (Verdict.FAILED, "avg is 3 steps over 5 scores")),
        ("p50(trajectory.steps) == 3", (Verdict.PASSED, "p50 is 3 steps over 5 scores")),
        ("p95(trajectory.steps) <= 4", (Verdict.FAILED, "p95 is 5 steps over 5 scores")),
        ("max(trajectory.steps) <= 5 steps", (Verdict.PASSED, "max is 5 steps over 5 scores")),
        ("avg(trajectory.steps_score) >= 0.5", (Verdict.PASSED, "avg is 0.5 over 5 scores")),
        (
            "presence_rate(trajectory.steps) >= 80%",
            (Verdict.PASSED, "presence_rate is 83.3% over 6 cases, 95% interval 43.6% to 97.0%"),
        ),
    ],
)
def test_an_aggregate_is_compared(text, expected):
    runs = [metric(number, number) for number in (5, 3, 1, 4, 2)]
    assert verdict(text, *runs, score(6, Skipped("hidden"), "steps")) == expected


def test_a_fail_rate_counts_verdicts_with_its_interval():
    runs = [score(number, FAIL if number < 2 else PASS) for number in range(20)]
    assert verdict("fail_rate(groundedness.score) <= 10%", *runs) == (
        Verdict.PASSED,
        "fail_rate is 10.0% over 20 verdicts, 95% interval 2.8% to 30.1%",
    )
    undecided = score(30, OPEN)
    left_open = (
        "fail_rate is 10.0% over 20 verdicts, 95% interval 2.8% to 30.1%; fails 2 of 20, 1 open:"
        " 1 answer holds a value that no source has"
    )
    assert verdict("fail_rate(groundedness.score) <= 15%", *runs, undecided) == (Verdict.PASSED, left_open)
    assert verdict("fail_rate(groundedness.score) <= 10%", *runs, undecided) == (
        Verdict.INCONCLUSIVE,
        f"what is open would decide; {left_open}",
    )
    assert verdict("fail_rate(groundedness.score) <= 5%", *runs, undecided)[0] is Verdict.FAILED
    assert verdict("fail_rate(groundedness.score) < 10%", *runs)[0] is Verdict.FAILED


def test_an_error_rate_counts_errors_and_no_other_aggregate_hides_them():
    runs = [score(number, PASS) for number in range(9)] + [score(9, Errored("Broken", "oops"))]
    assert verdict("error_rate(groundedness.score) <= 10%", *runs)[0] is Verdict.PASSED
    assert verdict("error_rate(groundedness.score) <= 9%", *runs)[0] is Verdict.FAILED
    found = verdict("avg(groundedness.score) >= 0.9", *runs)
    assert found == (Verdict.INCONCLUSIVE, "1 score errored; avg is 1 over 9 scores")


def test_an_aggregate_of_nothing_is_inconclusive_and_one_that_no_case_has_fails():
    skipped = score(1, Skipped("hidden"), "steps")
    assert verdict("avg(trajectory.steps) <= 3", skipped) == (
        Verdict.INCONCLUSIVE,
        "there is nothing to compute avg of: no scores",
    )
    assert verdict("avg(trajectory.steps) <= 3", score(1, PASS)) == (
        Verdict.FAILED,
        "no case has a trajectory.steps score",
    )


def compared(text: str, now: list[Score], before: list[Score]) -> tuple[Verdict, str]:
    (report,) = evaluate_assertions([parse_assertion(text)], now, before).assertions
    return report.verdict, report.reason


def test_an_aggregate_may_be_worse_than_the_baseline_by_the_margin_and_no_more():
    now = [score(number, replace(PASS, value=0.81)) for number in range(4)]
    before = [score(number, replace(PASS, value=0.83)) for number in range(4)]
    text = "avg(groundedness.score) no_worse_than baseline by"
    assert compared(f"{text} 0.02", now, before) == (
        Verdict.PASSED,
        "avg is 0.81 over 4 scores; baseline avg is 0.83 over 4 scores",
    )
    assert compared(f"{text} 0.01", now, before)[0] is Verdict.FAILED
    assert compared("avg(groundedness.score) no_worse_than baseline", before, now)[0] is Verdict.PASSED


@pytest.mark.parametrize(
    ("failed", "shown"), [(3, "no difference shown (p = 0.182)"), (6, "worse (p = 0.00216)")]
)
def test_a_rate_beside_its_baseline_says_what_a_test_shows(failed, shown):
    now = [score(number, FAIL if number < failed else PASS) for number in range(6)]
    before = [score(number, PASS) for number in range(6)]
    (report,) = evaluate_assertions(
        [parse_assertion("fail_rate(groundedness.score) no_worse_than baseline")], now, before
    ).assertions
    assert report.verdict is Verdict.FAILED, "the margin decides"
    assert report.reason.endswith(shown)
    assert report.p_value == pytest.approx(float(shown.split()[-1].rstrip(")")), rel=0.01)


def test_errors_of_one_case_count_as_one_in_the_interval():
    outcomes = [Errored("Broken", "oops") if case < 2 else PASS for case in range(8)]
    scores = [score(case, outcome, part=part) for case, outcome in enumerate(outcomes) for part in range(10)]
    (report,) = evaluate_assertions(
        [parse_assertion("error_rate(groundedness.score) <= 90%")], scores
    ).assertions
    assert report.value == 0.25
    assert report.interval.low <= compute_wilson_interval(2, 8).low


def test_the_verdicts_of_one_case_count_as_one_where_they_are_alike():
    def find_interval(*scores: Score):
        (report,) = evaluate_assertions(
            [parse_assertion("fail_rate(groundedness.score) <= 90%")], scores
        ).assertions
        return report.interval

    one_each = [score(case, FAIL if case < 2 else PASS) for case in range(8)]
    ten_each = [score(case, FAIL if case < 2 else PASS, part=part) for case in range(8) for part in range(10)]
    assert find_interval(*one_each) == compute_wilson_interval(2, 8)
    clustered = find_interval(*ten_each)
    assert clustered.low <= compute_wilson_interval(2, 8).low
    assert clustered.high >= compute_wilson_interval(2, 8).high
    # Cases that do not differ count as one each, too.
    mixed = [score(case, FAIL if part < 2 else PASS, part=part) for case in range(8) for part in range(8)]
    assert find_interval(*mixed) == compute_wilson_interval(2, 8)


def test_more_of_a_metric_or_of_a_fail_rate_is_worse():
    less, more = [metric(1, 3)], [metric(1, 5)]
    text = "max(trajectory.steps) no_worse_than baseline"
    assert compared(text, less, more)[0] is Verdict.PASSED
    assert compared(text, more, less)[0] is Verdict.FAILED
    assert compared(f"{text} by 2 steps", more, less)[0] is Verdict.PASSED
    text = "fail_rate(groundedness.score) no_worse_than baseline"
    assert compared(text, [score(1, PASS)], [score(1, FAIL)])[0] is Verdict.PASSED
    assert compared(text, [score(1, FAIL)], [score(1, PASS)])[0] is Verdict.FAILED
    text = "presence_rate(groundedness.score) no_worse_than baseline"
    assert compared(text, [score(1, Skipped("hidden"))], [score(1, PASS)])[0] is Verdict.FAILED


def test_a_baseline_that_is_needed_is_required_and_an_empty_one_decides_nothing():
    text = "avg(groundedness.score) no_worse_than baseline"
    with pytest.raises(NoBaseline, match=r"compares with a baseline, and none is given"):
        evaluate_assertions([parse_assertion(text)], [score(1, PASS)])
    assert compared(text, [score(1, PASS)], []) == (
        Verdict.INCONCLUSIVE,
        "avg is 1 over 1 scores; the baseline has no scores of groundedness.score",
    )


def test_a_share_that_means_all_of_so_few_cases_says_so():
    sixty = [score(number, PASS) for number in range(60)]
    reason = verdict("groundedness.score == pass for at_least 99% of cases", *sixty)[1]
    assert reason == (
        "60 of 60 judged cases satisfy it, 60 must; 100.0%, 95% interval 94.0% to 100.0%;"
        " with 60 cases, 99% leaves no room for a failure; with 100, one may fail"
    )
    hundred = [score(number, PASS) for number in range(1, 100)] + [score(0, FAIL)]
    found, reason = verdict("groundedness.score == pass for at_least 99% of cases", *hundred)
    assert (found, "no room" in reason) == (Verdict.PASSED, False)


@pytest.mark.parametrize(
    ("condition", "agents"),
    [
        ('agent = "shop-a"', {"shop-a"}),
        ('agent != "shop-a"', {"shop-b", "desk"}),
        ('agent ~ "^shop-"', {"shop-a", "shop-b"}),
        ('agent in ("desk", "shop-b")', {"shop-b", "desk"}),
        ('agent ~ "shop" and agent != "shop-b"', {"shop-a"}),
    ],
)
def test_conditions_choose_the_cases(condition, agents):
    scores = [score(number, PASS, agent=name) for number, name in enumerate(("shop-a", "shop-b", "desk"))]
    (report,) = evaluate_assertions(
        [parse_assertion(f"groundedness.score == pass for all where {condition}")], scores
    ).assertions
    assert {case.agent for case in report.cases} == agents


@given(st.integers(0, 400), st.integers(1, 400))
def test_the_interval_of_a_share_holds_the_share(successes, total):
    successes = min(successes, total)
    interval = compute_wilson_interval(successes, total)
    assert 0 <= interval.low <= successes / total <= interval.high <= 1


def test_the_interval_is_wilsons():
    # Newcombe, Statistics in Medicine 17 (1998), table I, method 3.
    for (successes, total), (low, high) in {
        (81, 263): (0.2553, 0.3662),
        (15, 148): (0.0624, 0.1605),
        (0, 20): (0.0, 0.1611),
        (1, 29): (0.0061, 0.1718),
    }.items():
        found = compute_wilson_interval(successes, total)
        assert (round(found.low, 4), round(found.high, 4)) == (low, high)
    assert compute_wilson_interval(0, 0) is None


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
    scores = list(iter_scores([LINE, b"\n"]))
    assert [item.outcome for item in scores] == [
        Scored(0.2, Label.FAIL, "misquote"),
        Skipped("hidden"),
        Errored("error", "Broken: x"),
    ]
    assert {item.cohort.agent for item in scores} == {"agent"}
    assert len({item.id for item in scores}) == 3


def test_a_report_of_a_suite_is_read_as_scores():
    case = json.loads(LINE) | {"id": "case-1", "status": "reproduced"}
    case["runs"][0]["cohort"] = {"agent": "pricer", "model": "m"}
    suite = json.dumps({"suite": "shop", "passed": False, "cases": [case]})
    found = list(iter_scores([suite]))
    assert [each.outcome for each in found] == [each.outcome for each in iter_scores([LINE])]
    assert {(each.trace_id, each.cohort.agent, each.cohort.model) for each in found} == {("t", "pricer", "m")}
    with pytest.raises(BadScores, match="case 'old' has no scores: run the suite again"):
        list(iter_scores(['{"suite": "shop", "cases": [{"id": "old"}]}']))


def test_raw_values_are_read_with_their_unit():
    line = LINE.replace(b'"value":0.2', b'"value":0.2,"raw":7,"unit":"steps"')
    outcome = next(iter_scores([line])).outcome
    assert (outcome.raw, outcome.unit) == (7.0, "steps")


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (b"{", "not JSON"),
        (b"[]", "expected an object, got list"),
        (b'{"runs":[]}', "no field 'trace_id'"),
        (b'{"trace_id":"t","error":"broken"}', "the trace was not evaluated: broken"),
        (LINE.replace(b'"scored"', b'"maybe"'), "'outcome' must be scored, skipped or errored, got 'maybe'"),
        (LINE.replace(b":0.2", b':"0.2"'), "'value' must be a number, got '0.2'"),
        (LINE.replace(b":0.2", b':0.2,"raw":"7"'), "'raw' must be a number, got '7'"),
        (LINE.replace(b":0.2", b":2"), "a score is within 0..1, got 2.0"),
        (LINE.replace(b'"layer":"groundedness"', b'"layer":"vibes"'), "'vibes' is not a valid Layer"),
    ],
)
def test_a_line_that_is_none_is_an_error_that_names_it(line, words):
    with pytest.raises(BadScores) as caught:
        list(iter_scores([LINE, line], "scores.jsonl"))
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
        found = list(iter_scores([json.dumps(value)]))
    except BadScores as problem:
        found = []
        reported = str(problem)
        assert reported.startswith("scores, line 1: ")
    assert all(isinstance(item, Score) for item in found)


def code_run(trace: int, tests: Outcome | None) -> list[Score]:
    passing = Scored(1.0, Label.PASS, "compiles")
    found = [replace(score(trace, passing, "compiles"), layer=Layer.CORRECTNESS)]
    if tests is not None:
        found.append(replace(score(trace, tests, "tests_pass"), layer=Layer.CORRECTNESS))
    return found


PASSES, FAILS = Scored(1.0, Label.PASS, "2 of 2"), Scored(0.5, Label.FAIL, "1 of 2")


@pytest.mark.parametrize(
    ("runs", "verdict", "reason"),
    [
        ([PASSES, PASSES, FAILS, PASSES], Verdict.PASSED, "sandbox_pass_rate is 75.0% over 4 cases"),
        ([PASSES, FAILS], Verdict.FAILED, "is 50.0%"),
        ([PASSES, None], Verdict.PASSED, "1 more bears code and no tests"),
        ([PASSES, Skipped("no sandbox")], Verdict.INCONCLUSIVE, "1 score errored"),
        ([PASSES, Errored("SandboxBroken", "x")], Verdict.INCONCLUSIVE, "1 score errored"),
        ([None], Verdict.FAILED, "no case has a correctness.tests_pass score"),
    ],
)
def test_the_sandbox_pass_rate_is_over_the_runs_that_bear_code(runs, verdict, reason):
    scores = [each for trace, tests in enumerate(runs) for each in code_run(trace, tests)]
    scores.append(score(99, Scored(1.0, Label.PASS, "no code here")))
    (report,) = evaluate_assertions([parse_assertion("sandbox_pass_rate >= 75%")], scores).assertions
    assert report.verdict is verdict
    assert reason in report.reason


def test_without_code_the_sandbox_pass_rate_is_not_passed():
    (report,) = evaluate_assertions(
        [parse_assertion("sandbox_pass_rate >= 75%")], [score(1, PASSES)]
    ).assertions
    assert (report.verdict, report.reason) == (Verdict.FAILED, "there is no case that bears code to check")


def live_run(trace: int, *found: tuple[Layer, str, Outcome], has_code: bool = True) -> list[Score]:
    """A run out of a store, without a case."""
    code = [(Layer.CORRECTNESS, "compiles", PASSES)] if has_code else []
    return [
        replace(score(trace, outcome, name, part=part), layer=layer)
        for part, (layer, name, outcome) in enumerate([*code, *found])
    ]


AGREES = (Layer.EXECUTION, "reproduced", Scored(1.0, Label.PASS, "ended as on record"))
DIFFERS = (Layer.EXECUTION, "reproduced", Scored(0.0, Label.FAIL, "ended otherwise"))
PRINTS_OTHERS = (Layer.CORRECTNESS, "replay_agrees", Scored(0.0, Label.FAIL, "recorded '9', replayed '5'"))
NOT_COMPARABLE = (Layer.CORRECTNESS, "replay_agrees", Skipped("prints the time", Cause.NOT_COMPARABLE))
UNTRIED = (Layer.EXECUTION, "reproduced", Skipped("no tape", Cause.NOT_REPLAYED))
ENDED_WELL = (Layer.EXECUTION, "execution", Scored(1.0, Label.PASS, "all steps ended well"))
ENDED_BADLY = (Layer.EXECUTION, "execution", Scored(0.0, Label.FAIL, "step 1 raised KeyError"))
TESTED_WELL = (Layer.CORRECTNESS, "tests_passed", Scored(1.0, None, "", raw=8, unit="tests"))
TESTED_BADLY = (Layer.CORRECTNESS, "tests_passed", Scored(0.8, Label.FAIL, "", raw=8, unit="tests"))
EXIT_1 = (Layer.EXECUTION, "exit_code", Scored(0.0, Label.FAIL, "", raw=1))
STDERR = (Layer.EXECUTION, "stderr_class", Scored(0.0, None, "ImportError"))
SECONDS = (Layer.EXECUTION, "execution_seconds", Scored(0.9, None, "", raw=2.5, unit="s"))


@pytest.mark.parametrize(
    ("found", "state"),
    [
        ([AGREES, ENDED_WELL], CaseState.SATISFIED),
        ([AGREES, ENDED_BADLY], CaseState.VIOLATED),
        ([AGREES, DIFFERS, ENDED_WELL], CaseState.VIOLATED),
        ([AGREES, UNTRIED, ENDED_WELL], CaseState.SATISFIED),
        ([AGREES, PRINTS_OTHERS, ENDED_WELL], CaseState.VIOLATED),
        ([AGREES, NOT_COMPARABLE, ENDED_WELL], CaseState.SATISFIED),
        ([TESTED_WELL, PRINTS_OTHERS], CaseState.SATISFIED),
        ([UNTRIED, ENDED_WELL], None),
        ([ENDED_WELL], None),
        ([TESTED_WELL], CaseState.SATISFIED),
        ([TESTED_BADLY, AGREES, ENDED_WELL], CaseState.VIOLATED),
        ([TESTED_WELL, EXIT_1], CaseState.VIOLATED),
        ([STDERR, SECONDS], None),
    ],
)
def test_live_code_works_by_ones_own_harness_or_by_a_replay_that_agrees(found, state):
    (report,) = evaluate_assertions(
        [parse_assertion("sandbox_pass_rate >= 0.5")], live_run(1, *found)
    ).assertions
    assert [case.state for case in report.cases] == ([] if state is None else [state])
    expected = {CaseState.SATISFIED: Verdict.PASSED}.get(state, Verdict.FAILED)
    assert report.verdict is expected, report.reason


def test_a_report_says_by_what_code_was_tried_and_lists_the_facts_of_what_fails():
    scores = [
        *live_run(1, AGREES, ENDED_WELL),
        *live_run(2, TESTED_BADLY, EXIT_1, STDERR, SECONDS, has_code=False),
        *live_run(3, UNTRIED),
        *live_run(4, has_code=False),
    ]
    fields = ("exit_code", "stderr_class", "execution_seconds")
    found = evaluate_assertions([parse_assertion("sandbox_pass_rate >= 95%")], scores, failure_fields=fields)
    (report,) = found.assertions
    assert report.reason.startswith("sandbox_pass_rate is 50.0% over 2 cases with code, 95% interval ")
    assert "1 by your harness, 1 by replay; 1 more bears code and no tests" in report.reason
    (failing,) = found.to_json()["assertions"][0]["failing"]
    assert failing["failure_fields"] == {
        "exit_code": 1,
        "stderr_class": "ImportError",
        "execution_seconds": 2.5,
    }


def test_a_person_settles_how_code_ended():
    person = replace(
        score(1, Scored(0.0, Label.FAIL, "it deleted the wrong row"), "verdict"),
        layer=Layer.EXECUTION,
        evaluator="external.human",
    )
    scores = [*live_run(1, AGREES, ENDED_WELL), person]
    assert verdict("sandbox_pass_rate >= 0.5", *scores)[0] is Verdict.FAILED


def test_code_presence_is_compared_with_a_baseline():
    before = [each for trace in range(10) for each in live_run(trace)]
    now = [
        *before[:6],
        *(each for trace in range(6, 10) for each in live_run(trace, ENDED_WELL, has_code=False)),
    ]
    (report,) = evaluate_assertions(
        [parse_assertion("code_presence no_worse_than baseline by 5%")], now, before
    ).assertions
    assert report.verdict is Verdict.FAILED
    assert report.reason.startswith("code_presence is 60.0% over 10 cases")
    assert evaluate_assertions(
        [parse_assertion("code_presence no_worse_than baseline")], before, before
    ).passed
    none = live_run(1, ENDED_WELL, has_code=False)
    assert verdict("code_presence > 0", *none) == (
        Verdict.FAILED,
        "code_presence is 0.0% over 1 cases, 95% interval 0.0% to 79.3%",
    )
