"""A command's output over the service's WebSocket: one stream, and a mark before what is of which."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, Final

_STDOUT: Final = b"\x01\x01\x01"
_STDERR: Final = b"\x02\x02\x02"
_MARK: Final = re.compile(re.escape(_STDOUT) + b"|" + re.escape(_STDERR))
# What may be the first part of a mark whose rest has not come yet.
_BEGUN: Final = re.compile(rb"(?:\x01{1,2}|\x02{1,2})$")


class Marked:
    """Takes marked bytes as they come; gives them by stream."""

    def __init__(self) -> None:
        self._held = b""
        self._stream = _STDOUT

    def feed(self, data: bytes) -> Iterator[tuple[str | None, str | None]]:
        """Yield what came, as text of stdout or of stderr."""
        data = self._held + data
        at = 0
        for mark in _MARK.finditer(data):
            yield from self._decode_piece(data[at : mark.start()])
            self._stream = mark[0]
            at = mark.end()
        begun = _BEGUN.search(data, at)
        end = begun.start() if begun else len(data)
        yield from self._decode_piece(data[at:end])
        self._held = data[end:]

    def _decode_piece(self, data: bytes) -> Iterator[tuple[str | None, str | None]]:
        if data:
            # What is ours is ASCII.
            text = data.decode("utf-8", "replace")
            yield (text, None) if self._stream == _STDOUT else (None, text)


class CommandStream:
    """A command that runs in a session of a sandbox."""

    def __init__(self, socket: Any, send: Callable[[str], None], close: Callable[[], None]) -> None:
        self._socket = socket
        self._send = send
        self._close = close
        self._pending = b""

    def send_stdin(self, data: bytes) -> None:
        """Give it input, line by line: the service ends each piece with a newline of its own."""
        *lines, self._pending = (self._pending + data).split(b"\n")
        for line in lines:
            self._send(line.decode("ascii") + "\n")

    def __iter__(self) -> Iterator[tuple[str | None, str | None, object]]:
        """See `Stream`; ends when the service closes the socket as it should."""
        from websocket import WebSocketConnectionClosedException

        marked = Marked()
        try:
            while True:
                opcode, data = self._socket.recv_data()
                if opcode == self._closes:
                    return
                for out, err in marked.feed(data):
                    yield out, err, None
        except WebSocketConnectionClosedException:
            return
        finally:
            self._close()

    @property
    def _closes(self) -> int:
        from websocket import ABNF

        return int(ABNF.OPCODE_CLOSE)
