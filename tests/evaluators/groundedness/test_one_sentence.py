"""Answers of one sentence over a small output: a right one passes, its wrong twin does not."""

from __future__ import annotations

import pytest

from spanproof.evaluators.layers.groundedness import Verdict, ground

BALANCE = '{"balance_cents": 123450, "currency": "USD"}'
TESTS = "118 passed, 2 failed in 3.21s"
REFUND = '{"refunded": true, "amount": 25}'
MEAN = "mean: 12.3456"
RATE = "100 USD = 92.15 EUR"
MATCH = "home: Lions 2\naway: Bears 3"
USERS = "active: 12\ninactive: 30"
HOTEL = '{"hotel": "Lux", "rating": 4.2, "price": 180}'


@pytest.mark.parametrize(
    ("task", "output", "right", "wrong"),
    [
        ("Balance?", BALANCE, "Your balance is $1,234.50.", "Your balance is €1,234.50."),
        ("How many failed?", TESTS, "118 tests passed and 2 failed.", "118 of 118 tests passed."),
        ("Refund", REFUND, "I've refunded $25.", "I will refund $25."),
        ("Refund", REFUND, "I've refunded $25.", "I've charged $25."),
        ("Refund", REFUND, "I've refunded $25.", "I've refunded the remaining $25."),
        ("Mean", MEAN, "The mean is approximately 12.35.", "The mean is exactly 12.35."),
        ("Mean", MEAN, "The mean is approximately 12.35.", "The mean is over 12.35."),
        ("Mean", MEAN, "The mean is approximately 12.35.", "The median is approximately 12.35."),
        ("Convert", RATE, "$100 is about €92.", "$100 is more than €92.15."),
        ("Is 97 prime?", "is_prime(97) = True", "Yes, 97 is prime.", "No, 97 is prime."),
    ],
)  # fmt: skip
def test_the_right_answer_passes_and_its_twin_does_not(task, output, right, wrong):
    assert ground([output], right, task).verdict is Verdict.GROUNDED
    assert ground([output], wrong, task).verdict is not Verdict.GROUNDED


@pytest.mark.parametrize(
    ("task", "output", "wrong"),
    [
        ("Prime?", "is_prime(97) = False", "Yes, 97 is a prime number."),
        ("Who won?", MATCH, "Lions 3, Bears 2."),
        ("Count users", USERS, "There are 30 users."),
        ("Count users", "active: 12", "12 new users are active."),
        ("Hotel", HOTEL, "Lux has 180 rooms and a rating of 4.2."),
        ("Votes", "yes 120\nno 80", "120 voted against."),
        ("What is the total revenue?", "1250000", "The total profit is 1,250,000."),
        ("Delete old logs", "removed 14 files", "I removed 14 directories."),
        ("Delete old logs", "would remove 14 files (dry run)", "I removed 14 files."),
        ("Disk", "used 80%", "Usage exceeded 80%."),
        ("Refund", '{"refunded": true, "refund": 40}', "40% of the refund was fully paid."),
    ],
)  # fmt: skip
def test_what_a_sentence_adds_to_a_value_keeps_it_open(task, output, wrong):
    assert ground([output], wrong, task).verdict is not Verdict.GROUNDED
