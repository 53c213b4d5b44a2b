"""One promise of a backend, and how a backend meets it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from spanproof.sandbox.backend import Evidence, Sandbox
from spanproof.sandbox.model import Limits

PATIENT = Limits(wall_s=60.0, cpu_s=60.0)
"""For what ends by itself: soon, however busy the machine is, unless a promise is broken."""


@dataclass(frozen=True, slots=True)
class Promise:
    """One promise; `check` raises `Broken` where it is not kept.

    Attributes:
        needs: what a backend must be able to report of a run for the promise to apply to it.
    """

    name: str
    text: str
    language: str
    check: Callable[[Sandbox], None]
    needs: Evidence | None = None


@dataclass(frozen=True, slots=True)
class Finding:
    """How a backend meets one promise."""

    name: str
    text: str
    outcome: Literal["kept", "broken", "not_applicable"]
    detail: str = ""


class Broken(Exception):  # noqa: N818 - says what became of the promise
    """A promise is not kept; the message says what came instead."""


def check_holds(holds: bool, found: object) -> None:
    """Report what came where a promise is not kept.

    Raises:
        Broken: it is not.
    """
    if not holds:
        raise Broken(str(found)[:1000])
