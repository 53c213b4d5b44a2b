"""A run that gave nothing: what is said of it honestly is checked, and no more than that."""

from __future__ import annotations

import pytest

from spanproof.evaluators.layers.groundedness import Verdict, build_ledger

MISSING_TABLE = "(sqlite3.OperationalError) no such table: pilots\n[SQL: SELECT COUNT(*) FROM pilots]"


@pytest.mark.parametrize(
    ("output", "task", "answer"),
    [
        ("[]", "Which parcels are there for Graz?", "There are none for Graz at the moment."),
        (MISSING_TABLE, "How many pilots are on duty?", "I could not find out how many pilots are on duty."),
        (
            '{"status": 404, "title": "Not Found", "detail": "berth B9 is not known"}',
            "Which ship lies at berth B9?",
            "Berth B9 is not known.",
        ),
    ],
)
def test_a_failure_or_an_empty_result_that_is_reported_is_checked(output, task, answer):
    assert build_ledger([output], answer, task).verdict is Verdict.GROUNDED


@pytest.mark.parametrize(
    ("output", "task", "answer"),
    [
        # A look-up that failed does not show that there is nothing.
        (MISSING_TABLE, "How many pilots are on duty?", "There are no pilots on duty."),
        # The result is empty for the city of the call, and says nothing of another one.
        ("[]", "Which parcels are there for Graz?", "There are none for Linz at the moment."),
        ('[{"parcel": "P-1"}]', "Which parcels are there for Graz?", "There are none for Graz."),
    ],
)
def test_nothing_more_is_checked_than_the_run_shows(output, task, answer):
    assert build_ledger([output], answer, task).verdict is not Verdict.GROUNDED
