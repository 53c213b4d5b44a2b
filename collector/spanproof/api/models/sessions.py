"""The answers about conversations and teams of agents."""

from __future__ import annotations

from pydantic import Field

from spanproof.api import models
from spanproof.api.models import Answer, Nanoseconds
from spanproof.trace import State


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
