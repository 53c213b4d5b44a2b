"""Conversations and teams of agents as a whole."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any, Final

from fastapi import APIRouter, HTTPException

from spanproof.api import list_rows, pages
from spanproof.api.access import Opened
from spanproof.api.models.sessions import (
    FirstMistake,
    HandOver,
    Replaced,
    Session,
    SessionList,
    SessionPage,
    Turn,
)
from spanproof.api.parameters import (
    Cursor,
    Hours,
    Limit,
    OfProject,
    compute_window,
    encode_cursor,
    find_cursor,
)
from spanproof.api.problems import build_problem
from spanproof.evaluators import sessions as sessions_model
from spanproof.evaluators.sessions import evaluate_session

router = APIRouter()
_MISSING: dict[int | str, dict[str, Any]] = {404: build_problem("there is none")}
_MOST_TRACES: Final = 500
_MOST_HAND_OVERS: Final = 500
_MOST_FACTS: Final = 20
# Characters of a request or an answer.
_LONGEST: Final = 2_000


@router.get("/sessions")
def sessions(
    store: Opened,
    project: OfProject = None,
    hours: Hours = 24.0 * 7,
    limit: Limit = 100,
    cursor: Cursor = None,
) -> SessionList:
    """Return conversations: spans with `session.id` or `gen_ai.conversation.id`."""
    rows = store.browse.list_sessions(
        start_ns=compute_window(hours)[0], limit=limit + 1, after=find_cursor(cursor), project=project
    )
    last = rows[limit - 1] if len(rows) > limit else None
    return SessionList(
        sessions=[
            Session(
                id=pages.format_text(row.id),
                start_ns=max(0, row.start_ns),
                end_ns=max(0, row.end_ns),
                traces=row.traces,
                spans=row.spans,
                errors=row.errors,
                services=[pages.format_text(service) for service in row.services],
            )
            for row in rows[:limit]
        ],
        next=encode_cursor(max(0, last.end_ns), last.id) if last else None,
    )


@router.get("/sessions/{session_id:path}", responses=_MISSING)
def session(session_id: str, store: Opened, project: OfProject = None) -> SessionPage:
    """Return one conversation judged as a whole, by its first 500 traces."""
    ids = store.browse.list_traces_of_session(session_id, _MOST_TRACES, project)
    if not ids:
        raise HTTPException(HTTPStatus.NOT_FOUND, f"no span has the session id {session_id[:64]!r}")
    verdict = evaluate_session(store.evaluations(ids, project))
    mistake = verdict.first_mistake
    if mistake is None:
        first_mistake = None
    else:
        first_mistake = FirstMistake(
            turn=mistake.turn,
            trace_id=mistake.trace_id,
            agent=pages.format_text(mistake.agent),
            why=pages.format_text(mistake.why),
        )
    listed = (row for row in store.browse.fetch_trace_rows(ids) if project in (None, row.project))
    rows = sorted(listed, key=lambda row: row.start_ns)
    return SessionPage(
        id=pages.format_text(session_id),
        verdict=verdict.state,
        value=verdict.value,
        explanation=pages.format_text(verdict.explanation),
        turns=[_build_turn(turn) for turn in verdict.turns],
        hand_overs=[_build_hand_over(over) for over in verdict.hand_overs[:_MOST_HAND_OVERS]],
        first_mistake=first_mistake,
        traces=[list_rows.build_trace_row(row) for row in rows],
        cut=len(ids) == _MOST_TRACES,
    )


def _build_turn(turn: sessions_model.Turn) -> Turn:
    return Turn(
        number=turn.number,
        trace_id=turn.trace_id,
        run_span_id=turn.run_span_id,
        agent=pages.format_text(turn.agent),
        request=_find_short_text(turn.request),
        answer=_find_short_text(turn.answer),
        verdict=turn.state,
        why=pages.format_text(turn.why),
        is_retry=turn.is_retry,
    )


def _build_hand_over(hand_over: sessions_model.HandOver) -> HandOver:
    return HandOver(
        turn=hand_over.turn,
        trace_id=hand_over.trace_id,
        giver=pages.format_text(hand_over.giver),
        receiver=pages.format_text(hand_over.receiver),
        receiver_span_id=hand_over.receiver_span_id,
        lost=[pages.format_text(item) for item in hand_over.lost[:_MOST_FACTS]],
        replaced=[
            Replaced(given=pages.format_text(item.given), used=pages.format_text(item.used))
            for item in hand_over.replaced[:_MOST_FACTS]
        ],
    )


def _find_short_text(text: str | None) -> str | None:
    return None if text is None else pages.format_text(text[:_LONGEST])
