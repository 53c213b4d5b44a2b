"""What a scanner is: a name, the languages it concerns, and one function.

In: a context and a source. Out: findings in the context's report. A scanner never raises on any text, never
runs what it reads, gives the same findings for the same text, and never reports a secret's value; the
contract suite in `tests/contract` holds every scanner to it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from spanproof.sandbox.scanners.context import Context
from spanproof.sandbox.scanners.source import Source


@dataclass(frozen=True, slots=True)
class Scanner:
    """One scanner.

    Attributes:
        languages: those it concerns; None for all.
        scan: what it does. It looks at the context's clock as it goes (`check_time`).
        keeps_time: whether it cannot exceed its time, so that waiting for its turn is not held against it.
    """

    name: str
    languages: frozenset[str] | None
    scan: Callable[[Context, Source], None]
    keeps_time: bool = False
