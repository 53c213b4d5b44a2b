"""A later call makes good a failure where it is for the same target."""

from __future__ import annotations

import pytest

from spanproof.evaluators.call_targets import is_other_choice, shares_target


@pytest.mark.parametrize(
    ("failed", "later", "task", "same"),
    [
        ({"order_id": "A-1"}, {"order_id": "A-1"}, "Cancel A-1.", True),
        ({"order_id": "A-1"}, {"order_id": "A-2"}, "Cancel A-1 and A-2.", False),
        ({"order_id": "A1"}, {"order_id": "A-1"}, "Cancel A-1.", True),
        ({"order_id": "1"}, {"order_id": "2"}, "Cancel the open orders.", False),
        (
            {"to": "ada@exmple.org", "body": "x"},
            {"to": "ada@example.org", "body": "x"},
            "Write to Ada.",
            True,
        ),
        ({"room": "204", "day": "Monday"}, {"room": "204", "day": "Tuesday"}, "Book room 204.", True),
        ({"ids": ["A-1", "A-2"]}, {"ids": ["A-1", "A-2", "A-3"]}, "Cancel them.", True),
        ({}, {}, "Restart it.", True),
    ],
)
def test_a_doing_is_made_good_by_one_for_its_target(failed, later, task, same):
    assert shares_target(failed, later, task, is_doing=True) is same


def test_a_look_up_may_be_made_another_way():
    assert shares_target({"city": "Wien"}, {"city": "Vienna"}, "How warm is it there?", is_doing=False)
    assert not shares_target(
        {"city": "Linz"}, {"city": "Graz"}, "How warm are Linz and Graz?", is_doing=False
    )


@pytest.mark.parametrize(
    ("later", "error", "is_choice"),
    [
        ({"room": "South", "day": "Monday", "for": "board"}, "North is already booked", True),
        ({"room": "South", "day": "Tuesday", "for": "board"}, "North is already booked", False),
        ({"room": "South", "day": "Monday", "for": "board"}, "North has no projector", False),
        ({"room": "South", "day": "Monday", "for": "board"}, "the calendar is busy", False),
    ],
)
def test_another_thing_is_chosen_where_the_first_is_taken(later, error, is_choice):
    failed = {"room": "North", "day": "Monday", "for": "board"}
    assert is_other_choice(failed, later, error) is is_choice
