"""Fixtures as they travel to a supervisor: checked on the host, where a mistake is the caller's to mend."""

from __future__ import annotations

import math
import re

from spanproof.sandbox.errors import UnsupportedFixtures
from spanproof.sandbox.guest.wire import Header
from spanproof.sandbox.model import Clock, Exchange, Fixtures
from spanproof.sandbox.tape.recording import pack
from spanproof.sandbox.tape.trust import FIRST_S, LAST_S, issue_identity
from spanproof.sandbox.tape.urls import Url, read_url

_LATEST_S = 7_258_118_400.0  # 2200-01-01: nanoseconds stay within 63 bits for a long run after it
_FASTEST = 1_000_000.0
_HOSTS = 1000  # Of one certificate: clients refuse those that are much larger
_PORTS = 64
_METHOD = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,32}")
_FIELD_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,256}")
_FIELD_VALUE = re.compile(r"[\t\x20-\x7e\x80-\xff]*")


def encode_fixtures(fixtures: Fixtures) -> Header:
    """Return the fields of a job that fix what a program finds; None where the real thing stays.

    Raises:
        UnsupportedFixtures: the clock shows what no Unix clock does.
    """
    return {"seed": fixtures.seed, "clock": _encode_clock(fixtures.clock), "tape": bool(fixtures.http)}


def encode_tape(fixtures: Fixtures) -> list[bytes]:
    """Return the last part of a job with a tape; none without.

    Raises:
        UnsupportedFixtures: a recorded call is no call of HTTP, or there is nothing to encrypt it with.
    """
    if not fixtures.http:
        return []
    urls = [_check_exchange(index, exchange) for index, exchange in enumerate(fixtures.http)]
    hosts = {url.host for url in urls if url.scheme == "https"}
    for what, found, most in (("https hosts", hosts, _HOSTS), ("ports", {url.port for url in urls}, _PORTS)):
        if len(found) > most:
            raise UnsupportedFixtures(
                f"the recorded calls go to {len(found)} {what}, the jail serves {most}; record less at once"
            )
    clock = fixtures.clock
    if hosts and clock is not None and not FIRST_S <= clock.start_s < LAST_S:
        raise UnsupportedFixtures(
            f"recorded https calls are served with certificates of 2000 to 2037; a clock that starts at"
            f" {clock.start_s!r} sees none of them valid"
        )
    return [pack(fixtures.http, issue_identity(frozenset(hosts)) if hosts else {})]


def _check_exchange(index: int, exchange: Exchange) -> Url:
    """Return the URL of a recorded call, checked that it can be served."""
    place = f"recorded call {index} ({exchange.method} {exchange.url[:200]})"
    try:
        url = read_url(exchange.url)
    except ValueError as problem:
        raise UnsupportedFixtures(f"{place}: {problem}") from None
    if not _METHOD.fullmatch(exchange.method):
        raise UnsupportedFixtures(f"{place}: the method is none of HTTP")
    if not 200 <= exchange.status <= 599:
        raise UnsupportedFixtures(f"{place}: status {exchange.status} is no final answer; give 200 to 599")
    for name, value in exchange.headers:
        if not _FIELD_NAME.fullmatch(name) or not _FIELD_VALUE.fullmatch(value):
            raise UnsupportedFixtures(f"{place}: header {name[:80]!r} cannot be sent as {value[:80]!r}")
    return url


def _encode_clock(clock: Clock | None) -> list[float] | None:
    if clock is None:
        return None
    if not (math.isfinite(clock.start_s) and 0 <= clock.start_s <= _LATEST_S):
        raise UnsupportedFixtures(
            f"the jail's clock cannot start at {clock.start_s!r}; give Unix seconds between 1970 and 2200"
        )
    if not 0 <= clock.rate <= _FASTEST:
        raise UnsupportedFixtures(
            f"the jail's clock cannot run at rate {clock.rate!r}; give 0 (it is paused) to {_FASTEST:.0f}"
        )
    return [clock.start_s, clock.rate]
