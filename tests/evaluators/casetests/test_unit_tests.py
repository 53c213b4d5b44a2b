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
        ("print(tidy([]) == [])", "no test that this runner collects"),
        ("", "no test that this runner collects"),
        ("def load_tests(loader, tests, pattern): return tests", "function load_tests (line 1)"),
        ("def check(candidate):\n    assert candidate([]) == []", "no entry_point"),
    ],
)
def test_tests_of_which_none_is_collected_are_unrun(build, jail, unit, named):
    found = report(build, jail, SORT, unit=unit)
    assert (found.results, found.unrun_cause) == ((), UnrunCause.NOT_COLLECTED)
    assert named in (found.unrun or "")


@pytest.mark.parametrize(
    ("unit", "names"),
    [
        (
            "import pytest\n@pytest.mark.parametrize('xs', [[], [1]])\ndef test_x(xs): assert tidy(xs) == xs",
            ("test_x[xs0]", "test_x[xs1]"),
        ),
        ("async def test_x(): assert tidy([1]) == [1]", ("test_x",)),
        ("class TestX:\n    def test_x(self): assert tidy([]) == []", ("TestX::test_x",)),
        (
            "import unittest\nclass T(unittest.TestCase):\n    def test_x(self): assert tidy([]) == []",
            ("T::test_x",),
        ),
        (
            "import pytest\n@pytest.fixture\ndef xs(tmp_path): return [1]\ndef test_x(xs): assert tidy(xs)",
            ("test_x",),
        ),
        (
            'def test_x():\n    """\n    >>> tidy([2, 1])\n    [1, 2]\n    """',
            ("test_x", "doctest of test_x"),
        ),
    ],
)
def test_tests_are_collected_as_people_write_them(build, jail, unit, names):
    found = report(build, jail, SORT, unit=unit + "\ndef test_last():\n    assert tidy([3]) == [4]\n")
    assert dict(found.results) == {"test_last": False, **dict.fromkeys(names, True)}, found
    assert found.apart


def test_a_skipped_test_is_reported_and_decides_nothing(build, jail):
    unit = (
        "import pytest\n@pytest.mark.skip('no such machine')\ndef test_x(): assert tidy([]) == [1]\n"
        "def test_y(): assert tidy([]) == []\n"
    )
    found = report(build, jail, SORT, unit=unit)
    assert (found.results, found.skipped) == ((("test_y", True),), ("test_x",))


def test_a_case_can_refuse_tests_that_share_the_interpreter(build, jail):
    unit = "class Fake(list): pass\ndef test_x():\n    assert tidy(Fake()) == []\n"
    shared = report(build, jail, SORT, unit=unit)
    assert (shared.results, shared.apart) == ((("test_x", True),), False)
    refused = report(build, jail, SORT, unit=unit, require_apart=True)
    assert (refused.results, refused.unrun_cause) == ((), UnrunCause.NOT_APART)


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
