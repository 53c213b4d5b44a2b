from __future__ import annotations

import io
import json
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanproof.cli.app import run
from spanproof.evaluators.custom import BuiltIn, Call, Check, EvaluatorError

MANY = f"[{', '.join(['1'] * 100)}]"
SCHEMA = {"type": "object", "required": ["total"], "properties": {"total": {"type": "number"}}}


@pytest.mark.parametrize(
    ("check", "completion", "target", "score"),
    [
        ("exact_match", " 45 \n", 45, 1.0),
        ("exact_match", "a", "A", 0.0),
        ("exact_match", {"a": [1]}, {"a": [1]}, 1.0),
        ("contains", "It is $45.00.", "45.00", 1.0),
        ("contains", "tea and cup", ["tea", "cup"], 1.0),
        ("contains", "tea", ["tea", "cup"], 0.0),
        ("regex", "order A-17", r"[A-Z]-\d+", 1.0),
        ("regex", "order", r"^\d+$", 0.0),
        ("json_valid", '{"a": 1}', None, 1.0),
        ("json_valid", "{'a': 1}", None, 0.0),
        ("json_valid", "NaN", None, 0.0),
        ("json_valid", [1], None, 1.0),
        ("json_valid", "[" * 100_000, None, 0.0),
        ("json_schema", '{"total": 45}', SCHEMA, 1.0),
        ("json_schema", '{"total": "45"}', SCHEMA, 0.0),
        ("json_schema", {"total": 45}, json.dumps(SCHEMA), 1.0),
        ("json_schema", "no JSON", SCHEMA, 0.0),
        ("numeric", "It is $1,045.00.", 1045, 1.0),
        ("numeric", 45.004, "45", 1.0),
        ("numeric", "between 44 and 46", 45, 0.0),
        ("expression", "a refund of 45", '"refund" in completion and completion | length < 20', 1.0),
        ("expression", {"total": 45}, "completion.total > 45", 0.0),
        ("expression", [1, 2, 3], "(completion | length) / 4", 0.75),
        ("cel", "a refund of 45", 'completion.contains("refund") && size(completion) < 20', 1.0),
        ("cel", {"total": 45}, "completion.total > 45", 0.0),
        ("cel", {"total": 45.5}, "has(completion.total) && completion.total > 45", 1.0),
        ("cel", [1, 2, 3], "double(size(completion)) / 4.0", 0.75),
        ("cel", {"id": 2**70}, "completion.id > 0", 1.0),
        ("cel", "\ud800", "size(completion) == 1", 1.0),
    ],
)
def test_a_check_compares_a_completion_with_a_target(check, completion, target, score):
    built_in = BuiltIn("x", Check(check), tolerance=0.01)
    built_in.check_target(target)
    found = built_in.evaluate(Call(completion, target))
    assert (found.score, found.error_type) == (score, None)
    assert found.explanation


@pytest.mark.parametrize("check", ["exact_match", "contains", "regex"])
def test_case_can_be_ignored(check):
    call = Call("TEA", "tea")
    assert BuiltIn("x", Check(check)).evaluate(call).score == 0.0
    assert BuiltIn("x", Check(check), ignore_case=True).evaluate(call).score == 1.0


@pytest.mark.parametrize("check", list(Check))
def test_what_is_not_there_is_skipped_never_0(check):
    found = BuiltIn("x", check).evaluate(Call(None, 1))
    assert (found.score, found.skipped) == (None, "there is no completion")
    if check is not Check.JSON_VALID:
        found = BuiltIn("x", check).evaluate(Call("a", None))
        assert (found.score, found.skipped) == (None, "there is no target")


