"""What an answer says was done: negation, tense and persons are read."""

from __future__ import annotations

import pytest

from spanproof.reading.doings import changes_something, is_refused, load_lexicon
from spanproof.reading.done_claims import list_done_claims


@pytest.mark.parametrize(
    ("answer", "verb"),
    [
        ("I have refunded order 4.", "refund"),
        ("The booking was cancelled.", "cancel"),
        ("Your seat is booked.", "book"),
        ("Unlocked the account.", "unlock"),
        ("The student is now enrolled in Algebra.", "enrol"),
        ("The parcel has been shipped.", "ship"),
        ("The patient was admitted to ward 4.", "admit"),
        ("Ticket 88 has been escalated.", "escalate"),
        ("The visit was rescheduled to Monday.", "reschedule"),
        ("I successfully provisioned the server.", "provision"),
        ("Everyone has been notified.", "notify"),
        ("- **Order 4**: cancelled", "cancel"),
        ("Done.", "do"),
        ("I have taken care of it.", "do"),
        ("Both messages went out.", "do"),
    ],
)
def test_a_doing_that_is_said_is_a_claim(answer, verb):
    assert verb in [claim.verb for claim in list_done_claims(answer)]


@pytest.mark.parametrize(
    "answer",
    [
        "I have not refunded the order.",
        "I will refund it tomorrow.",
        "It could not be refunded.",
        "I was unable to get it refunded.",
        "Once it is shipped, you get a message.",
        "No refunds were issued.",
        "None of the invoices were sent.",
        "Would you like it cancelled?",
        "The customer cancelled the order in May.",
        "The orders that you cancelled are listed below.",
        "I tried to cancel it, but that failed.",
        "Die Bestellung wurde nicht storniert.",
        "La commande n'a pas été annulée.",
        "El pedido no fue cancelado.",
        "订单没有取消。",
        "注文はキャンセルできませんでした。",
    ],
)
def test_what_is_denied_put_off_or_done_by_others_is_none(answer):
    assert not list_done_claims(answer)


@pytest.mark.parametrize(
    "answer",
    [
        "Die Bestellung wurde storniert.",
        "La commande a été annulée.",
        "El pedido fue cancelado.",
        "已为您取消订单。",
        "注文をキャンセルしました。",
    ],
)
def test_other_languages_have_a_small_lexicon(answer):
    assert list_done_claims(answer)


def test_a_claim_says_of_how_many_it_is():
    assert [claim.count for claim in list_done_claims("Two of the three messages were delivered.")] == [2]
    assert [claim.count for claim in list_done_claims("Both orders were cancelled.")] == [2]
    assert list_done_claims("All orders were cancelled.")[0].covers_all
    assert not list_done_claims("All orders except A-3 were cancelled.")[0].covers_all


@pytest.mark.parametrize("tool", ["cancel_order", "sendEmail", "mcp__shop__refund", "orders.ship_pallet"])
def test_a_tool_that_begins_with_a_doing_changes_something(tool):
    assert changes_something(tool)


@pytest.mark.parametrize(
    "tool", ["get_order", "run_sql", "check_status", "order", "search", "generate_report"]
)
def test_a_look_up_changes_nothing(tool):
    assert not changes_something(tool)


def test_a_result_denies_the_doing_it_names():
    assert is_refused("book_room", {"reserved": False, "room": 4})
    assert not is_refused("create_issue", {"closed": False})
    assert is_refused("send_form", {"status": "bounced"})
    assert not is_refused("set_status", {"status": "rejected"}, ["rejected"])


def test_verbs_of_one_family_say_the_same_doing():
    lexicon = load_lexicon()
    assert lexicon.are_related("reimburse", {"refund"})
    assert lexicon.are_related("complete", {"refund"})
    assert not lexicon.are_related("refund", {"ship"})
