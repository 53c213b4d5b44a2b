"""Arguments of a call, bound to the parameter names of what was called.

A tool's span names its arguments whichever way the code passed them, so that a replay can find the recorded
call again. What no name can be given to is kept in order.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final
from weakref import WeakKeyDictionary

_parameters: WeakKeyDictionary[Any, Parameters] = WeakKeyDictionary()
_BY_POSITION: Final = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
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
        """Return the arguments of a call by name."""
        return bind(self.names, args[self.owners :], kwargs)


def parameters_of(function: Callable[..., Any]) -> Parameters:
    """Return the parameters of a function; none where they are unknown."""
    with suppress(TypeError):  # not hashable, or not weakly referable
        known = _parameters.get(function)
        if known is not None:
            return known
    names = tuple(each.name for each in _signature(function) or () if each.kind in _BY_POSITION)
    owners = int(names[:1] in _OWNERS)
    found = Parameters(names[owners:], owners)
    with suppress(TypeError):
        _parameters[function] = found
    return found


def arguments_named(function: Callable[..., Any]) -> tuple[str, ...] | None:
    """Return the names that a call can give an argument by; None where it may be any, or they are unknown."""
    parameters = _signature(function)
    if parameters is None or any(each.kind is inspect.Parameter.VAR_KEYWORD for each in parameters):
        return None
    return tuple(each.name for each in parameters if each.kind is not inspect.Parameter.VAR_POSITIONAL)


def bind(names: Sequence[str], args: Sequence[Any], kwargs: Mapping[str, Any]) -> Bound:
    """Return arguments by the names of the parameters at their positions."""
    named = dict(zip(names, args, strict=False))
    return Bound({**named, **kwargs}, tuple(args[len(names) :]))


def _signature(function: Callable[..., Any]) -> tuple[inspect.Parameter, ...] | None:
    try:
        return tuple(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return None
