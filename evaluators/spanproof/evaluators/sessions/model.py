"""What a session's verdict consists of."""

from __future__ import annotations

from dataclasses import dataclass

from spanproof.trace import Label, State

_LABELS = {State.PASS: Label.PASS, State.FAIL: Label.FAIL}


@dataclass(frozen=True, slots=True)
class Turn:
    """A request of the user, and the run that answered it.

    Attributes:
        number: from 1, in order of time.
        request: the user's words, None where they are hidden.
        state: of the run, `fail` also where a run of the trace broke the boundary or a hand-over replaced an
            identifier, and open where it passes and worked on what nothing names.
        why: the reason of a turn that did not pass, else empty.
        is_retry: the user had requested the same before.
    """

    number: int
    trace_id: str
    run_span_id: str
    agent: str
    request: str | None
    answer: str | None
    state: State
    why: str = ""
    is_retry: bool = False

    @property
    def label(self) -> Label | None:
        """The verdict; None where there is none."""
        return _LABELS.get(self.state)


@dataclass(frozen=True, slots=True)
class Replaced:
    """An identifier of the giver's task, and the one that the receiver used, which no source holds."""

    given: str
    used: str


@dataclass(frozen=True, slots=True)
class HandOver:
    """Work passed from one agent to another.

    Attributes:
        turn: number of the turn it belongs to, the first of its trace.
        lost: identifiers, numbers and quoted texts of the giver's task that the receiver never read.
        replaced: of the lost ones, those that the receiver replaced.
    """

    turn: int
    trace_id: str
    giver: str
    receiver: str
    receiver_span_id: str
    start_ns: int
    lost: tuple[str, ...] = ()
    replaced: tuple[Replaced, ...] = ()


@dataclass(frozen=True, slots=True)
class FirstMistake:
    """The earliest thing that went wrong: which agent, in which turn, and what."""

    turn: int
    trace_id: str
    agent: str
    why: str


@dataclass(frozen=True, slots=True)
class SessionVerdict:
    """A whole conversation.

    Attributes:
        state: of the last attempts at each request together; `fail` also where any run broke the boundary.
        value: the share of requests whose last attempt passed, None where there is no request.
    """

    turns: tuple[Turn, ...]
    hand_overs: tuple[HandOver, ...]
    first_mistake: FirstMistake | None
    state: State
    value: float | None
    explanation: str

    @property
    def label(self) -> Label | None:
        """The verdict; None where there is none."""
        return _LABELS.get(self.state)
