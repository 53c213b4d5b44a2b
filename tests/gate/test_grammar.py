from __future__ import annotations

import json
from fractions import Fraction

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from spanproof.gate import (
    AggregateAssertion,
    AllCases,
    AssertionRefused,
    AssertionSyntaxError,
    AtLeastCount,
    AtLeastShare,
    Bound,
    CaseAssertion,
    Comparison,
    Condition,
    Function,
    GateError,
    Match,
    NoWorse,
    ScoreRef,
    TrialsAssertion,
    parse_assertion,
    parse_lines,
    parse_query,
)
from spanproof.gate.assertion import evaluate_range, is_satisfied
from spanproof.gate.limits import find_function_refusal
from spanproof.trace import Label, Layer


def test_the_form_of_the_readme_is_read():
    assert parse_assertion("groundedness.score >= 0.85 for at_least 90% of cases") == CaseAssertion(
        ScoreRef(Layer.GROUNDEDNESS, "groundedness"), Comparison.AT_LEAST, 0.85, AtLeastShare(Fraction(90))
    )


def test_verdicts_counts_and_cohorts_are_read():
    assert parse_assertion(
        'trajectory.recovery==pass for all cases where agent="a \\"b\\"" and model = "m"'
    ) == CaseAssertion(
        ScoreRef(Layer.TRAJECTORY, "recovery"),
        Comparison.EQUAL,
        Label.PASS,
        AllCases(),
        (Condition("agent", Match.EQUAL, ('a "b"',)), Condition("model", Match.EQUAL, ("m",))),
    )
    assert parse_assertion("boundary.score == pass for at_least 20 cases").quantifier == AtLeastCount(20)


numbers = st.decimals(min_value=0, max_value=1, places=6, allow_nan=False).map(float)
percents = st.integers(0, 10_000_000).map(lambda parts: Fraction(parts, 100_000))
comparisons = st.sampled_from(Comparison)
METRICS = [
    ("execution", "wall_s"),
    ("trajectory", "steps"),
    ("trajectory", "tokens"),
    ("trajectory", "cost_usd"),
]
own_scores = st.builds(
    lambda layer, name: ScoreRef(layer, name or layer.value),
    st.sampled_from(Layer),
    st.one_of(
        st.none(),
        st.from_regex(r"[a-z_][a-z0-9_-]{0,12}", fullmatch=True),
        st.sampled_from(["steps", "stable", "recovry", "score", "drift"]),
        st.text(min_size=1, max_size=8),
    ),
)
scores = st.one_of(own_scores, st.sampled_from([ScoreRef(Layer(layer), name) for layer, name in METRICS]))
patterns = st.sampled_from(["^a", "a|b", "[xy]+$", 'with "quotes"'])
conditions = st.lists(
    st.builds(
        lambda dimension, match: Condition(dimension, *match),
        st.sampled_from(["agent", "model", "project"]),
        st.one_of(
            st.tuples(st.sampled_from([Match.EQUAL, Match.UNEQUAL]), st.text().map(lambda text: (text,))),
            st.tuples(st.just(Match.PATTERN), patterns.map(lambda text: (text,))),
            st.tuples(st.just(Match.IN), st.lists(st.text(), min_size=1, max_size=3).map(tuple)),
        ),
    ),
    max_size=3,
).map(tuple)
quantifiers = st.one_of(
    st.just(AllCases()), percents.filter(bool).map(AtLeastShare), st.integers(1, 10**6).map(AtLeastCount)
)


@st.composite
def case_assertions(draw: st.DrawFn) -> CaseAssertion:
    score = draw(scores)
    verdicts = score.spec is None or not score.spec.advisory
    if verdicts and draw(st.booleans()):
        comparison, threshold = draw(st.sampled_from([Comparison.EQUAL, Comparison.UNEQUAL])), draw(labels)
    else:
        comparison, threshold = draw(comparisons), draw(numbers)
        assume(evaluate_range(comparison, threshold, 0, score.high) is None)
    return CaseAssertion(score, comparison, threshold, draw(quantifiers), draw(conditions))


@st.composite
def aggregate_assertions(draw: st.DrawFn) -> AggregateAssertion:
    function, score = draw(st.sampled_from(Function)), draw(scores)
    if function is Function.SANDBOX_PASS_RATE:
        score = ScoreRef(Layer.CORRECTNESS, "tests_pass")
    if function is Function.CODE_PRESENCE:
        score = ScoreRef(Layer.CORRECTNESS, "compiles")
    assume(find_function_refusal(function, score) is None)
    limit = draw(st.one_of(st.builds(Bound, comparisons, numbers), st.builds(NoWorse, numbers)))
    found = AggregateAssertion(function, score, limit, draw(conditions))
    if isinstance(limit, Bound):
        assume(evaluate_range(limit.comparison, limit.threshold, 0, found.high) is None)
    else:
        assume(limit.by < found.high)
    return found


