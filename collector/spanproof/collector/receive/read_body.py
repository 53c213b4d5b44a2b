"""Reads the body of an HTTP request within bounds of size, time and rate."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from starlette.requests import Request

from spanproof.collector.receive.refused import Reason, Refused
from spanproof.config.model import Limits

# How long a body may take before its rate matters.
_GRACE_S = 5.0
# A body over the limit is read on up to this multiple: a client whose connection breaks while it sends sees
# a network error, which it repeats, and not the 413 that stops it.
_DISCARD_FACTOR = 4


async def read_body(
    request: Request, limits: Limits, most: int, too_large: Refused, grow: Callable[[int], None]
) -> bytes:
    """Return the body as it was sent, compressed or not.

    Args:
        request: its headers were read.
        limits: how long it may take, and how slowly it may come.
        most: bytes.
        too_large: raised for more.
        grow: called with each further number of bytes that is kept in memory.

    Raises:
        Refused: it is too large, or does not come.
    """
    loop = asyncio.get_running_loop()
    began = loop.time()
    end = began + limits.body_timeout_s
    parts: list[bytes] = []
    size = 0

    def deadline() -> float:
        floor = limits.min_body_bytes_per_s
        if floor:
            return min(end, began + _GRACE_S + size / floor)
        return end

    try:
        async with asyncio.timeout_at(deadline()) as timeout:
            async for part in request.stream():
                size += len(part)
                if size <= most:
                    grow(len(part))
                    parts.append(part)
                elif size > most * _DISCARD_FACTOR:
                    break
                else:
                    parts.clear()
                timeout.reschedule(deadline())
    except TimeoutError as slow:
        took = loop.time() - began
        raise Refused(
            Reason.TOO_SLOW,
            f"{size} bytes of the body came within {took:.0f} s: it may take {limits.body_timeout_s:g} s "
            f"(limits.body_timeout_s), at {limits.min_body_bytes_per_s} bytes a second or more "
            "(limits.min_body_bytes_per_s)",
        ) from slow
    if size > most:
        raise too_large
    return parts[0] if len(parts) == 1 else b"".join(parts)
