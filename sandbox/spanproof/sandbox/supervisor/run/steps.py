"""A session seen from its supervisor: a run that takes steps from the host before it ends.

In: steps, and answers to the guest's tool calls. Out: a frame per step. The clock of a step is paused while
the host answers a call. Everything else is as in any run.

A step is over when its report has come and the main thread reads the next one. Until that comes, whatever it
has left running is stopped. What such a task attempts later is an attempt of the step that began it, reported
as `late`. At the end of the session, what runs or would wake within `_SETTLES_S` has until then to act; what
is left is killed, and noted in its step's record. What the interpreter is refused as it ends is on the record
of the only step; of several any may have caused it, and no record is whole. Where the kernel holds
no calls (gVisor), none of this paragraph is so.
"""

from __future__ import annotations

import secrets
import select
import time
from collections.abc import Iterable

from spanproof.sandbox.guest.inbox import encode_message
from spanproof.sandbox.guest.wire import Frame, Header, encode_frame
from spanproof.sandbox.supervisor.isolation import Armed, Ended
from spanproof.sandbox.supervisor.record import Record
from spanproof.sandbox.supervisor.run.held_channel import HeldChannel
from spanproof.sandbox.supervisor.run.lineage import BEFORE, Lineage
from spanproof.sandbox.supervisor.run.run import Links, Run
from spanproof.sandbox.supervisor.run.usage_limits import TICK_S
from spanproof.sandbox.supervisor.seccomp.notifications import GO_ON, Answer, Notification, send_answer
from spanproof.sandbox.supervisor.seccomp.syscalls import get_arch

# Tool calls: their time is not the step's, so their number must be bounded.
_CALLS_A_STEP = 10_000
_PIECE_BYTES = 4096  # What a host that has room at all has room for, be it a socket or a pipe
# Of what is left running: as long as most that acts at all waits, and so short that no evaluation is delayed.
_SETTLES_S = 0.4
# By how much the time on the wall may be longer: on a busy machine most of it is waiting for a processor.
_MOST_TIMES = 5
_ENDS_S = 2.0  # Of the interpreter, with its exit functions
_SHORTEST_TICK_S, _SHORT_TICK_S = 0.001, 0.005
# What counts at most of the time between two looks: on a busy machine, what is left running is late too.
_MOST_COUNTED_S = 2 * _SHORT_TICK_S
_NETWORK_CALLS = frozenset(("connect", "sendmmsg", "sendmsg", "sendto"))
_OF_A_CALL = ("tool", "args", "kwargs")
_OF_A_STEP = ("result", "text", "characters", "raised", "outcome")


class _Settling:
    """The time that what is left running still has.

    Attributes:
        passed_s: since it began, by the clock on the wall.
    """

    def __init__(self, seconds: float) -> None:
        self._left_s = seconds
        self._most_s = _MOST_TIMES * seconds
        self._began = self._looked = time.monotonic()
        self.passed_s = self._counted_s = 0.0
        self._delays_s: dict[int, float] | None = None

    def compute_remaining_s(self) -> float:
        """Return the seconds that are left; the time in which the supervisor did not run counts little."""
        now = time.monotonic()
        counted_s = min(now - self._looked, _MOST_COUNTED_S)
        self._left_s -= counted_s
        self._counted_s += counted_s
        self._looked, self.passed_s = now, now - self._began
        return self._left_s if self.passed_s < self._most_s else 0.0

    def add_delays(self, delays_s: dict[int, float]) -> None:
        """Give back the time in which tasks waited for a processor, as the kernel counts it.

        Args:
            delays_s: by task, since it began; what was counted before the first call is in that one.
        """
        if self._delays_s is not None:
            earlier = self._delays_s
            delay_s = sum(max(0.0, value - earlier.get(task, 0.0)) for task, value in delays_s.items())
            refund_s = min(delay_s, self._counted_s)
            self._left_s += refund_s
            self._counted_s -= refund_s
        self._delays_s = delays_s


