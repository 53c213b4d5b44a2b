"""Which code of a run is tested, what it finds when it runs, and when it cannot be."""

from __future__ import annotations

import re

import pytest

from spanproof.evaluators.casetests import run_tests
from spanproof.sandbox import Execution, FailureClass
from spanproof.sandbox.backends.scripted import ScriptedSandbox
from spanproof.trace import Language

from .cases import SORT, report, written


def test_steps_share_their_names_tools_answer_from_the_record_and_a_mended_failure_is_passed_over(
    build, jail
):
    call = build.call("price_of", 4.5, "tea")
    first = build.snippet("price = price_of('tea')\n", tape=(call,))
    failed = build.snippet("price / 0", error=build.error("ZeroDivisionError", "division by zero"))
    last = build.snippet("def total(n): return price * n\nfinal_answer(total(2))")
    run = build.run([first, failed, last])
    found = run_tests(written(pairs=[{"call": "total", "args": [2], "result": 9}]), run, jail)
    assert (found.unrun, found.passed) == (None, 1)


def test_a_tool_answers_a_test_as_it_answers_a_replay(build, jail):
    recorded = (
        build.call("price_of", 1, item="tea", unit="g"),
        build.call("price_of", 2, item="tea", unit="g"),
        build.call("price_of", 3, item="g", unit="tea"),
    )
    source = "def asked(*args, **kwargs): return price_of(*args, **kwargs)"
    run = build.run([build.snippet(source, tape=recorded)])
    unit = (
        "assert asked('tea', 'g') == 1\n"
        "assert asked(unit='g', item='tea') == 2\n"
        "assert asked('g', 'tea') == 3\n"
    )
    assert run_tests(written(unit=unit), run, jail).results == (
        ("line 1", True),
        ("line 2", True),
        ("line 3", True),
    )
    used_up = run_tests(written(unit=unit + "asked('tea', 'g')"), run, jail)
    assert "no further call price_of" in (used_up.unrun or "")


def test_proposed_code_is_tested_where_none_ran(build, jail):
    run = build.run([build.snippet("nonsense(", executed=False), build.snippet(SORT, executed=False)])
    assert run_tests(written(unit="assert tidy([1]) == [1]"), run, jail).passed == 1
    chosen = run_tests(written(unit="assert tidy([1]) == [1]", snippet=1), run, jail)
    assert chosen.results == (("line 1", False),)


@pytest.mark.parametrize(
    ("source", "fields", "document", "why"),
    [
        ("import not_in_any_runtime", {}, {}, "does not have what the code needs"),
        ("price_of('tea', 'gold')", {}, {}, "calls a tool the record has no answer for"),
        ("x = 1", {"truncated": True}, {}, "cut"),
        ("SELECT 1", {"language": Language.SQL}, {}, "no Python"),
        ("x = 1", {}, {"snippet": 3}, "the run has 1"),
    ],
)
def test_tests_that_cannot_be_run_are_no_failure_of_the_code(build, jail, source, fields, document, why):
    tape = (build.call("price_of", 4.5, "tea"),)
    run = build.run([build.snippet(source, tape=tape, **fields)])
    found = run_tests(written(unit="assert True", **document), run, jail)
    assert found.results == ()
    assert re.search(why, found.unrun or "")


def test_a_backend_that_does_not_report_which_tests_failed_passes_none(build):
    counted_only = Execution(FailureClass.ASSERTION_FAILURE, tests_passed=1, tests_total=2)
    run = build.run([build.snippet("x = 1")])
    sandbox = ScriptedSandbox({"x = 1": counted_only})
    found = run_tests(written(unit="assert x\nassert not x"), run, sandbox)
    assert (found.results, found.unrun) == ((), "the sandbox does not report which tests failed")


def test_hostile_code_finds_no_expected_value_and_passes_nothing(build, jail):
    source = (
        "import gc, sys, os\n"
        "class Yes:\n"
        "    def __eq__(self, other): return True\n"
        "    def __float__(self): return 1.0\n"
        "def f(*args, **kwargs):\n"
        "    seen = [o for o in gc.get_objects() if '4242' in repr(o)[:2000] and o is not seen_source]\n"
        "    return 4242 if seen else Yes()\n"
        "seen_source = None\n"
    )
    found = report(build, jail, source, entry_point="f", pairs=[{"args": [], "result": "4242 teas"}])
    assert found.passed == 0
    early = report(build, jail, "import os\nos._exit(0)", unit="assert True", pairs=[{"stdout": "x"}])
    assert early.passed == 0
