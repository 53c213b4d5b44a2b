"""Arguments of a call, bound to the parameter names of what was called.

A tool's span names its arguments whichever way the code passed them, so that a replay can find the recorded
call again. What no name can be given to is kept in order.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

_names_of: WeakKeyDictionary[Any, tuple[str, ...]] = WeakKeyDictionary()


@dataclass(slots=True)
class Bound:
    """Named arguments, and the positional ones left without a name."""

    named: Mapping[str, Any]
    positional: Sequence[Any]


def bind(names: Sequence[str], args: Sequence[Any], kwargs: Mapping[str, Any]) -> Bound:
    """Give positional arguments the names of the parameters in their place."""
    named = dict(zip(names, args, strict=False))
    return Bound({**named, **kwargs}, tuple(args[len(names) :]))


def parameter_names(function: Callable[..., Any]) -> tuple[str, ...]:
    """Names of the parameters that take an argument by position, without `self`; empty when unknown."""
    try:
        known = _names_of.get(function)
    except TypeError:
        return _inspect(function)
    if known is None:
        known = _inspect(function)
        _names_of[function] = known
    return known


def _inspect(function: Callable[..., Any]) -> tuple[str, ...]:
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return ()
    by_position = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    names = tuple(each.name for each in parameters if each.kind in by_position)
    return names[1:] if names[:1] == ("self",) else names
