"""What code prints because it is written there bears nothing out; what it works out does."""

from __future__ import annotations

import pytest

from spanproof.evaluators.layers import groundedness
from spanproof.reading.printed_literals import without_echoes
from spanproof.trace import Label, Payload


@pytest.mark.parametrize(
    ("source", "printed"),
    [
        ('print("$54.00")', "$54.00"),
        ("total = 54.5\nprint(total)", "54.5"),
        ('total = 54.5\nprint("total:", total)', "total: 54.5"),
        ('total = 54.5\nprint(f"total: {total}")', "total: 54.5"),
        ("print(-3)", "-3"),
    ],
)
def test_a_printed_literal_is_no_output(source, printed):
    assert without_echoes(printed, source) == ""


@pytest.mark.parametrize(
    ("source", "printed"),
    [
        ("print(refund())", "54"),
        ("total = 50\ntotal = total + 4\nprint(total)", "54"),
        ("cents = [3000, 2400]\nprint(sum(cents) / 100)", "54.0"),
        ('print("total:", refund())', "total: 54"),
        ("print(54", "54"),
        ("console.log(54)", "54"),
    ],
)
def test_what_is_worked_out_stays_an_output(source, printed):
    assert without_echoes(printed, source) == printed


def test_an_answer_is_not_borne_out_by_its_own_print(build, score_of):
    work = build.snippet("print(refund())", observation="4500")
    made_up = build.snippet('print("$54.00")', observation="$54.00")
    run = build.run([work, made_up], answer=Payload("The refund is $54.00.", "The refund is $54.00."))
    outcome = score_of(groundedness.evaluate_groundedness(build.evidence(run)), "groundedness")
    assert outcome.label is Label.FAIL
    assert "the code printed 4500 (step 1)" in outcome.explanation
