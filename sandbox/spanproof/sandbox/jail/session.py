"""A session as the host holds it: one slot, taken for as long as it lasts.

In: steps, and an answer to each tool call. Out: an `Execution` per step. A slot that served a session is not
used again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Protocol

from spanproof.sandbox.backend import AnswerTool, Session
from spanproof.sandbox.calls import answer_call
from spanproof.sandbox.errors import SandboxBroken
from spanproof.sandbox.jail.fixed.job import fixed_by, tape_of
from spanproof.sandbox.jail.outcome import execution_of
from spanproof.sandbox.jail.wire import Frame, Header
from spanproof.sandbox.model import Execution, SessionSpec

_GRACE_S = 15.0
_START_S = 30.0


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
    """A slot on loan to a session."""

    def send(self, header: Header, parts: Sequence[bytes] = ()) -> None:
        """Send a frame."""

    def receive(self, timeout_s: float) -> Frame:
        """Wait for a frame."""

    def close(self) -> None:
        """End what runs in the slot."""


class JailSession(Session):
    """One interpreter over several programs, in a jail slot of its own."""

    def __init__(
        self, slot: Link, job: tuple[Header, list[bytes]], spec: SessionSpec, answer: AnswerTool
    ) -> None:
        self._slot: Link | None = slot
        self._spec = spec
        self._answer = answer
        self._tools = frozenset(stub.name for stub in spec.tools)
        slot.send(*job)
        ready = slot.receive(_START_S)
        if ready.header.get("ready") is not True:
            self.close()
            raise SandboxBroken(f"the session did not start: {ready.header.get('stopped')}")

    def execute(self, source: str) -> Execution:
        """Run one step; see `Session.execute`."""
        if self._slot is None:
            raise SandboxBroken("the session is over")
        self._slot.send({"kind": "step"}, [source.encode("utf-8", "surrogatepass")])
        while True:
            frame = self._slot.receive(self._spec.limits.wall_s + _GRACE_S)
            if frame.header.get("kind") == "call":
                self._slot.send(self._answered(frame))
                continue
            execution = execution_of(frame.header, frame.parts, self._spec.limits)
            if frame.header.get("kind") != "step":
                self.close()
            return execution

    def close(self) -> None:
        """End the interpreter."""
        slot, self._slot = self._slot, None
        if slot is not None:
            slot.close()

    def _answered(self, frame: Frame) -> Header:
        try:
            return answer_call(frame.header, self._tools, self._answer)
        except BaseException:
            self.close()  # the step waits for an answer that will not come
            raise
