"""Outputs whose columns only their edges tell, logs, and lines of a number and a name."""

from __future__ import annotations

import pytest

from spanproof.evaluators.layers.groundedness import Verdict, ground
from spanproof.evaluators.layers.groundedness.outputs.reading import read_outputs

REPORT = """              precision    recall  f1-score   support

           0       0.97      0.99      0.98      2841
           1       0.81      0.62      0.70       259

    accuracy                           0.96      3100
"""
YEARS = """                       2025      2024
Net sales           184,310   171,905
Operating loss       (2,118)   (7,940)
"""
PIVOT = """rating   bad  fair  good
branch
North     12    30    58
South     25    20    35
"""
LOG = """2026-08-21 23:58:02 INFO  backup started target=vault
2026-08-22 01:12:50 INFO  backup finished files=18244
2026-08-22 01:12:51 ERROR cleanup failed: access denied
"""
ACCESS = """10.0.0.9 - - [14/Mar/2026:08:12:44 +0000] "GET /a HTTP/1.1" 200 5120 0.084
10.0.0.9 - - [14/Mar/2026:08:12:45 +0000] "POST /a HTTP/1.1" 502 157 30.001
"""
SIZES = "4.0K\t./cfg\n128M\t./cache\n2.3G\t./models\n"


def values(text: str) -> dict[tuple[str, str], float]:
    """The numbers by the name of their row and their column."""
    facts = read_outputs([text]).facts
    rows = {fact.row: fact.string for fact in facts if fact.key == ("nam",)}
    return {
        (rows.get(fact.row) or "", fact.label.rpartition(".")[2]): fact.number
        for fact in facts
        if fact.number
    }


@pytest.mark.parametrize(
    ("text", "row", "column", "number"),
    [
        (REPORT, "accuracy", "f1-score", 0.96),
        (REPORT, "accuracy", "support", 3100),
        (YEARS, "Operating loss", "2024", -7940),
        (PIVOT, "South", "fair", 20),
        (SIZES, "./cache", "size", 128),
    ],
)
def test_a_cell_stands_under_its_heading(text, row, column, number):
    assert values(text)[row, column] == number


@pytest.mark.parametrize(
    ("text", "answer", "verdict"),
    [
        (REPORT, "Recall of class 1 is 0.62.", Verdict.GROUNDED),
        (REPORT, "Recall of class 1 is 0.81.", Verdict.UNCERTAIN),
        (LOG, "The backup finished at 1:12 am.", Verdict.GROUNDED),
        (LOG, "The backup started at 1:12 am.", Verdict.UNCERTAIN),
        (LOG, "The backup finished on 21 August.", Verdict.UNCERTAIN),
        (ACCESS, "The POST took 30 seconds.", Verdict.GROUNDED),
        (SIZES, "The models take 2.3 GB.", Verdict.GROUNDED),
        (SIZES, "The cache takes 2.3 GB.", Verdict.UNCERTAIN),
        ("Subtotal 68.00\nTotal due NOK 85.00", "The subtotal is 85.00.", Verdict.UNCERTAIN),
        ("3 to add, 2 to change, 1 to destroy.", "It adds 2 resources.", Verdict.UNCERTAIN),
    ],
)
def test_a_row_is_held_to_its_own_values(text, answer, verdict):
    assert ground([text], answer).verdict is verdict


def test_a_long_log_is_read_once():
    lines = "".join(
        f"2026-08-21 23:{n // 60 % 60:02}:{n % 60:02} INFO job done id={n}\n" for n in range(3000)
    )
    assert len(read_outputs([lines]).records[0].columns["id"]) == 3000
