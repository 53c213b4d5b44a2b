"""Properties: tried on inputs of their shape, ours or Hypothesis's, and falsified by one that is reported."""

from __future__ import annotations

import re

import pytest

from spanproof.evaluators.casetests.inputs import build_inputs

from .cases import SORT, report, written

XS = {"xs": {"kind": "list", "items": {"kind": "integer", "min": 0, "max": 1}}}


def test_properties_are_tried_on_inputs_of_their_shape(build, jail):
    xs = {"xs": {"kind": "list", "items": {"kind": "integer", "min": -5, "max": 5}}}
    properties = [
        {"name": "twice is once", "given": xs, "holds": "tidy(tidy(xs)) == tidy(xs)"},
        {"name": "as long", "given": xs, "holds": "len(tidy(xs)) == len(xs)"},
        {"name": "short", "given": xs, "where": "len(xs) < 2", "holds": "len(tidy(xs)) == len(xs)"},
    ]
    found = report(build, jail, SORT, properties=properties)
    assert found.results == (("twice is once", True), ("as long", False), ("short", True))


def test_inputs_are_the_same_for_the_same_seed_and_start_small():
    tests = written(
        properties=[
            {
                "name": "p",
                "given": {
                    "n": {"kind": "integer", "min": 3, "max": 90},
                    "s": {"kind": "text", "max_size": 30},
                    "x": {"kind": "number", "min": -1, "max": 1},
                    "o": {"kind": "object", "fields": {"b": {"kind": "boolean"}}},
                    "c": {"kind": "one_of", "values": ["a", None]},
                },
                "holds": "True",
            }
        ]
    )
    given = tests.properties[0].given
    drawn = build_inputs(given, 200, 1)
    assert drawn == build_inputs(given, 200, 1) != build_inputs(given, 200, 2)
    assert (drawn[0]["n"], drawn[0]["s"], drawn[0]["x"]) == (3, "", 0.0)
    assert all(3 <= each["n"] <= 90 and len(each["s"]) <= 30 and -1 <= each["x"] <= 1 for each in drawn)
    assert max(each["n"] for each in drawn) > 60


@pytest.mark.parametrize(
    ("holds", "why"),
    [
        ("len(tidy(xs)) == len(xs)", r"falsified by xs=\[(0, 0|1, 1)(, [01])*\]"),
        ("xs[0] >= 0", r"falsified by xs=\[\]: IndexError"),
    ],
)
def test_inputs_that_falsify_a_property_are_reported(build, jail, holds, why):
    found = report(build, jail, SORT, properties=[{"name": "p", "given": XS, "holds": holds}])
    assert found.results == (("p", False),)
    assert re.fullmatch(why, found.why or "")


HYPOTHESIS = """
from hypothesis import given, settings, strategies as st

@given(st.lists(st.integers()))
def test_twice_is_once(xs):
    assert tidy(tidy(xs)) == tidy(xs)

@given(xs=st.lists(st.integers()))
@settings(max_examples=200)
def test_as_long(xs):
    assert len(tidy(xs)) == len(xs)
"""


def test_properties_written_for_hypothesis_are_tried_and_their_falsifying_inputs_reported(build, jail):
    found = report(build, jail, SORT, unit=HYPOTHESIS)
    assert (found.unrun, found.results) == (None, (("test_twice_is_once", True), ("test_as_long", False)))
    assert found.why == "falsified by xs=[0, 0]"
    assert report(build, jail, SORT, unit=HYPOTHESIS) == found


def test_a_property_by_hypothesis_that_never_ends_is_stopped_and_says_so(build, jail):
    slow = "def tidy(xs):\n    while xs: pass\n    return xs\n"
    found = report(build, jail, slow, unit=HYPOTHESIS, timeout_s=8)
    assert (found.passed, found.first_failure, found.why) == (0, "test_twice_is_once", "timeout")