@pytest.mark.parametrize(
    ("check", "target", "words"),
    [
        ("regex", "(", "no pattern of RE2"),
        ("regex", r"(a)\1", "no pattern of RE2"),
        ("json_schema", {"type": "nothing"}, "is not valid"),
        ("json_schema", "no JSON", "the schema is no JSON"),
        ("json_schema", [1], "a schema is an object"),
        ("numeric", "many", "expected a number"),
        ("numeric", True, "expected a number"),
        ("contains", None, "there is none to compare with"),
    ],
)
def test_a_target_that_nothing_can_be_compared_with_is_refused_or_errs(check, target, words):
    built_in = BuiltIn("mine", Check(check))
    with pytest.raises(EvaluatorError, match="evaluator 'mine': target: ") as caught:
        built_in.check_target(target)
    assert words in str(caught.value)
    if target is not None:
        found = built_in.evaluate(Call("a", target))
        assert (found.score, found.error_type) == (None, "BadTarget")
    built_in.check_target("attribute:wanted")


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)


@given(st.sampled_from(Check), json_values, json_values)
def test_no_completion_and_no_target_break_a_check(check, completion, target):
    found = BuiltIn("x", check).evaluate(Call(completion, target))
    assert (found.score is None) == bool(found.skipped or found.error_type)


def test_a_check_is_tried_line_by_line(capfdbinary, monkeypatch):
    rows = [{"id": 1, "completion": "45.3", "target": 45}, {"id": 2, "completion": "54", "target": 45}]
    sent = "\n".join(map(json.dumps, rows)).encode()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(sent)))
    assert run(["score", "custom", "numeric", "--tolerance", "0.5", "--jsonl"]) == 0
    near, far = (json.loads(line) for line in capfdbinary.readouterr().out.splitlines())
    assert (near["score"], far["score"]) == (1.0, 0.0)


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("nothing.there", "'nothing' is undefined"),
        ("task", "expected true, false or 0 to 1"),
        ("1 / 0", "ZeroDivisionError"),
        ("completion.__class__.__mro__", "unsafe"),
    ],
)
def test_an_expression_of_jinja_that_gives_no_score_is_an_error(expression, message):
    found = BuiltIn("x", Check.EXPRESSION).evaluate(Call("a", expression, {"task": "buy tea"}))
    assert found.score is None
    assert message in str(found.message)


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("nothing.there", 'No value with name "nothing"'),
        ("task", "expected true, false or 0 to 1"),
        ("1 / 0 == 1", "divide by zero"),
        ("completion + 1", "No matching overloads"),
        ('completion.matches("(")', "invalid regular expression"),
        (f"{'[' * 500}1{']' * 500} == 1", "recursion limit"),
        (f"{MANY}.all(a, {MANY}.all(b, {MANY}.all(c, true)))", "Iteration budget exceeded"),
    ],
)
def test_an_expression_of_cel_that_gives_no_score_is_an_error(expression, message):
    found = BuiltIn("x", Check.CEL).evaluate(Call("a", expression, {"task": "buy tea"}))
    assert found.score is None
    assert message in str(found.message)


def test_a_value_of_any_depth_leaves_the_process_alive():
    nested = []
    for _ in range(900):
        nested = [nested]
    found = BuiltIn("x", Check.CEL).evaluate(Call(nested, "size(completion) == 1"))
    assert (found.score, found.error_type) == (None, "BadTarget")


@pytest.mark.parametrize(("check", "language"), [(Check.EXPRESSION, "Jinja"), (Check.CEL, "CEL")])
def test_an_expression_that_is_none_is_refused_before_any_trace(check, language):
    with pytest.raises(EvaluatorError, match=f"no expression of {language}"):
        BuiltIn("x", check).check_target("a and")


@pytest.mark.parametrize(
    ("check", "expression"),
    [
        (Check.EXPRESSION, "answer == completion and outputs | length == 1"),
        (Check.CEL, 'answer == completion && outputs.exists(each, each == "x")'),
    ],
)
def test_an_expression_sees_the_variables_of_a_span(check, expression):
    call = Call("45", expression, {"answer": "45", "outputs": ["x"]})
    assert BuiltIn("x", check).evaluate(call).score == 1.0
