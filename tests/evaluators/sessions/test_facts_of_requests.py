"""Which particulars of a text must survive a hand-over."""

from __future__ import annotations

import pytest

from spanproof.evaluators.sessions.facts import format_shape, is_identifier, parse_facts


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("What is the refund of order A-17?", ["a-17"]),
        ("Überweise 1.200,50 an mara@example.org bis 2026-04-01.", ["mara@example.org", "2026-04-01"]),
        ("Read `shop/orders.csv`, then report $1,200.50.", ["shop/orders.csv", "1200.5"]),
        ("Give me the 3 largest of 250", ["250"]),
        ("Hello, how are you?", []),
    ],
)
def test_facts_are_found_by_their_form(text, facts):
    found = parse_facts(text)
    assert set(facts) <= set(found)
    if not facts:
        assert not found


def test_identifiers_of_one_form_can_stand_for_each_other():
    assert format_shape("a-17") == format_shape("b-204") != format_shape("a17")
    assert is_identifier("a-17")
    assert not is_identifier("2026-04-01")
