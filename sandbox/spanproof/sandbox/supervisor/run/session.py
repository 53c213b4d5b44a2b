"""A session as the host holds it: one supervisor, taken for as long as it lasts.

In: steps, and an answer to each tool call. Out: an `Execution` per step. A session that ends gives its
supervisor back, which has then killed the interpreter and all it started, as after any run; a supervisor that
does not say so is not used again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Protocol

from spanproof.sandbox.backend import AnswerTool, Session
from spanproof.sandbox.calls import handle_call
from spanproof.sandbox.errors import SandboxBroken
from spanproof.sandbox.guest.outcome import add_attempts, build_execution
from spanproof.sandbox.guest.wire import Frame, Header
from spanproof.sandbox.model import Execution, SessionSpec
from spanproof.sandbox.supervisor.fixtures.job import encode_fixtures, encode_tape

_GRACE_S = 15.0
_START_S = 30.0
_END_S = 15.0


def build_session_job(spec: SessionSpec) -> tuple[Header, list[bytes]]:
    """Build the frame that starts a session.

    Raises:
        UnsupportedFixtures: the clock or the recorded calls cannot be given.
    """
    header: Header = {
        "kind": "job",
        "language": "session",
        "limits": asdict(spec.limits),
        "files": list(spec.files),
        "tools": [[stub.name, stub.parameters] for stub in spec.tools],
        **encode_fixtures(spec.fixtures),
    }
    return header, [b"", b"", b"", *spec.files.values(), *encode_tape(spec.fixtures)]


class Link(Protocol):
    """The host's end of a supervisor."""

    def send(self, header: Header, parts: Sequence[bytes] = ()) -> None:
        """Send a frame."""

    def wait_for_frame(self, timeout_s: float) -> Frame:
        """Wait for a frame."""


class Borrowed(Link, Protocol):
    """A supervisor's end that one session has."""

    def wait_for_close(self) -> Header:
        """End the session, with everything it started; returns what was reported last. Safe to call twice.

        Where the end alone was not reported, `late_unknown` is true: what is left running may have acted.
        """


class Loan:
    """A supervisor on loan to one session."""

    def __init__(self, supervisor: Link, give_back: Callable[[], None], drop: Callable[[], None]) -> None:
        """Take it.

        Args:
            supervisor: waits for a job.
            give_back: called when it waits for the next one.
            drop: called when its state is unknown.
        """
        self._supervisor = supervisor
        self._give_back, self._drop = give_back, drop
        self._at_work = self._closed = self._is_broken = False

    def send(self, header: Header, parts: Sequence[bytes] = ()) -> None:
        """Send a frame; the first one is the session's job."""
        self._at_work = True
        self._supervisor.send(header, parts)

    def wait_for_frame(self, timeout_s: float) -> Frame:
        """Wait for a frame; a result is the session's last."""
        try:
            frame = self._supervisor.wait_for_frame(timeout_s)
        except SandboxBroken:
            self._is_broken = True
            raise
        if frame.header.get("kind") == "result":
            self._at_work = False
        return frame

    def wait_for_close(self) -> Header:
        """See `Borrowed`."""
        if self._closed:
            return {}
        self._closed = True
        header: Header = {}
        # A step that broke the supervisor fails for that; the steps before it had been reported.
        was_broken = self._is_broken
        try:
            if self._at_work:
                self._supervisor.send({"kind": "end"})
            while self._at_work:
                header = self.wait_for_frame(_END_S).header
        except SandboxBroken:
            self._drop()
            return {"late_unknown": not was_broken}
        except BaseException:
            self._drop()
            raise
        else:
            self._give_back()
        return header


class SupervisorSession(Session):
    """One interpreter over several programs, in a jail supervisor of its own."""

    def __init__(
        self,
        supervisor: Borrowed,
        job: tuple[Header, list[bytes]],
        spec: SessionSpec,
        answer: AnswerTool,
        may_exist: Callable[[str], bool] = lambda _path: True,
    ) -> None:
        """Start it; `may_exist` as for `build_execution`."""
        self._supervisor: Borrowed | None = supervisor
        self._spec = spec
        self._answer = answer
        self._may_lie = may_exist
        self._tools = frozenset(stub.name for stub in spec.tools)
        self._executions: list[Execution] = []
        self._amended: dict[int, Execution] = {}
        try:
            supervisor.send(*job)
            ready = supervisor.wait_for_frame(_START_S).header
        except BaseException:
            self.close()
            raise
        if ready.get("ready") is not True:
            self.close()
            raise SandboxBroken(f"the session did not start: {ready.get('stopped')}")

    def execute(self, source: str) -> Execution:
        """Run one step; see `Session.execute`."""
        if self._supervisor is None:
            raise SandboxBroken("the session is over")
        try:
            frame = self._run_step(self._supervisor, source)
            execution = build_execution(frame.header, frame.parts, self._spec.limits, may_exist=self._may_lie)
        except BaseException:
            self.close()  # the step waits for an answer that will not come
            raise
        self._executions.append(execution)
        self._update_executions(frame.header)
        if frame.header.get("kind") != "step":
            self.close()
        return execution

    def amended(self) -> Mapping[int, Execution]:
        """See `Session.amended`."""
        return self._amended

    def close(self) -> None:
        """End the interpreter."""
        supervisor, self._supervisor = self._supervisor, None
        if supervisor is not None:
            self._update_executions(supervisor.wait_for_close())

    def _update_executions(self, header: Header) -> None:
        """Add to earlier executions what tasks that their steps began have attempted since."""
        late = header.get("late")
        if header.get("late_unknown") is True:
            late = {str(number): {"merged": True} for number in range(len(self._executions))}
        for step, found in late.items() if isinstance(late, dict) else ():
            if isinstance(step, str) and step.isdigit():
                number = int(step)
            else:
                number = len(self._executions)
            if number < len(self._executions) and isinstance(found, dict):
                earlier = self._amended.get(number, self._executions[number])
                self._amended[number] = add_attempts(earlier, found, self._may_lie)

    def _run_step(self, supervisor: Borrowed, source: str) -> Frame:
        """Hand over a step and answer its tool calls; return the frame that ends it."""
        supervisor.send({"kind": "step"}, [source.encode("utf-8", "surrogatepass")])
        while True:
            frame = supervisor.wait_for_frame(self._spec.limits.wall_s + _GRACE_S)
            if frame.header.get("kind") != "call":
                return frame
            supervisor.send(handle_call(frame.header, self._tools, self._answer))
