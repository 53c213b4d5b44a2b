"""Orders, places, "all", cells of other rows, counts of flags, matrices, currencies beside the amount."""

from __future__ import annotations

from datetime import UTC, datetime

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


OPENS = "name,opens,closes\nLucca,17:30,23:00\nKaito,18:00,22:00\n"
CONTAINERS = """\
NAME     STATUS                    PORTS
web      Up 9 days                 80/tcp
worker   Exited (137) 4 hours ago
"""
TOWER = '[{"id": 1, "snippet": "The tower is 330 m tall."}]'
LOANS = "borrower,balance,months_left\nAmy,12400,62\nBen,8300,38\nCho,15950,88\n"
RAIN = "station     jan    feb    mar\nBergen  241.2  198.6  176.0\nOslo     49.8   35.1   47.3"
TABLE = "Pos  Team      P   Pts\n1    Brighton  12   27\n2    Everton   12   25\n3    Fulham    12   23"


@pytest.mark.parametrize(
    ("output", "answer", "verdict"),
    [
        (OPENS, "Lucca stays open until 11 pm.", Verdict.GROUNDED),
        (OPENS, "Lucca opens at 11 pm.", Verdict.CONTRADICTED),
        (LOANS, "Amy owes the most: $12,400.", Verdict.CONTRADICTED),
        (LOANS, "Cho owes the most: $15,950.", Verdict.GROUNDED),
        (RAIN, "Over the three months Oslo received 132.2 mm.", Verdict.GROUNDED),
        (RAIN, "Over the three months Oslo received 142.2 mm.", Verdict.CONTRADICTED),
        (TABLE, "Everton came second.", Verdict.GROUNDED),
        (TABLE, "Fulham is in second place.", Verdict.CONTRADICTED),
        ('{"median_response_min": 18}', "The median response time is 18 minutes.", Verdict.GROUNDED),
        ('{"median_response_min": 18}', "The median response time is 18 hours.", Verdict.CONTRADICTED),
        ('{"half": "1:38:20", "finish": "3:21:05"}', "He ran the second half in 1:42:45.", Verdict.GROUNDED),
        (CONTAINERS, "The worker exited with code 137.", Verdict.GROUNDED),
        (TOWER, "The tower is 330 metres tall.", Verdict.GROUNDED),
        (TOWER, "The tower is 330 feet tall.", Verdict.CONTRADICTED),
        ('{"shipping": 4.9, "total": 89.9}', "Without shipping you pay $85.", Verdict.GROUNDED),
    ],
)  # fmt: skip
def test_further_rows(output, answer, verdict):
    grounding = ground([output], answer)
    assert grounding.verdict is verdict, [(claim.text, claim.reason) for claim in grounding.claims]


def test_a_state_told_as_past_is_held_against_the_earlier_output():
    outputs = ['{"host": "n7", "status": "degraded"}', '{"host": "n7", "status": "healthy"}']
    assert ground(outputs, "n7 was degraded before and is healthy now.").verdict is Verdict.GROUNDED
    assert ground(outputs, "n7 is still degraded.").verdict is Verdict.CONTRADICTED


def test_what_something_is_compared_with_dates_nothing():
    output = "The reservoir stands at 81.4 %, down from 88.0 % a month ago. Dry until 20 August."
    now = datetime(2026, 8, 12, 12, tzinfo=UTC)
    assert ground([output], "It is 81.4% full, down from a month ago.", now=now).verdict is Verdict.GROUNDED
    assert ground([output], "The level rose from 81.4% to 88%.", now=now).verdict is Verdict.CONTRADICTED
