"""Plain functions that score: `@evaluator` marks one, `run_scorer` calls one.

A function takes what it names: `input`, `output`, `expected`, `row`, and any other key that there is. It
returns a bool, a number, `{"score": …, "explanation": …}`, a `Scored`, or None for no score; it may be async.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from math import isfinite
from typing import Any, Final, TypeVar

from spanproof.trace import Scored

Scorer = TypeVar("Scorer", bound=Callable[..., Any])

# Where `evaluator` keeps the name that it gives to a function.
_NAME: Final = "__spanproof_name__"


@dataclass(frozen=True, slots=True)
class FunctionScore:
    """The score that a scorer gave to one output.

    Attributes:
        value: the number; None where the scorer gave none or raised.
        error: what it raised, as `Type: message`; empty where it did not.
    """

    value: float | None
    explanation: str = ""
    error: str = ""


def evaluator(function: Scorer | None = None, *, name: str = "") -> Any:
    """Mark a function as a scorer, under a name of its own: `@evaluator` or `@evaluator(name="right")`.

    The function stays as it is. `evaluate` takes it, and `evaluators: [{function: "module:name"}]` of a
    configuration.
    """
    if function is None:
        return partial(evaluator, name=name)
    if not callable(function):
        raise TypeError(
            f"@evaluator marks a function, got {function!r:.60}: write @evaluator(name=…) for a name"
        )
    setattr(function, _NAME, name or function.__name__)
    return function


def is_evaluator(function: object) -> bool:
    """Whether `evaluator` marked it."""
    return callable(function) and hasattr(function, _NAME)


def get_scorer_name(function: Callable[..., Any]) -> str:
    """Return the name that `evaluator` gave, else the function's own."""
    return str(getattr(function, _NAME, "") or getattr(function, "__name__", type(function).__name__))


def run_with_row(function: Callable[..., Any], row: Mapping[str, Any], more: Mapping[str, Any]) -> Any:
    """Return what a function returns for a row; a coroutine is run to its end.

    Args:
        function: whose parameters are filled by name.
        row: keys and values.
        more: further ones; without any, a first parameter that is no key gets the row's input, or the row.
    """
    positional, filled = _build_arguments(function, row, more)
    result = function(*positional, **filled)
    if inspect.isawaitable(result):
        return asyncio.run(_wait_for_result(result))
    return result


def describe_missing_argument(
    function: Callable[..., Any], row: Mapping[str, Any], more: Mapping[str, Any]
) -> str:
    """Return what `run_with_row` cannot give to a function, as a clause; empty where nothing is missing."""
    positional, filled = _build_arguments(function, row, more)
    signature = _find_signature(function)
    try:
        if signature is not None:
            signature.bind(*positional, **filled)
    except TypeError as problem:
        return str(problem)
    return ""


def _find_signature(function: Callable[..., Any]) -> inspect.Signature | None:
    """Return a function's signature; None of a type like `int`, which has none."""
    try:
        return inspect.signature(function)
    except ValueError:
        return None


def _build_arguments(
    function: Callable[..., Any], row: Mapping[str, Any], more: Mapping[str, Any]
) -> tuple[list[Any], dict[str, Any]]:
    """Return the arguments for a function, by position and by name."""
    signature = _find_signature(function)
    if signature is None:
        return [more["output"] if "output" in more else row.get("input", row)], {}
    values = {**row, **more}
    filled: dict[str, Any] = {}
    positional: list[Any] = []
    for parameter in signature.parameters.values():
        if parameter.kind is parameter.VAR_KEYWORD:
            filled.update({key: value for key, value in values.items() if key not in filled})
        elif parameter.kind is parameter.VAR_POSITIONAL:
            continue
        elif parameter.kind is not parameter.POSITIONAL_ONLY and parameter.name in values:
            filled[parameter.name] = values[parameter.name]
        elif parameter.default is parameter.empty and not more and not positional and not filled:
            positional.append(row.get("input", row))
        elif parameter.default is parameter.empty and parameter.name == "expected":
            filled["expected"] = None
    return positional, filled


def run_scorer(scorer: Callable[..., Any], row: Mapping[str, Any], more: Mapping[str, Any]) -> FunctionScore:
    """Return the score that a function gives; what it raises is the score's error."""
    try:
        return _read_score(run_with_row(scorer, row, more))
    except Exception as problem:  # noqa: BLE001 - a scorer of the user's may raise anything
        return FunctionScore(None, error=f"{type(problem).__name__}: {problem}")


async def _wait_for_result(result: Any) -> Any:
    return await result


def _read_score(returned: Any) -> FunctionScore:
    explanation = ""
    if isinstance(returned, Mapping):
        explanation, returned = str(returned.get("explanation") or ""), returned.get("score")
    elif isinstance(returned, Scored):
        explanation, returned = returned.explanation, returned.value
    if returned is None:
        return FunctionScore(None, explanation)
    if hasattr(returned, "item") and getattr(returned, "ndim", None) == 0:
        returned = returned.item()  # a scalar of numpy, such as its bool, is no number of Python's
    if not isinstance(returned, int | float) or not isfinite(returned):
        raise TypeError(
            f"a scorer returns a bool, a number, a dict with score, or None; got {returned!r:.60}"
        )
    return FunctionScore(float(returned), explanation)
