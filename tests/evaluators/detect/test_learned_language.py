"""The trained model, and the bounds detection is held to on the set in tests/golden/detection."""

from __future__ import annotations

import importlib.util
import sys
from importlib.resources import files
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanproof.evaluators import detect
from spanproof.evaluators.detect import list_text_snippets
from spanproof.evaluators.detect.language import find_language
from spanproof.evaluators.detect.learned import WEIGHTS, classify_by_model
from spanproof.evaluators.detect.unscanned import UNSCANNED, classify_unscanned
from spanproof.trace import Language

BENCH = Path(__file__).parents[2] / "bench" / "detection.py"


@pytest.fixture(scope="module")
def bench():
    spec = importlib.util.spec_from_file_location("bench_detection", BENCH)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


def test_detection_keeps_to_its_bounds_on_its_own_set(bench):
    items = list(bench.own_items())
    assert len(items) >= 300
    scanned = {language.value for language in Language if language not in UNSCANNED}
    assert {item.language for item in items} == {"", "other", *scanned}
    found = bench.measure(items)
    assert found.f1 >= 0.99
    assert found.language >= 0.97


@pytest.mark.parametrize(
    ("name", "texts"),
    [
        ("first", 301),
        ("second", 100),
        ("third", 166),
        ("fourth", 100),
        ("fifth", 86),
        ("sixth", 300),
        ("seventh", 300),
        ("eighth", 300),
    ],
)
def test_detection_keeps_to_its_bounds_on_what_was_labelled_blind(bench, name, texts):
    items = bench.blind_items(name)
    assert len(items) == texts
    found = bench.measure(items)
    assert found.f1 >= 0.985
    assert found.language >= 0.97


def test_the_weights_are_small_and_in_the_package():
    assert files(detect).joinpath(WEIGHTS).stat().st_size < 300_000


@pytest.mark.parametrize(
    ("source", "language"),
    [
        ("class Queue {\n  constructor() { this.items = []; }\n}", Language.JAVASCRIPT),
        ("def total(items)\n  items.map { |item| item[:price] }.sum\nend", Language.RUBY),
        ('<script src="app.js"></script>\n<link rel="stylesheet" href="main.css">', Language.HTML),
    ],
)
def test_what_structure_leaves_open_the_model_settles(source, language):
    assert find_language(source) is language


def test_yaml_between_sentences_is_found_at_its_place():
    text = "The setting:\n\nserver:\n  port: 80\n  host: a\n\nRestart it then."
    (snippet,) = list_text_snippets(text)
    assert snippet.language is Language.YAML
    assert text[snippet.start : snippet.end] == snippet.source == "server:\n  port: 80\n  host: a"


@pytest.mark.parametrize(
    ("text", "language", "source"),
    [
        (
            "{'name': 'python', 'arguments': {'code': 'a = [1]\\nprint(a)'}}",
            Language.PYTHON,
            "a = [1]\nprint(a)",
        ),
        ("Action: sql_db_query\nAction Input: SELECT 1\nObservation: 1", Language.SQL, "SELECT 1"),
        ("Action: shell\nAction Input: ls -l\n", Language.BASH, "ls -l"),
        (
            "Calling tools:\n[{'function': {'arguments': 'a = f(1)\\nprint(a)'}}]",
            Language.PYTHON,
            "a = f(1)\nprint(a)",
        ),
    ],
)
def test_calls_as_agents_write_them_in_words(text, language, source):
    (found,) = list_text_snippets(text)
    assert (found.language, found.source) == (language, source)


def test_examples_in_a_comment_are_not_the_codes_language():
    comment = "/* Sum to n.\n  >>> sumTo(3)\n  6\n  >>> sumTo(1)\n  1\n  */\n"
    source = f"{comment}const sumTo = (n) => {{\n  return n * (n + 1) / 2;\n}}"
    (found,) = list_text_snippets(source)
    assert found.language is Language.JAVASCRIPT


def test_a_sentence_that_touches_code_without_a_full_stop_hides_none_of_it():
    code = "name = 'a.txt'\nwith open(name) as file:\n    print(file.read())"
    prose = "Look at the schedules of the South Florida Regional Transportation Authority (SFRTA) t"
    (found,) = list_text_snippets(f"{prose}\n{code}\n{prose}")
    assert (found.language, found.source) == (Language.PYTHON, code)


def test_prose_in_a_fence_without_a_mark_is_no_code():
    prose = "please look up the rates for a parcel from Hartford and return to the errors of the first search"
    assert list_text_snippets(f"Here is the summary:\n```\n{prose}\n```") == []


@pytest.mark.parametrize(
    "shown", ["array([[1., 2.],\n       [3., 4.]])", "Decimal('4.20')", "datetime.date(2026, 5, 1)"]
)
def test_a_value_that_prints_as_a_call_is_no_code(shown):
    assert list_text_snippets(shown) == []


@given(st.text(max_size=400))
def test_any_text_has_a_likeliest_kind_and_a_lead(text):
    kind, lead = classify_by_model(text)
    assert kind is None or kind in Language
    assert lead >= 0


@pytest.mark.parametrize(
    ("source", "language"),
    [
        ("func Add(a, b int) int {\n\treturn a + b\n}", Language.GO),
        ("fn add(a: i32, b: i32) -> i32 {\n    a + b\n}", Language.RUST),
        ("public class A {\n    public static void main(String[] args) { }\n}", Language.JAVA),
        ('#include <stdio.h>\nint main(void) { printf("x"); return 0; }', Language.C),
        ("#include <vector>\nint main() { std::vector<int> v; return v.size(); }", Language.CPP),
        ("using System;\nclass A { static void Main() { Console.WriteLine(1); } }", Language.CSHARP),
        ("$rows = [1, 2];\nforeach ($rows as $row) { echo $row; }", Language.PHP),
        ("class A < B\n  def size\n    @items.each { |i| puts i }\n  end\nend", Language.RUBY),
        ("fit <- lm(y ~ x, data = df)\nsummary(fit)", Language.R),
        ("use strict;\nmy %seen;\nprint sort keys %seen;", Language.PERL),
        ("fun main() {\n    val rows = listOf(1, 2)\n}", Language.KOTLIN),
        ("import Foundation\nguard let x = y else { return }", Language.SWIFT),
        ("object Main {\n  case class A(b: Int)\n}", Language.SCALA),
        ("local t = {}\nfor k, v in pairs(t) do print(k .. v) end", Language.LUA),
        ("Get-ChildItem | Where-Object { $_.Length -gt 10 }", Language.POWERSHELL),
        ("a = b + c;\nreturn a;", Language.OTHER),
    ],
)
def test_a_language_that_no_scanner_reads_is_named_by_what_only_it_has(source, language):
    assert classify_unscanned(source) is language
