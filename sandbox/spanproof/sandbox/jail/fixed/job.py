"""Fixtures as they travel to a slot: checked on the host, where a mistake is the caller's to mend."""

from __future__ import annotations

import math

from spanproof.sandbox.errors import UnsupportedFixtures
from spanproof.sandbox.jail.wire import Header
from spanproof.sandbox.model import Clock, Fixtures

_LAST_S = 7_258_118_400.0  # 2200-01-01: nanoseconds stay within 63 bits for a long run after it
_FASTEST = 1_000_000.0


def fixed_by(fixtures: Fixtures) -> Header:
    """The fields of a job that fix what a program finds; None where the real thing stays.

    Raises:
        UnsupportedFixtures: the clock shows what no Unix clock does.
    """
    return {"seed": fixtures.seed, "clock": _told(fixtures.clock)}


def _told(clock: Clock | None) -> list[float] | None:
    if clock is None:
        return None
    if not (math.isfinite(clock.start_s) and 0 <= clock.start_s <= _LAST_S):
        raise UnsupportedFixtures(
            f"the jail's clock cannot start at {clock.start_s!r}; give Unix seconds between 1970 and 2200"
        )
    if not 0 <= clock.rate <= _FASTEST:
        raise UnsupportedFixtures(
            f"the jail's clock cannot run at rate {clock.rate!r}; give 0 (it stands) to {_FASTEST:.0f}"
        )
    return [clock.start_s, clock.rate]
