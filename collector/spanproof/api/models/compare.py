"""The answers that compare two cohorts."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from spanproof.api import models
from spanproof.api.models import Answer
from spanproof.trace import Layer

Change = Literal["worse", "better", "unclear"]


class Pair(Answer):
    """A fail rate and an open share before and after, and how they changed."""

    before: models.Rate
    after: models.Rate
    difference: float | None = Field(description="After less before; null where one side was not judged.")
    low: float | None = Field(description="Lower end of its 95 % interval (Newcombe).")
    high: float | None
    change: Change = Field(description="`unclear` where the interval holds 0, or there is none.")
    open_difference: float | None = Field(
        description="Of the shares that are open, of judged and open; null where one side has none."
    )
    open_low: float | None = Field(description="Lower end of its 95 % interval (Newcombe).")
    open_high: float | None
    open_change: Change = Field(description="`worse` where more is open: what was judged before is not now.")


class ValuePair(Answer):
    """One value of a dimension before and after."""

    value: str
    layers: dict[Layer, Pair]
    flipped: bool = Field(
        description="Whether a layer fails more or less, or has more or less open, beyond the interval."
    )


class Comparison(Answer):
    """Two sides, layer by layer, then by the values of a dimension."""

    dimension: str = Field(description="What the sides differ in; `window`: the time.")
    before: str
    after: str
    sentence: str = Field(description="What changed beyond chance; empty where neither side has a verdict.")
    layers: dict[Layer, Pair]
    by: str
    values: list[ValuePair] = Field(description="Flipped ones first.")
