"""A session as the host holds it: one slot, taken for as long as it lasts.

In: steps, and an answer to each tool call. Out: an `Execution` per step. A session that ends gives its slot
back, which has then killed the interpreter and all it started, as after any run; a slot that does not say so
is not used again.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Protocol

from spanproof.sandbox.backend import AnswerTool, Foreseen, Session
from spanproof.sandbox.calls import answer_call
from spanproof.sandbox.errors import SandboxBroken
from spanproof.sandbox.fixed.job import fixed_by, tape_of
from spanproof.sandbox.guest.outcome import execution_of
from spanproof.sandbox.guest.wire import Frame, Header, call_key
from spanproof.sandbox.model import Execution, JsonValue, SessionSpec, ToolAnswer, ToolRequest

_GRACE_S = 15.0
_START_S = 30.0
_END_S = 15.0
_AHEAD_BYTES = 64 * 1024
"""Sent ahead at once: a slot that reports and a host that sends must not wait for each other."""


def job_of_session(spec: SessionSpec) -> tuple[Header, list[bytes]]:
    """The frame that starts a session.

    Raises:
        UnsupportedFixtures: the clock or the recorded calls cannot be given.
    """
    header: Header = {
        "kind": "job",
        "language": "session",
        "limits": asdict(spec.limits),
        "files": list(spec.files),
        "tools": [[stub.name, stub.parameters] for stub in spec.tools],
        **fixed_by(spec.fixtures),
    }
    return header, [b"", b"", b"", *spec.files.values(), *tape_of(spec.fixtures)]


class Link(Protocol):
    """The host's end of a slot."""

    def send(self, header: Header, parts: Sequence[bytes] = ()) -> None:
        """Send a frame."""

    def receive(self, timeout_s: float) -> Frame:
        """Wait for a frame."""


class Loan:
    """A slot on loan to one session."""

    def __init__(self, slot: Link, give_back: Callable[[], None], drop: Callable[[], None]) -> None:
        """Take it.

        Args:
            slot: waits for a job.
            give_back: called when it waits for the next one.
            drop: called when nobody knows what it does.
        """
        self._slot = slot
        self._give_back, self._drop = give_back, drop
        self._at_work = self._closed = False

    def send(self, header: Header, parts: Sequence[bytes] = ()) -> None:
        """Send a frame; the first one is the session's job."""
        self._at_work = True
        self._slot.send(header, parts)

    def receive(self, timeout_s: float) -> Frame:
        """Wait for a frame; a result is the session's last."""
        frame = self._slot.receive(timeout_s)
        if frame.header.get("kind") == "result":
            self._at_work = False
        return frame

    def close(self) -> None:
        """End the session, with everything it started. Safe to call twice."""
        if self._closed:
            return
        self._closed = True
        try:
            if self._at_work:
                self._slot.send({"kind": "end"})
            while self._at_work:
                self.receive(_END_S)
        except SandboxBroken:
            self._drop()
        except BaseException:
            self._drop()
            raise
        else:
            self._give_back()


