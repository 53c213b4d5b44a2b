"""Text to assertions.

    assertion  = cases | aggregate | trials
    cases      = score comparison value quantifier [ where ]
    aggregate  = ( function "(" score ")" | "sandbox_pass_rate" | "code_presence" )
                 ( comparison amount | no_worse ) [ where ]
    trials     = ( "pass@" | "pass^" ) integer ( comparison amount | no_worse ) [ where ]
    no_worse   = "no_worse_than" "baseline" [ "by" amount ]
    score      = alias [ "." "score" ] | layer "." ( "score" | name | string )
    function   = "avg" | "p50" | "p95" | "max" | "fail_rate" | "open_rate" | "error_rate" | "presence_rate"
    comparison = ">=" | ">" | "<=" | "<" | "==" | "!="
    value      = amount | "pass" | "fail"
    amount     = number [ unit ] | "$" number
    quantifier = "for" "all" [ "cases" ]
               | "for" "at_least" number "%" [ "of" "cases" ]
               | "for" [ "at_least" ] integer "cases"
    where      = "where" condition { "and" condition }
    condition  = dimension ( "=" | "==" | "!=" | "~" ) string
               | dimension "in" "(" string { "," string } ")"

A string is written as in JSON, or in single quotes. Words are matched as they are written here, in lower
case. Every error names the column and what is expected there. What can be read and can never fail, or never
hold, is refused as well.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from difflib import get_close_matches
from fractions import Fraction
from typing import TypeVar

from spanproof.evaluators.scores import ALIASES, UNIT_FACTORS, Unit
from spanproof.gate.assertion import (
    AggregateAssertion,
    AllCases,
    Assertion,
    AtLeastCount,
    AtLeastShare,
    Bound,
    CaseAssertion,
    Comparison,
    Condition,
    Function,
    Match,
    NoWorse,
    Quantifier,
    ScoreRef,
    TrialsAssertion,
)
from spanproof.gate.errors import AssertionRefused, AssertionSyntaxError
from spanproof.gate.limits import (
    find_comparison_refusal,
    find_function_refusal,
    find_margin_refusal,
    find_score_refusal,
    find_verdict_refusal,
)
from spanproof.gate.query import OF_SCORES, ScoreQuery, find_condition_refusal
from spanproof.trace import Cohort, Label, Layer

_TOKEN = re.compile(
    r"""\s*(?:
        (?P<number>\d{1,30}(?:\.\d{1,30})?)
      | (?P<string>"(?:[^"\\\x00-\x1f]|\\.)*"|'(?:[^'\\\x00-\x1f]|\\.)*')
      | (?P<word>[A-Za-z_][A-Za-z0-9_-]*)
      | (?P<symbol>>=|<=|==|!=|[><=.%~$@^(),])
    )""",
    re.VERBOSE,
)

_DIMENSIONS = tuple(field.name for field in fields(Cohort))
_FUNCTIONS = tuple(function.value for function in Function if function.has_score)
# The score that an aggregate without one is reported under.
_IMPLIED = {
    Function.SANDBOX_PASS_RATE.value: ScoreRef(Layer.CORRECTNESS, "tests_pass"),
    Function.CODE_PRESENCE.value: ScoreRef(Layer.CORRECTNESS, "compiles"),
}
_COMPARISONS = " ".join(Comparison)


_Compared = TypeVar("_Compared", AggregateAssertion, TrialsAssertion)


@dataclass(frozen=True, slots=True)
class _Token:
    """A piece of the text; `kind` is number, string, word, symbol or end; `column` is from 1."""

    kind: str
    text: str
    column: int


def parse_assertion(text: str) -> Assertion:
    """Read one assertion.

    Raises:
        AssertionSyntaxError: it is not one; names the column and what is expected there.
        AssertionRefused: it names no score, or compares what can never or always hold; names the remedy.
    """
    return _Parser(text).parse_assertion()


def parse_comparison(text: str, score: ScoreRef) -> Bound:
    """Read a comparison with an amount, as in `> 0.05 USD`: what follows a score in an assertion.

    Raises:
        AssertionSyntaxError: it is none; names the column and what is expected there.
        AssertionRefused: it can never or always hold; names the remedy.
    """
    return _Parser(text).parse_comparison_of(score)


def parse_score(text: str) -> ScoreRef:
    """Read the name of a score, as in `groundedness.score` or `trajectory.steps`.

    Raises:
        AssertionSyntaxError: it is none; names the column and what is expected there.
        AssertionRefused: there is no such score; names the remedy.
    """
    return _Parser(text).parse_score_alone()


def parse_query(text: str) -> ScoreQuery:
    """Read which runs are meant, as in `layer = 'boundary' and label = 'fail' and agent ~ "shop"`.

    Raises:
        AssertionSyntaxError: it cannot be read; names the column and what is expected there.
        AssertionRefused: no score is like this; names the remedy.
    """
    return _Parser(text).parse_query()


def parse_lines(text: str) -> list[Assertion]:
    """Read a file of assertions: one a line; empty lines and lines that start with `#` are left out.

    Raises:
        GateError: a line is no assertion, or is refused.
    """
    lines = (line.strip() for line in text.splitlines())
    return [parse_assertion(line) for line in lines if line and not line.startswith("#")]


class _Parser:
    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = list(self._iter_tokens())
        self._at = 0

    def _iter_tokens(self) -> Iterable[_Token]:
        position = 0
        end = len(self._text.rstrip())
        while position < end:
            match = _TOKEN.match(self._text, position)
            if match is None or match.lastgroup is None:
                blank = len(self._text[position:]) - len(self._text[position:].lstrip())
                raise self._build_error(
                    position + blank + 1, "a word, a number, a quoted text or a comparison"
                )
            kind = match.lastgroup
            yield _Token(kind, match[kind], match.start(kind) + 1)
            position = match.end()
        yield _Token("end", "", end + 1)

    def parse_assertion(self) -> Assertion:
        following = self._tokens[self._at + 1 :][:1]
        if following and following[0].text == "(":
            found: Assertion = self._parse_aggregate()
        elif (word := self._next.text) in _IMPLIED:
            self._at += 1
            found = self._parse_limit(AggregateAssertion(Function(word), _IMPLIED[word], NoWorse()))
        elif self._next.text == "pass" and following and following[0].text in ("@", "^"):
            found = self._parse_trials()
        else:
            found = self._parse_cases()
        if self._next.kind != "end":
            rest = "the end, or 'and …'" if found.where else "the end, or 'where …'"
            raise self._build_error(self._next.column, rest)
        return found

    def parse_score_alone(self) -> ScoreRef:
        score = self._parse_score()
        if self._next.kind != "end":
            raise self._build_error(self._next.column, "the end")
        return score

    def parse_query(self) -> ScoreQuery:
        conditions = self._parse_conditions((*OF_SCORES, *_DIMENSIONS))
        if self._next.kind != "end":
            raise self._build_error(self._next.column, "the end, or 'and …'")
        for condition in conditions:
            if reason := find_condition_refusal(condition):
                raise self._build_refusal(1, reason)
        return ScoreQuery(conditions)

    def parse_comparison_of(self, score: ScoreRef) -> Bound:
        bound = self._parse_bound(str(score), score.unit, score.high, score)
        if self._next.kind != "end":
            raise self._build_error(self._next.column, "the end")
        return bound

    def _parse_cases(self) -> CaseAssertion:
        start = self._next.column
        score = self._parse_score()
        if self._next.text == "no_worse_than":
            raise self._build_refusal(start, f"a baseline is compared with one number: write avg({score})")
        if self._tokens[self._at + 1 : self._at + 2] and self._tokens[self._at + 1].text in ("pass", "fail"):
            comparison, threshold = self._parse_verdict(score)
            return CaseAssertion(score, comparison, threshold, self._parse_quantifier(), self._parse_where())
        bound = self._parse_bound(str(score), score.unit, score.high, score, verdicts=True)
        return CaseAssertion(
            score, bound.comparison, bound.threshold, self._parse_quantifier(), self._parse_where()
        )

    def _parse_aggregate(self) -> AggregateAssertion:
        start = self._next.column
        functions = sorted(_FUNCTIONS)
        function = Function(self._parse_choice(functions, f"a function ({', '.join(functions)})"))
        self._at += 1
        score = self._parse_score()
        self._check_next(")")
        if reason := find_function_refusal(function, score):
            raise self._build_refusal(start, reason)
        return self._parse_limit(AggregateAssertion(function, score, NoWorse()))

    def _parse_trials(self) -> TrialsAssertion:
        all_of = self._tokens[self._at + 1].text == "^"
        self._at += 2
        token = self._next
        if token.kind != "number" or not token.text.isdigit() or int(token.text) < 1:
            raise self._build_error(token.column, "a number of trials from 1, as in pass@5")
        self._at += 1
        return self._parse_limit(TrialsAssertion(int(token.text), all_of, NoWorse()))

    def _parse_limit(self, blank: _Compared) -> _Compared:
        """Read what the number is compared with, and for which cases."""
        if self._takes("no_worse_than"):
            limit: Bound | NoWorse = self._parse_no_worse(blank)
        else:
            score = blank.score if isinstance(blank, AggregateAssertion) else None
            limit = self._parse_bound(blank.subject, blank.unit, blank.high, score, aggregate=True)
        return replace(blank, limit=limit, where=self._parse_where())

    def _parse_no_worse(self, assertion: AggregateAssertion | TrialsAssertion) -> NoWorse:
        self._check_next("baseline")
        if not self._takes("by"):
            return NoWorse()
        column = self._next.column
        by = self._parse_amount(assertion.unit, "a number, as in 'by 0.02'")
        if reason := find_margin_refusal(assertion, by):
            raise self._build_refusal(column, reason)
        return NoWorse(by)

    def _parse_score(self) -> ScoreRef:
        start = self._next.column
        layers = [layer.value for layer in Layer]
        if self._next.text in ALIASES:
            layer = ALIASES[self._next.text]
            self._at += 1
            if self._takes("."):
                self._check_next("score")
            return ScoreRef(layer, layer.value)
        word = self._parse_choice(layers, f"a layer ({', '.join(layers)})", ALIASES)
        if not self._takes("."):
            raise self._build_error(self._next.column, f"'.', as in {word}.score")
        token = self._next
        if token.kind not in ("word", "string"):
            raise self._build_error(token.column, f"'score' or the name of a sub-score of {word}")
        if token.kind == "string":
            return ScoreRef(Layer(word), self._parse_string())
        self._at += 1
        score = ScoreRef(Layer(word), word if token.text == "score" else token.text)
        if reason := find_score_refusal(score):
            raise self._build_refusal(start, reason)
        return score

    def _parse_comparison(self, *, aggregate: bool = False) -> Comparison:
        token = self._next
        if token.kind != "symbol" or token.text not in list(Comparison):
            baseline = ", or no_worse_than baseline" if aggregate else ""
            raise self._build_error(token.column, f"a comparison ({_COMPARISONS}){baseline}")
        self._at += 1
        return Comparison(token.text)

    def _parse_verdict(self, score: ScoreRef) -> tuple[Comparison, Label]:
        comparison = self._parse_comparison()
        token = self._next
        if comparison not in (Comparison.EQUAL, Comparison.UNEQUAL):
            raise self._build_error(token.column, f"a number: {token.text} goes with == and != only")
        self._at += 1
        if reason := find_verdict_refusal(score):
            raise self._build_refusal(token.column, reason)
        return comparison, Label(token.text)

    def _parse_bound(
        self,
        name: str,
        unit: Unit,
        high: float,
        score: ScoreRef | None,
        *,
        verdicts: bool = False,
        aggregate: bool = False,
    ) -> Bound:
        """Read a comparison with an amount, which can hold and can fail."""
        column = self._next.column
        comparison = self._parse_comparison(aggregate=aggregate)
        threshold = self._parse_amount(unit, "a number, pass or fail" if verdicts else "a number")
        if reason := find_comparison_refusal(name, comparison, threshold, unit, high, score):
            raise self._build_refusal(column, reason)
        return Bound(comparison, threshold)

    def _parse_amount(self, unit: Unit, expected: str) -> float:
        """Read a number in the unit, which may be written in another of the same kind."""
        factors = UNIT_FACTORS[unit]
        before = self._next
        is_dollars = self._takes("$")
        if is_dollars and "$" not in factors:
            raise self._build_refusal(before.column, _describe_wrong_unit("$", unit))
        token = self._next
        if token.kind != "number":
            raise self._build_error(token.column, expected)
        self._at += 1
        written = self._next
        factor = 1.0
        if written.text in factors and written.kind in ("word", "symbol") and not is_dollars:
            factor = factors[written.text]
            self._at += 1
        elif written.text == "%" or (written.kind == "word" and written.text not in _AFTER_AMOUNT):
            raise self._build_refusal(written.column, _describe_wrong_unit(written.text, unit))
        return float(Fraction(token.text) * Fraction(repr(factor)))

    def _parse_quantifier(self) -> Quantifier:
        example = "as in 'for at_least 90% of cases' or 'for all cases'"
        if not self._takes("for"):
            raise self._build_error(self._next.column, f"'for', {example}")
        if self._takes("all"):
            self._takes("cases")
            return AllCases()
        if self._next.text == "at_most":
            raise self._build_error(
                self._next.column,
                "'at_least' or 'all' (for at_most, turn the comparison round and use at_least)",
            )
        if self._next.kind == "number":
            return self._parse_count()
        if not self._takes("at_least"):
            raise self._build_error(self._next.column, f"'all' or 'at_least', {example}")
        return self._parse_share_or_count()

    def _parse_share_or_count(self) -> Quantifier:
        token = self._next
        if token.kind != "number":
            raise self._build_error(token.column, "a number, as in 90% or 20")
        if self._tokens[self._at + 1].text != "%":
            return self._parse_count()
        self._at += 2
        if Fraction(token.text) > 100:
            raise self._build_error(token.column, "at most 100%")
        if Fraction(token.text) == 0:
            raise self._build_error(token.column, "a share above 0%: at_least 0% holds whatever was found")
        if self._takes("of"):
            self._check_next("cases")
        return AtLeastShare(Fraction(token.text))

    def _parse_count(self) -> Quantifier:
        token = self._next
        if "." in token.text:
            raise self._build_error(token.column, "a whole number of cases, or a share with %")
        if int(token.text) == 0:
            raise self._build_error(token.column, "a number from 1 on: at_least 0 holds whatever was found")
        self._at += 1
        if not self._takes("cases"):
            raise self._build_error(self._next.column, "'% of cases' or 'cases'")
        return AtLeastCount(int(token.text))

    def _parse_where(self) -> tuple[Condition, ...]:
        if self._takes("where"):
            return self._parse_conditions(_DIMENSIONS)
        return ()

    def _parse_conditions(self, dimensions: Sequence[str]) -> tuple[Condition, ...]:
        conditions = [self._parse_condition(dimensions)]
        while self._takes("and"):
            conditions.append(self._parse_condition(dimensions))
        return tuple(conditions)

    def _parse_condition(self, dimensions: Sequence[str]) -> Condition:
        dimension = self._parse_choice(dimensions, f"a cohort dimension ({', '.join(dimensions)})")
        if self._takes("in"):
            self._check_next("(")
            values = [self._parse_string()]
            while self._takes(","):
                values.append(self._parse_string())
            self._check_next(")")
            return Condition(dimension, Match.IN, tuple(values))
        if self._takes("~"):
            column = self._next.column
            pattern = self._parse_string()
            try:
                re.compile(pattern)
            except re.error as problem:
                raise self._build_refusal(
                    column, f"{pattern!r} is no regular expression: {problem}"
                ) from problem
            return Condition(dimension, Match.PATTERN, (pattern,))
        if self._takes("!="):
            return Condition(dimension, Match.UNEQUAL, (self._parse_string(),))
        if not (self._takes("=") or self._takes("==")):
            raise self._build_error(self._next.column, f"'=', '!=', '~' or 'in', as in {dimension} = \"…\"")
        return Condition(dimension, Match.EQUAL, (self._parse_string(),))

    def _parse_string(self) -> str:
        token = self._next
        if token.kind != "string":
            raise self._build_error(token.column, 'a quoted text, as in "checkout"')
        try:
            value = json.loads(_format_quotes(token.text))
        except ValueError:
            raise self._build_error(token.column, "a quoted text with JSON's escapes") from None
        self._at += 1
        return str(value)

    def _parse_choice(self, allowed: Iterable[str], what: str, near_too: Iterable[str] = ()) -> str:
        token = self._next
        choices = list(allowed)
        if token.kind != "word" or token.text not in choices:
            near = get_close_matches(token.text, [*choices, *near_too], n=1)
            hint = f"; did you mean {near[0]}?" if near else ""
            raise self._build_error(token.column, what + hint)
        self._at += 1
        return token.text

    @property
    def _next(self) -> _Token:
        return self._tokens[self._at]

    def _takes(self, text: str) -> bool:
        token = self._next
        if token.text != text or token.kind not in ("word", "symbol"):
            return False
        self._at += 1
        return True

    def _check_next(self, word: str) -> None:
        if not self._takes(word):
            raise self._build_error(self._next.column, repr(word))

    def _build_error(self, column: int, expected: str) -> AssertionSyntaxError:
        return AssertionSyntaxError(self._text, column, expected)

    def _build_refusal(self, column: int, reason: str) -> AssertionRefused:
        return AssertionRefused(self._text, column, reason)


def _format_quotes(text: str) -> str:
    """Return a quoted text in double quotes, as JSON has it."""
    if text.startswith('"'):
        return text
    inner = text[1:-1].replace("\\'", "'")
    return '"' + re.sub(r'(?<!\\)((?:\\\\)*)"', r"\1\"", inner) + '"'


# Words that may follow an amount and are no unit.
_AFTER_AMOUNT = frozenset(("for", "where"))


def _describe_wrong_unit(written: str, unit: Unit) -> str:
    if unit is Unit.NONE:
        return f"the value is from 0 to 1 and has no unit {written!r}; write a number or a percentage"
    units = ", ".join(UNIT_FACTORS[unit])
    return f"the value is in {unit.value}, not in {written!r}; known here: {units}"
