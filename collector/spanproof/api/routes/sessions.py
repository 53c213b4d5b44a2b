"""Conversations and teams of agents as a whole."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from fastapi import APIRouter, HTTPException

from spanproof.api import models, pages
from spanproof.api.access import Opened
from spanproof.api.models import Answer, Nanoseconds
from spanproof.api.parameters import Cursor, Hours, Limit, read_cursor, window, write_cursor
from spanproof.api.problems import described

router = APIRouter()
_MISSING: dict[int | str, dict[str, Any]] = {404: described("there is none")}
_MOST_TRACES = 500


class Session(Answer):
    """All traces with one session id."""

    id: str
    start_ns: Nanoseconds
    end_ns: Nanoseconds
    traces: int
    spans: int
    errors: int
    services: list[str]


class SessionList(Answer):
    """Conversations, the latest first."""

    sessions: list[Session]
    next: str | None


class SessionPage(Answer):
    """One conversation: its traces in order of time."""

    id: str
    traces: list[models.TraceRow]


@router.get("/sessions")
def sessions(
    store: Opened, hours: Hours = 24.0 * 7, limit: Limit = 100, cursor: Cursor = None
) -> SessionList:
    """Return conversations: spans with `session.id` or `gen_ai.conversation.id`."""
    rows = store.browse.sessions(start_ns=window(hours)[0], limit=limit + 1, after=read_cursor(cursor))
    last = rows[limit - 1] if len(rows) > limit else None
    return SessionList(
        sessions=[
            Session(
                id=pages.text(row.id),
                start_ns=max(0, row.start_ns),
                end_ns=max(0, row.end_ns),
                traces=row.traces,
                spans=row.spans,
                errors=row.errors,
                services=[pages.text(each) for each in row.services],
            )
            for row in rows[:limit]
        ],
        next=write_cursor(max(0, last.end_ns), last.id) if last else None,
    )


@router.get("/sessions/{session_id:path}", responses=_MISSING)
def session(session_id: str, store: Opened) -> SessionPage:
    """Return one conversation, its first 500 traces in order of time."""
    ids = store.browse.traces_of_session(session_id, _MOST_TRACES)
    if not ids:
        raise HTTPException(HTTPStatus.NOT_FOUND, f"no span has the session id {session_id[:64]!r}")
    rows = sorted(store.browse.trace_rows(ids), key=lambda row: row.start_ns)
    return SessionPage(id=pages.text(session_id), traces=[pages.trace_row(row) for row in rows])
