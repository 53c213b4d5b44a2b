"""The backend's settings: what each is for, and from texts to values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from spanproof.sandbox.backends.remote.settings import Numbers, read_values

KNOWN: Final[Mapping[str, str]] = {
    "snapshot": "what sandboxes are made of: a snapshot's name or ID; default the service's own",
    "target": "region of the sandboxes, where it is not the account's default",
    "user": "user of the guest's commands (root); only root keeps programs apart",
    "api_url": "address of the service's API (https://app.daytona.io/api)",
    "request_timeout_s": "seconds a request to the service may take (30)",
    "start_s": "seconds until a sandbox runs (120)",
    "lifetime_s": "seconds after which the service ends a sandbox that no one ended, in whole minutes (300)",
    "reuse": "programs a sandbox runs before it is replaced, where it can keep them apart (50)",
    "retries": "new sandboxes tried when one fails before the program has started (2)",
    "price_per_second": "price of a sandbox's second, for the cost that is reported",
}

_NUMBERS: Final[Numbers] = {
    "request_timeout_s": (float, 0.1),
    "start_s": (int, 1),
    "lifetime_s": (int, 60),
    "reuse": (int, 1),
    "retries": (int, 0),
    "price_per_second": (float, 0),
}


@dataclass(frozen=True, slots=True)
class Settings:
    """What `KNOWN` describes."""

    snapshot: str | None = None
    target: str | None = None
    user: str = "root"
    api_url: str = "https://app.daytona.io/api"
    request_timeout_s: float = 30.0
    start_s: int = 120
    lifetime_s: int = 300
    reuse: int = 50
    retries: int = 2
    price_per_second: float | None = None


def read_settings(given: Mapping[str, str]) -> Settings:
    """Read the values of settings.

    Raises:
        BadSetting: one is not known, or is no number where one is needed.
    """
    return Settings(**read_values("daytona", KNOWN, _NUMBERS, given))
