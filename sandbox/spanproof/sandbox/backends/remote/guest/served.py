"""Recorded calls over there: answered by the watcher, in the run's own network, and reported.

In: the recording, and the run's namespaces, in which this process is root and its program is not. Out: names
and addresses that lead here, an authority that is trusted in the place of all others, and what was called.
"""

from __future__ import annotations

import select
from pathlib import Path

from spanproof.sandbox import kernel
from spanproof.sandbox.backends.remote.guest.overheard import Overheard
from spanproof.sandbox.supervisor.namespaces.network import Loopback
from spanproof.sandbox.supervisor.record import Record
from spanproof.sandbox.supervisor.tape.tape import Tape

# How libc finds names, whatever the template has it do.
_NAME_SERVICES = {
    "/etc/resolv.conf": "nameserver 127.0.0.1\n",
    "/etc/nsswitch.conf": "passwd: files\ngroup: files\nhosts: files dns\n",
}


class Served:
    """The recorded calls of one run."""

    def __init__(self, recording: bytes, code: Path) -> None:
        """Begin, before the program does.

        Args:
            recording: what the host packed.
            code: a directory that the program can read and not change.

        Raises:
            OSError: the kernel does not let us.
        """
        self.record = Record()
        self._network = Loopback()
        self._overheard = Overheard()
        self._tape = Tape(recording, self._network.lead, str(code), self._note_attempt)
        self._poll = select.epoll()
        for each in (self._tape, self._network.resolver):
            self._poll.register(each, select.EPOLLIN)
        for path, text in _NAME_SERVICES.items():
            own = code / Path(path).name
            own.write_text(text)
            _put_over(path, own)
        for path in self._tape.bundles:
            _put_over(path, code / "authority.pem")

    @property
    def environment(self) -> dict[str, str]:
        """Variables by which clients find whom to trust."""
        return self._tape.environment

    def fileno(self) -> int:
        """Return the descriptor for polling."""
        return self._poll.fileno()

    def serve(self) -> None:
        """Serve what waits."""
        self._tape.serve()
        for name in self._network.resolver.serve():
            self._note_attempt(f"{name}:53", allowed=False)

    def _note_others(self) -> None:
        """Note what led to no recorded place, and not to the program itself: no one has answered there."""
        for target in self._overheard.targets():
            text, is_served = self._tape.resolve(target)
            if not (is_served or target.loopback):
                self._note_attempt(text, allowed=False)

    def take_attempts(self) -> list[list[object]]:
        """Take the attempts since the last time, as a result has them."""
        self.serve()  # a name may have been requested just before the end
        self._note_others()
        rows, self.record = self.record.rows(), Record()
        return rows

    def _note_attempt(self, target: str, *, allowed: bool) -> None:
        self.record.note("network", target, allowed=allowed)


def _put_over(path: str, own: Path) -> None:
    """Put a file in the place of another, where there is one."""
    if Path(path).is_file():
        kernel.mount(str(own), path, flags=kernel.MS_BIND)
