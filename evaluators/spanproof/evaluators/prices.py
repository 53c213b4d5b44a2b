"""What tokens cost: one table for the judge's questions and for the agents' runs.

In: a model's name. Out: its price, the user's own before the shipped table (`prices.yaml`), None where
neither knows it: nothing is guessed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources

import yaml

_MILLION = 1e6


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars per million tokens."""

    tokens_in: float
    tokens_out: float

    def of(self, tokens_in: int, tokens_out: int) -> float:
        """Return dollars for so many tokens."""
        return (tokens_in * self.tokens_in + tokens_out * self.tokens_out) / _MILLION


def find_price(model: str, own: Mapping[str, tuple[float, float]]) -> Price | None:
    """Return the price of a model: the user's own, else the shipped table's; None where neither has it."""
    found = own.get(model) or _load_shipped().get(model)
    return Price(*found) if found else None


@cache
def _load_shipped() -> Mapping[str, tuple[float, float]]:
    table = yaml.safe_load((resources.files(__package__) / "prices.yaml").read_text("utf-8"))
    return {str(model): (float(of_in), float(of_out)) for model, (of_in, of_out) in table.items()}
