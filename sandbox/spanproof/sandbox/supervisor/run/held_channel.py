"""A session's control channel: the guest's reads and writes of a descriptor that no process can have.

The filter holds them, so the kernel names the thread behind each. No one can read, write or copy what is not
there; and while the main thread's read is held, that thread runs nothing of a step. Whether it is the loop
over the steps that reads, and not code of a step, the depth of the stack shows.
"""

from __future__ import annotations

import errno
from collections.abc import Callable

from spanproof.sandbox import kernel
from spanproof.sandbox.guest.wire import FROM_GUEST, BadFrame, Decoder, Header
from spanproof.sandbox.supervisor.seccomp.notifications import (
    EPERM,
    NONE_YET,
    Answer,
    Notification,
    send_answer,
)

_MOST_BYTES = FROM_GUEST.header + 64
_REPLY_BYTES = 65536
# Of stack by which two reads of the loop may differ; a step lies at least twice as much below it.
_LOOP_BYTES = 1024


class HeldChannel:
    """The control channel of one session."""

    def __init__(self, listener: int, main: int, handle: Callable[[Header, int], bool]) -> None:
        """Open it.

        Args:
            listener: of the guest's filter.
            main: its main thread.
            handle: takes each message with the thread that wrote it; whether that thread may.
        """
        self._listener = listener
        self._main = main
        self._handle = handle
        self._waiting: dict[int, Notification] = {}
        self._unread: dict[int, bytearray] = {}
        self._loop_at: int | None = None

    @property
    def main_waits(self) -> bool:
        """Whether the main thread reads, and finds nothing."""
        return self._main in self._waiting

    def is_loop(self) -> bool:
        """Whether the main thread, which waits, is in the loop over the steps; the first to wait is."""
        stack_at = _find_stack_pointer(self._main)
        if self._loop_at is None:
            self._loop_at = stack_at
        return stack_at is None or self._loop_at is None or stack_at > self._loop_at - _LOOP_BYTES

    def send_end(self) -> None:
        """Let the main thread read that there is nothing more."""
        send_answer(self._listener, self._waiting.pop(self._main).id, Answer(value=0))

    def send_failure(self) -> None:
        """Let the main thread's read fail."""
        send_answer(self._listener, self._waiting.pop(self._main).id, EPERM)

    def handle_write(self, call: Notification) -> Answer:
        """Take a message; a write is one message or none."""
        length = call.args[2]
        if length > _MOST_BYTES:
            return Answer(errno.EMSGSIZE)
        decoder = Decoder(FROM_GUEST)
        decoder.add_bytes(kernel.read_memory(call.pid, call.args[1], length))
        try:
            frame = decoder.find_frame()
        except BadFrame:
            frame = None
        if frame is None:
            return Answer(errno.EINVAL)
        if self._handle(frame.header, call.pid):
            return Answer(value=length)
        return EPERM

    def read(self, call: Notification) -> Answer:
        """Give what there is for a thread, or hold its read until there is something."""
        if self._unread.get(call.pid):
            return self._handle_unread(call)
        self._waiting[call.pid] = call
        return NONE_YET

    def send(self, data: bytes, thread: int) -> None:
        """Let a thread read this."""
        self._unread.setdefault(thread, bytearray()).extend(data)
        call = self._waiting.pop(thread, None)
        if call is not None:
            send_answer(self._listener, call.id, self._handle_unread(call))

    def _handle_unread(self, call: Notification) -> Answer:
        unread = self._unread[call.pid]
        data = bytes(unread[: min(call.args[2], _REPLY_BYTES)])
        try:
            written = kernel.write_memory(call.pid, call.args[1], data)
        except OSError:
            return Answer(errno.EFAULT)
        del unread[:written]
        return Answer(value=written)


def _find_stack_pointer(thread: int) -> int | None:
    """Return where the stack of a thread in a held call ends; None where the kernel does not show it."""
    try:
        with open(f"/proc/{thread}/syscall") as file:  # noqa: PTH123 - once a step
            return int(file.read().split()[-2], 16)
    except (OSError, ValueError, IndexError):
        return None
