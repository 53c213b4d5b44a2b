"""What of this machine no hostile program may reach: a file, a port, a socket's name."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

SECRET = f"canary-{os.urandom(4).hex()}"
"""The content of the file and of a variable of the process that starts the programs; none may print it."""

ABSTRACT = f"spanproof-canary-{os.getpid()}"
"""An abstract socket's name is the whole machine's: another run of these tests may be at work."""


@dataclass
class Machine:
    """Where these are, and who came to the sockets."""

    canary: Path
    port: int
    reached: list[str] = field(default_factory=list)

    def filled(self, text: str, host_pid: int) -> str:
        """A program's text, with where these are; `host_pid` is a process it must not reach."""
        values = {"canary": self.canary, "port": self.port, "abstract": ABSTRACT, "host_pid": host_pid}
        for name, value in values.items():
            text = text.replace(f"{{{name}}}", str(value))
        return text


@contextmanager
def exposed(directory: Path) -> Iterator[Machine]:
    """A canary in this directory, and sockets that listen, as long as the block lasts."""
    canary = directory / "canary.txt"
    canary.write_text(SECRET)
    canary.chmod(0o666)
    with socket.create_server(("127.0.0.1", 0)) as tcp, socket.socket(socket.AF_UNIX) as abstract:
        abstract.bind(f"\0{ABSTRACT}")
        abstract.listen()
        found = Machine(canary, tcp.getsockname()[1])
        for server in (tcp, abstract):
            threading.Thread(target=_note_callers, args=(server, found), daemon=True).start()
        yield found


def _note_callers(server: socket.socket, machine: Machine) -> None:
    while True:
        try:
            server.accept()
        except OSError:
            return
        machine.reached.append(str(server.family))
