"""Arguments of a call, bound to the parameter names of what was called.

A tool's span names its arguments whichever way the code passed them, so that a replay can find the recorded
call again. What no name can be given to is kept in order.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from weakref import WeakKeyDictionary

_names_of: WeakKeyDictionary[Any, tuple[str, ...]] = WeakKeyDictionary()
_OWNERS: Final = (("self",), ("cls",))
"""What a method calls its object or class, which is none of a call's arguments."""


@dataclass(slots=True)
class Bound:
    """Named arguments, and the positional ones left without a name."""

    named: Mapping[str, Any]
    positional: Sequence[Any]


@dataclass(frozen=True, slots=True)
class Parameters:
    """A function's parameters that take an argument by position.

    Attributes:
        names: without a method's `self` or `cls`.
        owners: how many of the arguments a call passes are the method's object or class.
    """

    names: tuple[str, ...]
    owners: int

    def bind(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Bound:
        """The arguments of a call as the function itself is given them."""
        return bind(self.names, args[self.owners :], kwargs)


def parameters_of(function: Callable[..., Any]) -> Parameters:
    """The parameters of a function that is looked at once; none where they are unknown."""
    names = _inspect(function)
    owners = int(names[:1] in _OWNERS)
    return Parameters(names[owners:], owners)


def arguments_named(function: Callable[..., Any]) -> tuple[str, ...] | None:
    """Names that a call can give an argument by; None where it may be any, or they are unknown."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return None
    if any(each.kind is inspect.Parameter.VAR_KEYWORD for each in parameters):
        return None
    return tuple(each.name for each in parameters if each.kind is not inspect.Parameter.VAR_POSITIONAL)


def bind(names: Sequence[str], args: Sequence[Any], kwargs: Mapping[str, Any]) -> Bound:
    """Give positional arguments the names of the parameters in their place."""
    named = dict(zip(names, args, strict=False))
    return Bound({**named, **kwargs}, tuple(args[len(names) :]))


def parameter_names(function: Callable[..., Any]) -> tuple[str, ...]:
    """Names of the parameters that take an argument by position, without `self`; empty when unknown."""
    try:
        known = _names_of.get(function)
    except TypeError:
        return _without_self(_inspect(function))
    if known is None:
        known = _without_self(_inspect(function))
        _names_of[function] = known
    return known


def _inspect(function: Callable[..., Any]) -> tuple[str, ...]:
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return ()
    by_position = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return tuple(each.name for each in parameters if each.kind in by_position)


def _without_self(names: tuple[str, ...]) -> tuple[str, ...]:
    return names[1:] if names[:1] == ("self",) else names
