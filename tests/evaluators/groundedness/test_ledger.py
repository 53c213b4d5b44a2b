"""The ledger: a verdict for each sentence, and an answer that passes only where each sentence is bound as a whole."""  # noqa: E501

from __future__ import annotations

import json

import pytest

from spanproof.evaluators.layers.groundedness import Doing, SentenceVerdict, Verdict, build_ledger

CHECKED, OPEN, NONE = SentenceVerdict.CHECKED, SentenceVerdict.OPEN, SentenceVerdict.NO_ASSERTION
STORES = "store,feb,mar\nHarrow,61340.00,58902.75\nEly,39115.75,44630.00\nDeal,27480.20,27912.60"
BOOKING = '{"ref": "KP-4471", "status": "PENDING_PAYMENT", "total": 615.0}'
BOOK = '{"title": "Salt", "author": "Maeve Corrigan", "year": 1987}'


def verdicts(outputs, answer, task="", **known):
    return [sentence.verdict for sentence in build_ledger(outputs, answer, task, **known).sentences]


def test_each_sentence_has_a_verdict_of_its_own():
    answer = "Hi! Harrow had 58,902.75 in March. It opened in a former cinema. Shall I plot it?"
    assert verdicts([STORES], answer, "Which store had most in March?") == [NONE, CHECKED, OPEN, NONE]


def test_a_sentence_with_words_that_nothing_bears_out_is_open_and_names_them():
    (sentence,) = build_ledger(
        [STORES], "Ely had 44,630 in March without any returns.", "Sales in March?"
    ).sentences
    assert sentence.verdict is OPEN
    assert "without" in " ".join(part.text for part in sentence.unread)


def test_an_answer_is_grounded_only_where_each_sentence_is_checked():
    task = "What did the stores sell in March?"
    assert build_ledger([STORES], "Ely had 44,630 in March.", task).verdict is Verdict.GROUNDED
    assert (
        build_ledger([STORES], "Ely had 44,630 in March. Staff are happy.", task).verdict is Verdict.UNCERTAIN
    )


def test_an_identifier_alone_grounds_nothing():
    assert build_ledger([BOOKING], "Booking KP-4471 is lovely.", "My booking?").verdict is Verdict.UNCERTAIN
    assert (
        build_ledger([BOOKING], "Booking KP-4471 is confirmed (615.00).", "Is it?").verdict
        is not Verdict.GROUNDED
    )


def test_another_author_never_passes():
    assert (
        build_ledger([BOOK], "It was written by Eileen Gallagher in 1987.", "Who wrote it?").verdict
        is not Verdict.GROUNDED
    )


def test_a_value_of_another_field_never_passes():
    lake = '{"name": "Ondara", "max_length_km": 7.9, "max_depth_m": 76, "elevation_m": 612}'
    assert (
        build_ledger([lake], "The maximum depth is 612 m.", "How deep is the lake?").verdict
        is not Verdict.GROUNDED
    )
    assert (
        build_ledger([lake], "The maximum depth is 76 m.", "How deep is the lake?").verdict
        is Verdict.GROUNDED
    )


def test_a_change_has_the_sign_that_the_answer_says():
    cities = "city,2015,2025\nBenthe,210750,198400"
    assert build_ledger([cities], "Benthe grew by 5.9% since 2015.", "").verdict is not Verdict.GROUNDED


@pytest.mark.parametrize("answer", ["A majority (56%) disagree.", "In total 56% disagree."])
def test_shares_that_happen_to_add_up_bear_nothing_out(answer):
    poll = "Agree 31.0%\nNeutral 44.0%\nDisagree 25.0%"
    assert build_ledger([poll], answer, "How do people feel?").verdict is not Verdict.GROUNDED


def test_a_list_does_not_bear_out_its_own_count():
    stock = "name,stock,reorder_level\nbolts,120,250\nnuts,80,150\ngaskets,33,30"
    answer = "Three items are below their reorder level:\n- bolts (120)\n- nuts (80)\n- gaskets (33)"
    assert (
        build_ledger([stock], answer, "Which items are below their reorder level?").verdict
        is not Verdict.GROUNDED
    )


def test_a_table_of_the_answer_is_read_with_its_header():
    answer = "| Store | Feb | Mar | Change |\n|---|---|---|---|\n| Harrow | 61,340 | 58,903 | -2,437 |\n| Ely | 39,116 | 44,630 | +5,514 |"  # noqa: E501
    assert verdicts([STORES], answer, "Compare February and March.") == [CHECKED, CHECKED]
    wrong = answer.replace("-2,437", "+2,437")
    assert verdicts([STORES], wrong, "Compare February and March.")[0] is not CHECKED


def test_an_item_has_its_lead_as_subject():
    answer = "March:\n- **Harrow**: 58,902.75\n- **Ely**: 44,630"
    assert verdicts([STORES], answer, "Sales in March?")[-2:] == [CHECKED, CHECKED]
    swapped = "March:\n- **Harrow**: 44,630\n- **Ely**: 58,902.75"
    assert CHECKED not in verdicts([STORES], swapped, "Sales in March?")[-2:]


def test_a_doing_is_bound_to_a_call_that_succeeded():
    result = '{"refund_id": "rf_55", "amount": 79.9}'
    done = Doing("create_refund", '{"order": 88213}', succeeded=True, output=0, result=result)
    answer = "I refunded 79.90."
    assert build_ledger([result], answer, "Refund the blender.", doings=[done]).verdict is Verdict.GROUNDED
    failed = Doing(
        "send_email", '{"to": "m@example.org"}', succeeded=False, output=1, result='{"error": "full"}'
    )
    outputs = [result, '{"error": "full"}']
    said = "I emailed the label."
    assert (
        build_ledger(outputs, said, "Send the label.", doings=[done, failed]).verdict is Verdict.CONTRADICTED
    )


def test_marks_of_markdown_move_no_place():
    answer = "## Result\n- **Ely** had `44,630` in *March*"
    ledger = build_ledger([STORES], answer, "Sales in March?")
    assert all(answer[claim.start : claim.end].strip("*`") == claim.text for claim in ledger.claims)


def test_ties_and_shares_are_counted_from_the_ledger():
    ledger = build_ledger([STORES], "Ely had 44,630 in March. Staff are happy.", "Sales in March?")
    assert ledger.facts[0] == ledger.facts[1] > 0
    assert ledger.read == (1, 2)


def test_prose_that_a_source_says_in_the_same_words_is_checked():
    text = "The library closes at 18:00 on weekdays. Members may borrow twelve books. No fines are charged."
    assert build_ledger([text], "Members may borrow twelve books.", "").verdict is Verdict.GROUNDED
    assert build_ledger([text], "Members may not borrow twelve books.", "").verdict is not Verdict.GROUNDED


def test_a_large_answer_is_read_within_bounds():
    ledger = build_ledger([json.dumps({"a": 1})], "Word " * 10_000, "")
    assert ledger.verdict is Verdict.UNCERTAIN
