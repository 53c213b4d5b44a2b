"""Whether a program wrote what was expected: line by line, numbers by value."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation


def matches_output(found: str, expected: str) -> bool:
    """Return whether two outputs agree, white space at the ends of lines and of the whole apart.

    Lines that differ as text agree where they hold the same numbers: `1.50` is `1.5`.
    """
    ours, theirs = found.strip().split("\n"), expected.strip().split("\n")
    if len(ours) != len(theirs):
        return False
    return all(
        one.strip() == other.strip() or _has_same_numbers(one, other)
        for one, other in zip(ours, theirs, strict=True)
    )


def _has_same_numbers(found: str, expected: str) -> bool:
    ours, theirs = found.split(), expected.split()
    if not ours or len(ours) != len(theirs):
        return False
    try:
        return all(Decimal(one) == Decimal(other) for one, other in zip(ours, theirs, strict=True))
    except InvalidOperation:
        return False
