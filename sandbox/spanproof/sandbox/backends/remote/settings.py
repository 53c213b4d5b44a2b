"""Settings of backends of remote machines, from texts to values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from spanproof.sandbox.errors import BadSetting

Numbers = Mapping[str, tuple[Callable[[str], Any], float]]
"""How a number is read, and the least that it may be, by the setting's name."""


def read_values(
    backend: str, known: Mapping[str, str], numbers: Numbers, given: Mapping[str, str]
) -> dict[str, Any]:
    """Return the values of settings.

    Raises:
        BadSetting: one is not known, is empty, or is no number where one is needed.
    """
    values: dict[str, Any] = {}
    for name, text in given.items():
        if name not in known:
            reply = ", ".join(known)
            raise BadSetting(f"sandbox backend {backend!r} has no setting {name!r} (it has: {reply})")
        if not text:
            raise BadSetting(f"sandbox backend {backend!r}: {name} is empty; leave it out for the default")
        values[name] = _parse_number(backend, name, text, *numbers[name]) if name in numbers else text
    return values


def _parse_number(backend: str, name: str, text: str, read: Callable[[str], Any], least: float) -> Any:
    try:
        value = read(text)
    except ValueError:
        value = None
    if value is None or not least <= value < 1e9:
        kind = "whole number" if read is int else "number"
        raise BadSetting(f"sandbox backend {backend!r}: {name}={text!r} is no {kind} of at least {least:g}")
    return value
