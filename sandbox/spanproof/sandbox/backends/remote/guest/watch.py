"""One run of one program over there: feed it, watch it, bound it, and gather the facts.

In: a started program and its job. Out: one result, in the form the jail's supervisor gives, for
`build_execution`. The loop ends when the main process exits or a limit is passed. Nothing the program sends
is more than a bounded JSON object that bears the run's token.
"""

from __future__ import annotations

import base64
import contextlib
import os
import resource
import secrets
import select
import time
from typing import Any

from spanproof.sandbox.backends.remote.guest import tree
from spanproof.sandbox.backends.remote.guest.lines import Lines
from spanproof.sandbox.backends.remote.guest.served import Served
from spanproof.sandbox.backends.remote.guest.start import Started
from spanproof.sandbox.backends.remote.guest.workspace import Workspace
from spanproof.sandbox.guest.inbox import encode_message
from spanproof.sandbox.guest.wire import FROM_GUEST, BadFrame, Decoder, Header
from spanproof.sandbox.supervisor.namespaces.memory import measure_private_memory
from spanproof.sandbox.supervisor.namespaces.process_tree import reap_strays
from spanproof.sandbox.supervisor.run.clock import Clock
from spanproof.sandbox.supervisor.run.guest_report import GuestReport
from spanproof.sandbox.supervisor.run.output import Stream

_TICK_S = 0.05
_GUEST_FIELDS = ("language", "argv", "has_tests", "entry_point", "tools", "seed", "database")
_DRAIN_BYTES = 1 << 20


