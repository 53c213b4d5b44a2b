"""Recorded calls over there: answered in the run's own network, in which this process is root.

In: the recording. Out: names and addresses that lead here, an authority that is trusted in the place of all
others, and what was called, or tried to be.
"""

from __future__ import annotations

import select
import socket
from collections.abc import Iterable, Mapping
from pathlib import Path

from spanproof.sandbox import kernel
from spanproof.sandbox.backends.remote.guest.overheard import Overheard
from spanproof.sandbox.guest.wire import Frame
from spanproof.sandbox.supervisor.fixtures.run_fixtures import RunFixtures
from spanproof.sandbox.supervisor.namespaces.network import Loopback, NoResolver, Resolver
from spanproof.sandbox.supervisor.tape.server import Note
from spanproof.sandbox.supervisor.tape.tape import Lead

# How libc finds names, whatever the template has it do.
_NAME_SERVICES = {
    "/etc/resolv.conf": "nameserver 127.0.0.1\n",
    "/etc/nsswitch.conf": "passwd: files\ngroup: files\nhosts: files dns\n",
}


class OwnNetwork:
    """See `Network`: the run's own, which ends with it."""

    def __init__(self) -> None:
        self.resolver: Resolver | NoResolver = NoResolver()

    def add_names(self, names: Mapping[str, str], ports: Iterable[int]) -> list[socket.socket]:
        """See `Network`."""
        loopback = Loopback()
        self.resolver = loopback.resolver
        return loopback.add_names(names, ports)

    def remove_names(self) -> None:
        """See `Network`; there is no other run."""


class ServedFixtures(RunFixtures):
    """See `RunFixtures`: recorded calls alone, and what was sent to addresses where no one answers."""

    def __init__(self, job: Frame, guest: int, lead: Lead, code: str, note: Note) -> None:
        # A clock and a seed are fixed in the interpreter; see `start`.
        super().__init__(
            Frame({**job.header, "seed": None, "clock": None}, job.parts), guest, lead, code, note
        )
        self._note = note
        self._overheard = Overheard()
        if self._overheard.socket is not None:
            self._run_polling.register(self._overheard.socket, select.EPOLLIN)
        for path, text in _NAME_SERVICES.items():
            own = Path(code, Path(path).name)
            own.write_text(text)
            _write_over(path, own)
        for path in self.bundles:
            _write_over(path, Path(code, "authority.pem"))

    def handle_waiting(self) -> None:
        """See `RunFixtures`."""
        super().handle_waiting()
        for target in self._overheard.iter_targets():
            text, is_served = self.get_destination(target)
            if not (is_served or target.loopback):
                self._note(text, allowed=False)


def _write_over(path: str, own: Path) -> None:
    """Put a file in the place of another, where there is one."""
    if Path(path).is_file():
        kernel.mount(str(own), path, flags=kernel.MS_BIND)