class SessionRun(Run):
    """One session, from its first step to its last."""

    def __init__(self, job: Frame, armed: Armed, links: Links) -> None:
        super().__init__(job, armed, links)
        self._is_held = links.isolation.holds_calls
        self._control_channel.start_reading()  # the guest calls tools, and waits for answers
        self._ready = self._in_step = False
        self._step_record = self._watcher.record
        # The secret name of the step at hand: a report made up before the step began cannot know it.
        self._step = ""
        self._calls = 0
        self._cpu_reported = 0.0
        self._unsent = b""
        # The thread whose call waits for its answer.
        self._caller = armed.guest.pid
        # That of the step at hand, which is over when the main thread reads the next one.
        self._report: Header | None = None
        # By step, attempts since it was reported.
        self._late: dict[int, Record] = {}
        # Earlier ones whose tasks have used the network in the step at hand.
        self._network_steps: set[int] = set()

        self._network_used = False
        # When what is left running must have acted, once the session is to end.
        self._settling: _Settling | None = None
        # How many there were, once the interpreter ends.
        self._steps: int | None = None
        self._at_end = Record()  # What it attempts then
        self._has_left = False
        self._was_alone = True  # The main process, when it was held at its end
        job.header["held"] = self._is_held
        if self._is_held:
            pid = armed.guest.pid
            self._lineage = Lineage(links.isolation.tree, pid, get_arch())
            self._held_channel = HeldChannel(armed.guest.listener, pid, self._handle_held)
            self._watcher.steps = self

    def run_to_end(self) -> tuple[Header, list[bytes]]:
        """See `Run`; a frame that was cut off by the end is completed."""
        header, parts = super().run_to_end()
        if self._unsent:
            self._channel.sendall(self._unsent)
        header["late"] = self._get_late_attempts()
        self._watcher.record.network_used |= self._network_used
        # What was killed may have been about to write: its box is not looked at, but dropped.
        self.touched |= not self._was_alone
        return header, parts

    def get_record(self, name: str, task: int) -> Record:
        """See `Steps`."""
        step = self._lineage.get_step(task)
        if step != self._lineage.step and name in _NETWORK_CALLS:
            self._network_steps.add(step)
        return self._get_record(step)

    def handle_fork(self, call: Notification) -> Answer:
        """See `Steps`."""
        return self._lineage.handle_fork(call)

    def handle_transfer(self, name: str, call: Notification) -> Answer:
        """See `Steps`."""
        if name == "write":
            return self._held_channel.handle_write(call)
        return self._held_channel.read(call)

    def _get_record(self, step: int) -> Record:
        """Return the one at hand, or what is added to that of a step that was reported."""
        if step == self._lineage.step and (self._in_step or step == BEFORE):
            return self._step_record
        if step == self._steps:
            return self._at_end
        return self._late.setdefault(step, Record())

    def _handle_held(self, message_header: Header, thread: int) -> bool:
        """Take a message of a thread; whether it is one that this thread may send."""
        kind, main = message_header.get("kind"), self._armed.guest.pid
        if kind == "call":
            self._send_call(message_header, thread)
        elif thread == main and kind == ("step" if self._in_step else "ready"):
            self._report = message_header
        else:
            self._record_refused_report()
            return False
        return True

    def _record_refused_report(self) -> None:
        self._watcher.record.add_attempt("privilege", "report of a step", allowed=False)

    def _handle_next(self) -> None:
        super()._handle_next()
        if not self._is_held:
            return
        for call in self._lineage.iter_released():
            send_answer(self._armed.guest.listener, call.id, GO_ON)
        if self._settling is not None and self._stopped is None:
            self._wait_for_settling(self._settling)
        if self._settling is not None:
            # Most of what is left waits again at once, and the host waits for this.
            self._tick_s = min(max(_SHORTEST_TICK_S, self._settling.passed_s), _SHORT_TICK_S)
        elif self._lineage.is_deferring:
            self._tick_s = _SHORT_TICK_S

    def _handle_event(self, fd: int, events: int) -> None:
        super()._handle_event(fd, events)
        if self._is_held and self._report is not None and self._held_channel.main_waits:
            report, self._report = self._report, None
            if self._held_channel.is_loop():
                self._close_step(report)
            else:
                self._record_refused_report()
                self._held_channel.send_failure()
        if self._is_held:
            self._watcher.record = self._get_record(self._lineage.step)

    def _record_names(self) -> None:
        """Record names looked up: no call says by which task, so by the earliest that it can have been."""
        if not self._is_held or not self._network_steps:
            super()._record_names()
            return
        found, own = Record(), self._watcher.record
        self._watcher.record = found
        super()._record_names()
        self._watcher.record = own
        record = self._get_record(min(self._network_steps))
        for kind, target in found.attempts:
            record.add_attempt(kind, target, allowed=False)
            own.unjudged += 1

    def _wait_for_settling(self, settling: _Settling) -> None:
        """Let what the steps have left running act, until nothing can or time is up; then end as a script.

        The interpreter calls functions then that any of the steps may have registered.
        """
        left_s = settling.compute_remaining_s()
        is_late = left_s <= 0
        if self._steps is not None:
            if is_late:
                # What it would do after it has waited for what is left, no one will see either way.
                self._at_end.unjudged += not self._has_left
                self._stopped = "closed"
            return
        if not is_late and self._lineage.has_acting(left_s, settling.passed_s):
            self._lineage.run_thaw()
            settling.add_delays(self._lineage.compute_delays_s())
            return
        self._has_left = self._records_left()
        self._steps = self._lineage.step + 1
        self._lineage.start_step()
        self._settling = _Settling(_SETTLES_S if self._has_left else _ENDS_S)
        self._held_channel.send_end()

    def _holds_process(self, pid: int, code: int) -> bool:
        """See `Run`; at the end of a session what is left beside the main process is killed with it.

        The host has its answer at once: the kernel needs several milliseconds to end a process with threads.
        """
        if super()._holds_process(pid, code):
            return True
        if self._steps is None or pid != self._armed.guest.pid:
            return False
        try:
            self._held = self._usage_limits.build_ended(code)
        except OSError:  # it has become a program that may not be looked at
            return False
        self._isolation.tree.remove_other_processes()
        self._was_alone = False
        return True

    def wait_for_held(self) -> None:
        """See `Run`; what was killed beside the main process is reaped too."""
        if not self._was_alone:
            self._held = None
            self._wait_for_all()
            return
        super().wait_for_held()

    def _wait_for_end(self) -> Ended:
        if self._is_held and self._steps is None:
            self._records_left()  # it was stopped in a step
        elif self._is_held:
            self._record_end()
        return super()._wait_for_end()

    def _records_left(self) -> bool:
        """Note what each step has left running; whether there is anything."""
        left = self._lineage.list_left()
        for step, what in left:
            self._get_record(step).left[what] += 1
        return bool(left)

    def _record_end(self) -> None:
        """Record what the interpreter was refused as it ended; of several steps any may have caused it."""
        steps = self._steps or 0
        refused = [key for key, kept in self._at_end.attempts.items() if not kept.allowed]
        if steps == 1:
            for kind, target in refused:
                self._get_record(0).add_attempt(kind, target, allowed=False)
        if self._at_end.unjudged or (refused and steps > 1):
            self._record_unknown(range(steps))

    def _record_unknown(self, steps: Iterable[int]) -> None:
        """Note that steps may do, or have done, what is not known."""
        for step in steps:
            self._get_record(step).unjudged += 1

    def _get_late_attempts(self) -> dict[str, Header]:
        """Take what was attempted since the last report by tasks of steps that were reported."""
        late, self._late = self._late, {}
        self._network_used |= any(record.network_used for record in late.values())
        found = {str(step): record.to_header() for step, record in late.items()}
        return {step: header for step, header in found.items() if header}

    def _update_cpu_limit(self) -> None:
        """Leave CPU time to the wall time of each step: the kernel's limit is for a whole process."""

    def _is_timed(self) -> bool:
        return self._in_step and not self._clock.is_paused

    def _is_over(self) -> bool:
        return self._ended or not self._in_step or self._clock.is_paused

    def _handle(self, message_header: Header) -> None:
        if self._is_held or message_header.get("token") != self._armed.token:
            return
        kind = message_header.get("kind")
        if kind == "call":
            self._send_call(message_header, self._armed.guest.pid)
        elif kind == "step" and self._in_step and message_header.get("step") == self._step:
            self._close_step(message_header)
        elif kind == "ready" and not self._step and not self._ready:
            self._ready = True
            self._close_step(message_header)

    def _handle_frame(self, frame: Frame) -> None:
        kind = frame.header.get("kind")
        if kind == "step" and not self._in_step and self._stopped is None:
            self._start_step(frame.parts[0])
        elif kind == "answer":
            self._clock.close_pause()  # the time a tool takes is the host's, not the step's
            self._to_steps(encode_message(frame.header), self._caller)
        elif kind == "end" and self._is_held and not self._in_step and self._held_channel.main_waits:
            self._settling = _Settling(_SETTLES_S)
            self._wait_for_settling(self._settling)
        elif kind == "end":
            self._stopped = "closed"

    def _start_step(self, source: bytes) -> None:
        self._close_output_polling()
        self._in_step = True
        self._step = secrets.token_hex(8)
        self._calls = 0
        self._clock.start()
        self._step_record = self._watcher.record = Record()
        if self._is_held:
            self._lineage.start_step()
            self._network_steps.clear()
        self._to_steps(encode_message({"kind": "step", "step": self._step}, [source]), self._armed.guest.pid)

    def _close_step(self, message_header: Header) -> None:
        """Gather what the step did, report it to the host, and start the next one's account."""
        if self._is_held:
            self._lineage.run_freeze()
        else:
            self._handle_network()  # what came before the report, and may be seen after it
        self._streams.handle_remaining()
        self._watcher.record = self._step_record
        header = self._build_facts(self._clock.compute_passed_s(), self._compute_step_cpu_s())
        header |= {key: message_header.get(key) for key in _OF_A_STEP}
        header |= {
            "kind": "step",
            "ready": message_header["kind"] == "ready",
            "files": self._isolation.box.read_files_left(),
        }
        header["peak"] = self._usage_limits.compute_peak_bytes()
        header["late"] = self._get_late_attempts()
        self._network_used |= self._step_record.network_used
        self._in_step = False
        self._to_host(encode_frame(header, self._streams.list_kept()))
        self._streams.remove_kept()
        self._step_record = self._watcher.record = Record()

    def _to_steps(self, data: bytes, thread: int) -> None:
        """Send to a thread of the session."""
        if self._is_held:
            self._held_channel.send(data, thread)
        else:
            self._handle_guest(data)

    def _send_call(self, message_header: Header, thread: int) -> None:
        self._calls += 1
        if self._calls > _CALLS_A_STEP:
            self._stopped = "timeout"
            return
        if not self._in_step or self._clock.is_paused:
            # One call at a time: a host that answers and a supervisor that forwards would wait for each
            # other.
            if not self._in_step:
                reason = "no step is running"
            else:
                reason = "another call waits for its answer"
            refusal = {"error_type": "RuntimeError", "error_message": reason}
            answer = {"kind": "answer", "call": message_header.get("call"), **refusal}
            self._to_steps(encode_message(answer), thread)
            return
        call = {
            "kind": "call",
            "call": message_header.get("call"),
            **{key: message_header.get(key) for key in _OF_A_CALL},
        }
        self._caller = thread
        self._clock.start_pause(self._last_turn_began)
        self._to_host(encode_frame(call))

    def _build_facts(self, wall_s: float, cpu_s: float) -> Header:
        if not self._in_step:
            self._watcher.record = Record()  # whatever came since the last report is late
        return super()._build_facts(wall_s, cpu_s)

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
                self._stopped = self._usage_limits.find_exceeded()
        self._unsent += view

    def _compute_step_cpu_s(self) -> float:
        spent = self._usage_limits.compute_cpu_s()
        step, self._cpu_reported = spent - self._cpu_reported, spent
        return max(0.0, step)
