"""Orders, places, "all", cells of other rows, counts of flags, matrices, currencies beside the amount."""

from __future__ import annotations

import pytest

from spanproof.evaluators.layers.groundedness import Verdict, ground

STORES = "city,revenue\nAarhus,22410\nMalmö,18950\nTartu,9875\nTampere,7320\n"
RACE = "Amara Diallo won the Harbour 10K in 33:41, ahead of Lucie Moreau (33:58) and Petra Novak (34:20)."
PODS = """\
NAME      READY  STATUS            RESTARTS
api       1/1    Running           0
worker    0/1    CrashLoopBackOff  17
cache     1/1    Running           2
"""
MARKS = """\
| student | maths | passed |
|---|---|---|
| Ines | 88 | yes |
| Tomas | 52 | yes |
| Bruna | 35 | no |
"""
MATRIX = """\
            price    rooms     dist
price  1.000000  0.71234 -0.48811
rooms  0.712340  1.00000 -0.10442
dist  -0.488110 -0.10442  1.00000
"""
FUND = '{"goal": 20000, "raised": 15000, "currency": "GBP"}'


@pytest.mark.parametrize(
    ("output", "answer", "verdict"),
    [
        (STORES, "Ranked by revenue: Aarhus first, then Malmö, Tartu and Tampere.", Verdict.GROUNDED),
        (STORES, "Ranked by revenue: Malmö first, then Aarhus, Tartu and Tampere.", Verdict.CONTRADICTED),
        (STORES, "Tampere came last in revenue.", Verdict.GROUNDED),
        (STORES, "Tartu came second in revenue.", Verdict.CONTRADICTED),
        (RACE, "Lucie Moreau came second.", Verdict.GROUNDED),
        (RACE, "Lucie Moreau won.", Verdict.CONTRADICTED),
        (RACE, "Amara Diallo won in 33:41.", Verdict.GROUNDED),
        (RACE, "Amara Diallo won in 33:58.", Verdict.CONTRADICTED),
        (PODS, "The worker pod is running.", Verdict.CONTRADICTED),
        (PODS, "The cache pod is running.", Verdict.GROUNDED),
        (PODS, "All pods are running.", Verdict.CONTRADICTED),
        ("3 passed, 1 failed in 2.0s", "All tests passed.", Verdict.CONTRADICTED),
        ("3 passed, 0 failed in 2.0s", "All tests passed.", Verdict.GROUNDED),
        (MARKS, "Two of the three students passed.", Verdict.GROUNDED),
        (MARKS, "Bruna passed.", Verdict.CONTRADICTED),
        (MARKS, "Ines scored 88 in maths; she passed.", Verdict.GROUNDED),
        (MATRIX, "Price correlates positively with rooms (r = 0.71).", Verdict.GROUNDED),
        (MATRIX, "Price and distance correlate with r = 0.71.", Verdict.CONTRADICTED),
        (FUND, "You have raised £15,000.", Verdict.GROUNDED),
        (FUND, "You have raised $15,000.", Verdict.CONTRADICTED),
        (STORES, "Malmö earned less than Aarhus: 18,950 versus 22,410.", Verdict.GROUNDED),
        (STORES, "Malmö earned more than Aarhus: 22,410 versus 18,950.", Verdict.CONTRADICTED),
    ],
)
def test_rows_and_their_order(output, answer, verdict):
    grounding = ground([output], answer)
    assert grounding.verdict is verdict, [(claim.text, claim.reason) for claim in grounding.claims]


def test_a_part_of_a_list_that_nothing_counts_is_left_open():
    flights = '[{"flight": "A", "stops": 0}, {"flight": "B", "stops": 1}, {"flight": "C", "stops": 0}]'
    assert ground([flights], "Two of the three flights are nonstop.").verdict is Verdict.UNCERTAIN
