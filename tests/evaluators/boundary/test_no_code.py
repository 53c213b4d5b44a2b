from __future__ import annotations

import pytest

from spanproof.evaluators.presence import NoCode
from spanproof.trace import Cohort, Label, Language, Skipped


def judged(build, snippets, cohorts=({"agent": "support"},), **run):
    made = build.run(snippets, cohort=Cohort(agent="support"), **run)
    return [each.outcome for each in NoCode(cohorts).judge(build.evidence(made), ())]


def test_code_in_a_cohort_that_should_hold_none_fails_and_is_reported(build):
    snippets = [build.snippet("rm -rf x", language=Language.BASH, executed=False), build.snippet("x = 1")]
    (outcome,) = judged(build, snippets)
    assert outcome.label is Label.FAIL
    assert "2 snippets (bash, python; 1 ran)" in outcome.explanation


def test_documents_are_no_code(build):
    (outcome,) = judged(build, [build.snippet('{"a": [1]}', language=Language.JSON, executed=False)])
    assert outcome.label is Label.PASS


def test_hidden_content_is_skipped(build):
    (outcome,) = judged(build, [], hidden=True)
    assert isinstance(outcome, Skipped)


@pytest.mark.parametrize("cohorts", [(), ({"agent": "coder"},)])
def test_other_cohorts_are_not_judged(build, cohorts):
    assert judged(build, [build.snippet("x = 1")], cohorts) == []
