"""The user's scanners as the pipeline runs them: in a process of their own, which is killed when time is up.

In: a policy that names files or enables bandit, and the entry points of installed packages. Out: scanners
like any other. Code of the user is never loaded into this process, be it the collector or an agent. There is
one process for each pipeline, started with it, and again after it was killed or this process forked.
"""

from __future__ import annotations

import base64
import json
import os
import pickle
import select
import signal
import subprocess
import sys
import threading
import time
import weakref
from contextlib import suppress
from functools import partial
from importlib.metadata import entry_points
from typing import Any, Final

from spanproof.sandbox.errors import PolicyError
from spanproof.sandbox.policy import Policy
from spanproof.sandbox.scanners.context import Context, OutOfTime, clock
from spanproof.sandbox.scanners.model import Finding, Severity, Verdict
from spanproof.sandbox.scanners.plugins import GROUP
from spanproof.sandbox.scanners.scanner import Scanner
from spanproof.sandbox.scanners.source import Source

_START_S: Final = 60.0
"""What the process may take to start and to load every scanner."""

_CHUNK: Final = 65_536

Answer = dict[str, Any]


class ScannerFailed(Exception):  # noqa: N818 - named after what happened
    """A scanner of the user raised, or its process ended."""


class PluginProcess:
    """The process of one policy's user scanners. Thread-safe: one request at a time."""

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self._process: subprocess.Popen[bytes] | None = None
        self._owner = os.getpid()
        self._lock = threading.Lock()

    def scanners(self) -> list[Scanner]:
        """Those the process loaded, in order.

        Raises:
            PolicyError: one of them cannot be loaded.
        """
        described = self._start()
        return [
            Scanner(
                str(one["name"]),
                None if one["languages"] is None else frozenset(one["languages"]),
                partial(self._scan, index),
                keeps_time=True,
            )
            for index, one in enumerate(described)
        ]

    def _scan(self, index: int, context: Context, source: Source) -> None:
        seconds = context.deadline - clock()
        if self._owner != os.getpid():
            # The parent's process and lock came along with a fork; neither is ours to use.
            self._owner, self._lock, self._process = os.getpid(), threading.Lock(), None
        request = {
            "scanner": index,
            "language": source.language,
            "text": source.text,
            "seconds": seconds,
            "salt": base64.b64encode(context.salt).decode(),
        }
        with self._lock:
            # Time spent waiting for other threads is not the scanner's.
            if self._process is None:
                self._start()
            answer = self._ask(request, seconds)
        if "problem" in answer:
            raise ScannerFailed(str(answer["problem"]))
        context.report.take(_finding(row) for row in answer["findings"])

    def _start(self) -> list[Answer]:
        """Start the process; gives the scanners it describes."""
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(entry for entry in sys.path if entry)}
        command = [
            sys.executable,
            "-c",
            "from spanproof.sandbox.scanners import plugin_worker as w; w.main()",
        ]
        try:
            process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env=environment,
                start_new_session=True,
            )
        except OSError as problem:
            raise PolicyError(
                f"the process of your scanners cannot be started: {problem}; check {sys.executable!r}"
            ) from problem
        self._process = process
        weakref.finalize(self, _end_of, os.getpid(), process)
        os.set_blocking(_descriptor(process.stdin), False)
        os.set_blocking(_descriptor(process.stdout), False)
        policy = base64.b64encode(pickle.dumps(self._policy)).decode()
        try:
            answer = self._ask({"policy": policy}, _START_S)
        except (ScannerFailed, OutOfTime) as failure:
            named = ", ".join(self._policy.scanner_files) or "of installed packages"
            raise PolicyError(f"your scanners {named} cannot be loaded: {failure}; mend them") from failure
        if "problem" in answer:
            self._kill()
            raise PolicyError(str(answer["problem"]))
        return list(answer["scanners"])

    def _ask(self, request: Answer, seconds: float) -> Answer:
        """Send one request and wait for its answer; a process that does not give one is killed.

        Raises:
            OutOfTime: it took more than these seconds.
            ScannerFailed: the process ended.
        """
        assert self._process is not None
        deadline = time.monotonic() + seconds
        try:
            _write(self._process, json.dumps(request).encode() + b"\n", deadline)
            return dict(json.loads(_read_line(self._process, deadline)))
        except OutOfTime:
            self._kill()
            raise OutOfTime(f"it took more than {seconds:.3g} s and was ended") from None
        except (OSError, ValueError, EOFError) as broken:
            self._kill()
            raise ScannerFailed("its process ended without an answer") from broken

    def _kill(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            _end(process)


def has_plugins(policy: Policy) -> bool:
    """Whether there is any scanner of the user to run."""
    return policy.bandit or bool(policy.scanner_files) or bool(entry_points(group=GROUP))


def _end_of(owner: int, process: subprocess.Popen[bytes]) -> None:
    """End the process when this one ends or forgets it; a fork of this one must leave it alone."""
    if os.getpid() == owner:
        _end(process)


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the process and what it started."""
    if process.poll() is None:
        with suppress(OSError):
            os.killpg(process.pid, signal.SIGKILL)
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            with suppress(OSError):
                pipe.close()
    with suppress(OSError, subprocess.TimeoutExpired):
        process.wait(5)


def _write(process: subprocess.Popen[bytes], data: bytes, deadline: float) -> None:
    descriptor, rest = _descriptor(process.stdin), memoryview(data)
    while rest:
        _wait(descriptor, select.POLLOUT, deadline)
        rest = rest[os.write(descriptor, rest[:_CHUNK]) :]


def _read_line(process: subprocess.Popen[bytes], deadline: float) -> bytes:
    descriptor, parts = _descriptor(process.stdout), list[bytes]()
    while not parts or not parts[-1].endswith(b"\n"):
        _wait(descriptor, select.POLLIN, deadline)
        part = os.read(descriptor, _CHUNK)
        if not part:
            raise EOFError
        parts.append(part)
    return b"".join(parts)


def _wait(descriptor: int, event: int, deadline: float) -> None:
    poll = select.poll()
    poll.register(descriptor, event)
    left = deadline - time.monotonic()
    if left <= 0 or not poll.poll(left * 1000):
        raise OutOfTime


def _descriptor(pipe: Any) -> int:
    return int(pipe.fileno())


def _finding(row: Answer) -> Finding:
    return Finding(**{**row, "severity": Severity(row["severity"]), "verdict": Verdict(row["verdict"])})