class JailSession(Session):
    """One interpreter over several programs, in a jail slot of its own."""

    def __init__(
        self,
        slot: Loan,
        job: tuple[Header, list[bytes]],
        spec: SessionSpec,
        answer: AnswerTool,
        may_lie: Callable[[str], bool],
    ) -> None:
        """Start it; `may_lie` as for `execution_of`."""
        self._slot: Loan | None = slot
        self._spec = spec
        self._answer = answer
        self._may_lie = may_lie
        self._tools = frozenset(stub.name for stub in spec.tools)
        self._coming: deque[Foreseen] = deque()
        self._sent: deque[str] = deque()
        self._calls: list[tuple[ToolRequest, ToolAnswer]] = []
        """Those the slot may answer, by their numbers."""
        try:
            slot.send(*job)
            ready = slot.receive(_START_S).header
        except BaseException:
            self.close()
            raise
        if ready.get("ready") is not True:
            self.close()
            raise SandboxBroken(f"the session did not start: {ready.get('stopped')}")

    def foresee(self, steps: Sequence[Foreseen]) -> None:
        """Take the hint in place of the last one; what was sent ahead stays, and comes first."""
        self._coming = deque(steps[len(self._sent) :])

    @property
    def is_ahead(self) -> bool:
        """Whether the slot has steps that were not asked for."""
        return bool(self._sent)

    def execute(self, source: str) -> Execution:
        """Run one step; see `Session.execute`."""
        if self._slot is None:
            raise SandboxBroken("the session is over")
        try:
            frame = self._step(self._slot, source)
            execution = execution_of(frame.header, frame.parts, self._spec.limits, may_lie=self._may_lie)
        except BaseException:
            self.close()  # the step waits for an answer that will not come
            raise
        if frame.header.get("kind") != "step":
            self.close()
        return execution

    def close(self) -> None:
        """End the interpreter."""
        slot, self._slot = self._slot, None
        self._coming.clear()
        self._sent.clear()
        if slot is not None:
            slot.close()

    def _step(self, slot: Loan, source: str) -> Frame:
        """Hand over a step, unless the slot has it already; the frame that ends it."""
        if not self._sent:
            self._hand_over(slot, source)
        elif self._sent[0] != source:
            raise SandboxBroken("a step was foreseen, and another one is asked for")
        self._sent.popleft()
        while True:
            frame = slot.receive(self._spec.limits.wall_s + _GRACE_S)
            self._keep_count(frame.header)
            if frame.header.get("kind") != "call":
                break
            slot.send(answer_call(frame.header, self._tools, self._answer))
        if frame.header.get("outcome") != "ok":
            self._sent.clear()  # the slot has dropped them
        return frame

    def _keep_count(self, header: Header) -> None:
        """Let whoever answers know of the calls that the slot has answered since it last told."""
        told_of = header.get("foreseen", [])
        if type(told_of) is not list or not all(number in range(len(self._calls)) for number in told_of):
            raise SandboxBroken("a jail slot says that it has answered calls which nobody foresaw")
        for asked, told in map(self._calls.__getitem__, told_of):
            if self._answer(asked) != told:
                raise SandboxBroken(f"a call of {asked.tool} was foreseen to be answered otherwise")

    def _hand_over(self, slot: Loan, source: str) -> None:
        """Send a step, and what is foreseen after it as far as it may be sent at once."""
        steps = [Foreseen(source)]
        if self._coming and self._coming[0].source == source:
            steps = _at_once(self._coming)
        else:
            self._coming.clear()  # it did not come true
        self._sent.extend(step.source for step in steps)
        self._calls.clear()
        foreseen = [[[self._numbered(*call) for call in step.calls], step.lasting] for step in steps]
        sources = [step.source.encode("utf-8", "surrogatepass") for step in steps]
        slot.send({"kind": "step", "foreseen": foreseen}, sources)

    def _numbered(self, asked: ToolRequest, told: ToolAnswer) -> list[object]:
        """A foreseen call as the slot knows it: its number, how it is written, and the answer."""
        self._calls.append((asked, told))
        return [len(self._calls) - 1, call_key(*_parts(asked)), asdict(told)]


def _at_once(coming: deque[Foreseen]) -> list[Foreseen]:
    """The next step, and those after it that fit."""
    steps = [coming.popleft()]
    room = _AHEAD_BYTES - _size(steps[0])
    while coming and (room := room - _size(coming[0])) > 0:
        steps.append(coming.popleft())
    return steps


def _size(step: Foreseen) -> int:
    """About how many bytes it takes."""
    return len(step.source) + sum(
        len(json.dumps([*_parts(asked), told.result])) for asked, told in step.calls
    )


def _parts(asked: ToolRequest) -> tuple[str, list[JsonValue], dict[str, JsonValue]]:
    return asked.tool, list(asked.args), dict(asked.kwargs)
