"""The backend's settings: what each is for, and from texts to values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from spanproof.sandbox.backends.remote.settings import Numbers, read_values
from spanproof.sandbox.errors import BadSetting

KNOWN: Final[Mapping[str, str]] = {
    "image": "image of the sandboxes: one of a registry, or the ID of one of Modal's"
    " (python:3.12-slim-bookworm); needs python3, 3.11 or newer, and sh",
    "app": "app that the sandboxes belong to; made where there is none (spanproof)",
    "environment": "Modal's environment of the app, where it is not the account's default",
    "runtime": "`gvisor` or `vm`; default Modal's own",
    "region": "region of the sandboxes, where it is not the account's default",
    "cpu": "processors of a sandbox (1)",
    "memory_mib": "limit of a sandbox's memory, in MiB (2048)",
    "lifetime_s": "seconds after which the service ends a sandbox that no one ended (1800)",
    "reuse": "programs a sandbox runs before it is replaced, where it can keep them apart (50)",
    "retries": "new sandboxes tried when one fails before the program has started (2)",
    "price_per_second": "price of a sandbox's second, for the cost that is reported",
}

_NUMBERS: Final[Numbers] = {
    "cpu": (float, 0.125),
    "memory_mib": (int, 128),
    "lifetime_s": (int, 60),
    "reuse": (int, 1),
    "retries": (int, 0),
    "price_per_second": (float, 0),
}
_RUNTIMES: Final = ("gvisor", "vm")


@dataclass(frozen=True, slots=True)
class Settings:
    """What `KNOWN` describes."""

    image: str = "python:3.12-slim-bookworm"
    app: str = "spanproof"
    environment: str | None = None
    runtime: str | None = None
    region: str | None = None
    cpu: float = 1.0
    memory_mib: int = 2048
    lifetime_s: int = 1800
    reuse: int = 50
    retries: int = 2
    price_per_second: float | None = None


def read_settings(given: Mapping[str, str]) -> Settings:
    """Read the values of settings.

    Raises:
        BadSetting: one is not known, or has no value that it can have.
    """
    values = read_values("modal", KNOWN, _NUMBERS, given)
    if given.get("runtime", _RUNTIMES[0]) not in _RUNTIMES:
        raise BadSetting(
            f"sandbox backend 'modal': runtime={given['runtime']!r} is neither {' nor '.join(_RUNTIMES)}"
        )
    return Settings(**values)
