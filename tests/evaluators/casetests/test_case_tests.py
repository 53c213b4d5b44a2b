"""Tests of a case, run in the real sandbox on runs built by hand."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from spanproof.evaluators.casetests import CaseTests, TestsError, load_tests, read_tests, run_tests
from spanproof.evaluators.casetests.inputs import draw
from spanproof.sandbox import Execution, FailureClass
from spanproof.sandbox.backends.scripted import ScriptedSandbox
from spanproof.trace import Language

SORT = '''
def tidy(xs):
    """Sorted, each once.

    >>> tidy([2, 1, 2])
    [1, 2]
    """
    return sorted(set(xs))
'''


def written(**document) -> CaseTests:
    return read_tests(document, "tests.yaml")


def report(build, jail, source, /, **document):
    run = build.run([build.snippet(source)])
    return run_tests(written(**document), run, jail)


def test_unit_tests_count_each_and_name_the_first_that_fails(build, jail):
    unit = "def test_one():\n    assert tidy([1]) == [1]\ndef test_two():\n    assert tidy([2]) == [3]\n"
    found = report(build, jail, SORT, unit=unit + "assert tidy([]) == [0]\n")
    assert found.results == (("test_one", True), ("test_two", False), ("line 5", False))
    assert (found.passed, found.first_failure) == (1, "test_two")


def test_the_examples_in_docstrings_are_tests(build, jail):
    wrong = SORT.replace("[1, 2]\n", "[2, 1]\n").replace("tidy", "untidy")
    found = report(build, jail, SORT + wrong, doctests=True)
    assert found.results == (("doctest of tidy", True), ("doctest of untidy", False))


def test_pairs_of_arguments_and_results(build, jail):
    pairs = [
        {"name": "empty", "args": [[]], "result": []},
        {"args": [[3, 1]], "result": [1, 2]},
        {"args": [7], "raises": "TypeError"},
        {"call": "mean", "kwargs": {"xs": [1, 1, 2]}, "result": 1.333, "tolerance": 0.01},
        {"call": "mean", "kwargs": {"xs": [1, 1, 2]}, "result": 1.333},
    ]
    source = SORT + "def mean(xs): return sum(xs) / len(xs)\n"
    found = report(build, jail, source, entry_point="tidy", pairs=pairs)
    assert [passed for _, passed in found.results] == [True, False, True, True, False]
    assert (found.first_failure, found.changed_inputs) == ("pair 2", ())


def test_a_result_is_compared_as_json_without_taking_true_for_one(build, jail):
    source = "def f(x): return {'a': (1, 2), 'b': True, 3: None}\ndef g(): return 1\n"
    pairs = [
        {"call": "f", "args": [0], "result": {"a": [1, 2], "b": True, "3": None}},
        {"call": "g", "args": [], "result": True},
        {"call": "g", "args": [], "result": "1"},
    ]
    found = report(build, jail, source, pairs=pairs)
    assert [passed for _, passed in found.results] == [True, False, False]


@pytest.mark.parametrize(
    ("made", "has_form"),
    [
        ("{2, 1}", False),
        ("[{'day': datetime.date(2024, 1, 1)}]", False),
        ("b'ab'", False),
        ("object()", False),
        ("[1, (2,)]", True),
        ("None", True),
        ("{'a': [1.5, True]}", True),
        ("collections.Counter('a')", True),
    ],
)
def test_a_result_that_json_cannot_say_fails_its_pair_and_is_told(build, jail, made, has_form):
    source = f"import collections, datetime\ndef f(): return {made}\n"
    found = report(build, jail, source, entry_point="f", pairs=[{"args": [], "result": [3]}])
    told = "what it returns has no form in JSON, so no pair can hold it: write a test under `unit`"
    assert (found.passed, found.why) == (0, None if has_form else told)


@pytest.mark.parametrize(
    ("value", "place", "words"),
    [
        ("{args: [2024-01-01], result: 1}", "pairs.0.args.0", "got a date: write it as JSON would"),
        ("{args: [1], result: !!set {a, b}}", "pairs.0.result", "got a set: write it as JSON would"),
        ("{args: [{1: 2}], result: 1}", "pairs.0.args.0.dict.1.[key]", "keys are texts: put it in quotes"),
        ("{args: 3, result: 1}", "pairs.0.args", "expected a list, got 3"),
        ("{args: [1], call: f g, result: 1}", "pairs.0.call", "it must be a name, got 'f g'"),
    ],
)
def test_what_json_cannot_say_is_told_with_its_place_and_what_to_do(tmp_path, value, place, words):
    (tmp_path / "tests.yaml").write_text(f"entry_point: f\npairs:\n- {value}\n")
    with pytest.raises(TestsError, match=re.escape(place)) as caught:
        load_tests(tmp_path / "tests.yaml")
    assert words in str(caught.value)


def test_a_function_that_changes_its_argument_is_told_and_fails_nothing(build, jail):
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


def test_what_changes_the_inputs_of_a_property_is_told_with_them_as_they_were_given(build, jail):
    source = "def f(xs):\n    xs.append(0)\n    return True\n"
    xs = {"xs": {"kind": "list", "items": {"kind": "integer"}}}
    found = report(
        build, jail, source, inputs_unchanged=True, properties=[{"name": "p", "given": xs, "holds": "f(xs)"}]
    )
    assert found.why == "falsified by xs=[]: it changes an argument it is given"


def test_a_demand_without_a_call_to_hold_it_against_is_told(tmp_path):
    with pytest.raises(
        TestsError, match="inputs_unchanged holds for pairs with arguments and for properties"
    ):
        written(inputs_unchanged=True, unit="assert True")


def test_a_pair_that_never_ends_costs_no_other(build, jail):
    source = "def f(n):\n    while n: pass\n    return n\n"
    pairs = [{"args": [0], "result": 0}, {"args": [1], "result": 1}, {"args": [False], "result": False}]
    found = report(build, jail, source, entry_point="f", pairs=pairs, timeout_s=0.5)
    assert [passed for _, passed in found.results] == [True, False, True]


def test_pairs_of_stdin_and_stdout(build, jail):
    pairs = [
        {"stdin": "1 2\n", "stdout": "3.0\n"},
        {"stdin": "1 2\n", "stdout": "3.001", "tolerance": 0.01},
        {"stdin": "2 2\n", "stdout": "5"},
        {"stdin": "a\n", "stdout": ""},
    ]
    found = report(build, jail, "print(sum(float(x) for x in input().split()))", pairs=pairs)
    assert [passed for _, passed in found.results] == [True, True, False, False]


def test_files_the_code_leaves_are_compared_with_tolerance_in_any_order_of_rows(build, jail):
    source = (
        "import csv, json, sys\n"
        "name = open('in.txt').read().strip()\n"
        "with open('out.csv', 'w') as f:\n"
        "    csv.writer(f).writerows([['b', 'a'], [2.0004, name], [1, 'x']])\n"
        "json.dump({'k': [1.0, None]}, open('out.json', 'w'))\n"
        "sys.exit(0)\n"
    )
    table = "a,b\nx,1.0\ny,2\n"
    artifacts = [
        {"path": "out.csv", "table": table, "tolerance": 0.001, "any_row_order": True},
        {"path": "out.csv", "name": "in order", "table": table, "tolerance": 0.001},
        {"path": "out.csv", "name": "exact", "table": table, "any_row_order": True},
        {"path": "out.json", "json": {"k": [1, None]}},
        {"path": "none.txt", "text": ""},
    ]
    found = report(build, jail, source, files={"in.txt": "y\n"}, artifacts=artifacts)
    assert [passed for _, passed in found.results] == [True, False, False, True, False]


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
    drawn = draw(given, 200, 1)
    assert drawn == draw(given, 200, 1) != draw(given, 200, 2)
    assert (drawn[0]["n"], drawn[0]["s"], drawn[0]["x"]) == (3, "", 0.0)
    assert all(3 <= each["n"] <= 90 and len(each["s"]) <= 30 and -1 <= each["x"] <= 1 for each in drawn)
    assert max(each["n"] for each in drawn) > 60


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


def test_a_backend_that_does_not_tell_which_tests_failed_passes_none(build):
    counted_only = Execution(FailureClass.ASSERTION_FAILURE, tests_passed=1, tests_total=2)
    run = build.run([build.snippet("x = 1")])
    sandbox = ScriptedSandbox({"x = 1": counted_only})
    found = run_tests(written(unit="assert x\nassert not x"), run, sandbox)
    assert (found.results, found.unrun) == ((), "the sandbox does not tell which tests failed")


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


@pytest.mark.parametrize(
    ("document", "told"),
    [
        ([], "expected a mapping"),
        ({"unitt": ""}, "unitt: there is no such key; known are snippet, entry_point"),
        ({"unit": "def test(:"}, "unit: it is no Python: line 1"),
        ({"pairs": [{"args": [1], "result": 2}]}, "pair 1 names no function"),
        ({"pairs": [{"call": "f", "args": [1]}]}, "pairs.0: a pair needs stdout, or result, or raises"),
        ({"pairs": [{"call": "f", "stdin": "x", "result": 1}]}, "pairs.0: a pair with stdin needs stdout"),
        ({"pairs": [{"call": "f()", "args": [], "result": 1}]}, "pairs.0.call: it must be a name"),
        ({"artifacts": [{"path": "../x", "text": ""}]}, "artifacts.0.path: it must be a path below"),
        ({"artifacts": [{"path": "x"}]}, "artifacts.0: an artifact needs one of text, json and table"),
        (
            {"properties": [{"name": "p", "given": {"x": {"kind": "int"}}, "holds": "x"}]},
            "properties.0.given.x",
        ),
        (
            {"properties": [{"name": "p", "given": {"x": {"kind": "boolean"}}, "holds": "x ="}]},
            "holds: it is no Python expression",
        ),
        (
            {
                "properties": [
                    {"name": "p", "given": {"x": {"kind": "integer", "min": 2, "max": 1}}, "holds": "x"}
                ]
            },
            "its least (2) is above its greatest (1)",
        ),
        ({"budget": {"wall_s": 0}}, "budget.wall_s: Input should be greater than 0"),
    ],
)
def test_a_mistake_is_told_with_its_place(document, told):
    with pytest.raises(TestsError, match=rf"^tests\.yaml: .*{re.escape(told)}"):
        read_tests(document, "tests.yaml")


def test_a_file_that_is_no_yaml_is_told(tmp_path):
    (tmp_path / "tests.yaml").write_text("a: [")
    with pytest.raises(TestsError, match="not YAML"):
        load_tests(tmp_path / "tests.yaml")


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


XS = {"xs": {"kind": "list", "items": {"kind": "integer", "min": 0, "max": 1}}}
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


def test_properties_written_for_hypothesis_are_tried_and_their_falsifying_inputs_told(build, jail):
    found = report(build, jail, SORT, unit=HYPOTHESIS)
    assert (found.unrun, found.results) == (None, (("test_twice_is_once", True), ("test_as_long", False)))
    assert found.why == "falsified by xs=[0, 0]"
    assert report(build, jail, SORT, unit=HYPOTHESIS) == found


def test_a_property_by_hypothesis_that_never_ends_is_stopped_and_says_so(build, jail):
    slow = "def tidy(xs):\n    while xs: pass\n    return xs\n"
    found = report(build, jail, slow, unit=HYPOTHESIS, timeout_s=2)
    assert (found.passed, found.first_failure, found.why) == (0, "test_twice_is_once", "timeout")


@pytest.mark.parametrize(
    ("holds", "why"),
    [
        ("len(tidy(xs)) == len(xs)", r"falsified by xs=\[(0, 0|1, 1)(, [01])*\]"),
        ("xs[0] >= 0", r"falsified by xs=\[\]: IndexError"),
    ],
)
def test_inputs_that_falsify_a_property_are_told(build, jail, holds, why):
    found = report(build, jail, SORT, properties=[{"name": "p", "given": XS, "holds": holds}])
    assert found.results == (("p", False),)
    assert re.fullmatch(why, found.why or "")


def test_what_a_failed_assertion_says_is_never_told(build, jail):
    assert report(build, jail, SORT, unit="assert tidy([]) == [4242], 'want 4242'").why is None


@pytest.mark.parametrize(
    "unit",
    [
        "def test_x(xs): assert xs",
        "async def test_x(): assert True",
        "class TestX:\n    def test_x(self): assert True",
    ],
)
def test_a_test_that_would_never_run_is_told(unit):
    with pytest.raises(TestsError, match="would never run"):
        written(unit=unit)


def test_each_docstring_is_a_test_the_latest_of_a_name_alone(build, jail):
    first = 'def f():\n    """\n    >>> f()\n    1\n    """\n    return 1\n'
    then = (
        first.replace("1", "2")
        + 'class C:\n    def f(self):\n        """\n        >>> C().f()\n        4\n        """\n'
    )
    run = build.run([build.snippet(first), build.snippet(then)])
    found = run_tests(written(doctests=True), run, jail)
    assert found.results == (("doctest of f", True), ("doctest of C.f", False))


DOCUMENTED = (Path(__file__).parents[3] / "docs" / "suites.md").read_text(encoding="utf-8")

AS_DOCUMENTED = '''
import csv, json, sys
def tidy(xs):
    """Sorted, each once.

    >>> tidy([2, 1, 2])
    [1, 2]
    """
    return sorted(set(xs))
def mean(xs):
    return sum(xs) / len(xs)
with open("in.csv") as given, open("out.csv", "w") as left:
    assert given.read() == "a,b\\n1,2\\n"
    csv.writer(left).writerows([["total", "id"], [9.991, 1]])
json.dump({"ok": True}, open("out.json", "w"))
print("done", file=open("log.txt", "w"))
print(sum(map(int, sys.stdin.read().split())))
'''


def test_the_tests_that_the_page_of_suites_shows_hold_code_to_what_it_says(build, jail):
    (shown,) = [
        text for text in re.findall(r"```yaml\n(.*?)```", DOCUMENTED, re.DOTALL) if "entry_point" in text
    ]
    run = build.run([build.snippet("None"), build.snippet(AS_DOCUMENTED)])
    found = run_tests(read_tests(yaml.safe_load(shown), "docs/suites.md"), run, jail)
    assert [name for name, passed in found.results if not passed] == []
    assert len(found.results) == 10
