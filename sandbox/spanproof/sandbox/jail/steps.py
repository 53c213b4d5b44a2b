"""A session seen from its slot: a run that takes steps from the host before it ends.

In: steps, and answers to the guest's tool calls. Out: a frame per step. The clock of a step stands while the
host answers a call. What the host foresees it sends along: the steps to run for as long as each ends well,
and the answers to calls, given to calls that are made as foreseen. Nothing of it goes to the guest before its
turn. Everything else is as in any run.
"""

from __future__ import annotations

import contextlib
import secrets
import select
import time
from collections import deque
from typing import Any

from spanproof.sandbox.jail import memory
from spanproof.sandbox.jail.output import Stream
from spanproof.sandbox.jail.run import TICK_S, Run
from spanproof.sandbox.jail.watch import Record
from spanproof.sandbox.jail.wire import Frame, Header, call_key, encode

_CALLS_A_STEP = 10_000
"""Tool calls: their time is not the step's, so their number must be bounded."""
_MUTE_S = 0.002
"""So long into a step nobody looks at its output; most steps are over then, and fill no pipe."""
_OF_A_CALL = ("tool", "args", "kwargs")
_OF_A_STEP = ("result", "has_json", "text", "raised", "outcome")


class SessionRun(Run):
    """One session, from its first step to its last."""

    _in_step = False
    _paused_at: float | None = None
    _ready = False
    _step = ""
    """The secret name of the step at hand: a report made up before the step began cannot know it."""
    _calls = 0
    _cpu_told = 0.0
    _lasting = False
    """Whether foreseen calls that the step at hand does not make are the next one's."""

    def start(self, job: Frame) -> None:
        """Set the limits and hand the guest its tools."""
        self._coming: deque[tuple[bytes, list[Any]]] = deque()  # source, and what is foreseen of it
        self._foreseen: deque[list[Any]] = deque()  # calls to come, as their number, key and answer
        self._answered: list[int] = []  # those that were answered and that the host has not heard of
        self._muted: list[int] = []
        super().start(job)

    def _bound_time(self, limits: Header) -> None:
        """CPU time is bounded by the wall time of each step: the kernel's limit is for a whole process."""

    def _host_s_turn(self) -> bool:
        return not self._in_step or self._paused_at is not None

    def _done(self) -> bool:
        return self._ended or not self._in_step

    def _hear(self, said: Header) -> None:
        if said.get("token") != self.armed.token:
            return
        kind = said.get("kind")
        if kind == "call":
            self._forward(said)
        elif kind == "step" and self._in_step and said.get("step") == self._step:
            self._end_step(said)
        elif kind == "ready" and not self._step and not self._ready:
            self._ready = True
            self._end_step(said)

    def _take(self, frame: Frame) -> None:
        kind = frame.header.get("kind")
        if kind == "step":
            self._coming = deque(zip(frame.parts, frame.header["foreseen"], strict=True))
            self._lasting = False
            self._begin_step()
        elif kind == "answer":
            self._resume()
            self._to_guest(encode(frame.header))
        elif kind == "end":
            self._stopped = "closed"

    def _begin_step(self) -> None:
        self._mute()
        self._in_step = True
        self._step = secrets.token_hex(8)
        self._calls = 0
        self._started = time.monotonic()
        self._deadline = self._started + self._limits["wall_s"]
        source, (calls, lasting) = self._coming.popleft()
        if not self._lasting:
            self._foreseen.clear()
        self._foreseen.extend(calls)
        self._lasting = lasting
        self._to_guest(encode({"kind": "step", "step": self._step}, [source]))

    def _turn(self) -> None:
        super()._turn()
        if self._muted and time.monotonic() - self._started >= _MUTE_S:
            self._unmute()

    def _mute(self) -> None:
        """Leave output in its pipes for now: a write that wakes nobody costs the guest next to nothing."""
        for fd in (self.armed.stdout, self.armed.stderr):
            with contextlib.suppress(KeyError):  # it has ended, or is muted
                self._poll.unregister(fd)
                self._muted.append(fd)
        self._tick_s = _MUTE_S

    def _unmute(self) -> None:
        for fd in self._muted:
            self._poll.register(fd, select.POLLIN)
        self._muted.clear()
        self._tick_s = TICK_S

    def _end_step(self, said: Header) -> None:
        """Gather what the step did, tell the host, and start the next one's account."""
        self._drain()
        wall_s = time.monotonic() - self._started
        self._memory.sample()
        header = self._facts(wall_s, self._cpu_s())
        header |= {key: said.get(key) for key in _OF_A_STEP}
        header |= {"kind": "step", "ready": said["kind"] == "ready", "files": self._place.box.files_left()}
        header["peak"] = self._memory.peak_bytes
        self._channel.sendall(encode(header, [self._out.kept(), self._err.kept()]))
        self._in_step = False
        self._out, self._err = Stream(self._limits["output_bytes"]), Stream(self._limits["output_bytes"])
        self.watcher.record = Record(network_used=self.watcher.record.network_used)
        if said.get("outcome") != "ok":
            self._coming.clear()
        elif self._coming:
            self._begin_step()

    def _forward(self, said: Header) -> None:
        self._calls += 1
        if self._calls > _CALLS_A_STEP:
            self._stopped = "timeout"
            return
        if not self._in_step or self._paused_at is not None:
            # One call at a time: a host that answers and a slot that forwards would wait for each other.
            reason = "no step is running" if not self._in_step else "another call waits for its answer"
            refusal = {"error_type": "RuntimeError", "error_message": reason}
            self._to_guest(encode({"kind": "answer", "call": said.get("call"), **refusal}))
            return
        if self._foreseen and self._foreseen[0][1] == call_key(*(said.get(key) for key in _OF_A_CALL)):
            number, _key, answer = self._foreseen.popleft()
            self._answered.append(number)
            self._to_guest(encode({**answer, "kind": "answer", "call": said.get("call")}))
            return
        self._foreseen.clear()  # the order is lost: the host knows what follows
        call = {"kind": "call", "call": said.get("call"), **{key: said.get(key) for key in _OF_A_CALL}}
        self._paused_at = time.monotonic()
        self._channel.sendall(encode(call | {"foreseen": self._told_answered()}))

    def _facts(self, wall_s: float, cpu_s: float) -> Header:
        return super()._facts(wall_s, cpu_s) | {"foreseen": self._told_answered()}

    def _told_answered(self) -> list[int]:
        told, self._answered = self._answered, []
        return told

    def _resume(self) -> None:
        """The time a tool takes is the host's, not the step's."""
        if self._paused_at is not None:
            self._deadline += time.monotonic() - self._paused_at
            self._paused_at = None

    def _cpu_s(self) -> float:
        spent = memory.cpu_s(self.armed.born.pid) + self._strays_cpu_s()
        step, self._cpu_told = spent - self._cpu_told, spent
        return max(0.0, step)
