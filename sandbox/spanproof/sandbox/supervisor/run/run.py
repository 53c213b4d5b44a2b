"""One run of one armed guest, seen from its supervisor: feed it, watch it, bound it, and gather the facts.

In: an armed guest and a job. Out: a header and the kept output for the host. The loop ends when the guest's
main process ends, or when a limit is passed; then all it started is killed and reaped. What the guest says is
believed where it bears a token of the run.
"""

from __future__ import annotations

import math
import select
import signal
import socket
import time
from dataclasses import dataclass

from spanproof.sandbox.guest.inbox import encode_message
from spanproof.sandbox.guest.wire import Decoder, Frame, Header
from spanproof.sandbox.supervisor.isolation import Armed, Ended, Isolation
from spanproof.sandbox.supervisor.namespaces import process_tree as tree
from spanproof.sandbox.supervisor.namespaces.cgroup import Group
from spanproof.sandbox.supervisor.run.ahead import remove_start_files
from spanproof.sandbox.supervisor.run.channel import Channel
from spanproof.sandbox.supervisor.run.clock import Clock
from spanproof.sandbox.supervisor.run.control_channel import ControlChannel
from spanproof.sandbox.supervisor.run.guest_report import GuestReport, HiddenTests
from spanproof.sandbox.supervisor.run.streams import Streams
from spanproof.sandbox.supervisor.run.usage_limits import TICK_S, UsageLimits

# So long no one looks at what a program says: most are over then, and fill no pipe.
_MUTE_S = 0.002
_LONGER = 2  # By so much a look may last longer than the last one
_GUEST_FIELDS = ("language", "argv", "has_tests", "tools", "seed", "database", "held")


@dataclass(frozen=True, slots=True)
class Links:
    """What a supervisor has besides its guest.

    Attributes:
        way_out: the descriptor by which the channel is written to: a container's has two.
    """

    channel: socket.socket | Channel
    from_host: Decoder
    isolation: Isolation
    group: Group | None
    way_out: int


