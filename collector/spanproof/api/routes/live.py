"""What comes in now: traces as server-sent events, as they are evaluated."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from functools import partial
from http import HTTPStatus
from typing import Annotated, Final

from fastapi import APIRouter, HTTPException, Query, Request
from fastapi.responses import StreamingResponse
from starlette.concurrency import run_in_threadpool

from spanproof.api import list_rows
from spanproof.api.access import Opened, may_still_read
from spanproof.api.problems import build_problem
from spanproof.store import Store

router = APIRouter()
_POLL_S: Final = 1.0
_AT_ONCE: Final = 50
_STREAMS: Final = 20
_open_streams: set[object] = set()


class EventStream(StreamingResponse):
    """Server-sent events."""

    media_type = "text/event-stream"


@router.get(
    "/live",
    response_class=EventStream,
    responses={
        200: {
            "content": {"text/event-stream": {"schema": {"type": "string"}}},
            "description": "Events `trace`, each with a TraceRow as its data; comments keep it open.",
        },
        429: build_problem("too many streams are open"),
    },
)
def live(
    request: Request,
    store: Opened,
    seconds: Annotated[float, Query(ge=0, le=3600, description="How long; then ask again.")] = 600.0,
) -> EventStream:
    """Send each trace as it is evaluated from now on."""
    if len(_open_streams) >= _STREAMS:
        raise HTTPException(
            HTTPStatus.TOO_MANY_REQUESTS, f"{_STREAMS} streams are open: close one, or ask again later"
        )
    # Before the reader knows that the stream is open: what comes from then on is none of the earlier ones.
    seen = store.browse.get_newest_evaluation_ns()
    deadline = time.monotonic() + seconds
    return EventStream(_iter_events(store, seen, deadline, partial(may_still_read, request)))


async def _iter_events(
    store: Store, seen: int, deadline: float, may_read: Callable[[], bool]
) -> AsyncIterator[str]:
    # Counted once it runs: a reader that left before gets no stream.
    stream = object()
    _open_streams.add(stream)
    try:
        yield ": open\n\n"
        while time.monotonic() < deadline and await run_in_threadpool(may_read):
            rows, seen = await run_in_threadpool(store.browse.list_traces_since, seen, _AT_ONCE)
            for row in rows:
                yield f"event: trace\ndata: {list_rows.build_trace_row(row).model_dump_json()}\n\n"
            if not rows:
                yield ": wait\n\n"
            if len(rows) < _AT_ONCE:
                await asyncio.sleep(min(_POLL_S, max(0.0, deadline - time.monotonic())))
    finally:
        _open_streams.discard(stream)
