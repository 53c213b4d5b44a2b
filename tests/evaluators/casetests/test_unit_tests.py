"""Tests that are code: assertions, functions, and the examples in docstrings."""

from __future__ import annotations

import pytest

from spanproof.evaluators.casetests import run_tests
from spanproof.evaluators.model import UnrunCause

from .cases import SORT, report, written


def test_unit_tests_count_each_and_name_the_first_that_fails(build, jail):
    unit = "def test_one():\n    assert tidy([1]) == [1]\ndef test_two():\n    assert tidy([2]) == [3]\n"
    found = report(build, jail, SORT, unit=unit + "assert tidy([]) == [0]\n")
    assert found.results == (("test_one", True), ("test_two", False), ("line 5", False))
    assert (found.passed, found.first_failure) == (1, "test_two")


def test_what_a_failed_assertion_says_is_never_reported(build, jail):
    assert report(build, jail, SORT, unit="assert tidy([]) == [4242], 'want 4242'").why is None


@pytest.mark.parametrize(
    ("unit", "named"),
    [
        ("def test_x(xs): assert xs", "function test_x with parameters (line 1)"),
        ("async def test_x(): assert True", "async function test_x (line 1)"),
        ("class TestX:\n    def test_x(self): assert True", "class TestX (line 1)"),
        ("import unittest\nclass T(unittest.TestCase):\n    def test_x(self): ...", "class T (line 2)"),
        ("import pytest\n@pytest.fixture\ndef order(): ...", "fixture order (line 3)"),
        ("print(tidy([]) == [])", "no test that this runner collects"),
        ("", "no test that this runner collects"),
        ("def check(candidate):\n    assert candidate([]) == []", "no entry_point"),
    ],
)
def test_a_test_that_would_never_run_makes_the_tests_unrun_even_beside_one_that_passes(
    build, jail, unit, named
):
    collected = "" if "no " in named else "\ndef test_collected():\n    assert True\n"
    found = report(build, jail, SORT, unit=unit + collected)
    assert (found.results, found.unrun_cause) == ((), UnrunCause.NOT_COLLECTED)
    assert f"{named}" in (found.unrun or "")
    assert "tests.yaml" in (found.unrun or "")


def test_the_examples_in_docstrings_are_tests(build, jail):
    wrong = SORT.replace("[1, 2]\n", "[2, 1]\n").replace("tidy", "untidy")
    found = report(build, jail, SORT + wrong, doctests=True)
    assert found.results == (("doctest of tidy", True), ("doctest of untidy", False))


def test_each_docstring_is_a_test_the_latest_of_a_name_alone(build, jail):
    first = 'def f():\n    """\n    >>> f()\n    1\n    """\n    return 1\n'
    then = (
        first.replace("1", "2")
        + 'class C:\n    def f(self):\n        """\n        >>> C().f()\n        4\n        """\n'
    )
    run = build.run([build.snippet(first), build.snippet(then)])
    found = run_tests(written(doctests=True), run, jail)
    assert found.results == (("doctest of f", True), ("doctest of C.f", False))