labels = st.sampled_from(Label)
trials_assertions = st.builds(
    TrialsAssertion,
    st.integers(1, 10**6),
    st.booleans(),
    st.one_of(
        st.builds(Bound, st.just(Comparison.AT_LEAST), st.sampled_from([0.25, 0.8, 1.0])),
        st.builds(NoWorse, st.sampled_from([0.0, 0.02])),
    ),
    conditions,
)
assertions = st.one_of(case_assertions(), aggregate_assertions(), trials_assertions)


@given(assertions)
def test_an_assertion_written_and_read_is_the_same(assertion):
    assert parse_assertion(str(assertion)) == assertion


def problem_of(text: str) -> AssertionSyntaxError | AssertionRefused | None:
    try:
        parse_assertion(text)
    except (AssertionSyntaxError, AssertionRefused) as problem:
        return problem
    return None


@given(st.text(max_size=60))
def test_any_text_is_an_assertion_or_one_clear_error(text):
    problem = problem_of(text)
    assert problem is None or 1 <= problem.column <= len(text) + 1
    assert problem is None or str(problem).startswith(f"assertion {text!r}, column {problem.column}: ")


@given(assertions, st.integers(0, 40))
def test_an_assertion_cut_off_anywhere_names_a_column_within_it(assertion, cut):
    text = str(assertion)[:cut]
    problem = problem_of(text)
    assert problem is None or 1 <= problem.column <= len(text) + 1


@pytest.mark.parametrize(
    ("text", "column", "words"),
    [
        (
            "",
            1,
            "a layer (correctness, boundary, execution, groundedness, trajectory), but it ends there",
        ),
        ("grounded.score >= 1 for all cases", 1, "did you mean groundedness?"),
        ("execution >= 1 for all cases", 11, "expected '.', as in execution.score"),
        ("execution. >= 1 for all cases", 12, "expected 'score' or the name of a sub-score of execution"),
        ("execution.score => 1 for all cases", 17, "expected a comparison (>= > <= < == !=)"),
        ("execution.score ~ 1 for all cases", 17, "expected a comparison (>= > <= < == !=)"),
        ("execution.score & 1 for all cases", 17, "a word, a number, a quoted text or a comparison"),
        ("code_corectness >= 1 for all", 1, "did you mean code_correctness?"),
        ("avg(execution.score)", 21, "expected a comparison (>= > <= < == !=), or no_worse_than baseline"),
        ("avg(execution.score >= 1", 21, "expected ')'"),
        ("avg(execution.score) no_worse_than 1", 36, "expected 'baseline'"),
        ("avg(execution.score) no_worse_than baseline by", 47, "a number, as in 'by 0.02'"),
        ("avg(execution.score) >= 0.5 for all", 29, "expected the end, or 'where …'"),
        ('execution.score >= 1 for all where agent in "x"', 45, "expected '('"),
        ('execution.score >= 1 for all where agent in ("x"', 49, "expected ')'"),
        ("execution.score = 1 for all cases", 17, "expected a comparison (>= > <= < == !=)"),
        ("execution.score >= good for all cases", 20, "expected a number, pass or fail"),
        ("execution.score >= pass for all cases", 20, "pass goes with == and != only"),
        ("execution.score >= 1", 21, "expected 'for', as in"),
        ("execution.score >= 1 for most cases", 26, "expected 'all' or 'at_least'"),
        ("execution.score >= 1 for at_most 10% of cases", 26, "turn the comparison round"),
        ("execution.score >= 1 for at_least 90 of cases", 38, "expected '% of cases' or 'cases'"),
        ("execution.score >= 1 for at_least 900% of cases", 35, "expected at most 100%"),
        ("execution.score >= 1 for at_least 2.5 cases", 35, "a whole number of cases, or a share with %"),
        ("execution.score >= 1 for all cases please", 36, "expected the end, or 'where …'"),
        ('execution.score >= 1 for all cases where agnt = "x"', 42, "did you mean agent?"),
        ("execution.score >= 1 for all cases where agent = x", 50, "expected a quoted text"),
        ('execution.score >= 1 for all cases where agent = "\\x"', 50, "JSON's escapes"),
    ],
)
def test_an_error_names_the_column_and_what_should_stand_there(text, column, words):
    with pytest.raises(AssertionSyntaxError) as caught:
        parse_assertion(text)
    assert caught.value.column == column
    assert words in str(caught.value)


