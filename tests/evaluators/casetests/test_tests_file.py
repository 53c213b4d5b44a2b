"""The file of the tests of a case: mistakes are reported with their place, and the docs' example runs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from spanproof.evaluators.casetests import TestsError, load_tests, read_tests, run_tests


@pytest.mark.parametrize(
    ("document", "reported"),
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
def test_a_mistake_is_reported_with_its_place(document, reported):
    with pytest.raises(TestsError, match=rf"^tests\.yaml: .*{re.escape(reported)}"):
        read_tests(document, "tests.yaml")


def test_a_file_that_is_no_yaml_is_reported(tmp_path):
    (tmp_path / "tests.yaml").write_text("a: [")
    with pytest.raises(TestsError, match="not YAML"):
        load_tests(tmp_path / "tests.yaml")


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
def test_what_json_cannot_say_is_reported_with_its_place_and_what_to_do(tmp_path, value, place, words):
    (tmp_path / "tests.yaml").write_text(f"entry_point: f\npairs:\n- {value}\n")
    with pytest.raises(TestsError, match=re.escape(place)) as caught:
        load_tests(tmp_path / "tests.yaml")
    assert words in str(caught.value)


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
