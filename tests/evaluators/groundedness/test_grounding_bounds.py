"""Hostile and huge outputs: work is bounded by structure, and what was not read is said."""

from __future__ import annotations

import json

import pytest

from spanproof.evaluators.layers.groundedness import Verdict, ground
from spanproof.evaluators.layers.groundedness.language.quantities import quantities_in
from spanproof.evaluators.layers.groundedness.outputs.literal import MAX_NODES, read_literal
from spanproof.evaluators.layers.groundedness.outputs.reading import MAX_CHARS, read_outputs
from spanproof.evaluators.layers.groundedness.outputs.tree import MAX_FACTS
from spanproof.evaluators.layers.groundedness.rules.derive.search import MAX_PAIRS, Search, pairs


def test_facts_are_bounded_and_the_cut_is_known():
    facts = read_outputs([json.dumps(list(range(MAX_FACTS * 2)))])
    assert len(facts.facts) <= MAX_FACTS + 1
    assert facts.cut


def test_a_number_missing_from_a_cut_output_is_uncertain_not_contradicted():
    output = json.dumps([{"n": number} for number in range(MAX_FACTS + 10)])
    assert ground([output], "The code is 987654.5.").verdict is Verdict.UNCERTAIN


def test_text_beyond_the_bound_is_not_read():
    facts = read_outputs(["x" * MAX_CHARS + "\nvalue: 5"])
    assert facts.cut
    assert not facts.numbers()


@pytest.mark.parametrize("opener", ["[", "{", "(", "a(", "[{'a':", '{"a":['])
def test_deep_nesting_is_read_without_recursion(opener):
    assert ground([opener * 50_000], "There are 3 items.").verdict in Verdict


def test_a_literal_with_too_many_parts_is_left_alone():
    assert read_literal("[" + "1," * (MAX_NODES + 1) + "]") is not None
    assert read_literal("[" * (MAX_NODES + 2)) is None


@pytest.mark.parametrize(
    "text",
    [
        "1" * 200_000,
        "1," * 100_000,
        "a=" * 100_000,
        "key: " * 50_000,
        "|" * 200_000,
        "-" * 200_000,
        " " * 200_000,
        "\\'" * 100_000,
        "'" * 100_001,
        "$" * 100_000,
        "is not " * 30_000,
        "from 1 to 2 " * 20_000,
    ],
    ids=lambda text: repr(text[:8]),
)
def test_repetition_in_outputs_and_answers_ends(text):
    ground([text], "The total is 5.")
    ground(['{"a": 5}'], text)


def test_the_pairs_of_a_derivation_are_bounded():
    output = json.dumps([{"a": number, "b": number * 7 % 1009} for number in range(2_000)])
    facts = read_outputs([output])
    (quantity,) = quantities_in("0.123")
    found = list(pairs(Search(quantity, frozenset(), frozenset(("a", "b")), facts)))
    assert 0 < len(found) <= MAX_PAIRS


def test_of_many_values_against_many_numbers_the_first_are_looked_at_and_the_rest_is_said():
    output = json.dumps([{"n": number} for number in range(0, 18_000, 2)])
    grounding = ground([output], ", ".join(str(number) for number in range(0, 400, 2)))
    assert grounding.verdict is Verdict.UNCERTAIN
    left_out = [claim for claim in grounding.claims if "not looked at" in claim.reason]
    assert 0 < len(left_out) < len(grounding.claims)
