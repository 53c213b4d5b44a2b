"""A supervisor's turns in a session: which step has ended, which is late, and what waits for what."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Sequence
from pathlib import Path

import pytest

from spanproof.sandbox import SessionSpec, ToolAnswer
from spanproof.sandbox.errors import SandboxBroken
from spanproof.sandbox.guest.wire import Frame, Header, encode_frame
from spanproof.sandbox.supervisor.run import steps
from spanproof.sandbox.supervisor.run.session import Loan, SupervisorSession
from spanproof.sandbox.supervisor.run.steps import SessionRun

from .begun import begun_in


@pytest.fixture
def fresh_session(tmp_path: Path) -> tuple[SessionRun, socket.socket]:
    return begun_in(tmp_path)


STEP = Frame({"kind": "step"}, (b"1",))


def end_of(step: str) -> dict[str, object]:
    return {"kind": "step", "token": "right", "step": step, "outcome": "ok"}


@pytest.mark.parametrize("ended", [True, False])
def test_a_step_that_ended_while_its_supervisor_was_kept_from_looking_is_not_late(
    fresh_session: tuple[SessionRun, socket.socket], ended: bool
) -> None:
    session, guest = fresh_session
    session._handle_frame(STEP)
    if ended:
        guest.sendall(encode_frame(end_of(session._step)))
    session._clock.deadline = 0.0  # it is long past
    session._handle_next()
    assert (session._in_step, session._stopped) == ((False, None) if ended else (True, "timeout"))


def test_a_step_begins_after_what_the_one_before_it_requested_is_answered(
    fresh_session: tuple[SessionRun, socket.socket],
) -> None:
    session, _guest = fresh_session
    session._handle_frame(STEP)
    first = session._step
    session._handle({"kind": "call", "token": "right", "call": 1, "tool": "asks", "args": [], "kwargs": {}})
    session._handle(end_of(first))  # a thread of it had called, and the step did not wait for the answer
    assert not session._in_step
    session._handle_frame(Frame({"kind": "answer", "call": 1}, ()))
    session._handle_frame(STEP)
    assert session._in_step
    assert session._step != first


def test_a_supervisor_whose_host_is_long_in_reading_looks_after_its_guest_meanwhile(
    fresh_session: tuple[SessionRun, socket.socket],
) -> None:
    session, _guest = fresh_session
    session._channel, host = socket.socketpair()
    session._way_out = session._channel.fileno()
    looks = iter([None, None, "memory"])
    session._usage_limits.find_exceeded = lambda: next(looks)  # type: ignore[method-assign]
    sent = os.urandom(1 << 20)
    session._to_host(sent)
    assert session._stopped == "memory"
    rest = threading.Thread(target=session._channel.sendall, args=(session._unsent,))
    rest.start()  # as at the end, when nothing of the guest's lives
    heard = b""
    while len(heard) < len(sent):
        heard += host.recv(1 << 16)
    rest.join()
    assert heard == sent


def test_time_in_which_what_is_left_has_no_processor_is_given_back(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr(steps.time, "monotonic", lambda: now)
    settling = steps._Settling(0.4)
    settling.add_delays({7: 5.0})  # of before
    for _ in range(20):
        now += 0.01
        left_s = settling.compute_remaining_s()
    assert left_s == pytest.approx(0.2)
    settling.add_delays({7: 5.15})
    assert settling.compute_remaining_s() == pytest.approx(0.35)
    settling.add_delays({8: 0.02})  # one has ended, and one has begun
    assert settling.compute_remaining_s() == pytest.approx(0.37)
    settling.add_delays({8: 9.0})  # no more than was counted
    assert settling.compute_remaining_s() == pytest.approx(0.4)
    now += 60
    assert settling.compute_remaining_s() == 0.0


def test_a_session_whose_supervisor_does_not_report_its_end_has_no_whole_record() -> None:
    dropped: list[str] = []
    link = _SilentAtEnd()
    loan = Loan(link, lambda: None, lambda: dropped.append("dropped"))
    session = SupervisorSession(loan, ({"kind": "job"}, []), SessionSpec(), lambda _request: ToolAnswer())
    assert [session.execute(source).attempts_whole for source in ("x = 1", "x = 2")] == [True, True]
    session.close()
    assert dropped == ["dropped"]
    assert {number: found.attempts_whole for number, found in session.amended().items()} == {
        0: False,
        1: False,
    }


class _SilentAtEnd:
    """A supervisor that reports each step, and never the end."""

    def __init__(self) -> None:
        self._kind = ""

    def send(self, header: Header, parts: Sequence[bytes] = ()) -> None:
        """Take it."""
        self._kind = str(header["kind"])

    def wait_for_frame(self, timeout_s: float) -> Frame:
        """Report what was sent last."""
        if self._kind == "end":
            raise SandboxBroken("no answer")
        return Frame(
            {"kind": "step", "ready": True, "outcome": "ok", "tier": "full", "status": 0}, (b"", b"")
        )