class Run:
    """A run, from job to result."""

    _tick_s = _MUTE_S

    def __init__(self, job: Frame, armed: Armed, links: Links) -> None:
        """Set the limits; the guest is given nothing yet."""
        self._job = job
        self._limits: Header = job.header["limits"]
        self._armed = armed
        self._channel = links.channel
        self._way_out = links.way_out
        self._from_host = links.from_host
        self._isolation = isolation = links.isolation
        self._watcher = watcher = isolation.watcher
        watcher.is_held_at_end = self._holds_process
        watcher.memory_bytes = self._limits["memory_bytes"]
        watcher.own_execs = 0 if armed.ahead else job.header.get("own_execs", 0)
        tests = HiddenTests.find_in_job(job)
        watcher.judge = armed.judge
        watcher.expects_judge = tests is not None and armed.judge is None
        self._guest_report = GuestReport(armed.token, tests)
        self._usage_limits = UsageLimits(self._limits, armed, isolation, links.group)
        self._run_polling = poll = select.poll()
        # First: what was tried before an end is part of it.
        poll.register(armed.guest.listener, select.POLLIN)
        self._control_channel = ControlChannel(armed, watcher, poll, self._handle)
        if watcher.expects_judge:
            self._control_channel.start_reading()  # it waits for the tests
        self._stopped: str | None = None
        self._ended = False
        self._held: Ended | None = None
        self._judge_has_ended = False
        self._host_gone = False
        # Whether it has left anything in the box; known at its end.
        self.touched = False
        self._update_cpu_limit()
        self._clock = Clock(self._limits["wall_s"])
        # What is seen in a turn has come since the last one began.
        self._turn_began = self._last_turn_began = self._clock.started

    def start(self) -> None:
        """Hand the guest its code, and turn to it: what that takes is done while the guest begins."""
        if self._armed.judge is not None:
            self._handle_guest(self._guest_report.fetch_tests())
        elif self._armed.is_starting:
            self._guest_report.run_preparation()
        elif self._armed.ahead:
            remove_start_files(self._job.header, self._armed, self._isolation.box.code)
        else:
            self._send_job()
            self._guest_report.run_preparation()
        poll, isolation = self._run_polling, self._isolation
        self._streams = Streams(self._armed, poll, self._job.parts[2], self._limits["output_bytes"])
        for source in (isolation.origin, self._channel, isolation.network.resolver, self._watcher.fixtures):
            if source is not None:
                poll.register(source, select.POLLIN)

    def _send_job(self) -> None:
        header = {key: self._job.header[key] for key in _GUEST_FIELDS if key in self._job.header}
        if self._watcher.fixtures is not None:
            header["environment"] = self._watcher.fixtures.environment
        # The judge hands the program on.
        parts = [b""] if self._watcher.expects_judge else self._job.parts[:1]
        self._handle_guest(encode_message({**header, "kind": "job", "token": self._armed.token}, parts))

    def _update_cpu_limit(self) -> None:
        for pid in filter(None, (self._armed.guest.pid, self._armed.judge)):
            tree.update_cpu_limit(pid, self._limits["cpu_s"], self._isolation.tree)

    def _is_timed(self) -> bool:
        """Whether the clock goes, and bounds something that has not ended."""
        return not self._ended

    def run_to_end(self) -> tuple[Header, list[bytes]]:
        """Serve the guest until it ends or must end."""
        while not self._has_ended() and self._stopped is None and not self._host_gone:
            self._handle_next()
        wall_s = self._clock.compute_passed_s()
        self._usage_limits.remove_memory_bound()
        if self._stopped is None and not self._host_gone:
            self._streams.handle_remaining()
            self._control_channel.handle_remaining()
        self._record_names()
        ended = self._wait_for_end()
        header = self._build_facts(wall_s, self._usage_limits.compute_cpu_s_of(ended))
        header |= {
            "kind": "result",
            "status": ended.status,
            "peak": self._usage_limits.compute_peak_of(ended),
        }
        self.touched = self._isolation.box.has_changed()
        if self.touched:
            header["files"] = self._isolation.box.read_files_left()
        return header, self._streams.list_kept()

    def _build_facts(self, wall_s: float, cpu_s: float) -> Header:
        return {
            "tier": self._isolation.tier,
            "stopped": self._stopped,
            "oom_killed": self._usage_limits.was_oom_killed(),
            "wall_s": wall_s,
            "cpu_s": cpu_s,
            "out_cut": self._streams.out.cut,
            "err_cut": self._streams.err.cut,
            **self._watcher.record.to_header(),
            **self._guest_report.to_header(),
        }

    def _handle_next(self) -> None:
        """Wait for what comes next, and deal with it."""
        now = time.monotonic()
        self._last_turn_began, self._turn_began = self._turn_began, now
        deadline = self._clock.deadline if self._is_timed() else math.inf
        late = now >= deadline
        left = max(0.0, min(self._tick_s, deadline - now))
        ready = self._run_polling.poll(left * 1000)
        # A look that would last beyond the deadline is left: among a crowd it may take seconds.
        in_time = now + _LONGER * self._usage_limits.takes_s < deadline
        if in_time and self._usage_limits.is_due(now if ready else now + left):
            self._stopped = self._usage_limits.find_exceeded(deadline)
            if self._stopped is not None:
                return
        for fd, events in ready:
            self._handle_event(fd, events)
        if late and now >= self._clock.deadline and self._stopped is None and not self._is_over():
            # Only now: what ended while its supervisor was kept from looking is not late, nor what began
            # since.
            self._stopped = "timeout"
        if self._tick_s != TICK_S and self._clock.compute_passed_s() >= _MUTE_S:
            self._start_output_polling()

    def _close_output_polling(self) -> None:
        """Leave its output where it lies for now: a write that wakes no process costs next to nothing."""
        self._streams.close_polling()
        self._tick_s = _MUTE_S

    def _start_output_polling(self) -> None:
        """Read it as it is written: what it says may be more than fits anywhere."""
        self._streams.start_polling()
        self._control_channel.start_reading()
        self._tick_s = TICK_S

    def _is_over(self) -> bool:
        """Whether what the clock bounds has ended."""
        return self._has_ended()

    def _has_ended(self) -> bool:
        """Whether the main process has, or is held at its end."""
        return self._ended or self._held is not None

    def _handle_event(self, fd: int, events: int) -> None:
        armed = self._armed
        if fd == armed.guest.listener:
            if events & select.POLLIN:
                self._watcher.handle_notification()
            else:
                self._run_polling.unregister(fd)  # no process bears the filter any more
        elif fd in (armed.stdout, armed.stderr):
            self._handle_output(fd)
        elif fd == armed.control.fileno():
            self._control_channel.handle_readable()
        elif fd == self._isolation.origin.fileno():
            self._ended = True
        elif fd == armed.stdin:
            self._streams.write_input()
        elif fd == self._channel.fileno():
            self._handle_host()
        elif fd == self._isolation.network.resolver.fileno():
            self._record_names()
        elif self._watcher.fixtures is not None:
            self._watcher.fixtures.handle_waiting()

    def _handle_network(self) -> None:
        """Serve what was requested of the network so far."""
        self._record_names()
        if self._watcher.fixtures is not None:
            self._watcher.fixtures.handle_waiting()

    def _record_names(self) -> None:
        for name in self._isolation.network.resolver.handle_queries():
            self._watcher.record.network_used = True
            self._watcher.record.add_attempt("network", f"{name}:53", allowed=False)

    def _handle_output(self, fd: int) -> None:
        self._streams.handle_readable(fd)
        if self._streams.count_seen_bytes() > self._limits["output_kill_bytes"]:
            self._stopped = "output"

    def _handle(self, message_header: Header) -> None:
        self._handle_guest(self._guest_report.handle(message_header))

    def _handle_guest(self, data: bytes | None) -> None:
        if data is not None and not self._control_channel.sends_in_time(data, self._clock):
            self._stopped = "timeout"

    def _handle_host(self) -> None:
        """Read what the host says while its program runs; mostly that it is gone."""
        try:
            data = self._channel.recv(262144)
        except OSError:
            data = b""
        if not data:
            self._host_gone = True
            return
        self._from_host.add_bytes(data)
        while (frame := self._from_host.find_frame()) is not None:
            self._handle_frame(frame)

    def _handle_frame(self, frame: Frame) -> None:
        """Take a frame that came while the program runs: a plain run has no use for any."""

    def _holds_process(self, pid: int, code: int) -> bool:
        """Whether to hold a process that ends: the main one, when it has always been alone.

        Held, it runs no more, and all of it is known; the kernel needs as long to end it as it has run.
        """
        self._usage_limits.record_end(pid)
        self._judge_has_ended = self._judge_has_ended or pid == self._watcher.judge
        if pid != self._armed.guest.pid or not self._is_alone(pid):
            return False
        try:
            self._held = self._usage_limits.build_ended(code, self._watcher.judge)
        except OSError:  # it has become a program that may not be looked at
            return False
        return True

    def _is_alone(self, pid: int) -> bool:
        """Whether all that the program does is known once its main process does no more.

        Its judge has no more to say then: it speaks before it lets the program end. A judge that has ended
        and may have been reaped leaves its number to others, which would pass as the newest process by it.
        """
        if self._judge_has_ended and self._usage_limits.has_looked:
            return False
        return self._isolation.tree.is_last(self._watcher.judge or pid)

    def _wait_for_end(self) -> Ended:
        """Return how the main process ended; nothing of the program runs any more."""
        if self._held is not None and self._stopped is None:
            return self._held
        self._held = None
        return self._wait_for_all()

    @property
    def leaves_one_process(self) -> bool:
        """Whether one held process is all there is of it, and no one has to follow its end."""
        watcher = self._watcher
        alone = self._held is not None and watcher.judge is None
        unused = not self.touched and watcher.fixtures is None
        return (
            alone and unused and not watcher.record.network_used and not self._usage_limits.was_oom_killed()
        )

    def wait_for_held(self) -> None:
        """Leave nothing of the program; its result has been reported."""
        if self._held is not None:
            self._wait_for_all()

    def _wait_for_all(self) -> Ended:
        """Kill and reap all; beside one that is held there never was another but its judge."""
        if not self._ended:
            self._isolation.tree.remove_other_processes()
        try:
            ended = self._isolation.origin.wait_for_end()
        except RuntimeError:
            if not self._usage_limits.was_oom_killed():
                raise
            ended = Ended(signal.SIGKILL, 0.0, 0)
        if self._held is None or self._watcher.judge is not None:
            self._isolation.tree.remove_all_processes()
        if self._usage_limits.was_oom_killed():
            self._isolation.origin.update_namespaces()  # it may have gone the same way, or be about to
        return ended
