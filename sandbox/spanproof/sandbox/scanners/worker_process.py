"""A Python process beside this one that answers requests, and is killed when an answer takes too long.

In: the module whose `main` it runs, and a greeting. Out: answers, one JSON line for each request. It is
started by the first request, and again after it was killed or this process forked. Thread-safe: one request
at a time.
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
from typing import IO, Any, Final

from spanproof.sandbox.policy import Policy
from spanproof.sandbox.scanners.context import OutOfTime

_START_S: Final = 60.0
"""What the process may take to start and to import what it needs."""

_CHUNK: Final = 65_536

Answer = dict[str, Any]


def pack_policy(policy: Policy) -> str:
    """Return a policy as text for a process of ours."""
    return base64.b64encode(pickle.dumps(policy)).decode()


def unpack_policy(text: str) -> Policy:
    """Return the policy of a greeting.

    Our own parent wrote it, to our own stdin: the one place where a pickle is as trusted as this line.
    """
    policy: Policy = pickle.loads(base64.b64decode(text))  # noqa: S301
    return policy


def send_answer(answers: IO[str], answer: Answer) -> None:
    """Write the answer to one request."""
    answers.write(json.dumps(answer) + "\n")
    answers.flush()


class WorkerEnded(Exception):  # noqa: N818 - named after what happened
    """The process ended without an answer; `status` is its exit status, negative for a signal."""

    def __init__(self, status: int) -> None:
        super().__init__("its process ended without an answer")
        self.status = status


class WorkerProcess:
    """A process that runs `main` of a module and answers JSON lines with JSON lines."""

    def __init__(self, module: str, greeting: Answer) -> None:
        self._module = module
        self._greeting = greeting
        self._process: subprocess.Popen[bytes] | None = None
        self._owner = os.getpid()
        self._lock = threading.Lock()

    def start(self) -> Answer:
        """Start the process and return its answer to the greeting.

        Raises:
            OSError: it cannot be started.
            OutOfTime: it did not answer in time.
            WorkerEnded: it ended instead.
        """
        self._leave_the_parents()
        with self._lock:
            return self._start()

    def ask(self, request: Answer, seconds: float) -> Answer:
        """Send one request and return its answer; a process that gives none in these seconds is killed.

        Raises:
            OSError: the process cannot be started.
            OutOfTime: it took longer.
            WorkerEnded: it ended instead.
        """
        self._leave_the_parents()
        with self._lock:
            # Time spent waiting for other threads is not the request's.
            if self._process is None:
                self._start()
            return self._exchange(request, seconds)

    def kill(self) -> None:
        """End the process; the next request starts another."""
        process, self._process = self._process, None
        if process is not None:
            _end(process)

    def _leave_the_parents(self) -> None:
        if self._owner != os.getpid():
            # The parent's process and lock came along with a fork; neither is ours to use.
            self._owner, self._lock, self._process = os.getpid(), threading.Lock(), None

    def _start(self) -> Answer:
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(entry for entry in sys.path if entry)}
        process = subprocess.Popen(
            [sys.executable, "-c", f"from {self._module} import main; main()"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
            start_new_session=True,
        )
        self._process = process
        weakref.finalize(self, _end_of, os.getpid(), process)
        os.set_blocking(_descriptor(process.stdin), False)
        os.set_blocking(_descriptor(process.stdout), False)
        return self._exchange(self._greeting, _START_S)

    def _exchange(self, request: Answer, seconds: float) -> Answer:
        assert self._process is not None
        process, deadline = self._process, time.monotonic() + seconds
        try:
            _write(process, json.dumps(request).encode() + b"\n", deadline)
            return dict(json.loads(_read_line(process, deadline)))
        except OutOfTime:
            self.kill()
            raise OutOfTime(f"it took more than {seconds:.3g} s and was ended") from None
        except (OSError, ValueError, EOFError) as broken:
            self.kill()
            raise WorkerEnded(process.returncode or 0) from broken


def _end_of(owner: int, process: subprocess.Popen[bytes]) -> None:
    """End the process when this one ends or forgets it; a fork of this one must leave it alone."""
    if os.getpid() == owner:
        _end(process)


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the process and what it started."""
    if process.poll() is None:
        with suppress(subprocess.TimeoutExpired):
            # One that closed its pipes is ending by itself, and its status says why.
            process.wait(0.1 if process.stdout is not None and _is_closed(process) else 0)
    if process.poll() is None:
        with suppress(OSError):
            os.killpg(process.pid, signal.SIGKILL)
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            with suppress(OSError):
                pipe.close()
    with suppress(OSError, subprocess.TimeoutExpired):
        process.wait(5)


def _is_closed(process: subprocess.Popen[bytes]) -> bool:
    poll = select.poll()
    poll.register(_descriptor(process.stdout), select.POLLIN)
    return any(event & select.POLLHUP for _, event in poll.poll(0))


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
