"""The processes that scan for `/v1/verdict`, and the deadline each request is held to.

What cannot be scanned does not pass: a scan that fails or ends its process gives `deny`, one that is not done
by its deadline gives `review`, as scanners that fail or run out of time do. Only a request that was never
scanned is refused.
"""

from __future__ import annotations

import asyncio
import logging
import queue
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.connection import Connection
from pathlib import Path

from spanproof.collector.verdicts.model import Job, Scanned
from spanproof.config.verdicts import Verdicts
from spanproof.sandbox.scanners.model import Finding
from spanproof.sandbox.scanners.rules import get_rule

log = logging.getLogger(__name__)

_START_S = 60.0
_END_S = 2.0
# Time of a scan whose process had to be started again first.
_AFTER_START_S = 1.0


class ScanFull(RuntimeError):  # noqa: N818 - says what happened
    """Too many requests wait already, or this one waited too long."""


class ScannerGone(RuntimeError):  # noqa: N818 - says what happened
    """A process that scans ended."""


class ScanLate(RuntimeError):  # noqa: N818 - says what happened
    """A scan was not done by its deadline, and its process was ended."""


class ScanPool:
    """Processes that scan, each one job at a time.

    Args:
        rules: how many, and within which bounds.
        policy: file with the policy; None is the default one.
    """

    def __init__(self, rules: Verdicts, policy: Path | None) -> None:
        self._rules = rules
        self._policy = policy
        self._waiting = 0
        self._free: queue.SimpleQueue[_Process] = queue.SimpleQueue()
        self._all: list[_Process] = []
        self._threads = ThreadPoolExecutor(rules.workers, "spanproof-verdict")

    @property
    def waiting(self) -> int:
        """Requests that have no answer yet."""
        return self._waiting

    def open(self) -> None:
        """Start the processes; returns once each can scan.

        Raises:
            ScannerGone: one cannot be started.
        """
        self._all = [_Process(self._policy, self._rules.deadline_s / 2) for _ in range(self._rules.workers)]
        for process in self._all:
            process.start()
            self._free.put(process)

    async def scan(self, job: Job) -> Scanned:
        """Return what was found.

        Raises:
            ScanFull: it could not be scanned in time, as others were before it.
        """
        if self._waiting >= self._rules.max_waiting:
            raise ScanFull(f"{self._waiting} requests are being scanned already")
        self._waiting += 1
        try:
            loop = asyncio.get_running_loop()
            return await loop.run_in_executor(self._threads, self._run_scan, job, time.monotonic())
        finally:
            self._waiting -= 1

    def close(self) -> None:
        """End the processes. Safe to call twice."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        for process in self._all:
            process.end()

    def _run_scan(self, job: Job, received_s: float) -> Scanned:
        process = self._free.get()  # there are as many threads as processes
        try:
            # At least half of the time is for the scan: waiting must not make it late.
            if time.monotonic() - received_s > self._rules.deadline_s / 2:
                raise ScanFull("the request waited too long")
            return process.scan(job, received_s + self._rules.deadline_s)
        except ScannerGone as gone:
            return _build_unscanned("scanner_error", str(gone))
        except ScanLate as late:
            # A busy machine makes harmless code late.
            return _build_unscanned("too-complex", str(late))
        finally:
            self._free.put(process)


class _Process:
    """One process; used by one thread at a time."""

    def __init__(self, policy: Path | None, scanner_time_s: float) -> None:
        self._greeting = [list(sys.path), policy, scanner_time_s]
        self._process: subprocess.Popen[bytes] | None = None
        self._line: Connection | None = None

    def start(self) -> None:
        """Start it and wait until it can scan.

        Raises:
            ScannerGone: it ended instead.
        """
        ours, theirs = socket.socketpair()
        with theirs:
            # -P: what lies in the working directory is no part of the program.
            command = [
                sys.executable, "-P", "-m", "spanproof.collector.verdicts.scanner", str(theirs.fileno()),
            ]  # fmt: skip
            # A group of its own: Ctrl-C reaches each process of the terminal's, also one that just starts;
            # the collector says when to end.
            self._process = subprocess.Popen(
                command, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL, process_group=0
            )
        self._line = Connection(ours.detach())
        try:
            self._send_and_receive(self._greeting, time.monotonic() + _START_S)
        except ScanLate:
            raise ScannerGone(f"the process that scans did not start within {_START_S:g} s") from None

    def scan(self, job: Job, until: float) -> Scanned:
        """Return what was found by then.

        Raises:
            ScannerGone: the process ended.
            ScanLate: there was not enough time.
        """
        if self._process is not None and self._process.poll() is not None:
            self.end()  # it ended while it had nothing to do, which says nothing of this job
        if self._line is None:
            self.start()
            until = max(until, time.monotonic() + _AFTER_START_S)
        scanned = self._send_and_receive([job], until)
        return _build_unscanned("scanner_error", scanned.error) if scanned.error else scanned

    def end(self) -> None:
        """End the process, if there is one."""
        process, line = self._process, self._line
        self._process = self._line = None
        if line is not None:
            line.close()
        if process is not None:
            process.terminate()
            try:
                process.wait(_END_S)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def _send_and_receive(self, messages: Sequence[object], until: float) -> Scanned:
        line = self._line
        assert line is not None
        try:
            for message in messages:
                line.send(message)
            if not line.poll(max(0.0, until - time.monotonic())):
                self.end()
                raise ScanLate("the scan took longer than verdicts.deadline_s")
            answer = line.recv()
        except (EOFError, OSError) as gone:
            self.end()
            raise ScannerGone("the process that scans ended") from gone
        assert isinstance(answer, Scanned)
        return answer


def _build_unscanned(rule: str, reason: str) -> Scanned:
    """Return the verdict of a rule on code that could not be scanned."""
    described = get_rule(rule)
    log.warning("a request for a verdict is answered %s: %s", described.verdict, reason)
    finding = Finding(
        rule, described.severity, described.verdict, 1, 1, 1, 1, f"not scanned: {reason}", described.remedy
    )
    return Scanned(described.verdict.value, findings=((0, finding),))
