"""pass@k and pass^k over the trials of a suite run."""

from __future__ import annotations

import json

import pytest

from spanproof.gate import (
    AssertionRefused,
    AssertionSyntaxError,
    NoBaseline,
    Verdict,
    evaluate_assertions,
    iter_scores,
    parse_assertion,
)
from spanproof.gate.trials import CaseTrials
from spanproof.trace import Cohort


def verdict(text: str, *cases: CaseTrials, baseline: list[CaseTrials] | None = None) -> tuple[Verdict, str]:
    (report,) = evaluate_assertions([parse_assertion(text)], cases, baseline).assertions
    return report.verdict, report.reason


def case(name: str, passed: int, trials: int = 5, unjudged: int = 0, agent: str = "") -> CaseTrials:
    return CaseTrials(name, trials, passed, unjudged, Cohort(agent=agent) if agent else None)


def test_pass_at_k_is_the_mean_chance_over_cases_with_its_interval():
    cases = [case("a", 5), case("b", 1), case("c", 0)]
    assert verdict("pass@5 >= 0.6", *cases) == (
        Verdict.PASSED,
        "pass@5 is 66.7% over 3 cases, 95% interval 20.8% to 93.9%",
    )
    assert verdict("pass^5 >= 0.6", *cases)[0] is Verdict.FAILED
    # 1 - C(4,2)/C(5,2) = 0.4 for the case that passed once.
    assert "is 46.7% over 3 cases" in verdict("pass@2 >= 0.6", *cases)[1]


def test_a_trial_without_a_verdict_leaves_open_only_what_it_could_turn():
    cases = [case("a", 5), case("b", 0, unjudged=1)]
    found, reason = verdict("pass@5 >= 80%", *cases)
    assert found is Verdict.INCONCLUSIVE
    assert "50.0% over 2 cases (1 trial without a verdict counted as failed)" in reason
    assert verdict("pass@5 >= 50%", *cases)[0] is Verdict.PASSED
    assert verdict("pass^5 >= 80%", *cases)[0] is Verdict.FAILED


def test_what_is_needed_is_said_where_there_are_too_few_trials():
    assert verdict("pass@5 >= 0.8") == (
        Verdict.FAILED,
        (
            "there are no trials: pass@5 is over an agent's trials of each case;"
            " `spanproof suite run SUITE --agent … --trials 5 --json` gives them"
        ),
    )
    found, reason = verdict("pass^5 >= 0.8", case("a", 3, trials=3), case("b", 5))
    assert found is Verdict.FAILED
    assert "needs 5 trials of every case, and 1 of 2 cases has fewer; `spanproof" in reason


def test_a_baseline_is_compared_by_the_same_estimate():
    text, now = "pass@1 no_worse_than baseline by 0.02", [case("a", 4), case("b", 4)]
    assert verdict(text, *now, baseline=[case("a", 4), case("b", 4)])[0] is Verdict.PASSED
    assert verdict(text, *now, baseline=[case("a", 5), case("b", 4)])[0] is Verdict.FAILED
    found, reason = verdict(text, *now, baseline=[])
    assert found is Verdict.INCONCLUSIVE
    assert "of the baseline: there are no trials" in reason
    with pytest.raises(NoBaseline):
        evaluate_assertions([parse_assertion(text)], now)


def test_conditions_choose_cases_by_their_runs_and_keep_those_that_left_none():
    cases = [case("a", 5, agent="shop"), case("b", 0, agent="other"), case("c", 0)]
    assert "over 2 cases" in verdict("pass@5 >= 0.8 where agent = 'shop'", *cases)[1]
    assert verdict("pass@5 >= 0.8 where agent = 'shop'", cases[1]) == (
        Verdict.FAILED,
        "there is no case to check with this cohort",
    )


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("pass@k >= 0.8", "a number of trials from 1, as in pass@5"),
        ("pass^0 >= 0.8", "a number of trials from 1"),
        ("pass@1.5 >= 0.8", "a number of trials from 1"),
        ("pass@5 0.8", "or no_worse_than baseline"),
        ("pass@5 >= 0.8 for all", "the end, or 'where …'"),
    ],
)
def test_a_form_that_is_none_is_answered_with_what_is_expected(text, words):
    with pytest.raises(AssertionSyntaxError) as caught:
        parse_assertion(text)
    assert words in str(caught.value)


@pytest.mark.parametrize("text", ["pass@5 >= 0", "pass^2 > 1", "pass@5 >= 80", "pass@5 >= 0.5 s"])
def test_a_bound_that_decides_nothing_is_refused(text):
    with pytest.raises(AssertionRefused):
        parse_assertion(text)


def test_the_trials_of_a_suite_run_are_read_with_the_cohort_of_its_runs():
    row = {"trace_id": "t", "runs": [{"span_id": "r", "cohort": {"agent": "shop"}, "scores": []}]}
    verdicts = ["passed", "failed", "unjudged"]
    line = {
        "cases": [
            {"id": "a", "trials": [{"verdict": each} for each in verdicts], "runs": [], "cases": [row]},
            {"id": "b", "trials": [], "runs": [], "cases": []},
        ]
    }
    assert list(iter_scores([json.dumps(line)])) == [
        CaseTrials("a", 3, 1, 1, Cohort(agent="shop")),
        CaseTrials("b", 0, 0),
    ]


def test_a_report_names_the_assertion_and_no_layer():
    report = evaluate_assertions([parse_assertion("pass@2 >= 0.8")], [case("a", 0)])
    (row,) = report.to_table().rows
    assert (row.name, row.layer, report.failed_layers) == ("pass@2 >= 0.8", "", ())
    (shown,) = report.to_json()["assertions"]
    assert (shown["score"], shown["layer"], shown["value"], shown["total"]) == ("pass@2", None, 0.0, 1)
