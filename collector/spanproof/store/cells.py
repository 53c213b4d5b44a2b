"""Single values as ClickHouse can hold them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

import orjson

Row: TypeAlias = dict[str, Any]
"""Column name to value: what the driver takes."""

# 2100-01-01: hours are kept in 32 bits of seconds, which end in 2106.
_LATEST_NS = 4_102_444_800 * 10**9


def to_storable_text(text: str) -> str:
    """Return text as ClickHouse can hold it: lone surrogates become U+FFFD."""
    if text.isascii():
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def to_unsigned(number: int) -> int:
    """Return the nearest number a UInt64 holds."""
    return min(max(0, number), 2**64 - 1)


def to_storable_time(ns: int) -> int:
    """Return the nearest Unix time in nanoseconds that the tables can order."""
    return min(max(0, ns), _LATEST_NS)


def to_cell(value: Any) -> Any:
    """Return the value of a field as a cell: a tuple as a list, a mapping of texts as JSON."""
    if isinstance(value, str):
        return to_storable_text(value)
    if isinstance(value, tuple):
        return list(value)
    if isinstance(value, Mapping):
        return orjson.dumps(
            {to_storable_text(key): to_storable_text(item) for key, item in value.items()}
        ).decode()
    return int(value)
