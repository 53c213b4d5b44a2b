"""Built-in evaluators: a completion compared with a target, without a program and without a sandbox."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from spanproof.evaluators.answers import (
    check_schema,
    find_misfit,
    is_near,
    is_number,
    list_readings,
    parse_pattern,
    to_text,
)
from spanproof.evaluators.check_kinds import Check
from spanproof.evaluators.custom.cel import evaluate_cel, parse_cel
from spanproof.evaluators.custom.expressions import evaluate_expression, parse_expression
from spanproof.evaluators.custom.function import Call, Returned
from spanproof.evaluators.evaluator import EvaluatorError
from spanproof.sandbox import JsonValue
from spanproof.trace import digest

_EXPRESSIONS: Final[Mapping[Check, Callable[[str, Mapping[str, Any]], Any]]] = {
    Check.EXPRESSION: evaluate_expression,
    Check.CEL: evaluate_cel,
}


@dataclass(frozen=True, slots=True)
class BuiltIn:
    """A built-in evaluator.

    Attributes:
        ignore_case: of texts.
        tolerance: how far a number may be off.
    """

    name: str
    check_kind: Check
    ignore_case: bool = False
    tolerance: float = 0.0

    @property
    def version(self) -> str:
        """Follows from what is compared and how."""
        return digest(self.check_kind.value, str(self.ignore_case), repr(self.tolerance))[:12]

    def check(self, given: Collection[str] = ()) -> None:
        """See that it can be called; it always can."""

    def check_target(self, target: JsonValue) -> None:
        """Refuse a target that no completion can be compared with.

        Raises:
            EvaluatorError: it is no pattern, no schema or no number.
        """
        if isinstance(target, str) and target.startswith("attribute:"):
            return
        try:
            self._check_target(target)
        except ValueError as problem:
            raise EvaluatorError(f"evaluator {self.name!r}: target: {problem}") from problem

    def _check_target(self, target: JsonValue) -> None:
        match self.check_kind:
            case Check.REGEX:
                parse_pattern(to_text(target))
            case Check.JSON_SCHEMA:
                check_schema(_parse_schema(target))
            case Check.NUMERIC:
                _parse_number(target)
            case Check.EXPRESSION:
                parse_expression(to_text(target))
            case Check.CEL:
                parse_cel(to_text(target))
            case Check.EXACT_MATCH | Check.CONTAINS if target is None:
                raise ValueError("there is none to compare with")

    def evaluate(self, call: Call) -> Returned:
        """Return 1 where the completion is as the target says, else 0; what cannot be compared is skipped."""
        if call.completion is None:
            return Returned(skipped="there is no completion")
        if call.target is None and self.check_kind is not Check.JSON_VALID:
            return Returned(skipped="there is no target")
        try:
            if self.check_kind in _EXPRESSIONS:
                values = {**call.variables, "completion": call.completion}
                found = _EXPRESSIONS[self.check_kind](to_text(call.target), values)
                return _evaluate_value(found, to_text(call.target))
            holds, why = self._compare(call.completion, call.target)
        except ValueError as problem:
            return Returned(error_type="BadTarget", message=str(problem))
        return Returned(float(holds), why)

    def _compare(self, completion: JsonValue, target: JsonValue) -> tuple[bool, str]:
        text, shown = to_text(completion), _format_short(to_text(completion))
        match self.check_kind:
            case Check.EXACT_MATCH:
                holds = self._normalise_case(text).strip() == self._normalise_case(to_text(target)).strip()
                return holds, f"{shown} is{'' if holds else ' not'} {_format_short(to_text(target))}"
            case Check.CONTAINS:
                return self._evaluate_contains(text, target if isinstance(target, list) else [target])
            case Check.REGEX:
                pattern = f"(?i){to_text(target)}" if self.ignore_case else to_text(target)
                holds = parse_pattern(pattern).search(text) is not None
                return holds, f"{shown} {'matches' if holds else 'does not match'} {_format_short(pattern)}"
            case Check.JSON_VALID:
                problem = _find_json_problem(completion)
                return problem is None, problem or "it is JSON"
            case Check.JSON_SCHEMA:
                return _evaluate_schema(completion, _parse_schema(target))
            case Check.NUMERIC:
                return self._evaluate_number(completion, _parse_number(target))
            case Check.EXPRESSION | Check.CEL:
                raise AssertionError("an expression compares nothing")

    def _evaluate_contains(self, text: str, parts: Sequence[JsonValue]) -> tuple[bool, str]:
        folded = self._normalise_case(text)
        missing = [part for part in map(to_text, parts) if self._normalise_case(part) not in folded]
        if missing:
            return False, f"{_format_short(text)} lacks {', '.join(map(_format_short, missing))}"
        return True, f"{_format_short(text)} has all of it"

    def _evaluate_number(self, completion: JsonValue, expected: float) -> tuple[bool, str]:
        text = to_text(completion)
        numbers = [completion] if is_number(completion) else list_readings(text)
        holds = any(is_near(number, expected, self.tolerance) for number in numbers)
        verb = "has" if holds else "has not"
        return holds, f"{_format_short(text)} {verb} {expected:g} ± {self.tolerance:g}"

    def _normalise_case(self, text: str) -> str:
        return text.casefold() if self.ignore_case else text


def _evaluate_value(value: object, expression: str) -> Returned:
    """Return the score that an expression gives: true or false, or a number from 0 to 1."""
    if isinstance(value, bool):
        return Returned(float(value), f"{_format_short(expression)} is {'true' if value else 'false'}")
    if isinstance(value, int | float) and 0 <= value <= 1:
        return Returned(float(value), f"{_format_short(expression)} is {value:g}")
    return Returned(
        error_type="BadScore",
        message=f"the expression gives {_format_short(str(value))}, expected true, false or 0 to 1",
    )


def _evaluate_schema(completion: JsonValue, schema: dict[str, JsonValue]) -> tuple[bool, str]:
    check_schema(schema)
    problem = _find_json_problem(completion)
    if problem is not None:
        return False, problem
    misfit = find_misfit(schema, json.loads(completion) if isinstance(completion, str) else completion)
    return misfit is None, _format_short(misfit) if misfit else "it fits the schema"


def _find_json_problem(completion: JsonValue) -> str | None:
    """Return why a completion is no JSON; one that is no text was read from JSON."""
    if not isinstance(completion, str):
        return None
    try:
        json.loads(completion, parse_constant=_check_constant)
    except (ValueError, RecursionError) as problem:
        return f"it is no JSON: {problem}"
    return None


def _check_constant(name: str) -> None:
    raise ValueError(f"{name} is no number of JSON")


def _parse_schema(target: JsonValue) -> dict[str, JsonValue]:
    """Return a schema; one that an attribute holds is text."""
    if isinstance(target, str):
        try:
            target = json.loads(target)
        except ValueError as problem:
            raise ValueError(f"the schema is no JSON: {problem}") from problem
    if not isinstance(target, dict):
        raise ValueError(f"a schema is an object, got {type(target).__name__}")  # noqa: TRY004
    return target


def _parse_number(target: JsonValue) -> float:
    try:
        if isinstance(target, str) or is_number(target):
            return float(target)  # type: ignore[arg-type]
    except ValueError:
        pass
    raise ValueError(f"expected a number, got {_format_short(to_text(target))}")


def _format_short(text: str, limit: int = 120) -> str:
    line = " ".join(text.split())
    return repr(line if len(line) <= limit else f"{line[: limit - 1]}…")
