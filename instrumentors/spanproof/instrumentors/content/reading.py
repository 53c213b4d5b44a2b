"""Looking at the host's objects without running more of them than must be.

`isinstance` reads a proxy's `__class__`, a subclass of `list` may iterate for ever, any attribute may
be a property that raises. These readers go by the real type, use the built-in types' own methods, and answer
with nothing where an object refuses.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeVar

_T = TypeVar("_T")


def is_a(value: object, kind: type) -> bool:
    """Return `isinstance` by the real type."""
    return issubclass(type(value), kind)


def text_or_none(value: object) -> str | None:
    """Return the value if it is a string that is not empty."""
    kind = type(value)
    if kind is str:  # most are
        return value or None  # type: ignore[return-value]
    return str.__str__(value) or None if issubclass(kind, str) else None


def count_or_none(value: object) -> int | None:
    """Return the value if it is a plain integer."""
    return value if type(value) is int else None


def number_or_none(value: object) -> int | float | None:
    """Return the value if it is a plain number."""
    return value if type(value) is int or type(value) is float else None


def elements(value: object) -> list[Any]:
    """Return the members of a list or tuple, none of anything else."""
    kind = type(value)
    if issubclass(kind, list):
        return list(list.__iter__(value))  # type: ignore[arg-type]
    if issubclass(kind, tuple):
        return list(tuple.__iter__(value))  # type: ignore[arg-type]
    return []


def first(value: object) -> Any:
    """Return the first member of a list or tuple, None of anything else and where there is none."""
    members = value if type(value) is list else elements(value)
    return members[0] if members else None


def items(value: object) -> Iterator[tuple[Any, Any]]:
    """Return the items of a dictionary, none of anything else."""
    return iter(dict.items(value)) if issubclass(type(value), dict) else iter(())  # type: ignore[arg-type]


def member(value: Any, name: str) -> Any:
    """Return a dictionary's value of a key, None of anything else."""
    return dict.get(value, name) if issubclass(type(value), dict) else None


def attribute(value: object, name: str, default: _T | None = None) -> Any:
    """Return an attribute, or the default where there is none or reading it raises."""
    try:
        return getattr(value, name, default)
    except KeyboardInterrupt:
        raise
    except BaseException:  # noqa: BLE001 - a property may raise anything
        return default
