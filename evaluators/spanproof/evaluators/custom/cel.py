"""Expressions of CEL over a span: `completion.contains("refund") && size(completion) < 500`.

The runtime is that of the CEL project: it bounds the depth of an expression and the iterations of its loops,
and its regular expressions are RE2's. Values come from a trace, so what it cannot hold is changed or refused
here: it wraps whole numbers above 64 bits around, and recurses over nested values without a bound. It is
loaded with the first expression.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from cel_expr_python import cel

_DEEPEST: Final = 200
_INT64: Final = 2**63


@cache
def _create_environment() -> cel.Env:
    from cel_expr_python import cel

    return cel.NewEnv()


@lru_cache(maxsize=256)
def compile_cel(text: str) -> cel.Expression:
    """Return an expression that can be evaluated; its names are looked up then.

    Raises:
        ValueError: it is none.
    """
    try:
        return _create_environment().compile(text.encode("utf-8", "replace").decode(), disable_check=True)
    except RuntimeError as problem:
        raise ValueError(f"no expression of CEL: {_format_problem(problem)}") from problem


def evaluate_cel(text: str, values: Mapping[str, Any]) -> Any:
    """Return what an expression gives for these values.

    Raises:
        ValueError: it is none, names a value that is not there, or fails.
    """
    from cel_expr_python import cel

    expression = compile_cel(text)
    try:
        found = expression.eval(data={name: _to_cel_value(value) for name, value in values.items()})
    except RuntimeError as problem:
        raise ValueError(f"CEL: {_format_problem(problem)}") from problem
    if found.type() == cel.Type.ERROR:
        raise ValueError(f"CEL: {_format_problem(found.value())}")
    return found.plain_value()


def _to_cel_value(value: Any, depth: int = 0) -> Any:
    """Return a JSON value as the runtime can hold it.

    Raises:
        ValueError: it is nested too deeply.
    """
    if depth > _DEEPEST:
        raise ValueError(f"a value is nested more than {_DEEPEST} levels deep")
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, int) and not -_INT64 <= value < _INT64:
        return _as_double(value)
    if isinstance(value, Mapping):
        return {_to_cel_value(str(key)): _to_cel_value(member, depth + 1) for key, member in value.items()}
    if isinstance(value, list | tuple):
        return [_to_cel_value(member, depth + 1) for member in value]
    return value


def _as_double(value: int) -> float:
    try:
        return float(value)
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")


def _format_problem(problem: object) -> str:
    return str(problem).partition("\n")[0]
