"""A guest's standard streams, seen from its supervisor: its input is fed, its output kept within bounds.

Never waits: a guest that reads or writes nothing delays no one.
"""

from __future__ import annotations

import contextlib
import os
import select

from spanproof.sandbox.supervisor.isolation import Armed
from spanproof.sandbox.supervisor.run.output import Stream

_PIECE_BYTES = 4096
# More than a pipe holds.
_DRAIN_BYTES = 1 << 20


class Streams:
    """The standard streams of one run, muted at first; polled while there is something to read or write."""

    def __init__(self, armed: Armed, poll: select.poll, stdin: bytes, keep_bytes: int) -> None:
        self._armed = armed
        self._run_polling = poll
        self._stdin = stdin
        self._keep_bytes = keep_bytes
        self._muted = [armed.stdout, armed.stderr]
        self.remove_kept()
        if stdin:
            poll.register(armed.stdin, select.POLLOUT)
        else:
            self._close_stdin()

    def remove_kept(self) -> None:
        """Forget what was kept."""
        self.out, self.err = Stream(self._keep_bytes), Stream(self._keep_bytes)

    def count_seen_bytes(self) -> int:
        """Return how much was written so far."""
        return self.out.seen + self.err.seen

    def list_kept(self) -> list[bytes]:
        """Return what is kept of output and error output."""
        return [self.out.get_kept_bytes(), self.err.get_kept_bytes()]

    def handle_readable(self, fd: int) -> None:
        """Take what has come on one of them."""
        try:
            data = os.read(fd, 65536)
        except BlockingIOError:
            return
        if data:
            self._get_stream(fd).add(data)
        else:
            self._run_polling.unregister(fd)

    def handle_remaining(self) -> None:
        """Take what lies in the pipes; others may still hold them open, so never wait for their end."""
        for fd in (self._armed.stdout, self._armed.stderr):
            taken = 0
            try:
                while taken < _DRAIN_BYTES and (data := os.read(fd, 65536)):
                    self._get_stream(fd).add(data)
                    taken += len(data)
            except BlockingIOError:
                continue

    def write_input(self) -> None:
        """Write what the pipe has room for; an input that no one reads any more is over."""
        try:
            self._stdin = self._stdin[os.write(self._armed.stdin, self._stdin[:_PIECE_BYTES]) :]
        except OSError:
            self._stdin = b""
        if not self._stdin:
            self._run_polling.unregister(self._armed.stdin)
            self._close_stdin()

    def close_polling(self) -> None:
        """Leave output in its pipes for now."""
        for fd in (self._armed.stdout, self._armed.stderr):
            with contextlib.suppress(KeyError):  # it has ended, or is muted
                self._run_polling.unregister(fd)
                self._muted.append(fd)

    def start_polling(self) -> None:
        """Poll them again."""
        for fd in self._muted:
            self._run_polling.register(fd, select.POLLIN)
        self._muted.clear()

    def _get_stream(self, fd: int) -> Stream:
        if fd == self._armed.stdout:
            return self.out
        return self.err

    def _close_stdin(self) -> None:
        os.close(self._armed.stdin)
        self._armed.stdin = -1