class Run:
    """A run, from job to result."""

    def __init__(
        self,
        job: dict[str, Any],
        started: Started,
        workspace: Workspace,
        host: Lines,
        tests: bytes | None,
        served: Served | None,
    ) -> None:
        self._limits = job["limits"]
        self._program = started
        self._place = workspace
        self._host = host
        self._token = secrets.token_hex(16)
        self._served = served
        self._report = GuestReport(self._token, tests)
        self._stopped: str | None = None
        self._from_guest = Decoder(FROM_GUEST)
        self._to_guest = bytearray()
        self._renew_output()
        self._warm_bytes = measure_private_memory(os.getpid())
        self._peak_bytes = 0
        self._sampled_at = 0.0
        self._clock = Clock(self._limits["wall_s"])
        self._poll = select.poll()
        for fd in (started.pidfd, started.stdout, started.stderr, started.control.fileno()):
            self._poll.register(fd, select.POLLIN)
        header = {key: job[key] for key in _GUEST_FIELDS if key in job}
        if served is not None:
            self._poll.register(served, select.POLLIN)
            header["environment"] = served.environment
        source = base64.b64decode(job["source"])
        self._send_to_program(encode_message({**header, "kind": "job", "token": self._token}, [source]))

    def finish(self) -> None:
        """Serve the program until it ends or must end, and report to the host."""
        ended = False
        while not ended and self._stopped is None:
            ended = self._turn()
        wall_s = self._clock.passed_s()
        if ended:
            self._drain()
            self._read_control()
            status = os.waitpid(self._program.pid, 0)[1]
        clean = tree.end_all()
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        facts = self._list_facts(wall_s, usage.ru_utime + usage.ru_stime, self._report.to_header())
        self._host.send("result", status=status if ended else None, clean=clean, **facts)

    def _list_facts(self, wall_s: float, cpu_s: float, report: Header) -> Header:
        """Return what the machine knows of a run or a step, and the program's own report."""
        raised = report["raised"] if isinstance(report["raised"], dict) else {}
        return {
            **report,
            "stopped": self._stopped,
            "wall_s": wall_s,
            "cpu_s": cpu_s,
            "peak": self._peak_bytes,
            "memory_refused": int(raised.get("refused") is True),
            "files": self._place.files_left(),
            "attempts": self._take_calls(),
            "out_cut": self._out.cut,
            "err_cut": self._err.cut,
            "out": base64.b64encode(self._out.kept()).decode(),
            "err": base64.b64encode(self._err.kept()).decode(),
        }

    def _take_calls(self) -> list[list[object]]:
        """Take what was called of what is served, or tried to be; nothing else is known."""
        return [] if self._served is None else self._served.take_attempts()

    def _renew_output(self) -> None:
        self._out = Stream(self._limits["output_bytes"])
        self._err = Stream(self._limits["output_bytes"])

    def _waits_for_host(self) -> bool:
        """Whether the clock is paused, because the host answers a call."""
        return False

    def _turn(self) -> bool:
        """Look around once; return whether the main process has ended."""
        now = time.monotonic()
        waiting = self._waits_for_host()
        late = not waiting and now >= self._clock.deadline
        left = _TICK_S if waiting else min(_TICK_S, self._clock.deadline - now)
        ready = dict(self._poll.poll(max(0.0, left) * 1000))
        if now - self._sampled_at >= _TICK_S:
            self._sample(now)
        program = self._program
        for fd, stream in ((program.stdout, self._out), (program.stderr, self._err)):
            if fd in ready:
                self._read_output(fd, stream)
        control = program.control.fileno()
        if ready.get(control, 0) & select.POLLOUT:
            self._flush_to_guest()
        if ready.get(control, 0) & ~select.POLLOUT:
            self._read_control()
        if self._host.fd in ready:
            self._read_host()
        if self._served is not None and self._served.fileno() in ready:
            self._served.serve()
        ended = program.pidfd in ready
        if late and self._stopped is None and not (ended or self._is_between_steps()):
            # Only now: what ended while this process was kept from looking has not timed out.
            self._stopped = "timeout"
        return ended

    def _is_between_steps(self) -> bool:
        """Whether nothing runs that the clock bounds."""
        return False

    def _sample(self, now: float) -> None:
        self._sampled_at = now
        reap_strays(self._program.pid)
        held = sum(max(0, measure_private_memory(pid) - self._warm_bytes) for pid in tree.list_descendants())
        self._peak_bytes = max(self._peak_bytes, held)
        if held > self._limits["memory_bytes"]:
            self._stopped = "memory"

    def _read_output(self, fd: int, stream: Stream) -> None:
        with contextlib.suppress(BlockingIOError):
            data = os.read(fd, 65536)
            if not data:
                self._poll.unregister(fd)
            stream.add(data)
        if self._out.seen + self._err.seen > self._limits["output_kill_bytes"]:
            self._stopped = "output"

    def _drain(self) -> None:
        """Take what lies in the pipes; others may still hold them open, so never wait for their end."""
        for fd, stream in ((self._program.stdout, self._out), (self._program.stderr, self._err)):
            taken = 0
            with contextlib.suppress(BlockingIOError):
                while taken < _DRAIN_BYTES and (data := os.read(fd, 65536)):
                    stream.add(data)
                    taken += len(data)

    def _send_to_program(self, message: bytes) -> None:
        """Send to the program's process, without ever waiting for one that does not read."""
        self._to_guest += message
        self._flush_to_guest()

    def _flush_to_guest(self) -> None:
        try:
            while self._to_guest:
                del self._to_guest[: self._program.control.send(self._to_guest[:262144])]
            events = select.POLLIN
        except BlockingIOError:
            events = select.POLLIN | select.POLLOUT
        except OSError:
            self._to_guest.clear()
            events = select.POLLIN
        with contextlib.suppress(OSError):  # it is received no more
            self._poll.modify(self._program.control, events)

    def _read_control(self) -> None:
        """Hear the program's process; bytes that are no frames end the reading, not the run."""
        try:
            while data := self._program.control.recv(65536):
                self._from_guest.feed(data)
                while (frame := self._from_guest.next()) is not None:
                    self._handle(frame.header)
        except BlockingIOError:
            return
        except (BadFrame, OSError):
            pass
        with contextlib.suppress(KeyError):
            self._poll.unregister(self._program.control)

    def _handle(self, message: Header) -> None:
        answer = self._report.handle(message)
        if answer is not None:
            self._send_to_program(answer)

    def _read_host(self) -> None:
        """Read nothing: a plain run listens to no one but its program."""
