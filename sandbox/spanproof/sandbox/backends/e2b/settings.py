"""The backend's settings: what each is for, and from texts to values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from spanproof.sandbox.backends.remote.settings import Numbers, read_values

KNOWN: Mapping[str, str] = {
    "template": "template of the machines: an ID, or a name with the tag of one build (base)",
    "domain": "domain of the service, where it is not e2b.app",
    "api_url": "address of the service's API, where it does not follow from the domain",
    "sandbox_url": "address at which machines are reached, where it does not follow from the domain",
    "request_timeout_s": "seconds a request to the service may take (30)",
    "lifetime_s": "seconds after which the service ends a machine that no one ended (300)",
    "reuse": "programs a machine runs before it is replaced, where it can keep them apart (50)",
    "retries": "new machines tried when one fails before the program has started (2)",
    "price_per_second": "price of a machine's second, for the cost that is reported",
}


@dataclass(frozen=True, slots=True)
class Settings:
    """What `KNOWN` describes."""

    template: str = "base"
    domain: str | None = None
    api_url: str | None = None
    sandbox_url: str | None = None
    request_timeout_s: float = 30.0
    lifetime_s: int = 300
    reuse: int = 50
    retries: int = 2
    price_per_second: float | None = None


_NUMBERS: Final[Numbers] = {
    "request_timeout_s": (float, 0.1),
    "lifetime_s": (int, 30),
    "reuse": (int, 1),
    "retries": (int, 0),
    "price_per_second": (float, 0),
}


def read_settings(given: Mapping[str, str]) -> Settings:
    """Read the values of settings.

    Raises:
        BadSetting: one is not known, or is no number where one is needed.
    """
    return Settings(**read_values("e2b", KNOWN, _NUMBERS, given))
