"""Which code of a run is tested, what it finds when it runs, and when it cannot be."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from tests.plugins.scripted_sandbox import ScriptedSandbox

from spanproof.evaluators.casetests import run_tests
from spanproof.evaluators.model import UnrunCause
from spanproof.sandbox import Execution, FailureClass
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


IMPORTS = "import not_in_any_runtime"
USES_LATE = "def f():\n    import not_in_any_runtime"


@pytest.mark.parametrize(
    ("source", "fields", "document", "cause", "why"),
    [
        (IMPORTS, {"observation": "ok"}, {}, "DEPENDENCY_MISSING", "does not have what the code needs"),
        ("x = 1", {}, {"unit": f"{IMPORTS}\nassert True"}, "DEPENDENCY_MISSING", "the tests need .*runtime"),
        ("x = 1", {}, {"unit": "from solution import f\nassert f(1)"}, "DEPENDENCY_MISSING", "'solution'"),
        ("price_of('tea', 'gold')", {}, {}, "RECORD_INCOMPLETE", "calls a tool the record has no answer for"),
        ("x = 1", {"truncated": True}, {}, "RECORD_INCOMPLETE", "cut"),
        ("SELECT 1", {"language": Language.SQL}, {}, "WORK_MISSING", "no Python"),
        ("x = 1", {}, {"snippet": 3}, "WORK_MISSING", "the run has 1"),
        ("x = 1", {}, {"unit": None, "doctests": True}, "WORK_MISSING", "no docstring"),
        ("x = 1", {}, {"unit": None, "files": {"a.txt": ""}}, "NOT_COLLECTED", "has no tests"),
    ],
)
def test_tests_that_cannot_be_run_are_reported_with_what_caused_it(
    build, jail, source, fields, document, cause, why
):
    tape = (build.call("price_of", 4.5, "tea"),)
    run = build.run([build.snippet(source, tape=tape, **fields)])
    found = run_tests(written(**{"unit": "assert True", **document}), run, jail)
    assert (found.results, found.unrun_cause) == ((), UnrunCause[cause])
    assert re.search(why, found.unrun or "")


@pytest.mark.parametrize(
    ("source", "fields", "unit", "why"),
    [
        (IMPORTS, {"executed": False}, "assert True", "ModuleNotFoundError"),
        (IMPORTS, {"error": ("ModuleNotFoundError", "no")}, "assert True", "ModuleNotFoundError"),
        (USES_LATE, {"observation": "ok"}, "def test_f():\n    f()", "ModuleNotFoundError"),
        ("x = 1", {}, "import json\ndef test_f():\n    assert f() == 1", "NameError"),
        ("raise LookupError('none')", {}, "assert True", "LookupError"),
        ("x = = 1", {}, "assert True", "SyntaxError"),
    ],
)
def test_code_that_lacks_what_is_tested_or_what_it_imports_fails(build, jail, source, fields, unit, why):
    fields = {**fields, "error": build.error(*fields["error"])} if "error" in fields else fields
    found = run_tests(written(unit=unit), build.run([build.snippet(source, **fields)]), jail)
    assert (found.unrun, found.passed, len(found.results), found.why) == (None, 0, 1, why)


def test_a_run_without_code_has_nothing_to_test_and_one_that_hides_it_cannot_be_tested(build, jail):
    idle, hidden = build.run([]), replace(build.run([]), hidden=True)
    tests = written(unit="assert True")
    assert run_tests(tests, idle, jail).unrun_cause is UnrunCause.WORK_MISSING
    assert run_tests(tests, hidden, jail).unrun_cause is UnrunCause.RECORD_INCOMPLETE


def test_a_test_that_skips_itself_does_not_pass(build, jail):
    unit = "import unittest\ndef test_f():\n    raise unittest.SkipTest('slow')"
    found = report(build, jail, "x = 1", unit=unit)
    assert (found.results, found.why) == ((("test_f", False),), "it was skipped")


@pytest.mark.parametrize(
    ("said", "why"),
    [
        (Execution(FailureClass.ASSERTION_FAILURE, tests_passed=1, tests_total=2), "which tests failed"),
        (Execution(FailureClass.OK), "of 2 tests the sandbox reports none"),
        (Execution(FailureClass.OK, tests_passed=1, tests_total=1), "of 2 tests the sandbox reports 1"),
        (Execution(FailureClass.SYNTAX_ERROR), "does not parse the tests"),
    ],
)
def test_a_backend_that_does_not_report_each_test_passes_none(build, said, why):
    run = build.run([build.snippet("x = 1")])
    found = run_tests(written(unit="assert x\nassert not x"), run, ScriptedSandbox({"x = 1": said}))
    assert found.results == ()
    assert why in (found.unrun or "")


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