def test_a_file_holds_an_assertion_a_line_with_comments():
    text = (
        "# release gate\n\nboundary.score == pass for all cases\n  execution.score >= 0.5 for all cases  \n"
    )
    assert [str(assertion.score) for assertion in parse_lines(text)] == ["boundary.score", "execution.score"]


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("code_correctness >= 80% for all", "correctness.score >= 0.8 for all cases"),
        ("sandbox_boundary == pass for 20 cases", "boundary.score == pass for at_least 20 cases"),
        ("execution_success >= 0.9 for at_least 90%", "execution.score >= 0.9 for at_least 90% of cases"),
        ("trajectory_score < 1 for all", "trajectory.score < 1 for all cases"),
        ("p95(execution.wall_s) <= 500ms", "p95(execution.wall_s) <= 0.5 s"),
        ("p95(execution.wall_s) <= 2 min", "p95(execution.wall_s) <= 120 s"),
        ("avg(trajectory.cost_usd) <= $0.05", "avg(trajectory.cost_usd) <= 0.05 USD"),
        ("trajectory.tokens <= 20k for all", "trajectory.tokens <= 20000 tokens for all cases"),
        ("trajectory.steps <= 6 for all", "trajectory.steps <= 6 steps for all cases"),
        ("pass @ 5 >= 80%", "pass@5 >= 0.8"),
        ("max(trajectory.consecutive_errors) <= 2", "max(trajectory.consecutive_errors) <= 2 errors"),
        ("fail_rate(code_correctness) <= 5%", "fail_rate(correctness.score) <= 0.05"),
        (
            'avg(groundedness.score) no_worse_than baseline by 2% where agent in ("a","b")',
            'avg(groundedness.score) no_worse_than baseline by 0.02 where agent in ("a", "b")',
        ),
        ('trajectory."recovry" >= 0.5 for all', 'trajectory."recovry" >= 0.5 for all cases'),
        ('trajectory."politeness" >= 0.5 for all', "trajectory.politeness >= 0.5 for all cases"),
    ],
)
def test_short_forms_and_units_have_one_canonical_text(text, canonical):
    assert str(parse_assertion(text)) == canonical


@pytest.mark.parametrize(
    ("text", "column", "words"),
    [
        (
            "trajectory.steps_score <= 6 for all",
            24,
            "its values are from 0 to 1; to compare steps, write trajectory.steps <= 6",
        ),
        (
            "groundedness.score >= 2 for all",
            20,
            "can never hold: its values are from 0 to 1; write 2% or 0.02",
        ),
        (
            "groundedness.score >= 85 for all",
            20,
            "can never hold: its values are from 0 to 1; write 85% or 0.85",
        ),
        ("groundedness.score >= 0 for all", 20, "always holds"),
        ("groundedness.score < 0 for all", 20, "can never hold"),
        ("groundedness.score == 1.5 for all", 20, "can never hold"),
        ("groundedness.score != 1.5 for all", 20, "always holds"),
        ("trajectory.steps >= 0 for all", 18, "always holds: its values are from 0 steps upwards"),
        ("trajectory.steps < 0 for all", 18, "can never hold"),
        ("fail_rate(groundedness.score) <= 100%", 31, "fail_rate(groundedness.score) <= 1 always holds"),
        ("avg(groundedness.score) no_worse_than baseline by 1", 51, "always holds"),
        ("trajectory.recovry == pass for all", 1, "did you mean trajectory.recovery?"),
        ("trajectory.stable >= 1 for all", 1, "did you mean execution.stable?"),
        ("trajectory.cost <= 1 for all", 1, "did you mean trajectory.cost_usd?"),
        (
            "trajectory.steps == pass for all",
            21,
            "has no verdict: compare its value, as in trajectory.steps",
        ),
        (
            "execution.stable == pass for all",
            21,
            "has no verdict: compare its value, as in execution.stable",
        ),
        (
            "fail_rate(trajectory.steps) <= 5%",
            1,
            "has no verdict and never fails: compare avg(",
        ),
        (
            "max(trajectory.retries) <= 2",
            25,
            "own evaluator is from 0 to 1; the metrics of trajectory are trajectory.steps, trajectory.co",
        ),
        ("trajectory.steps <= 6 s for all", 23, "the value is in steps, not in 's'; known here: steps, step"),
        (
            "execution.wall_s <= 10 steps for all",
            24,
            "in s, not in 'steps'; known here: s, ms, min, h",
        ),
        ("groundedness.score >= 0.5 s for all", 27, "the value is from 0 to 1 and has no unit 's'"),
        ("trajectory.steps <= 50% for all", 23, "the value is in steps, not in '%'"),
        ("groundedness.score no_worse_than baseline", 1, "write avg(groundedness.score)"),
        ('groundedness.score >= 0.5 for all where agent ~ "("', 49, "is no regular expression"),
    ],
)
def test_what_can_never_fail_or_never_hold_is_refused_with_the_remedy(text, column, words):
    with pytest.raises(AssertionRefused) as caught:
        parse_assertion(text)
    assert words in str(caught.value)
    assert caught.value.column == column
    assert isinstance(caught.value, GateError)


@given(comparisons, st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0, 1.5]), st.sampled_from([1.0, 0.5]))
def test_a_comparison_is_decided_exactly_where_no_value_changes_it(comparison, threshold, high):
    values = [high * step / 100 for step in range(101)]
    found = {is_satisfied(value, comparison, threshold) for value in values}
    expected = None if len(found) == 2 else found.pop()
    assert evaluate_range(comparison, threshold, 0.0, high) == expected


def test_single_quotes_say_the_same_as_double_ones():
    double = parse_assertion(r'boundary.score == pass for all where agent = "say \"it\u0027s\" \\ x"')
    assert parse_assertion(r"""boundary.score == pass for all where agent = 'say "it\'s" \\ x'""") == double


@given(st.text())
def test_any_text_can_be_quoted_either_way(text):
    inner = json.dumps(text)[1:-1].replace('\\"', '"').replace("'", "\\'")
    (condition,) = parse_query(f"agent = '{inner}'").conditions
    assert condition.values == (text,)
