"""A number as it is written: value, precision, unit. Values only; `quantities` finds them in text."""

from __future__ import annotations

from dataclasses import dataclass

from spanproof.evaluators.layers.groundedness.language.units import Dimension, Unit

SCALES = {
    "k": 1e3, "thousand": 1e3, "thousands": 1e3, "mn": 1e6, "mm": 1e6, "mio": 1e6, "mil": 1e6, "million": 1e6,
    "millions": 1e6, "bn": 1e9, "billion": 1e9, "billions": 1e9, "tn": 1e12, "trillion": 1e12, "hundred": 1e2,
    "dozen": 12.0, "lakh": 1e5, "crore": 1e7,
}  # fmt: skip
"""What a scale word multiplies by."""


@dataclass(slots=True)
class Quantity:
    """A number as it is written; nothing changes it once it is read.

    Attributes:
        value: with sign and scale word applied, in its own unit.
        ulp: the step of its last written digit, in the same unit: half of it is what rounding may hide.
        decimals: digits written after the point.
        digits: significant digits written.
        spelled: written as a word ("seven").
    """

    text: str
    start: int
    end: int
    value: float
    ulp: float
    decimals: int
    digits: int
    unit: Unit | None = None
    scaled: bool = False
    spelled: bool = False

    @property
    def dimension(self) -> Dimension | None:
        """What it measures, None for a bare number."""
        return self.unit.dimension if self.unit else None
