"""One command on a machine, as lines of JSON both ways.

A thread reads the stream, so that the caller waits on its own clock and can be interrupted. What comes is the
machine's word: bounded, parsed as JSON and nothing more, and dropped where it lacks the run's token.
"""

from __future__ import annotations

import json
import queue
import threading
import time
from collections.abc import Callable
from typing import Any

from spanproof.sandbox.errors import SandboxBroken
from spanproof.sandbox.guest.wire import Header

_ERROR_CHARACTERS = 2000
_SMALLEST_BUDGET = 32 * 1024 * 1024


class Conversation:
    """What a command says, line by line; and where it listens, what it receives."""

    def __init__(
        self,
        service: str,
        open_stream: Callable[[], Any],
        translate: Callable[[Exception], Exception],
        token: str,
    ) -> None:
        self._service = service
        self._open_stream = open_stream
        self._translate = translate
        self._token = token
        self._handle: Any = None
        self._closed = False
        self._errors = ""
        self._budget = _SMALLEST_BUDGET
        self._lines: queue.SimpleQueue[Header | Exception] = queue.SimpleQueue()
        threading.Thread(target=self._read, name=f"{service}-stream", daemon=True).start()

    def close(self) -> None:
        """Listen no more; the command goes on until its machine ends it."""
        self._closed = True

    def allow(self, output_bytes: int) -> None:
        """Set how much more the command may say; called before each step."""
        self._budget = _SMALLEST_BUDGET + 4 * output_bytes

    def next(self, within_s: float) -> Header:
        """Wait for the next line.

        Raises:
            TimeoutError: none came in time.
            SandboxBroken: the command ended, or the stream did, or what came is not ours.
        """
        deadline = time.monotonic() + within_s
        while True:
            try:
                said = self._lines.get(timeout=max(0.0, deadline - time.monotonic()))
            except queue.Empty:
                raise TimeoutError from None
            if isinstance(said, Exception):
                self._lines.put(said)  # it stays ended
                raise said
            if said.get("token") == self._token:
                return said

    def send(self, line: Header) -> None:
        """Send the command a line.

        Raises:
            SandboxBroken: the machine failed.
        """
        data = json.dumps(line).encode("ascii") + b"\n"
        try:
            while data:
                self._handle.send_stdin(data[:262144])
                data = data[262144:]
        except Exception as problem:
            raise self._translate(problem) from problem

    def _read(self) -> None:
        try:
            self._handle = self._open_stream()
            self._listen()
        except Exception as problem:  # noqa: BLE001 - raised where the caller waits
            self._lines.put(self._translate(problem))
            return
        errors = f": {self._errors.strip()}" if self._errors.strip() else ""
        self._lines.put(SandboxBroken(f"{self._service}: the command ended without a report{errors}"))

    def _listen(self) -> None:
        pending: list[str] = []
        for out, err, _ in self._handle:
            if self._closed:
                return
            if err:
                self._errors = (self._errors + err)[-_ERROR_CHARACTERS:]
            if not out:
                continue
            self._budget -= len(out)
            if self._budget < 0:
                raise SandboxBroken(f"{self._service}: the machine says more than a run may")
            *ended, rest = out.split("\n")
            for piece in ended:
                self._lines.put(self._parse_line("".join((*pending, piece))))
                pending.clear()
            pending.append(rest)

    def _parse_line(self, text: str) -> Header:
        try:
            line = json.loads(text)
        except (ValueError, RecursionError):
            line = None
        if not isinstance(line, dict):
            raise SandboxBroken(f"{self._service}: the machine said what is no line of ours: {text[:200]!r}")
        return line
