"""A guest's control channel, seen from its supervisor: its messages are received, replies to it are sent.

Nothing a guest sends is more than a bounded JSON object. Never waits for a guest that does not read: its held
calls are served meanwhile, and the clock goes on.
"""

from __future__ import annotations

import select
import time
from collections.abc import Callable

from spanproof.sandbox.guest.wire import FROM_GUEST, BadFrame, Decoder, Header
from spanproof.sandbox.supervisor.isolation import Armed
from spanproof.sandbox.supervisor.run.clock import Clock
from spanproof.sandbox.supervisor.run.usage_limits import TICK_S
from spanproof.sandbox.supervisor.seccomp.watcher import Watcher

_READ_BYTES = 65536
# Of a guest that never stops writing, before the clock is looked at again.
_READS_AT_ONCE = 2
# More than a socket holds.
_LAST_READS = 16


class ControlChannel:
    """The guest's messages of one run, polled once listened to, until it closes or makes no sense."""

    def __init__(
        self, armed: Armed, watcher: Watcher, poll: select.poll, handle: Callable[[Header], None]
    ) -> None:
        """Open it.

        Args:
            armed: the guest.
            watcher: serves its held calls.
            poll: of its supervisor.
            handle: takes each message.
        """
        self._control = armed.control
        self._listener = armed.guest.listener
        self._watcher = watcher
        self._run_polling = poll
        self._handle = handle
        self._decoder = Decoder(FROM_GUEST)
        self._closed = False

    def start_reading(self) -> None:
        """Read messages as they come; without it they are read at the end."""
        if not self._closed:
            self._run_polling.register(self._control, select.POLLIN)

    def handle_readable(self) -> None:
        """Read what the guest sent."""
        if self._handle_messages(_READS_AT_ONCE):
            self._closed = True
            self._run_polling.unregister(self._control)

    def handle_remaining(self) -> None:
        """Read what the guest sent just before it ended; its end may have been seen first."""
        if not self._closed:
            self._handle_messages(_LAST_READS)

    def _handle_messages(self, reads: int) -> bool:
        """Take what has come; bytes that are no frames of ours end the reading, not the run."""
        try:
            for _ in range(reads):
                data = self._control.recv(_READ_BYTES)
                if not data:
                    return True
                self._decoder.add_bytes(data)
                while (frame := self._decoder.find_frame()) is not None:
                    self._handle(frame.header)
                if len(data) < _READ_BYTES:
                    break  # that was all there is
        except BlockingIOError:
            pass
        except (BadFrame, OSError):
            return True
        return False

    def sends_in_time(self, data: bytes, clock: Clock) -> bool:
        """Send to the guest, if it lives; whether it was done in time."""
        view = memoryview(data)
        while view:
            try:
                view = view[self._control.send(view) :]
            except BlockingIOError:
                if time.monotonic() >= clock.deadline:
                    return False
                self._wait()
            except OSError:
                return True
        return True

    def _wait(self) -> None:
        """Wait until the guest reads, serving its calls: one of them may hold the read up."""
        waiting = select.poll()
        waiting.register(self._control, select.POLLOUT)
        waiting.register(self._listener, select.POLLIN)
        for fd, events in waiting.poll(TICK_S * 1000):
            if fd == self._listener and events & select.POLLIN:
                self._watcher.handle_notification()
