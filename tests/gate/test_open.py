"""Open verdicts in the gate: neither passed nor failed, whatever is asserted of them."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from collections import Counter
from dataclasses import replace
from itertools import combinations_with_replacement

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st
from result_schemas import SARIF, check_junit

from spanproof.gate import (
    AssertionRefused,
    CaseState,
    CaseTrials,
    GateReport,
    OpenPolicy,
    Verdict,
    evaluate_assertions,
    iter_scores,
    parse_assertion,
)
from spanproof.gate.outputs import format_annotations, format_junit, format_markdown, format_sarif
from spanproof.gate.pass_rates import pass_at_k
from spanproof.trace import OPEN_VALUE, Cause, Cohort, Errored, Label, Layer, Outcome, Score, Scored, Skipped

OUTCOMES: dict[CaseState, Outcome] = {
    CaseState.SATISFIED: Scored(1.0, Label.PASS, "fine"),
    CaseState.VIOLATED: Scored(0.0, Label.FAIL, "another number"),
    CaseState.OPEN: Scored(OPEN_VALUE, None, "no source has 12.34", cause=Cause.VALUE_NOT_FOUND),
    CaseState.SKIPPED: Skipped("hidden", Cause.CONTENT_HIDDEN),
    CaseState.ERRORED: Errored("Broken", "oops"),
}
ALL = "groundedness.score == pass for all cases"


def score(
    case: int, outcome: Outcome, name: str = "groundedness", evaluator: str = "groundedness", part: int = 0
) -> Score:
    return Score(
        id=f"{case}-{name}-{part}",
        trace_id=f"{case:032x}",
        run_span_id="a" * 16,
        span_id="a" * 16,
        snippet_id=None,
        layer=Layer.GROUNDEDNESS,
        name=name,
        evaluator=evaluator,
        version="1",
        outcome=outcome,
        cohort=Cohort(agent="clerk"),
        span_time_ns=0,
        input_digest="",
    )


def gate(text: str, *outcomes: Outcome, policy: OpenPolicy = OpenPolicy.NOT_PASSED) -> GateReport:
    scores = [score(number, outcome) for number, outcome in enumerate(outcomes)]
    return evaluate_assertions([parse_assertion(text)], scores, open_policy=policy, least_judged=0.0)


def verdict(text: str, *outcomes: Outcome, policy: OpenPolicy = OpenPolicy.NOT_PASSED) -> Verdict:
    (report,) = gate(text, *outcomes, policy=policy).assertions
    return report.verdict


def settle(states: list[CaseState], policy: OpenPolicy) -> list[list[CaseState]]:
    """Return the states that the cases may turn out to have, where open ones count as the policy says."""
    if policy is OpenPolicy.IGNORE:
        return [[each for each in states if each is not CaseState.OPEN]]
    ways = {
        OpenPolicy.PASS: (CaseState.SATISFIED,),
        OpenPolicy.FAIL: (CaseState.VIOLATED,),
        OpenPolicy.NOT_PASSED: (CaseState.SATISFIED, CaseState.VIOLATED),
    }[policy]
    return [[way if each is CaseState.OPEN else each for each in states] for way in ways]


def expect_verdict(states: list[CaseState], policy: OpenPolicy, percent: int) -> Verdict:
    """Return the verdict by its definition: what holds however the cases without a verdict turn out."""

    def holds(found: list[CaseState]) -> bool:
        counts = Counter(found)
        judged = counts[CaseState.SATISFIED] + counts[CaseState.VIOLATED]
        return counts[CaseState.SATISFIED] * 100 >= percent * judged

    def turn(found: list[CaseState], way: CaseState) -> list[CaseState]:
        return [way if each is CaseState.ERRORED else each for each in found]

    settled = settle(states, policy)
    if not any(holds(turn(each, CaseState.SATISFIED)) for each in settled):
        return Verdict.FAILED
    has_errored = CaseState.ERRORED in states
    judged = [each for each in states if each in (CaseState.SATISFIED, CaseState.VIOLATED)]
    counts_open = policy in (OpenPolicy.PASS, OpenPolicy.FAIL) and CaseState.OPEN in states
    if has_errored or not (judged or counts_open) or not all(map(holds, settled)):
        return Verdict.INCONCLUSIVE
    return Verdict.PASSED


@pytest.mark.parametrize("policy", OpenPolicy)
@pytest.mark.parametrize("percent", [100, 50])
def test_the_verdict_over_every_combination_of_states_is_what_holds_however_open_ones_turn_out(
    policy, percent
):
    quantifier = "for all cases" if percent == 100 else f"for at_least {percent}% of cases"
    for size in range(1, 5):
        for states in combinations_with_replacement(OUTCOMES, size):
            outcomes = [OUTCOMES[each] for each in states]
            found = verdict(f"groundedness.score == pass {quantifier}", *outcomes, policy=policy)
            assert found is expect_verdict(list(states), policy, percent), (states, policy, found)
            if policy is OpenPolicy.NOT_PASSED and percent == 100 and CaseState.OPEN in states:
                assert found is not Verdict.PASSED


@given(
    st.lists(st.sampled_from([CaseState.SATISFIED, CaseState.VIOLATED, CaseState.OPEN]), min_size=1),
    st.sampled_from(OpenPolicy),
    st.integers(1, 99),
)
def test_a_fail_rate_is_decided_where_open_ones_cannot_change_it(states, policy, percent):
    report = gate(f"fail_rate(groundedness.score) <= {percent}%", *map(OUTCOMES.get, states), policy=policy)
    counted = [Counter(each) for each in settle(states, policy)]
    judged = Counter(states)
    if policy is OpenPolicy.NOT_PASSED:
        counted.append(Counter({each: n for each, n in judged.items() if each is not CaseState.OPEN}))
    if not all(counted):
        assert not report.passed
        return
    ends = {
        each[CaseState.VIOLATED] * 100 <= percent * (each[CaseState.VIOLATED] + each[CaseState.SATISFIED])
        for each in counted
    }
    wanted = Verdict.INCONCLUSIVE if len(ends) > 1 else Verdict.PASSED if ends.pop() else Verdict.FAILED
    assert report.assertions[0].verdict is wanted
    assert report.assertions[0].open == states.count(CaseState.OPEN)


@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=4),
    st.sampled_from(OpenPolicy),
    st.integers(1, 99),
)
def test_pass_at_k_is_decided_where_open_trials_cannot_change_it(counts, policy, percent):
    cases = [
        CaseTrials(str(number), passed + failed + unsettled, passed, open=unsettled)
        for number, (passed, failed, unsettled) in enumerate(counts)
    ]
    (report,) = evaluate_assertions(
        [parse_assertion(f"pass@1 >= {percent}%")], cases, open_policy=policy
    ).assertions
    ignored = policy is OpenPolicy.IGNORE
    if any(passed + failed + (0 if ignored else unsettled) == 0 for passed, failed, unsettled in counts):
        assert report.verdict is Verdict.FAILED
        return
    adds = {OpenPolicy.PASS: (1,), OpenPolicy.NOT_PASSED: (0, 1)}.get(policy, (0,))
    ends = set()
    for add in adds:
        rates = [
            pass_at_k(passed + failed + (0 if ignored else unsettled), passed + add * unsettled, 1)
            for passed, failed, unsettled in counts
        ]
        ends.add(sum(rates) / len(rates) >= percent / 100)
    if len(ends) > 1:
        assert report.verdict is Verdict.INCONCLUSIVE
    assert (report.verdict is Verdict.PASSED) <= (True in ends)
    assert (report.verdict is Verdict.FAILED) <= (False in ends)


def test_the_reason_counts_open_cases_and_names_the_gravest_cause():
    passes, unknown = OUTCOMES[CaseState.SATISFIED], OUTCOMES[CaseState.OPEN]
    bare = replace(unknown, cause=Cause.NO_OUTPUT)
    (report,) = gate(ALL, *[passes] * 6, bare, unknown, unknown).assertions
    assert (report.verdict, report.open, report.judged) == (Verdict.INCONCLUSIVE, 3, 6)
    assert report.reason == (
        "3 open: 2 answers hold a value that no source has; 6 of 9 cases satisfy it, 9 must;"
        " 66.7%, 95% interval 35.4% to 87.9%"
    )
    assert [case.state for case in report.failing] == [CaseState.OPEN] * 3


def test_what_fails_though_all_open_ones_passed_is_failed():
    (report,) = gate(ALL, OUTCOMES[CaseState.VIOLATED], OUTCOMES[CaseState.OPEN]).assertions
    assert report.verdict is Verdict.FAILED
    assert report.reason.endswith("; 1 open: 1 answer holds a value that no source has")
    assert [case.state for case in report.failing] == [CaseState.VIOLATED, CaseState.OPEN]


def test_a_share_has_room_for_what_is_open():
    nine, one = [OUTCOMES[CaseState.SATISFIED]] * 9, OUTCOMES[CaseState.OPEN]
    assert verdict("groundedness.score == pass for at_least 90% of cases", *nine, one) is Verdict.PASSED
    assert verdict("groundedness.score == pass for at_least 91% of cases", *nine, one) is (
        Verdict.INCONCLUSIVE
    )
    assert verdict("groundedness.score == pass for at_least 9 cases", *nine, one) is Verdict.PASSED


@pytest.mark.parametrize("function", ["avg", "p50", "max"])
def test_a_number_over_verdicts_leaves_open_ones_out_and_they_decide_nothing_by_it(function):
    one, many = OUTCOMES[CaseState.SATISFIED], [OUTCOMES[CaseState.OPEN]] * 9
    (report,) = gate(f"{function}(groundedness.score) >= 0.85", one, *many).assertions
    assert (report.value, report.total, report.open) == (1.0, 1, 9)
    assert "9 open: 9 answers hold a value that no source has" in report.reason
    # The largest stays 1, whatever the open ones are.
    wanted = Verdict.PASSED if function == "max" else Verdict.INCONCLUSIVE
    assert report.verdict is wanted
    ignoring = verdict(f"{function}(groundedness.score) >= 0.85", one, *many, policy=OpenPolicy.IGNORE)
    assert ignoring is Verdict.PASSED


def test_the_open_rate_is_over_verdicts_and_open_ones():
    outcomes = [OUTCOMES[each] for each in (CaseState.SATISFIED, CaseState.OPEN, CaseState.SKIPPED)]
    (report,) = gate("open_rate(groundedness.score) <= 40%", *outcomes).assertions
    assert (report.verdict, report.value, report.total, report.open) == (Verdict.FAILED, 0.5, 2, 1)
    assert verdict("open_rate(groundedness.score) <= 50%", *outcomes) is Verdict.PASSED
    for text in ("open_rate(trajectory.steps) <= 5%", "open_rate(trajectory.politeness) <= 5%"):
        with pytest.raises(AssertionRefused, match="never"):
            parse_assertion(text)


def compare(text: str, now: list[Outcome], before: list[Outcome]) -> Verdict:
    scores, old = ([score(n, each) for n, each in enumerate(outcomes)] for outcomes in (now, before))
    (report,) = evaluate_assertions([parse_assertion(text)], scores, old, least_judged=0.0).assertions
    return report.verdict


def test_a_layer_that_went_from_judged_to_open_is_not_silently_no_worse():
    passes, unknown = OUTCOMES[CaseState.SATISFIED], OUTCOMES[CaseState.OPEN]
    for text in (
        "fail_rate(groundedness.score) no_worse_than baseline",
        "avg(groundedness.score) no_worse_than baseline",
    ):
        assert compare(text, [passes, unknown], [passes, passes]) is Verdict.INCONCLUSIVE
        # What was open before may be open now.
        assert compare(text, [passes, unknown], [passes, unknown]) is Verdict.PASSED


def test_a_verdict_of_a_person_settles_the_layer():
    unknown, wrong = OUTCOMES[CaseState.OPEN], OUTCOMES[CaseState.VIOLATED]
    yes = score(0, Scored(1.0, Label.PASS, "looked up"), "verdict", "external.review")
    other = score(0, Scored(1.0, Label.PASS, "an evaluator's own"), "verdict", "mine")
    assert evaluate_assertions([parse_assertion(ALL)], [score(0, unknown), yes]).passed
    assert evaluate_assertions([parse_assertion(ALL)], [yes, score(0, wrong)]).passed
    assert evaluate_assertions(
        [parse_assertion("fail_rate(groundedness.score) <= 1%")], [score(0, unknown), yes]
    ).passed
    assert not evaluate_assertions([parse_assertion(ALL)], [score(0, unknown), other]).passed


def test_a_score_of_the_users_own_without_a_label_is_advice_and_not_open():
    advice = replace(score(0, Scored(0.9, None, "polite"), "politeness"), layer=Layer.TRAJECTORY)
    (report,) = evaluate_assertions(
        [parse_assertion("trajectory.politeness == pass for all cases")], [advice]
    ).assertions
    assert (report.open, report.cases[0].state) == (0, CaseState.SKIPPED)
    assert evaluate_assertions(
        [parse_assertion("trajectory.politeness >= 0.5 for all cases")], [advice]
    ).passed


def test_a_case_with_one_open_score_is_open_unless_those_are_left_out():
    compiles = [
        replace(score(0, OUTCOMES[each], "compiles", part=part), layer=Layer.CORRECTNESS)
        for part, each in enumerate((CaseState.SATISFIED, CaseState.OPEN))
    ]
    assertion = parse_assertion("correctness.compiles == pass for all cases")
    (report,) = evaluate_assertions([assertion], compiles).assertions
    assert report.cases[0].state is CaseState.OPEN
    assert evaluate_assertions([assertion], compiles, open_policy=OpenPolicy.IGNORE).passed


@pytest.mark.parametrize("policy", OpenPolicy)
def test_every_form_of_output_counts_what_is_open_and_states_what_it_counts_as(policy):
    report = gate(ALL, OUTCOMES[CaseState.SATISFIED], OUTCOMES[CaseState.OPEN], policy=policy)
    document = report.to_json()
    assert (document["open"], document["open_counts_as"]) == (1, policy.value)
    (assertion,) = document["assertions"]
    assert (assertion["open"], assertion["judged"], assertion["satisfied"]) == (1, 1, 1)
    causes = [each["cause"] for each in assertion["failing"]]
    is_against = policy in (OpenPolicy.NOT_PASSED, OpenPolicy.FAIL)
    assert causes == (["value-not-found"] if is_against else [])

    table = report.to_table()
    root = check_junit(format_junit(table))
    properties = {each.get("name"): each.get("value") for each in root.iter("property")}
    assert properties["open"] == "1"
    assert properties.get("open_remark", "") == policy.remark
    sarif = json.loads(format_sarif(table))
    jsonschema.validate(sarif, SARIF)
    assert sarif["runs"][0]["properties"] == {"open": 1, "openRemark": policy.remark}
    shown = policy.remark.partition(" (")[0] or "open counts as not passed"
    assert f"1 open; {shown}" in format_annotations(table)
    assert policy.remark.partition(" (")[0] in format_markdown(table)
    passed = {
        OpenPolicy.NOT_PASSED: Verdict.INCONCLUSIVE,
        OpenPolicy.PASS: Verdict.PASSED,
        OpenPolicy.FAIL: Verdict.FAILED,
        OpenPolicy.IGNORE: Verdict.PASSED,
    }
    assert report.assertions[0].verdict is passed[policy]
    green = ET.fromstring(format_junit(table)).find(".//testcase/error") is None
    assert green is (policy is not OpenPolicy.NOT_PASSED)


def test_open_trials_of_a_suite_run_are_read():
    verdicts = [{"verdict": each} for each in ("passed", "open", "open", "unjudged")]
    line = json.dumps({"cases": [{"id": "a", "trials": verdicts, "runs": [], "cases": []}]})
    assert list(iter_scores([line])) == [CaseTrials("a", 4, 1, 1, open=2)]
