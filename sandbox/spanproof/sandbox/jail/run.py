"""One run of one armed guest, seen from its slot: feed it, watch it, bound it, and gather the facts.

In: an armed guest and a job. Out: a header and the kept output for the host. The loop ends when the guest's
main process ends, or when a limit is passed; then all it started is killed and reaped. Nothing the guest
sends is more than a bounded JSON object that bears a token of the run.
"""

from __future__ import annotations

import os
import select
import signal
import socket
import time
from dataclasses import dataclass

from spanproof.sandbox.jail import memory, tree
from spanproof.sandbox.jail.cgroup import Group
from spanproof.sandbox.jail.output import Stream
from spanproof.sandbox.jail.place import Born, Ended, Place
from spanproof.sandbox.jail.testimony import Testimony
from spanproof.sandbox.jail.watch import Watcher
from spanproof.sandbox.jail.wire import FROM_GUEST, BadFrame, Decoder, Frame, Header, encode

TICK_S = 0.05
_FOR_THE_GUEST = ("language", "argv", "has_tests", "entry_point", "tools", "seed", "database")
_STEP_DRAIN_BYTES = 1 << 20
_READS_AT_ONCE = 2
"""Of a guest that never stops writing, before the clock is looked at again."""
_LAST_READS = 16
"""More than a socket holds."""


@dataclass(slots=True)
class Armed:
    """A guest that waits for code, the slot's ends of its descriptors, and what its own messages bear."""

    born: Born
    control: socket.socket
    stdin: int
    stdout: int
    stderr: int
    token: str

    def close(self) -> None:
        """Close our ends."""
        for fd in (self.stdin, self.stdout, self.stderr):
            if fd >= 0:
                os.close(fd)
        self.control.close()


@dataclass(frozen=True, slots=True)
class Links:
    """What a slot listens to besides its guest."""

    channel: socket.socket
    from_host: Decoder
    place: Place


