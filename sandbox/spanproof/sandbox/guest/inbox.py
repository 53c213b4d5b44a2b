"""What a supervisor sends its guest: messages that are written on the trusted side, and read on the other.

Both run the same interpreter, so a message is a value of `marshal`: one call reads it, where to decode JSON
each guest would write to a dozen pages more, and have them copied. The way back is JSON (`reporter`): nothing
that comes from a guest is ever read like this.
"""

from __future__ import annotations

import marshal
import os
import struct
from collections.abc import Sequence

from spanproof.sandbox.guest.wire import Header

_LENGTH = struct.Struct("!I")
_AHEAD = _LENGTH.size


def encode_message(header: Header, parts: Sequence[bytes] = ()) -> bytes:
    """Return the bytes of a message; its header holds what JSON can say."""
    text = marshal.dumps((header, tuple(parts)))
    return _LENGTH.pack(len(text)) + text


class Inbox:
    """Messages from the supervisor, by kind."""

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._buffer = bytearray()
        self._read, self._load = os.read, marshal.loads  # a program may replace them

    def add_bytes(self, data: bytes) -> None:
        """Take bytes as if they had come from the supervisor."""
        self._buffer += data

    def wait_for_message(self, kind: str) -> tuple[Header, tuple[bytes, ...]]:
        """Wait for the next message of this kind, and give its header and its parts; others are dropped.

        Raises:
            EOFError: the supervisor closed the channel.
        """
        buffer = self._buffer
        while True:
            end = _AHEAD + int.from_bytes(buffer[:_AHEAD])
            if len(buffer) >= _AHEAD and len(buffer) >= end:
                header, parts = self._load(buffer[_AHEAD:end])
                del buffer[:end]
                if header["kind"] == kind:
                    return header, parts
                continue
            data = self._read(self._fd, 65536)  # of more, malloc would make a mapping and unmake it
            if not data:
                raise EOFError
            buffer += data
