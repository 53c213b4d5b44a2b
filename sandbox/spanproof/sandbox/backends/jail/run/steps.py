"""A session seen from its supervisor: a run that takes steps from the host before it ends.

In: steps, and answers to the guest's tool calls. Out: a frame per step. The clock of a step is paused while
the host answers a call. What the host foresees it sends along: the steps to run for as long as each ends
well, and the answers to calls, given to calls that are made as foreseen. Nothing of it goes to the guest
before its turn. Everything else is as in any run.
"""

from __future__ import annotations

import secrets
import select
from collections import deque
from typing import Any

from spanproof.sandbox.backends.jail.isolation import Armed
from spanproof.sandbox.backends.jail.run.run import Links, Run
from spanproof.sandbox.backends.jail.run.usage_limits import TICK_S
from spanproof.sandbox.backends.jail.seccomp.attempts import Record
from spanproof.sandbox.guest.inbox import message
from spanproof.sandbox.guest.wire import Frame, Header, call_key, encode

_CALLS_A_STEP = 10_000
"""Tool calls: their time is not the step's, so their number must be bounded."""
_PIECE_BYTES = 4096
"""What a host that has room at all has room for, be it a socket or a pipe."""
_OF_A_CALL = ("tool", "args", "kwargs")
_OF_A_STEP = ("result", "text", "characters", "raised", "outcome")


class SessionRun(Run):
    """One session, from its first step to its last."""

    def __init__(self, job: Frame, armed: Armed, links: Links) -> None:
        super().__init__(job, armed, links)
        self._control_channel.listen()  # it queries, and waits for answers
        self._ready = self._in_step = False
        self._step = ""
        """The secret name of the step at hand: a report made up before the step began cannot know it."""
        self._coming: deque[tuple[bytes, list[Any]]] = deque()
        """Steps that the host has sent: source, and what is foreseen of it."""
        self._foreseen: deque[list[Any]] = deque()
        """Calls of the step at hand: number, key and answer."""
        self._lasting = False
        """Whether those that it does not make are the next step's."""
        self._answered: list[int] = []
        """Numbers of those that were answered and that the host has not received."""
        self._calls = 0
        self._cpu_reported = 0.0
        self._unsent = b""

    def finish(self) -> tuple[Header, list[bytes]]:
        """See `Run`; a frame that was cut off by the end is completed."""
        result = super().finish()
        if self._unsent:
            self._channel.sendall(self._unsent)
        return result

    def _bound_time(self) -> None:
        """CPU time is bounded by the wall time of each step: the kernel's limit is for a whole process."""

    def _is_timed(self) -> bool:
        return self._in_step and not self._clock.is_paused

    def _is_over(self) -> bool:
        return self._ended or not self._in_step or self._clock.is_paused

    def _handle(self, message_header: Header) -> None:
        if message_header.get("token") != self._armed.token:
            return
        kind = message_header.get("kind")
        if kind == "call":
            self._forward(message_header)
        elif kind == "step" and self._in_step and message_header.get("step") == self._step:
            self._end_step(message_header)
        elif kind == "ready" and not self._step and not self._ready:
            self._ready = True
            self._end_step(message_header)

    def _take(self, frame: Frame) -> None:
        kind = frame.header.get("kind")
        if kind == "step":
            self._coming = deque(zip(frame.parts, frame.header["foreseen"], strict=True))
            self._lasting = False
            self._next_step()
        elif kind == "answer":
            self._clock.resume()  # the time a tool takes is the host's, not the step's
            self._to_guest(message(frame.header))
            self._next_step()
        elif kind == "end":
            self._stopped = "closed"

    def _next_step(self) -> None:
        """Begin it, where there is one, the one before is over, and no call of that waits for its answer."""
        if not self._coming or self._in_step or self._clock.is_paused or self._stopped is not None:
            return
        source, (calls, lasting) = self._coming.popleft()
        if not self._lasting:
            self._foreseen.clear()
        self._foreseen.extend(calls)
        self._lasting = lasting
        self._mute()
        self._in_step = True
        self._step = secrets.token_hex(8)
        self._calls = 0
        self._clock.start()
        self._to_guest(message({"kind": "step", "step": self._step}, [source]))

    def _end_step(self, message_header: Header) -> None:
        """Gather what the step did, report the host, and start the next one's account."""
        self._streams.drain()
        header = self._facts(self._clock.passed_s(), self._cpu_s())
        header |= {key: message_header.get(key) for key in _OF_A_STEP}
        header |= {
            "kind": "step",
            "ready": message_header["kind"] == "ready",
            "files": self._isolation.box.files_left(),
        }
        header["peak"] = self._usage_limits.peak_bytes()
        self._in_step = False
        self._to_host(encode(header, self._streams.kept()))
        self._streams.begin_anew()
        self._watcher.record = Record(network_used=self._watcher.record.network_used)
        if message_header.get("outcome") != "ok":
            self._coming.clear()
        self._next_step()

    def _forward(self, message_header: Header) -> None:
        self._calls += 1
        if self._calls > _CALLS_A_STEP:
            self._stopped = "timeout"
            return
        if not self._in_step or self._clock.is_paused:
            # One call at a time: a host that answers and a supervisor that forwards would wait for each
            # other.
            reason = "no step is running" if not self._in_step else "another call waits for its answer"
            refusal = {"error_type": "RuntimeError", "error_message": reason}
            self._to_guest(message({"kind": "answer", "call": message_header.get("call"), **refusal}))
            return
        if self._foreseen and self._foreseen[0][1] == call_key(
            *(message_header.get(key) for key in _OF_A_CALL)
        ):
            number, _key, answer = self._foreseen.popleft()
            self._answered.append(number)
            self._clock.stop(self._last_turn_began)
            self._clock.resume()
            self._to_guest(message({**answer, "kind": "answer", "call": message_header.get("call")}))
            return
        self._foreseen.clear()  # the order is lost: the host knows what follows
        call = {
            "kind": "call",
            "call": message_header.get("call"),
            **{key: message_header.get(key) for key in _OF_A_CALL},
        }
        self._clock.stop(self._last_turn_began)
        self._to_host(encode(call | {"foreseen": self._take_answered()}))

    def _facts(self, wall_s: float, cpu_s: float) -> Header:
        return super()._facts(wall_s, cpu_s) | {"foreseen": self._take_answered()}

    def _take_answered(self) -> list[int]:
        reply, self._answered = self._answered, []
        return reply

    def _to_host(self, data: bytes) -> None:
        """Send to the host, which may read slowly: what the guest has started is looked after meanwhile."""
        view = memoryview(data)
        waiting = select.poll()
        waiting.register(self._way_out, select.POLLOUT)
        while view and self._stopped is None:
            if waiting.poll(TICK_S * 1000):
                self._channel.sendall(view[:_PIECE_BYTES])
                view = view[_PIECE_BYTES:]
            else:
                self._stopped = self._usage_limits.look()
        self._unsent += view

    def _cpu_s(self) -> float:
        spent = self._usage_limits.cpu_s_so_far()
        step, self._cpu_reported = spent - self._cpu_reported, spent
        return max(0.0, step)
