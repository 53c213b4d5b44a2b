"""The descriptors that a guest is started with."""

from __future__ import annotations

import os
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Descriptors:
    """What a guest is given: its end of the control channel, and its standard streams."""

    control: int
    stdin: int
    stdout: int
    stderr: int

    def close(self) -> None:
        """Let go of them: once a guest has them, its end is the end of each."""
        for fd in (self.control, self.stdin, self.stdout, self.stderr):
            os.close(fd)
