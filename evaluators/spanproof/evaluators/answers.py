"""Comparisons of an answer with what is expected: numbers in text, patterns, JSON and its schemas.

Requirements of cases and built-in evaluators share them. Patterns and schemas come from other people:
patterns are matched by RE2, in time linear in the text.
"""

from __future__ import annotations

import json
from math import isclose
from typing import Any

import re2

from spanproof.reading.numbers import list_mentions
from spanproof.reading.numerals import iter_numbers
from spanproof.reading.values import NUMERIC
from spanproof.trace import JsonValue


def list_readings(text: str) -> list[float]:
    """Return every number that a text shows, in each of its readings: `1.2 million` is 1.2 and 1,200,000."""
    found: list[float] = []
    for mention in list_mentions(text):
        value = mention.value
        if value.kind in NUMERIC:
            found.append(value.amount)
            if value.scale != 1.0:
                found.append(value.amount * value.scale)
            if value.other is not None:
                found.append(value.other / value.factor)
        elif value.date is not None:
            found.extend(float(part) for part in value.date if part is not None)
        else:
            found.extend(float(number) for _, number in iter_numbers(text[mention.start : mention.end]))
    return found


def is_number(value: object) -> bool:
    """Whether a JSON value is a number; a boolean is none."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def is_near(found: Any, wanted: float, tolerance: float) -> bool:
    """Whether a number is another one, up to a tolerance and to binary fractions."""
    return isclose(float(found), wanted, rel_tol=1e-9, abs_tol=tolerance)


def parse_pattern(pattern: str) -> Any:
    """Return a pattern of RE2.

    Raises:
        ValueError: it is none.
    """
    options = re2.Options()
    options.log_errors = False  # it would write to stderr itself
    try:
        return re2.compile(pattern, options)
    except re2.error as problem:
        raise ValueError(f"{pattern!r} is no pattern of RE2") from problem


def check_schema(schema: Any) -> None:
    """Refuse what is no JSON schema.

    Raises:
        ValueError: it is none; says why.
    """
    import jsonschema  # loads much: only where there is a schema

    try:
        jsonschema.validators.validator_for(schema).check_schema(schema)
    except jsonschema.SchemaError as problem:
        raise ValueError(problem.message) from problem


def find_misfit(schema: Any, value: JsonValue) -> str | None:
    """Return why a value does not fit a schema; None where it does."""
    import jsonschema

    validator = jsonschema.validators.validator_for(schema)(schema)
    error = next(iter(validator.iter_errors(value)), None)
    return None if error is None else str(error.message)


def to_text(value: JsonValue) -> str:
    """Return a value as text: JSON unless it is text already."""
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False)
