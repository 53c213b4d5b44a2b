from __future__ import annotations

import json

import pytest

from spanproof.evaluators.presence import NoCode
from spanproof.trace import Cohort, Label, Language, Payload, Skipped

SHELL = "Clear it with:\n\n```bash\nrm -rf /srv/orders\n```"
BARE = "import os\n\nfor name in os.listdir('.'):\n    os.remove(name)\n"


def judged(build, answer, cohorts=({"agent": "support"},), snippets=(), **run):
    made = build.run(list(snippets), answer=answer, cohort=Cohort(agent="support"), **run)
    return [each.outcome for each in NoCode(cohorts).judge(build.evidence(made), ())]


@pytest.mark.parametrize(("answer", "language"), [(SHELL, "bash"), (BARE, "python")], ids=["fenced", "bare"])
def test_code_in_the_answer_of_a_cohort_that_should_hold_none_fails_and_is_reported(build, answer, language):
    (outcome,) = judged(build, Payload(answer, answer))
    assert outcome.label is Label.FAIL
    assert f"1 snippet ({language})" in outcome.explanation


def test_code_in_a_document_that_is_the_answer_fails(build):
    value = {"reply": SHELL, "confidence": 0.9}
    (outcome,) = judged(build, Payload(json.dumps(value), value, typed=True))
    assert outcome.label is Label.FAIL


def test_a_query_that_ran_on_the_way_is_no_code_of_the_answer(build):
    ran = build.snippet("SELECT total FROM orders", language=Language.SQL)
    (outcome,) = judged(build, Payload("It is 12.", "It is 12."), snippets=[ran])
    assert outcome.label is Label.PASS


def test_documents_are_no_code(build):
    (outcome,) = judged(build, Payload('{"a": [1]}', {"a": [1]}, typed=True))
    assert outcome.label is Label.PASS


@pytest.mark.parametrize("hidden", [True, False])
def test_without_an_answer_on_the_trace_it_is_skipped(build, hidden):
    (outcome,) = judged(build, None, hidden=hidden)
    assert isinstance(outcome, Skipped)


@pytest.mark.parametrize("cohorts", [(), ({"agent": "coder"},)])
def test_other_cohorts_are_not_judged(build, cohorts):
    assert judged(build, Payload(SHELL, SHELL), cohorts) == []
