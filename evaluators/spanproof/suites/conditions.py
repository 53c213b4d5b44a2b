"""A condition on a text: on an agent's answer, or on a file that it leaves.

    {contains: "45.00"}    or equals, matches, number with tolerance, json_schema

Patterns come from other people's suites: they are matched by RE2, in time linear in the text.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from spanproof.evaluators.answers import (
    check_schema,
    find_misfit,
    is_near,
    is_number,
    list_readings,
    parse_pattern,
)
from spanproof.trace import JsonValue, Payload

_CONDITIONS: Final = ("equals", "contains", "matches", "number", "json_schema")


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition on a text.

    Attributes:
        how: `equals`, `contains`, `matches`, `number` or `json_schema`.
        tolerance: how far a number may be off, for `equals` and `number`.
    """

    how: str
    value: JsonValue
    tolerance: float = 0.0

    def evaluate(self, what: str, payload: Payload) -> tuple[bool, str]:
        """Return whether a text meets it, and what was found; `what` names the text."""
        found = f"{what} is {format_short_line(payload.text)}"
        match self.how:
            case "equals":
                return _is_equal(self.value, payload.text, payload.value, self.tolerance), found
            case "contains":
                return str(self.value) in payload.text, found
            case "matches":
                return parse_pattern(str(self.value)).search(payload.text) is not None, found
            case "number":
                wanted = _as_number(self.value)
                return any(
                    is_near(number, wanted, self.tolerance) for number in list_readings(payload.text)
                ), found
            case _:
                return _evaluate_schema(self.value, payload.text, payload.value, found)


def read_condition(kind: str, about: Mapping[str, Any]) -> Condition:
    """Return the condition that a mapping states; `kind` names it in errors.

    Raises:
        TypeError, ValueError: it states none, or several; names the key and what is expected.
    """
    hows = [key for key in about if key in _CONDITIONS]
    unknown = set(about) - {*_CONDITIONS, "tolerance"}
    if len(hows) != 1 or unknown:
        keys = ", ".join(map(str, about))
        raise ValueError(f"{kind} takes one of {', '.join(_CONDITIONS)}, and tolerance; got {keys}")
    how, value = hows[0], about[hows[0]]
    tolerance = about.get("tolerance", 0.0)
    if isinstance(tolerance, bool) or not isinstance(tolerance, int | float) or tolerance < 0:
        raise ValueError(f"tolerance must be a number of at least 0, got {tolerance!r}")
    match how:
        case "matches":
            try:
                parse_pattern(str(value))
            except ValueError as problem:
                raise ValueError(f"matches: {problem}") from problem
        case "number":
            _as_number(value)
        case "json_schema":
            try:
                check_schema(value)
            except ValueError as problem:
                raise ValueError(f"json_schema: {problem}") from problem
    return Condition(how, value, float(tolerance))


def _is_equal(wanted: JsonValue, text: str, value: JsonValue, tolerance: float) -> bool:
    if isinstance(wanted, str):
        return text.strip() == wanted.strip()
    if isinstance(wanted, int | float) and not isinstance(wanted, bool):
        found = [value] if is_number(value) else list_readings(text)
        return len(found) == 1 and is_near(found[0], float(wanted), tolerance)
    return value == wanted


def _evaluate_schema(schema: Any, text: str, value: JsonValue, found: str) -> tuple[bool, str]:
    if isinstance(value, str):
        try:
            value = json.loads(text)
        except ValueError:
            return False, f"{found}, which is no JSON"
    misfit = find_misfit(schema, value)
    if misfit is None:
        return (True, found)
    return (False, f"{found}: {format_short_line(misfit)}")


def _as_number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"number must be a number, got {value!r}")
    return float(value)


def format_short_line(text: str, limit: int = 120) -> str:
    """Return text on one line, cut where it is long."""
    line = " ".join(text.split())
    if len(line) <= limit:
        return line
    return f"{line[: limit - 1]}…"
