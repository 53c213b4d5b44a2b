"""No rule is left unasked that had something to find: what a pattern matches says one of its cues."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from spanproof.evaluators.layers.groundedness.language import (
    answer,
    clock,
    dates,
    direction_words,
    durations,
    quantities,
    relative,
    spelled,
)
from spanproof.evaluators.layers.groundedness.language.status_words import state_words
from spanproof.evaluators.layers.groundedness.language.words import said_in
from spanproof.evaluators.layers.groundedness.rules import (
    absences,
    comparisons,
    names,
    quantifiers,
    ranking,
    ratios,
    superlatives,
)

CUED = {
    "direction": (direction_words.DIRECTION, direction_words.DIRECTION_CUES),
    "relative date": (relative._RELATIVE, relative._CUES),
    "spelled number": (spelled._SPELLED, spelled._CUES),
    "one and": (spelled._ONE_AND, spelled._ONE_CUES),
    "structure": (answer._STRUCTURAL_BEFORE, answer._STRUCTURES | {"#", "["}),
    "absence": (absences._ABSENT, absences._ABSENT_CUES),
    "nothing": (absences._NOTHING, absences._NOTHING_CUES),
    "than": (comparisons._THAN, frozenset(("than",))),
    "comparing verb": (comparisons._VERB, comparisons._VERBS),
    "all": (quantifiers._ALL, quantifiers._CUES),
    "order": (ranking._IN_ORDER, ranking._CUES),
    "place": (ranking._PLACE, ranking._CUES),
    "ratio": (ratios._RATIO, ratios._CUES),
    "superlative": (superlatives._CUE, superlatives._CUES),
    "state": (state_words({}).pattern, state_words({}).cues),
}


@pytest.mark.parametrize(("pattern", "cues"), CUED.values(), ids=CUED)
@settings(max_examples=30, suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_what_a_pattern_matches_says_one_of_its_cues(pattern, cues, data):
    text = data.draw(st.from_regex(pattern))
    assert not cues.isdisjoint(said_in(text) | set(text))


@given(st.from_regex(dates._DATE))
def test_every_date_is_looked_for(text):
    assert dates._may_hold_dates(text)


@given(st.from_regex(clock._TIME))
def test_every_time_is_looked_for(text):
    assert clock._CLOCK.search(text) or not clock._CLOCK_WORDS.isdisjoint(said_in(text))


@given(st.from_regex(durations._JOINT))
def test_every_duration_is_looked_for(text):
    assert durations._JOINED.search(text)


@given(st.from_regex(names._COPULA))
def test_every_name_that_is_said_of_something_is_looked_for(text):
    assert names._COPULA_AND_NAME.search(text)


PREFIXES = product(("", "("), ("", "-", "−"), ("", " "), ("", "US$", "€", "CHF "), ("", "-"))


@pytest.mark.parametrize("before", ["".join(parts) for parts in PREFIXES])
@pytest.mark.parametrize("digits", ["12", ".5"])
def test_an_amount_is_found_behind_all_that_may_stand_before_it(before, digits):
    found = [quantity.text.lstrip("(") for quantity in quantities.quantities_in(before + digits)]
    assert found
    assert found[0].endswith(digits)


def test_words_of_ones_own_are_cues_too():
    states = state_words({"shipped": ["on the truck"], "lost": ["✗"]})
    assert [match.group() for match in states.forms_in("It is on the truck.")] == ["on the truck"]
    assert [match.group() for match in states.forms_in("It is ✗.")] == ["✗"]
