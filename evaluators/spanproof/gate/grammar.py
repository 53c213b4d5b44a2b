"""Text to assertions.

    assertion  = metric comparison value quantifier [ where ]
    metric     = layer "." ( "score" | name )
    comparison = ">=" | ">" | "<=" | "<" | "==" | "!="
    value      = number | "pass" | "fail"
    quantifier = "for" "all" "cases"
               | "for" "at_least" number "%" "of" "cases"
               | "for" "at_least" integer "cases"
    where      = "where" condition { "and" condition }
    condition  = dimension ( "=" | "==" ) string

A string is written as in JSON. Words are matched as they stand here, in lower case. Every error names the
column and what should stand there.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, fields
from difflib import get_close_matches
from fractions import Fraction

from spanproof.gate.assertion import AllCases, Assertion, AtLeastCount, AtLeastShare, Comparison, Quantifier
from spanproof.gate.errors import AssertionSyntaxError
from spanproof.trace import Cohort, Label, Layer

_TOKEN = re.compile(
    r"""\s*(?:
        (?P<number>\d{1,30}(?:\.\d{1,30})?)
      | (?P<string>"(?:[^"\\\x00-\x1f]|\\.)*")
      | (?P<word>[A-Za-z_][A-Za-z0-9_-]*)
      | (?P<symbol>>=|<=|==|!=|[><=.%])
    )""",
    re.VERBOSE,
)

_DIMENSIONS = tuple(field.name for field in fields(Cohort))


@dataclass(frozen=True, slots=True)
class _Token:
    """A piece of the text; `kind` is number, string, word, symbol or end; `column` is from 1."""

    kind: str
    text: str
    column: int


def parse(text: str) -> Assertion:
    """Read one assertion.

    Raises:
        AssertionSyntaxError: it is not one; names the column and what was expected there.
    """
    return _Parser(text).assertion()


def parse_lines(text: str) -> list[Assertion]:
    """Read a file of assertions: one a line; empty lines and lines that start with `#` are left out.

    Raises:
        AssertionSyntaxError: a line is no assertion.
    """
    lines = (line.strip() for line in text.splitlines())
    return [parse(line) for line in lines if line and not line.startswith("#")]


class _Parser:
    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = list(self._cut())
        self._at = 0

    def _cut(self) -> Iterable[_Token]:
        position = 0
        end = len(self._text.rstrip())
        while position < end:
            match = _TOKEN.match(self._text, position)
            if match is None or match.lastgroup is None:
                blank = len(self._text[position:]) - len(self._text[position:].lstrip())
                raise self._error(position + blank + 1, "a word, a number, a quoted text or a comparison")
            kind = match.lastgroup
            yield _Token(kind, match[kind], match.start(kind) + 1)
            position = match.end()
        yield _Token("end", "", end + 1)

    def assertion(self) -> Assertion:
        layer, name = self._metric()
        comparison = self._comparison()
        threshold = self._threshold(comparison)
        quantifier = self._quantifier()
        where = self._where()
        if self._next.kind != "end":
            raise self._error(
                self._next.column, "the end, or 'where …'" if not where else "the end, or 'and …'"
            )
        return Assertion(layer, name, comparison, threshold, quantifier, where)

    def _metric(self) -> tuple[Layer, str]:
        layers = [layer.value for layer in Layer]
        layer = self._one_of(layers, f"a layer ({', '.join(layers)})")
        if not self._skip("."):
            raise self._error(self._next.column, f"'.', as in {layer}.score")
        token = self._next
        if token.kind != "word":
            raise self._error(token.column, f"'score' or the name of a sub-score of {layer}")
        self._at += 1
        return Layer(layer), layer if token.text == "score" else token.text

    def _comparison(self) -> Comparison:
        known = [comparison.value for comparison in Comparison]
        token = self._next
        if token.text not in known:
            raise self._error(token.column, f"a comparison ({' '.join(known)})")
        self._at += 1
        return Comparison(token.text)

    def _threshold(self, comparison: Comparison) -> float | Label:
        token = self._next
        if token.kind == "number":
            self._at += 1
            return float(token.text)
        if token.text not in ("pass", "fail"):
            raise self._error(token.column, "a number, pass or fail")
        if comparison not in (Comparison.EQUAL, Comparison.UNEQUAL):
            raise self._error(token.column, f"a number: {token.text} goes with == and != only")
        self._at += 1
        return Label(token.text)

    def _quantifier(self) -> Quantifier:
        example = "as in 'for at_least 90% of cases' or 'for all cases'"
        if not self._skip("for"):
            raise self._error(self._next.column, f"'for', {example}")
        if self._skip("all"):
            self._expect("cases")
            return AllCases()
        if self._next.text == "at_most":
            raise self._error(
                self._next.column,
                "'at_least' or 'all' (for at_most, turn the comparison round and use at_least)",
            )
        if not self._skip("at_least"):
            raise self._error(self._next.column, f"'all' or 'at_least', {example}")
        return self._amount()

    def _amount(self) -> Quantifier:
        token = self._next
        if token.kind != "number":
            raise self._error(token.column, "a number, as in 90% or 20")
        self._at += 1
        if self._skip("%"):
            if Fraction(token.text) > 100:
                raise self._error(token.column, "at most 100%")
            self._expect("of")
            self._expect("cases")
            return AtLeastShare(Fraction(token.text))
        if "." in token.text:
            raise self._error(token.column, "a whole number of cases, or a share with %")
        if not self._skip("cases"):
            raise self._error(self._next.column, "'% of cases' or 'cases'")
        return AtLeastCount(int(token.text))

    def _where(self) -> tuple[tuple[str, str], ...]:
        conditions: list[tuple[str, str]] = []
        if self._skip("where"):
            conditions.append(self._condition())
            while self._skip("and"):
                conditions.append(self._condition())
        return tuple(conditions)

    def _condition(self) -> tuple[str, str]:
        dimension = self._one_of(_DIMENSIONS, f"a cohort dimension ({', '.join(_DIMENSIONS)})")
        if not (self._skip("=") or self._skip("==")):
            raise self._error(self._next.column, f"'=', as in {dimension} = \"…\"")
        token = self._next
        if token.kind != "string":
            raise self._error(token.column, 'a quoted text, as in "checkout"')
        try:
            value = json.loads(token.text)
        except ValueError:
            raise self._error(token.column, "a quoted text with JSON's escapes") from None
        self._at += 1
        return dimension, str(value)

    def _one_of(self, known: Iterable[str], what: str) -> str:
        token = self._next
        choices = list(known)
        if token.text not in choices:
            near = get_close_matches(token.text, choices, n=1)
            hint = f"; did you mean {near[0]}?" if near else ""
            raise self._error(token.column, what + hint)
        self._at += 1
        return token.text

    @property
    def _next(self) -> _Token:
        return self._tokens[self._at]

    def _skip(self, text: str) -> bool:
        token = self._next
        if token.text != text or token.kind not in ("word", "symbol"):
            return False
        self._at += 1
        return True

    def _expect(self, word: str) -> None:
        if not self._skip(word):
            raise self._error(self._next.column, repr(word))

    def _error(self, column: int, expected: str) -> AssertionSyntaxError:
        return AssertionSyntaxError(self._text, column, expected)
