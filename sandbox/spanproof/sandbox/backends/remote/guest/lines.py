"""The channel to the host: a JSON object a line, out on stdout under the run's token, and in on stdin."""

from __future__ import annotations

import json
import os
from typing import Any

_LONGEST_BYTES = 64 * 1024 * 1024


class Lines:
    """Both directions of the channel, on descriptors that no program inherits."""

    def __init__(self, token: str) -> None:
        self._token = token
        self._buffer = bytearray()
        # What a library prints by mistake must not come between two lines.
        self._out = os.dup(1)
        self.fd = os.dup(0)
        nothing = os.open(os.devnull, os.O_RDWR)
        for number in (0, 1):
            os.dup2(nothing, number)

    def send(self, kind: str, **fields: Any) -> None:
        """Send one line and wait until it is taken."""
        text = json.dumps({"kind": kind, "token": self._token, **fields}).encode("ascii") + b"\n"
        while text:
            text = text[os.write(self._out, text) :]

    def received(self) -> list[dict[str, Any]]:
        """Return the lines that have come; waits for bytes, so call it when there are some.

        Raises:
            EOFError: the host closed the channel, or sent what is no line.
        """
        data = os.read(self.fd, 262144)
        if not data or len(self._buffer) > _LONGEST_BYTES:
            raise EOFError
        self._buffer += data
        *whole, rest = self._buffer.split(b"\n")
        self._buffer = rest
        return [json.loads(line) for line in whole if line]
