from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanproof.gate import (
    AllCases,
    Assertion,
    AssertionSyntaxError,
    AtLeastCount,
    AtLeastShare,
    Comparison,
    parse,
    parse_lines,
)
from spanproof.trace import Label, Layer


def test_the_form_of_the_readme_is_read():
    assert parse("groundedness.score >= 0.85 for at_least 90% of cases") == Assertion(
        Layer.GROUNDEDNESS, "groundedness", Comparison.AT_LEAST, 0.85, AtLeastShare(Fraction(90))
    )


def test_verdicts_counts_and_cohorts_are_read():
    assert parse(
        'trajectory.recovery==pass for all cases where agent="a \\"b\\"" and model = "m"'
    ) == Assertion(
        Layer.TRAJECTORY,
        "recovery",
        Comparison.EQUAL,
        Label.PASS,
        AllCases(),
        (("agent", 'a "b"'), ("model", "m")),
    )
    assert parse("boundary.score == pass for at_least 20 cases").quantifier == AtLeastCount(20)


numbers = st.decimals(min_value=0, max_value=1, places=6, allow_nan=False).map(float)
percents = st.integers(0, 10_000_000).map(lambda parts: Fraction(parts, 100_000))
comparisons = st.sampled_from(Comparison)
thresholds = st.one_of(
    st.tuples(comparisons, numbers),
    st.tuples(st.sampled_from([Comparison.EQUAL, Comparison.UNEQUAL]), st.sampled_from(Label)),
)
assertions = st.builds(
    lambda layer, name, threshold, quantifier, where: Assertion(
        layer, name or layer.value, *threshold, quantifier, tuple(where.items())
    ),
    st.sampled_from(Layer),
    st.one_of(
        st.none(), st.from_regex(r"[a-z_][a-z0-9_-]{0,12}", fullmatch=True).filter(lambda n: n != "score")
    ),
    thresholds,
    st.one_of(st.just(AllCases()), percents.map(AtLeastShare), st.integers(0, 10**6).map(AtLeastCount)),
    st.dictionaries(st.sampled_from(["agent", "model", "project"]), st.text(), max_size=3),
)


@given(assertions)
def test_an_assertion_written_and_read_is_the_same(assertion):
    assert parse(str(assertion)) == assertion


def problem_of(text: str) -> AssertionSyntaxError | None:
    try:
        parse(text)
    except AssertionSyntaxError as problem:
        return problem
    return None


@given(st.text(max_size=60))
def test_any_text_is_an_assertion_or_one_clear_error(text):
    problem = problem_of(text)
    assert problem is None or 1 <= problem.column <= len(text) + 1
    assert problem is None or problem.expected in str(problem)


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
        ("execution.score ~ 1 for all cases", 17, "a word, a number, a quoted text or a comparison"),
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
        parse(text)
    assert caught.value.column == column
    assert words in str(caught.value)


def test_a_file_holds_an_assertion_a_line_with_comments():
    text = (
        "# release gate\n\nboundary.score == pass for all cases\n  execution.score >= 0.5 for all cases  \n"
    )
    assert [assertion.metric for assertion in parse_lines(text)] == ["boundary.score", "execution.score"]
