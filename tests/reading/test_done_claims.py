"""What an answer says was done: negation, tense and persons are read."""

from __future__ import annotations

import pytest

from spanproof.reading.doings import (
    changes_something,
    is_refused,
    list_named_verbs,
    list_tool_verbs,
    load_lexicon,
    reports_already_done,
    reports_done,
)
from spanproof.reading.done_claims import list_done_claims, list_possible_verbs


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
        ("Both messages went out.", "message"),
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


@pytest.mark.parametrize(
    ("answer", "verb"),
    [
        ("Enrolment is complete.", "enrol"),
        ("The reimbursement went through.", "reimburse"),
        ("I have completed the cancellation.", "cancel"),
        ("Your request has been processed.", "process"),
    ],
)
def test_a_verb_of_any_doing_says_that_of_what_it_is_said_of(answer, verb):
    assert [claim.verb for claim in list_done_claims(answer)] == [verb]


@pytest.mark.parametrize("answer", ["The report is complete.", "The chapter is done."])
def test_a_thing_that_is_complete_is_no_doing(answer):
    assert not list_done_claims(answer)


@pytest.mark.parametrize(
    "answer",
    [
        "The card was debited twice.",
        "The invoice was already paid.",
        "The fee was refunded on 14 June.",
        "The branch was merged by Olu.",
        "Die Rechnung wurde bereits bezahlt.",
        "La factura ya fue pagada.",
    ],
)
def test_what_may_have_been_so_before_is_earlier(answer):
    assert [claim.is_earlier for claim in list_done_claims(answer)] == [True]


@pytest.mark.parametrize(
    "answer", ["I have refunded the fee.", "Your seat is booked for 14 June.", "Die Rechnung wurde bezahlt."]
)
def test_what_the_run_is_said_to_have_done_is_not_earlier(answer):
    assert [claim.is_earlier for claim in list_done_claims(answer)] == [False]


@pytest.mark.parametrize(
    ("answer", "verbs"),
    [
        ("Der Termin wurde verschoben und Herr Weiß benachrichtigt.", {"reschedule", "notify"}),
        ("Le dossier a été créé et la cliente prévenue.", {"create", "notify"}),
        ("Mesa reservada y aviso enviado.", {"book", "send"}),
        ("已退款。", {"refund"}),
        ("予約を変更しました。", {"update"}),
    ],
)
def test_forms_of_other_languages_have_their_verbs(answer, verbs):
    assert {claim.verb for claim in list_done_claims(answer)} == verbs


@pytest.mark.parametrize(
    ("tool", "verbs"),
    [
        ("refund_charge", {"refund"}),
        ("cancel_order", {"cancel"}),
        ("place_order", {"place", "order"}),
        ("create_booking", {"create", "book"}),
        ("cancel_and_refund_ticket", {"cancel", "refund"}),
        ("order_cancel", {"cancel"}),
        ("get_refund", set()),
    ],
)
def test_a_tool_does_what_its_verb_says_and_not_what_its_object_is_called(tool, verbs):
    assert list_tool_verbs(tool) == verbs


def test_a_result_reports_a_state():
    assert reports_done('{"status": "refunded"}', "refund")
    assert reports_done("reminder_sent: 3 May", "send")
    assert not reports_done('{"refunded": false}', "refund")
    assert not reports_done('{"status": "shipped"}', "cancel")


def test_an_error_says_that_it_is_done_already_where_the_state_stays():
    assert reports_already_done("subscription is already cancelled", {"cancel"})
    assert reports_already_done("a refund is already in progress", {"refund"})
    assert not reports_already_done("room 4 is already booked", {"book"})
    assert not reports_already_done("the order was already shipped", {"cancel"})
    assert not reports_already_done("permission denied", {"cancel"})


def test_the_verbs_that_an_answer_may_claim_are_known_without_a_parser():
    answer = "I have booked the room.\nThe invoice was not paid."
    assert list_possible_verbs(answer) >= {claim.verb for claim in list_done_claims(answer)}
    assert list_possible_verbs("The room costs 40 a night.") == set()
    assert list_named_verbs("Please cancel the booking") >= {"cancel", "book"}
