"""Conversations and teams of agents as a whole."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any, Final

from fastapi import APIRouter, HTTPException
from pydantic import Field

from spanproof.api import list_rows, models, pages
from spanproof.api.access import Opened
from spanproof.api.models import Answer, Nanoseconds
from spanproof.api.parameters import Cursor, Hours, Limit, compute_window, decode_cursor, encode_cursor
from spanproof.api.problems import describe_problem
from spanproof.evaluators import sessions as sessions_model
from spanproof.evaluators.sessions import judge_session
from spanproof.trace import State

router = APIRouter()
_MISSING: dict[int | str, dict[str, Any]] = {404: describe_problem("there is none")}
_MOST_TRACES: Final = 500
_MOST_HAND_OVERS: Final = 500
_MOST_FACTS: Final = 20
# Characters of a request or an answer.
_LONGEST: Final = 2_000


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


class Turn(Answer):
    """A request of the user, and the run that answered it."""

    number: int
    trace_id: str
    run_span_id: str
    agent: str
    request: str | None
    answer: str | None
    verdict: State
    why: str = Field(description="Of a turn that did not pass; else empty.")
    is_retry: bool = Field(description="Whether the user had requested the same before.")


class Replaced(Answer):
    """What the giver named, and what the receiver worked on instead."""

    given: str
    used: str


class HandOver(Answer):
    """Work passed from one agent to another."""

    turn: int
    trace_id: str
    giver: str
    receiver: str
    receiver_span_id: str
    lost: list[str] = Field(description="What the giver's task names and the receiver never read.")
    replaced: list[Replaced]


class FirstMistake(Answer):
    """The earliest thing that went wrong."""

    turn: int
    trace_id: str
    agent: str
    why: str


class SessionPage(Answer):
    """One conversation, judged as a whole: its turns, the hand-overs in them, and who erred first."""

    id: str
    verdict: State
    value: float | None = Field(description="Share of requests whose last attempt passed.")
    explanation: str
    turns: list[Turn]
    hand_overs: list[HandOver]
    first_mistake: FirstMistake | None
    traces: list[models.TraceRow] = Field(description="In order of time.")
    cut: bool = Field(description="Whether there are more traces than were read.")


@router.get("/sessions")
def sessions(
    store: Opened, hours: Hours = 24.0 * 7, limit: Limit = 100, cursor: Cursor = None
) -> SessionList:
    """Return conversations: spans with `session.id` or `gen_ai.conversation.id`."""
    rows = store.browse.sessions(
        start_ns=compute_window(hours)[0], limit=limit + 1, after=decode_cursor(cursor)
    )
    last = rows[limit - 1] if len(rows) > limit else None
    return SessionList(
        sessions=[
            Session(
                id=pages.clean_text(row.id),
                start_ns=max(0, row.start_ns),
                end_ns=max(0, row.end_ns),
                traces=row.traces,
                spans=row.spans,
                errors=row.errors,
                services=[pages.clean_text(each) for each in row.services],
            )
            for row in rows[:limit]
        ],
        next=encode_cursor(max(0, last.end_ns), last.id) if last else None,
    )


@router.get("/sessions/{session_id:path}", responses=_MISSING)
def session(session_id: str, store: Opened) -> SessionPage:
    """Return one conversation judged as a whole, by its first 500 traces."""
    ids = store.browse.traces_of_session(session_id, _MOST_TRACES)
    if not ids:
        raise HTTPException(HTTPStatus.NOT_FOUND, f"no span has the session id {session_id[:64]!r}")
    verdict = judge_session(store.evaluations(ids))
    mistake = verdict.first_mistake
    rows = sorted(store.browse.trace_rows(ids), key=lambda row: row.start_ns)
    return SessionPage(
        id=pages.clean_text(session_id),
        verdict=verdict.state,
        value=verdict.value,
        explanation=pages.clean_text(verdict.explanation),
        turns=[_build_turn(turn) for turn in verdict.turns],
        hand_overs=[_build_hand_over(each) for each in verdict.hand_overs[:_MOST_HAND_OVERS]],
        first_mistake=None
        if mistake is None
        else FirstMistake(
            turn=mistake.turn,
            trace_id=mistake.trace_id,
            agent=pages.clean_text(mistake.agent),
            why=pages.clean_text(mistake.why),
        ),
        traces=[list_rows.build_trace_row(row) for row in rows],
        cut=len(ids) == _MOST_TRACES,
    )


def _build_turn(turn: sessions_model.Turn) -> Turn:
    return Turn(
        number=turn.number,
        trace_id=turn.trace_id,
        run_span_id=turn.run_span_id,
        agent=pages.clean_text(turn.agent),
        request=_shorten_text(turn.request),
        answer=_shorten_text(turn.answer),
        verdict=turn.state,
        why=pages.clean_text(turn.why),
        is_retry=turn.is_retry,
    )


def _build_hand_over(given: sessions_model.HandOver) -> HandOver:
    return HandOver(
        turn=given.turn,
        trace_id=given.trace_id,
        giver=pages.clean_text(given.giver),
        receiver=pages.clean_text(given.receiver),
        receiver_span_id=given.receiver_span_id,
        lost=[pages.clean_text(each) for each in given.lost[:_MOST_FACTS]],
        replaced=[
            Replaced(given=pages.clean_text(each.given), used=pages.clean_text(each.used))
            for each in given.replaced[:_MOST_FACTS]
        ],
    )


def _shorten_text(said: str | None) -> str | None:
    return None if said is None else pages.clean_text(said[:_LONGEST])
