"""Inputs of property tests: shapes as people write them, and values drawn from them by a seed.

Takes shapes; gives lists of JSON values. The same seed gives the same values on every machine, the smallest
first. They are made outside of the sandbox: no library need be in the runtime, and the code under test cannot
see how.
"""

from __future__ import annotations

import string
from collections.abc import Mapping
from random import Random
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue, model_validator

_LETTERS = string.ascii_letters + string.digits + " _-.,éß漢"


class _Shape(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class IntegerShape(_Shape):
    """Whole numbers from `min` to `max`."""

    kind: Literal["integer"]
    min: int = -1_000
    max: int = 1_000

    @model_validator(mode="after")
    def _validate_bounds(self) -> IntegerShape:
        _check_order(self.min, self.max)
        return self

    def build_value(self, random: Random, size: int) -> JsonValue:
        """Draw one value; `size` from 0 (an edge) to 100 (anything)."""
        nearest = min(max(0, self.min), self.max)
        low, high = _compute_range(nearest, self.min, self.max, size)
        return random.randint(round(low), round(high))


class NumberShape(_Shape):
    """Finite floats from `min` to `max`."""

    kind: Literal["number"]
    min: float = -1_000.0
    max: float = 1_000.0

    @model_validator(mode="after")
    def _validate_bounds(self) -> NumberShape:
        _check_order(self.min, self.max)
        return self

    def build_value(self, random: Random, size: int) -> JsonValue:
        """Draw one value."""
        low, high = _compute_range(min(max(0.0, self.min), self.max), self.min, self.max, size)
        return random.uniform(low, high)


class TextShape(_Shape):
    """Text of the letters of an alphabet."""

    kind: Literal["text"]
    alphabet: str = Field(_LETTERS, min_length=1)
    min_size: int = Field(0, ge=0)
    max_size: int = Field(20, ge=0, le=10_000)

    @model_validator(mode="after")
    def _validate_bounds(self) -> TextShape:
        _check_order(self.min_size, self.max_size)
        return self

    def build_value(self, random: Random, size: int) -> JsonValue:
        """Draw one value."""
        return "".join(random.choice(self.alphabet) for _ in range(_compute_length(self, random, size)))


class BooleanShape(_Shape):
    """True and False."""

    kind: Literal["boolean"]

    def build_value(self, random: Random, size: int) -> JsonValue:
        """Draw one value."""
        return random.random() < 0.5


class OneOfShape(_Shape):
    """One of these values."""

    kind: Literal["one_of"]
    values: list[JsonValue] = Field(min_length=1)

    def build_value(self, random: Random, size: int) -> JsonValue:
        """Draw one value."""
        return random.choice(self.values)


class ListShape(_Shape):
    """Lists whose items have one shape."""

    kind: Literal["list"]
    items: Shape
    min_size: int = Field(0, ge=0)
    max_size: int = Field(10, ge=0, le=10_000)

    @model_validator(mode="after")
    def _validate_bounds(self) -> ListShape:
        _check_order(self.min_size, self.max_size)
        return self

    def build_value(self, random: Random, size: int) -> JsonValue:
        """Draw one value."""
        return [self.items.build_value(random, size) for _ in range(_compute_length(self, random, size))]


class ObjectShape(_Shape):
    """Mappings with these keys."""

    kind: Literal["object"]
    fields: dict[str, Shape]

    def build_value(self, random: Random, size: int) -> JsonValue:
        """Draw one value."""
        return {name: shape.build_value(random, size) for name, shape in self.fields.items()}


Shape = Annotated[
    IntegerShape | NumberShape | TextShape | BooleanShape | OneOfShape | ListShape | ObjectShape,
    Field(discriminator="kind"),
]

ListShape.model_rebuild()
ObjectShape.model_rebuild()


def build_inputs(shapes: Mapping[str, Shape], examples: int, seed: int) -> list[dict[str, JsonValue]]:
    """Draw inputs for a property, the smallest first."""
    random = Random(seed)  # noqa: S311 - inputs, no secrets
    return [
        {
            name: shape.build_value(random, round(100 * at / max(1, examples - 1)))
            for name, shape in shapes.items()
        }
        for at in range(examples)
    ]


def _check_order(low: float, high: float) -> None:
    if low > high:
        raise ValueError(f"its least ({low:g}) is above its greatest ({high:g})")


def _compute_range(near: float, low: float, high: float, size: int) -> tuple[float, float]:
    """Return part of the range around the value nearest to zero: that value alone at size 0, all at 100."""
    return near - (near - low) * size / 100, near + (high - near) * size / 100


def _compute_length(shape: TextShape | ListShape, random: Random, size: int) -> int:
    most = shape.min_size + (shape.max_size - shape.min_size) * size // 100
    return random.randint(shape.min_size, most)
