"""Code that changes an argument it is given: reported, and a failure where the case says so."""

from __future__ import annotations

import pytest

from spanproof.evaluators.casetests import TestsError

from .cases import SORT, report, written


def test_a_function_that_changes_its_argument_is_reported_and_fails_nothing(build, jail):
    source = "def f(xs):\n    xs.sort()\n    return xs[0]\n"
    pairs = [{"name": "sorts", "args": [[2, 1]], "result": 1}, {"name": "sorted", "args": [[1]], "result": 1}]
    found = report(build, jail, source, entry_point="f", pairs=pairs)
    assert (found.passed, found.changed_inputs) == (2, ("sorts",))


@pytest.mark.parametrize(
    ("source", "pair"),
    [
        ("def f(xs):\n    xs.sort()\n    return 1\n", {"kwargs": {"xs": [2, 1]}, "result": 1}),
        ("def f(xs):\n    xs.clear()\n    raise ValueError\n", {"args": [[2, 1]], "raises": "ValueError"}),
        ("def f(d):\n    d['a'].append(1)\n    return 1\n", {"args": [{"a": []}], "result": 1}),
    ],
)
def test_a_changed_argument_is_seen_by_keyword_deep_inside_and_behind_an_exception(build, jail, source, pair):
    found = report(build, jail, source, entry_point="f", pairs=[pair])
    assert (found.passed, found.changed_inputs) == (1, ("pair 1",))


def test_a_case_may_demand_that_arguments_stay_as_they_are(build, jail):
    source = "def f(xs):\n    if len(xs) > 1: xs.sort()\n    return xs[0]\n"
    pairs = [{"args": [[1]], "result": 1}, {"args": [[2, 1]], "result": 1}, {"args": [[3, 2]], "result": 3}]
    xs = {"xs": {"kind": "list", "items": {"kind": "integer"}, "min_size": 1}}
    least = {"name": "least", "given": xs, "holds": "f(xs) == min(xs)"}
    found = report(
        build, jail, source, entry_point="f", inputs_unchanged=True, pairs=pairs, properties=[least]
    )
    assert found.results == (("pair 1", True), ("pair 2", False), ("pair 3", False), ("least", False))
    assert found.changed_inputs == ("pair 2", "pair 3", "least")
    assert found.why == "it changes an argument it is given"
    kept = report(build, jail, SORT, entry_point="tidy", inputs_unchanged=True, properties=[
        {"name": "twice is once", "given": xs, "holds": "tidy(tidy(xs)) == tidy(xs)"}
    ])  # fmt: skip
    assert (kept.results, kept.changed_inputs) == ((("twice is once", True),), ())


def test_what_changes_the_inputs_of_a_property_is_reported_with_them_as_they_were_given(build, jail):
    source = "def f(xs):\n    xs.append(0)\n    return True\n"
    xs = {"xs": {"kind": "list", "items": {"kind": "integer"}}}
    found = report(
        build, jail, source, inputs_unchanged=True, properties=[{"name": "p", "given": xs, "holds": "f(xs)"}]
    )
    assert found.why == "falsified by xs=[]: it changes an argument it is given"


def test_a_demand_without_a_call_to_hold_it_against_is_reported(tmp_path):
    with pytest.raises(
        TestsError, match="inputs_unchanged holds for pairs with arguments and for properties"
    ):
        written(inputs_unchanged=True, unit="assert True")