class Run:
    """A run, from job to result."""

    _tick_s = TICK_S

    def __init__(
        self,
        armed: Armed,
        watcher: Watcher,
        links: Links,
        group: Group | None,
    ) -> None:
        self.armed = armed
        self.watcher = watcher
        self._group = group
        self._channel = links.channel
        self._from_host = links.from_host
        self._place = links.place
        self._resolver = links.place.network.resolver
        self._from_guest = Decoder(FROM_GUEST)
        self._stopped: str | None = None
        self._ended = False
        self._host_gone = False
        self._deaf = False

    def start(self, job: Frame) -> None:
        """Set the limits and hand the guest its code."""
        limits = job.header["limits"]
        self._limits = limits
        self.watcher.memory_bytes = limits["memory_bytes"]
        self.watcher.own_execs = job.header.get("own_execs", 0)
        self._memory = memory.Meter(
            limits["memory_bytes"], self.armed.born.warm_bytes, self._place.tree, self._place.box
        )
        self._out = Stream(limits["output_bytes"])
        self._err = Stream(limits["output_bytes"])
        self._stdin = job.parts[2]
        if self._group is not None:
            self._group.begin(limits["memory_bytes"], limits["disk_bytes"])
        self._bound_time(limits)
        self._strays_cpu_before = tree.children_cpu_s()
        self._arming_cpu_s = memory.cpu_s(self.armed.born.pid)
        self._started = time.monotonic()
        self._deadline = self._started + limits["wall_s"]
        header = {key: job.header[key] for key in _FOR_THE_GUEST if key in job.header}
        if self.watcher.surroundings is not None:
            header["environment"] = self.watcher.surroundings.environment
        for fd in (self.armed.control.fileno(), self.armed.stdin, self.armed.stdout, self.armed.stderr):
            os.set_blocking(fd, False)
        self._poll = select.poll()
        for fd in (
            self.armed.born.listener,
            self.armed.control.fileno(),
            self.armed.stdout,
            self.armed.stderr,
            self._place.origin.fileno(),
        ):
            self._poll.register(fd, select.POLLIN)
        self._feed_stdin(register=True)
        tests = job.parts[1] if header.get("has_tests") else None
        self.watcher.own_hides = 0 if tests is None else 1
        self._testimony = Testimony(self.armed.token, tests)
        message = encode({**header, "kind": "job", "token": self.armed.token}, job.parts[:1])
        self._to_guest(message)

    def _bound_time(self, limits: Header) -> None:
        tree.bound_cpu(self.armed.born.pid, limits["cpu_s"], self._place.tree)

    def _host_s_turn(self) -> bool:
        """Whether the clock stands, because the host is asked for something."""
        return False

    def finish(self) -> tuple[Header, list[bytes]]:
        """Serve the guest until it ends or must end."""
        self._poll.register(self._channel, select.POLLIN)
        self._poll.register(self._resolver, select.POLLIN)
        if self.watcher.surroundings is not None:
            self._poll.register(self.watcher.surroundings, select.POLLIN)
        while not self._ended and self._stopped is None and not self._host_gone:
            self._turn()
        wall_s = time.monotonic() - self._started
        if self._group is not None and self._killed_for_memory():
            self._group.lift()
        if self._stopped is None and not self._host_gone:
            self._drain()
            self._hear_the_rest()
        self._note_names()
        ended = self._end()
        header = self._facts(wall_s, max(0.0, ended.cpu_s - self._arming_cpu_s) + self._strays_cpu_s())
        header |= {"kind": "result", "status": ended.status, "files": self._place.box.files_left()}
        header["peak"] = max(ended.peak_bytes, self._memory.peak_bytes)
        return header, [self._out.kept(), self._err.kept()]

    def _strays_cpu_s(self) -> float:
        """CPU seconds of what the main process left to the slot to reap."""
        return max(0.0, tree.children_cpu_s() - self._strays_cpu_before)

    def _facts(self, wall_s: float, cpu_s: float) -> Header:
        record = self.watcher.record
        tests_total, tests_passed = self._testimony.tests
        return {
            "tier": self._place.tier,
            "stopped": self._stopped,
            "oom_killed": self._killed_for_memory(),
            "wall_s": wall_s,
            "cpu_s": cpu_s,
            "memory_refused": record.memory_refused,
            "attempts": [[kind, target, allowed] for (kind, target), allowed in record.attempts.items()],
            "out_cut": self._out.cut,
            "err_cut": self._err.cut,
            "outcome": self._testimony.outcome,
            "raised": self._testimony.raised,
            "result": self._testimony.result,
            "tests_total": tests_total,
            "tests_passed": tests_passed,
            "tests_failed": self._testimony.failed,
        }

    def _turn(self) -> None:
        now = time.monotonic()
        waiting = self._host_s_turn()
        late = not waiting and now >= self._deadline
        left = self._tick_s if waiting else min(self._tick_s, self._deadline - now)
        ready = self._poll.poll(max(0.0, left) * 1000)
        if not ready or now - self._memory.sampled_at >= TICK_S:
            tree.reap_strays(self.armed.born.pid)
            self._place.tree.keep_bound()
            self._stopped = self._place.box.enforce() or ("memory" if self._over_memory() else None)
            if self._stopped is not None:
                return
        for fd, events in ready:
            self._serve(fd, events)
        if late and now >= self._deadline and self._stopped is None and not self._done():
            # Only now: what ended while its slot was kept from looking is not late, nor what began since.
            self._stopped = "timeout"

    def _done(self) -> bool:
        """Whether what the clock bounds has ended."""
        return self._ended

    def _over_memory(self) -> bool:
        """Whether the tree is over its bound, or the kernel has killed in it for that."""
        over = self._memory.over_limit()
        if self._memory.processes >= self._limits["processes"]:
            self.watcher.record.note("process", "fork", allowed=False)
        return over or self._killed_for_memory()

    def _killed_for_memory(self) -> bool:
        """Whether the kernel has killed in the group."""
        return self._group is not None and self._group.killed()

    def _serve(self, fd: int, events: int) -> None:
        armed = self.armed
        if fd == armed.born.listener:
            if events & select.POLLIN:
                self.watcher.serve()
            else:
                self._poll.unregister(fd)  # no process bears the filter any more
        elif fd in (armed.stdout, armed.stderr):
            self._read_output(fd)
        elif fd == armed.control.fileno():
            self._read_control(_READS_AT_ONCE)
        elif fd == self._place.origin.fileno():
            self._ended = True
        elif fd == armed.stdin:
            self._feed_stdin()
        elif fd == self._channel.fileno():
            self._read_host()
        elif fd == self._resolver.fileno():
            self._note_names()
        elif self.watcher.surroundings is not None:
            self.watcher.surroundings.serve()

    def _note_names(self) -> None:
        for name in self._resolver.serve():
            self.watcher.record.network_used = True
            self.watcher.record.note("network", f"{name}:53", allowed=False)

    def _read_output(self, fd: int) -> None:
        try:
            data = os.read(fd, 65536)
        except BlockingIOError:
            return
        if not data:
            self._poll.unregister(fd)
            return
        (self._out if fd == self.armed.stdout else self._err).add(data)
        if self._out.seen + self._err.seen > self._limits["output_kill_bytes"]:
            self._stopped = "output"

    def _feed_stdin(self, *, register: bool = False) -> None:
        if self.armed.stdin < 0:
            return
        if self._stdin and not register:
            try:
                self._stdin = self._stdin[os.write(self.armed.stdin, self._stdin[:4096]) :]
            except OSError:
                self._stdin = b""
        if self._stdin and register:
            self._poll.register(self.armed.stdin, select.POLLOUT)
        if not self._stdin:
            if not register:
                self._poll.unregister(self.armed.stdin)
            os.close(self.armed.stdin)
            self.armed.stdin = -1

    def _read_control(self, reads: int) -> None:
        """Hear the guest; bytes that are no frames of ours end the hearing, not the run."""
        try:
            for _ in range(reads):
                data = self.armed.control.recv(65536)
                if not data:
                    break
                self._from_guest.feed(data)
                while (frame := self._from_guest.next()) is not None:
                    self._hear(frame.header)
            else:
                return
        except BlockingIOError:
            return
        except (BadFrame, OSError):
            self._deaf = True
        self._poll.unregister(self.armed.control)

    def _hear(self, said: Header) -> None:
        answer = self._testimony.hear(said)
        if answer is not None:
            self._to_guest(answer)

    def _read_host(self) -> None:
        """What the host says while its program runs; mostly that it is gone."""
        try:
            data = self._channel.recv(262144)
        except OSError:
            data = b""
        if not data:
            self._host_gone = True
            return
        self._from_host.feed(data)
        while (frame := self._from_host.next()) is not None:
            self._take(frame)

    def _take(self, frame: Frame) -> None:
        """A frame that came while the program runs: a plain run has no use for any."""

    def _to_guest(self, data: bytes) -> None:
        """Send without ever waiting for a guest that does not read."""
        view = memoryview(data)
        while view:
            try:
                view = view[self.armed.control.send(view) :]
            except BlockingIOError:
                if time.monotonic() >= self._deadline:
                    self._stopped = "timeout"
                    return
                self._writable_or_watch()
            except OSError:
                return

    def _writable_or_watch(self) -> None:
        """Wait until the guest reads, serving its calls meanwhile: one of them may hold the read up."""
        waiting = select.poll()
        waiting.register(self.armed.control, select.POLLOUT)
        waiting.register(self.armed.born.listener, select.POLLIN)
        for fd, events in waiting.poll(TICK_S * 1000):
            if fd == self.armed.born.listener and events & select.POLLIN:
                self.watcher.serve()

    def _drain(self) -> None:
        """Take what lies in the pipes; others may still hold them open, so never wait for their end."""
        for fd, stream in ((self.armed.stdout, self._out), (self.armed.stderr, self._err)):
            taken = 0
            try:
                while taken < _STEP_DRAIN_BYTES and (data := os.read(fd, 65536)):
                    stream.add(data)
                    taken += len(data)
            except BlockingIOError:
                continue

    def _hear_the_rest(self) -> None:
        """What the guest sent just before it ended; the loop may have seen its end first."""
        if not self._deaf:
            self._poll.register(self.armed.control, select.POLLIN)
            self._read_control(_LAST_READS)

    def _end(self) -> Ended:
        """Kill and reap all."""
        if not self._ended:
            self._place.tree.kill_others()
        try:
            ended = self._place.origin.ended()
        except RuntimeError:
            if not self._killed_for_memory():
                raise
            ended = Ended(signal.SIGKILL, 0.0, 0)
        self._place.tree.kill_all()
        if self._killed_for_memory():
            self._place.origin.renew()  # it may have gone the same way, or be about to
        return ended
