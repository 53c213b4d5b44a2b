"""Scans in a Python process beside this one, which is killed when an answer takes too long.

In: a policy and a source. Out: the findings of the user's scanners, whose code is never loaded into this
process, and of ours for long code, which may hold a parser for hours. A process is started by the first
request, and again after it was killed or this process forked; `workers` holds what it runs. Thread-safe: one
request at a time.
"""

from __future__ import annotations

import base64
import json
import os
import pickle
import signal
import socket
import subprocess
import sys
import threading
import time
import weakref
from contextlib import suppress
from dataclasses import replace
from functools import cache, partial
from importlib.metadata import entry_points
from typing import Any, Final

from spanproof.sandbox.errors import PolicyError
from spanproof.sandbox.policy import Policy
from spanproof.sandbox.scanners.context import Context, OutOfTime, clock
from spanproof.sandbox.scanners.model import Verdict
from spanproof.sandbox.scanners.plugins import GROUP
from spanproof.sandbox.scanners.report import Report, read_finding
from spanproof.sandbox.scanners.scanner import Scanner
from spanproof.sandbox.scanners.source import Source
from spanproof.sandbox.scanners.voting import Vote

# What the process may take to start and to import what it needs.
_START_S: Final = 60.0

# Times as long on the clock as of the processor, for busy machines.
_WALL: Final = 30

_CHUNK: Final = 65_536

Answer = dict[str, Any]


class WorkerEnded(Exception):  # noqa: N818 - named after what happened
    """The process ended without an answer; `status` is its exit status, negative for a signal."""

    def __init__(self, status: int) -> None:
        super().__init__("its process ended without an answer")
        self.status = status


class ScannerFailed(Exception):  # noqa: N818 - named after what happened
    """A scanner of the user raised."""


class WorkerProcess:
    """A process that runs a function of `workers` and answers JSON lines with JSON lines."""

    def __init__(self, function: str, greeting: Answer) -> None:
        self._function = function
        self._greeting = greeting
        self._process: subprocess.Popen[bytes] | None = None
        self._channel: socket.socket | None = None
        self._owner = os.getpid()
        self._lock = threading.Lock()

    def start(self) -> Answer:
        """Start the process and return its answer to the greeting.

        Raises:
            OSError: it cannot be started.
            OutOfTime: it did not answer in time.
            WorkerEnded: it ended instead.
        """
        self._remove_parent_process()
        with self._lock:
            return self._start()

    def send(self, request: Answer, seconds: float) -> Answer:
        """Send one request and return its answer; a process that gives none in these seconds is killed.

        Raises:
            OSError: the process cannot be started.
            OutOfTime: it took longer.
            WorkerEnded: it ended instead.
        """
        self._remove_parent_process()
        with self._lock:
            # Time spent waiting for other threads is not the request's.
            if self._process is None:
                self._start()
            return self._send_request(request, seconds)

    def close(self) -> None:
        """End the process; the next request starts another."""
        process, self._process = self._process, None
        if process is not None and self._channel is not None:
            _close_process(process, self._channel)

    def _remove_parent_process(self) -> None:
        if self._owner != os.getpid():
            # The parent's process and lock came along with a fork; neither is ours to use.
            self._owner, self._lock, self._process = os.getpid(), threading.Lock(), None

    def _start(self) -> Answer:
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(entry for entry in sys.path if entry)}
        run = f"from spanproof.sandbox.scanners.workers import {self._function} as run; run()"
        self._channel, theirs = socket.socketpair()
        with theirs:
            process = subprocess.Popen(
                [sys.executable, "-c", run],
                stdin=theirs.fileno(),
                stdout=theirs.fileno(),
                env=environment,
                start_new_session=True,
            )
        self._process = process
        weakref.finalize(self, _close_if_owner, os.getpid(), process, self._channel)
        return self._send_request(self._greeting, _START_S)

    def _send_request(self, request: Answer, seconds: float) -> Answer:
        assert self._process is not None
        assert self._channel is not None
        process, deadline = self._process, time.monotonic() + seconds
        try:
            self._channel.settimeout(max(seconds, 0.0) or _AT_ONCE)
            self._channel.sendall(json.dumps(request).encode() + b"\n")
            return dict(json.loads(_read_line(self._channel, deadline)))
        except TimeoutError:
            self.close()
            raise OutOfTime(f"it took more than {seconds:.3g} s and was ended") from None
        except (OSError, ValueError, EOFError) as broken:
            with suppress(subprocess.TimeoutExpired):
                process.wait(0.1)  # one that closed its end is ending by itself, and its status says why
            self.close()
            raise WorkerEnded(process.returncode or 0) from broken


