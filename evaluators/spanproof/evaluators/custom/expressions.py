"""Expressions of Jinja over a span: `"refund" in completion and completion | length < 500`.

The expression is the user's, the values come from a trace. Jinja's immutable sandbox gives an expression
neither attributes of objects nor a way to change them, and all values are JSON. Jinja is loaded with the
first expression.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jinja2.environment import TemplateExpression
    from jinja2.sandbox import ImmutableSandboxedEnvironment


@cache
def _build_environment() -> ImmutableSandboxedEnvironment:
    from jinja2 import StrictUndefined
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    return ImmutableSandboxedEnvironment(undefined=StrictUndefined)


@lru_cache(maxsize=256)
def parse_expression(text: str) -> TemplateExpression:
    """Return an expression that can be evaluated.

    Raises:
        ValueError: it is none.
    """
    from jinja2 import TemplateError

    try:
        return _build_environment().compile_expression(text, undefined_to_none=False)
    except TemplateError as problem:
        raise ValueError(f"no expression of Jinja: {problem}") from problem


def evaluate_expression(text: str, values: Mapping[str, Any]) -> Any:
    """Return what an expression gives for these values.

    Raises:
        ValueError: it is none, names a value that is not there, or fails.
    """
    from jinja2 import StrictUndefined, TemplateError

    try:
        found = parse_expression(text)(**values)
    except (TemplateError, ArithmeticError, LookupError, TypeError) as problem:
        raise ValueError(f"{type(problem).__name__}: {problem}") from problem
    if isinstance(found, StrictUndefined):
        name = found._undefined_name  # noqa: SLF001
        raise ValueError(f"the expression gives a value that is not there: {name}")  # noqa: TRY004
    return found
