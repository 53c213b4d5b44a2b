"""Telling a call handed on to a parent class's method from a new call.

`Derived.__call__` that ends in `super().__call__()` passes two replaced methods and is one call; a tool or
model that calls itself again passes the same method twice and is two.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from opentelemetry.context import Context, create_key, get_value, set_value

_KEY: Final = create_key("spanproof-call")


@dataclass(frozen=True, slots=True)
class _Call:
    instance: Any
    method: Any


def is_handed_on(instance: Any, method: Any) -> bool:
    """Whether the current call is of this very instance, and came by another of its methods."""
    call = get_value(_KEY)
    return isinstance(call, _Call) and call.instance is instance and call.method is not method


def calling(context: Context, instance: Any, method: Any) -> Context:
    """The context within a call."""
    return set_value(_KEY, _Call(instance, method), context)
