"""What is said of a name is held against the row of that name: values, other names, states and flags."""

from __future__ import annotations

import pytest

from spanproof.evaluators.groundedness_rules import GroundednessRule as Rule
from spanproof.evaluators.layers.groundedness import Verdict, build_ledger

KILNS = """kiln,potter,glaze,peak_c,pieces,status,vented
K1,Amara Diallo,celadon,1235,48,cooling,yes
K2,Jonas Weber,tenmoku,1280,31,firing,no
K3,Mei Sato,shino,1218,57,idle,yes
"""
FERRIES = """Hvalur: seats 240, cars=36, fare 41.5
Sula: seats 310, cars=52, fare 38.0
Terna: seats 95, cars=12, fare 44.0"""
FUNDS = '[{"fund": "Alder", "change_pct": -4.1}, {"fund": "Birch", "change_pct": 2.5}]'
PODS = """$ kubectl get pods -n shop
NAME                         READY   STATUS             RESTARTS   AGE
cart-api-6d9f7c5b8-2xkq4     1/1     Running            0          6d
stock-sync-7f64b9d5c-kp2zl   0/1     CrashLoopBackOff   37         3h
mail-out-5c8d6f7799-t9vhs    1/1     Running            2          41m
3 pods in all"""
CLAIMS = "claim,amount,status\nC1,3200,paid\nC2,1850,denied\nC3,7400,open\nC4,5150,paid\nC5,2400,paid"
ORDER = '{"order": "B-7", "currency": "GBP", "items": [{"name": "Rug", "price": 84.5}]}'


@pytest.mark.parametrize(
    ("output", "answer"),
    [
        (KILNS, "K2 is fired by Amara Diallo."),
        (KILNS, "K1 reached 1280 degrees."),
        (KILNS, "Weber's kiln holds 57 pieces."),
        (KILNS, "K2 is vented."),
        (KILNS, "K1 is not vented."),
        (FERRIES, "Sula has 240 seats."),
        (FERRIES, "The Terna takes 95 passengers and 36 cars."),
        ('{"room": "12", "breakfast": true}', "Room 12: breakfast not included."),
        (KILNS, "- K1: 48 pieces in shino"),
    ],
)  # fmt: skip
def test_what_another_row_has_is_contradicted(output, answer):
    grounding = build_ledger([output], answer)
    assert grounding.verdict is Verdict.CONTRADICTED
    wrong = [claim for claim in grounding.claims if claim.verdict is Verdict.CONTRADICTED]
    assert all(claim.rule is not None and claim.evidence is not None for claim in wrong)


@pytest.mark.parametrize(
    ("output", "answer"),
    [
        (KILNS, "The tenmoku is in K3."),
        (KILNS, "Jonas Weber (K1) is the first on the list."),
        (KILNS, "K1, loaded by Mei Sato, is full."),
        (KILNS, "K3 is still firing."),
        (PODS, "stock-sync is running."),
        (FUNDS, "Alder rose by 4.1%."),
        (KILNS, "Two of the three kilns are firing."),
        (KILNS, "Of the three kilns two are firing."),
        (ORDER, "The rug costs $84.50."),
        ("12 files changed, 5412 insertions(+), 7930 deletions(-)", "There are 7930 insertions."),
    ],
)
def test_what_another_row_has_never_passes(output, answer):
    assert build_ledger([output], answer).verdict is not Verdict.GROUNDED


@pytest.mark.parametrize(
    ("output", "answer"),
    [
        (KILNS, "K1 and K2 reached 1235 and 1280 degrees."),
        (KILNS, "K2 is fired by Jonas Weber, K1 by Amara Diallo."),
        (KILNS, "K3 is hotter than nothing: K2 reached 1280 against its 1218."),
        (KILNS, "K1 peaked at 1235 degrees, and 31 pieces are in K2."),
        (KILNS, "K1 is cooling while K2 is firing."),
        (KILNS, "Should K3 be firing, K1 would wait."),
        (KILNS, "K2 is not vented; K1 and K3 are."),
        (KILNS, "With 57 pieces Mei Sato's kiln is fuller than that of Diallo."),
        (KILNS, "K2 has 17 pieces fewer than K1."),
        (FERRIES, "Hvalur and Sula have 240 and 310 seats, 52 cars fit on the latter."),
        (PODS, "cart-api and mail-out are running, and 37 restarts are those of stock-sync."),
        ('{"pr": 1873, "merged": false}', "PR 1873 can be merged."),
        (KILNS, "One of the three kilns is idle."),
        ('{"order": "B-7", "currency": "CAD", "total": 84.5}', "The order costs $84.50."),
        (CLAIMS, "The paid claims come to $10,750."),
    ],
)
def test_what_the_words_leave_open_is_not_contradicted(output, answer):
    assert build_ledger([output], answer).verdict is not Verdict.CONTRADICTED


@pytest.mark.parametrize(
    ("output", "answer"),
    [
        (KILNS, "K1 is vented, K2 is not vented."),
        (FERRIES, "Terna has 95 seats and takes 12 cars."),
        (PODS, "stock-sync has restarted 37 times."),
        ("=== 2 failed, 347 passed, 6 skipped in 13.4s ===", "Of 355 tests 2 failed."),
    ],
)
def test_what_the_row_has_is_not_contradicted(output, answer):
    assert all(claim.verdict is not Verdict.CONTRADICTED for claim in build_ledger([output], answer).claims)


def test_a_value_that_is_worked_out_of_another_row_is_not_borne_out():
    output = (
        '[{"van": "KX-4", "km": 88412, "due_km": 90000}, {"van": "KX-9", "km": 120355, "due_km": 120000}]'
    )
    wrong = build_ledger([output], "KX-4 is overdue by 355 km.")
    assert wrong.verdict is not Verdict.GROUNDED


def test_an_amount_in_another_unit_than_its_field_is_not_borne_out():
    output = "line,trips,avg_delay_s\nRed,1240,95\nBlue,1180,52"
    assert build_ledger([output], "Red is late by 95 minutes on average.").verdict is not Verdict.GROUNDED


def test_a_switched_off_rule_contradicts_no_name():
    claims = build_ledger([KILNS], "K2 is fired by Amara Diallo.", without_rules=[Rule.OTHER_RECORD]).claims
    assert all(claim.verdict is not Verdict.CONTRADICTED for claim in claims)