# A timeout in place of 0, which is none.
_AT_ONCE: Final = 1e-6


def _read_line(channel: socket.socket, deadline: float) -> bytes:
    parts: list[bytes] = []
    while not parts or not parts[-1].endswith(b"\n"):
        channel.settimeout(max(deadline - time.monotonic(), _AT_ONCE))
        part = channel.recv(_CHUNK)
        if not part:
            raise EOFError
        parts.append(part)
    return b"".join(parts)


def _close_if_owner(owner: int, process: subprocess.Popen[bytes], channel: socket.socket) -> None:
    """End the process when this one ends or forgets it; a fork of this one must leave it alone."""
    if os.getpid() == owner:
        _close_process(process, channel)


def _close_process(process: subprocess.Popen[bytes], channel: socket.socket) -> None:
    """End the process and what it started."""
    if process.poll() is None:
        with suppress(OSError):
            os.killpg(process.pid, signal.SIGKILL)
    with suppress(OSError):
        channel.close()
    with suppress(OSError, subprocess.TimeoutExpired):
        process.wait(5)


# --- long code


class LongSources:
    """Scans long sources against one policy; the kernel ends their process when its processor time is up."""

    def __init__(self, policy: Policy, salt: bytes) -> None:
        ours = replace(policy, overrides=(), scanner_files=(), bandit=False, toxicity=False)
        greeting = {"policy": _encode_policy(ours), "salt": base64.b64encode(salt).decode()}
        self._process = WorkerProcess("run_long_sources", greeting)

    def scan(self, report: Report, source: Source, seconds: float) -> list[Vote]:
        """Report what our scanners find and return their votes.

        Args:
            report: takes the findings.
            source: the code.
            seconds: of processor time, before the process is ended.

        Raises:
            OutOfTime: it was ended.
            WorkerEnded: it ended by itself.
            OSError: it cannot be started.
        """
        request = {"language": source.language, "text": source.text, "seconds": seconds}
        try:
            answer = self._process.send(request, seconds * _WALL)
        except WorkerEnded as ended:
            if ended.status in {-signal.SIGXCPU, -signal.SIGKILL}:
                raise OutOfTime(f"it took more than {seconds:.3g} s and was ended") from ended
            raise
        report.add_findings(read_finding(row) for row in answer["findings"])
        return [Vote(name, Verdict(verdict), failed) for name, verdict, failed in answer["votes"]]


def _encode_policy(policy: Policy) -> str:
    """Return a policy as text for a process of ours."""
    return base64.b64encode(pickle.dumps(policy)).decode()


# --- scanners of the user


def load_scanners(policy: Policy) -> list[Scanner]:
    """Return the user's scanners, in order; each scan of theirs is a request to one process.

    Raises:
        PolicyError: one of them cannot be loaded.
    """
    named_here = policy.bandit or policy.toxicity or bool(policy.scanner_files)
    if not named_here and not _are_installed(tuple(sys.path)):
        return []
    process = WorkerProcess("run_plugins", {"policy": _encode_policy(policy)})
    try:
        answer = process.start()
    except OSError as problem:
        raise PolicyError(
            f"the process of your scanners cannot be started: {problem}; check {sys.executable!r}"
        ) from problem
    except (WorkerEnded, OutOfTime) as failure:
        named = ", ".join(policy.scanner_files) or "of installed packages"
        raise PolicyError(f"your scanners {named} cannot be loaded: {failure}; mend them") from failure
    if "problem" in answer:
        process.close()
        raise PolicyError(str(answer["problem"]))
    return [
        Scanner(
            str(one["name"]),
            None if one["languages"] is None else frozenset(one["languages"]),
            partial(_send_source, process, index),
            keeps_time=True,
        )
        for index, one in enumerate(answer["scanners"])
    ]


@cache
def _are_installed(_path: tuple[str, ...]) -> bool:
    """Whether a distribution on the path brings a scanner; to look reads a file of every distribution."""
    return bool(entry_points(group=GROUP))


def _send_source(process: WorkerProcess, index: int, context: Context, source: Source) -> None:
    seconds = context.deadline - clock()
    request = {
        "scanner": index,
        "language": source.language,
        "text": source.text,
        "seconds": seconds,
        "salt": base64.b64encode(context.salt).decode(),
    }
    answer = process.send(request, seconds)
    if "problem" in answer:
        raise ScannerFailed(str(answer["problem"]))
    context.report.add_findings(read_finding(row) for row in answer["findings"])
