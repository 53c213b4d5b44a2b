"""One command on a machine: what its supervisor sends and receives, in lines of text.

A thread reads the stream, so that the caller waits on its own clock and can be interrupted. What comes is the
machine's word: bounded, decoded as JSON and as frames, and dropped where it lacks the run's token.
"""

from __future__ import annotations

import base64
import json
import queue
import threading
from collections.abc import Callable, Sequence
from typing import Any

from spanproof.sandbox.errors import SandboxBroken
from spanproof.sandbox.guest.wire import FROM_SUPERVISOR, BadFrame, Decoder, Frame, Header, encode_frame

_ERROR_CHARACTERS = 2000
_SMALLEST_BUDGET = 32 * 1024 * 1024


class Conversation:
    """What a command says; and where it listens, what it receives."""

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
        self._decoder = Decoder(FROM_SUPERVISOR)
        self._frames: queue.SimpleQueue[Frame | Exception] = queue.SimpleQueue()
        threading.Thread(target=self._handle_stream, name=f"{service}-stream", daemon=True).start()

    def close(self) -> None:
        """Listen no more; the command goes on until its machine ends it."""
        self._closed = True

    def update_allowance(self, output_bytes: int) -> None:
        """Set how much more the command may say; called before each step."""
        self._budget = _SMALLEST_BUDGET + 4 * output_bytes

    def wait_for_frame(self, within_s: float) -> Frame:
        """Wait for the next frame, or a word of the machine before there are any.

        Raises:
            TimeoutError: none came in time.
            SandboxBroken: the command ended, or the stream did, or what came is not ours.
        """
        try:
            frame = self._frames.get(timeout=max(0.0, within_s))
        except queue.Empty:
            raise TimeoutError from None
        if isinstance(frame, Exception):
            self._frames.put(frame)  # it stays ended
            raise frame
        return frame

    def send(self, header: Header, parts: Sequence[bytes] = ()) -> None:
        """Send the command a frame.

        Raises:
            SandboxBroken: the machine failed.
        """
        data = base64.b64encode(encode_frame(header, parts)) + b"\n"
        try:
            while data:
                self._handle.send_stdin(data[:262144])
                data = data[262144:]
        except Exception as problem:
            raise self._translate(problem) from problem

    def _handle_stream(self) -> None:
        try:
            self._handle = self._open_stream()
            self._run_listener()
        except Exception as problem:  # noqa: BLE001 - raised where the caller waits
            self._frames.put(self._translate(problem))
            return
        errors = f": {self._errors.strip()}" if self._errors.strip() else ""
        self._frames.put(SandboxBroken(f"{self._service}: the command ended without a report{errors}"))

    def _run_listener(self) -> None:
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
                self._handle_line("".join((*pending, piece)))
                pending.clear()
            pending.append(rest)

    def _handle_line(self, text: str) -> None:
        try:
            line = json.loads(text)
        except (ValueError, RecursionError):
            line = None
        if not isinstance(line, dict):
            raise SandboxBroken(f"{self._service}: the machine said what is no line of ours: {text[:200]!r}")
        if line.get("token") != self._token:
            return
        if "data" not in line:
            self._frames.put(Frame(line, ()))
            return
        try:
            self._decoder.add_bytes(base64.b64decode(str(line["data"]), validate=True))
            while (frame := self._decoder.find_frame()) is not None:
                self._frames.put(frame)
        except (BadFrame, ValueError) as problem:
            raise SandboxBroken(f"{self._service}: the machine sent no frame: {problem}") from problem
