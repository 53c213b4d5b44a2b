"""The channel to the host, in lines: what a supervisor sends and receives, where a service carries text.

Out are objects of JSON under the run's token: a word of this process, or a piece of the supervisor's stream.
In are pieces of the host's stream. A piece is base64.
"""

from __future__ import annotations

import base64
import json
import os
from typing import Any

from spanproof.sandbox.supervisor.run.channel import Channel


class Lines(Channel):
    """See `Channel`."""

    def __init__(self, token: str, *, listens: bool) -> None:
        """Take the run's token, and whether the host sends anything; else its silence is not its end."""
        super().__init__()
        if not listens:
            os.close(self._in)
            self._in, self._open = os.pipe()
        self._token = token
        self._begun = b""

    def send(self, kind: str, **fields: Any) -> None:
        """Send a word of this process."""
        self._send_line({"kind": kind, **fields})

    def sendall(self, data: bytes | memoryview) -> None:
        """See `Channel`."""
        self._send_line({"data": base64.b64encode(data).decode("ascii")})

    def recv(self, size: int) -> bytes:
        """See `Channel`; of a line that has begun, the rest is waited for."""
        while True:
            data = super().recv(size)
            if not data:
                return b""
            *lines, self._begun = (self._begun + data).split(b"\n")
            if lines:
                return b"".join(map(base64.b64decode, lines))

    def _send_line(self, line: dict[str, Any]) -> None:
        super().sendall(json.dumps({"token": self._token, **line}).encode("ascii") + b"\n")
