"""What tokens cost: one list by provider for the judge's questions and for the agents' runs.

In: a model's name. Out: its price, the user's own before the shipped list (`prices.yaml`), None where neither
has it: nothing is guessed. A file of the shipped list's form extends it. Prices change: each provider's have
the day on which they were read, and old ones are reported.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Final, TypeAlias

from pydantic import BaseModel, ConfigDict, RootModel, ValidationError

from spanproof.sandbox.untrusted_files import (
    MAX_DOCUMENT_BYTES,
    MalformedYamlError,
    UnsafeFileError,
    load_yaml,
    read_bounded,
)

_MILLION = 1e6

MAX_AGE_DAYS: Final = 180
"""Beyond that a price is reported as old: the large providers changed theirs once or twice a year."""


class PriceError(ValueError):
    """A file of prices cannot be used; the message names the file, the place and what is expected."""


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars per million tokens.

    Attributes:
        provider: whose price it is; empty of one that was given by itself.
        as_of: the day on which it was read; None of one that was given by itself.
    """

    tokens_in: float
    tokens_out: float
    provider: str = ""
    as_of: date | None = None

    def compute_dollars(self, tokens_in: int, tokens_out: int) -> float:
        """Return dollars for so many tokens."""
        return (tokens_in * self.tokens_in + tokens_out * self.tokens_out) / _MILLION

    def describe_age(self, today: date) -> str:
        """Return that the price is old, as a sentence; empty where it is not, or its day is not known."""
        days = (today - self.as_of).days if self.as_of is not None else 0
        if days <= MAX_AGE_DAYS:
            return ""
        return (
            f"the price is that of {self.provider} on {self.as_of}, {days} days ago: compare it with the"
            " provider's page, and give a newer one"
        )


OwnPrices: TypeAlias = Mapping[str, Price | tuple[float, float]]
"""A user's prices by model; a pair is US dollars per million tokens, in and out."""


class _Provider(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    as_of: date
    models: dict[str, tuple[float, float]]


class _PriceFile(RootModel[dict[str, _Provider]]):
    """Providers by name."""


def find_price(model: str, own: OwnPrices) -> Price | None:
    """Return the price of a model: the user's own, else that of the shipped list; None of neither."""
    found = own.get(model) or _load_shipped().get(model)
    if found is None or isinstance(found, Price):
        return found
    return Price(*found)


def load_prices(path: Path) -> dict[str, Price]:
    """Return the prices of a file.

    Raises:
        PriceError: it cannot be read, or is not in the form of `prices.yaml`.
    """
    try:
        return _parse_prices(read_bounded(path, MAX_DOCUMENT_BYTES), str(path))
    except (OSError, UnsafeFileError) as problem:
        raise PriceError(f"{path}: cannot be read: {problem}") from problem


@cache
def _load_shipped() -> Mapping[str, Price]:
    content = (resources.files(__package__) / "prices.yaml").read_bytes()
    return _parse_prices(content, "prices.yaml")


def _parse_prices(content: bytes, source: str) -> dict[str, Price]:
    form = "providers by name, each with as_of: YYYY-MM-DD and models: {name: [dollars in, dollars out]}"
    try:
        providers = _PriceFile.model_validate(load_yaml(content)).root
    except MalformedYamlError as problem:
        raise PriceError(f"{source}: not valid YAML: {problem}") from problem
    except ValidationError as problem:
        first = problem.errors()[0]
        where = ".".join(map(str, first["loc"])) or "the file"
        raise PriceError(f"{source}: {where}: {first['msg']}; expected are {form}") from problem
    return {
        model: Price(*dollars, provider, listed.as_of)
        for provider, listed in providers.items()
        for model, dollars in listed.models.items()
    }
