"""What isolates a guest, as its supervisor uses it: the parts in which the tiers differ.

The full tier makes them of namespaces (`root`, `tree`, `network`, `zygote`), the reduced one of what a plain
process may do (`reduced/`). Whatever runs, watches and judges a program is the same in both.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol

from spanproof.sandbox.guest.descriptors import Descriptors
from spanproof.sandbox.model import Tier

if TYPE_CHECKING:
    from spanproof.sandbox.supervisor.fixtures.run_fixtures import RunFixtures
    from spanproof.sandbox.supervisor.namespaces.process_tree import Namespace
    from spanproof.sandbox.supervisor.seccomp.watcher import Watcher


class Box(Protocol):
    """The directory that is a program's own, and all that it can write to."""

    work: str
    """Where a program starts; `code` holds its script, where it has one."""
    code: str

    def start_empty(self, size_bytes: int) -> None:
        """Make it empty, with room for so much."""

    def update_size(self, size_bytes: int) -> None:
        """Change the room in it."""

    def has_changed(self) -> bool:
        """Whether anything in it changed since it was fresh."""

    def remove(self) -> None:
        """Take it away, with all that lies in it; no one uses it any more."""

    def read_files_left(self) -> dict[str, int]:
        """Return the sizes of the regular files under the work directory; a link is never followed."""

    def count_memory_bytes(self) -> int:
        """Return what its files hold of the memory."""

    def find_exceeded_limit(self) -> str | None:
        """Bound what the kernel does not bound by itself; called several times a second.

        Returns:
            Why the run must end, where it must.
        """


class Resolver(Protocol):
    """Receives which names a guest looks up, and answers those that were recorded."""

    def fileno(self) -> int:
        """Return the descriptor for polling."""

    def handle_queries(self) -> list[str]:
        """Serve queries; return the names requested since the last call that it does not know."""


class Network(Protocol):
    """What of a network a guest finds."""

    @property
    def resolver(self) -> Resolver:
        """The one of now."""

    def add_names(self, names: Mapping[str, str], ports: Iterable[int]) -> Sequence[socket.socket]:
        """Make these names known, and where it can, every address lead to this machine, until it is renewed.

        Returns:
            What listens on the ports of every address; nothing where no address leads anywhere, and the
            watcher makes each connection in the guest's place.

        Raises:
            OSError: the kernel does not let us.
        """

    def remove_names(self) -> None:
        """Make it as it was before a run that used it."""


@dataclass(frozen=True, slots=True)
class WaitingGuest:
    """A guest that waits for code.

    Attributes:
        pid: of its main process.
        listener: of its filter.
        warm_bytes: private memory it was born with.
        resident_bytes: all its memory then, those it shares with others among them.
    """

    pid: int
    listener: int
    warm_bytes: int
    resident_bytes: int


class Ends(NamedTuple):
    """A supervisor's ends of what a guest is given."""

    control: socket.socket
    stdin: int
    stdout: int
    stderr: int


@dataclass(slots=True)
class Armed:
    """A guest that waits for code, and its supervisor's ends of its descriptors, none of which blocks.

    Attributes:
        token: what its own messages bear.
        ahead: what the interpreter was started with that it has become already; see `run.ahead`.
        is_starting: whether that interpreter does not wait yet, and its run has to await it.
        judge: the process that waits for its program's tests, where that is known; see `run.ahead`.
        fixtures: what its run finds fixed, closed with it.
    """

    guest: WaitingGuest
    control: socket.socket
    stdin: int
    stdout: int
    stderr: int
    token: str
    ahead: tuple[str, ...] = ()
    is_starting: bool = False
    judge: int | None = None
    fixtures: RunFixtures | None = None

    def close(self) -> None:
        """Close our ends."""
        if self.fixtures is not None:
            self.fixtures.close()
        for fd in (self.stdin, self.stdout, self.stderr):
            if fd >= 0:
                os.close(fd)
        self.control.close()


@dataclass(frozen=True, slots=True)
class Ended:
    """How a guest's main process ended.

    Attributes:
        status: as `wait` gives it.
        cpu_s: CPU seconds of it and of what it had reaped.
        peak_bytes: resident at most, less what it was born with.
    """

    status: int
    cpu_s: float
    peak_bytes: int


class Origin(Protocol):
    """Where guests come from, one at a time: forked, under their filter, waiting for code."""

    def send_request(self, descriptors: Descriptors, *, observed: bool) -> None:
        """Request a guest; where the one before is held at its end, it is made when that is gone.

        Args:
            descriptors: what it is given; closed here, before anything is waited for.
            observed: whether its random bytes may be the supervisor's to answer, and its steps held calls.
        """

    def wait_for_guest(self, control: socket.socket) -> WaitingGuest:
        """Receive the guest that was requested.

        Args:
            control: the other end of its control channel.

        Raises:
            RuntimeError: it could not be made; says why.
        """

    def fileno(self) -> int:
        """Return the descriptor for polling: readable when its main process has ended."""

    def wait_for_end(self) -> Ended:
        """Wait for the end of its main process, and reap it.

        Raises:
            RuntimeError: its end is not known.
        """

    def update_namespaces(self) -> None:
        """Follow the supervisor into its new namespaces; no guest lives."""


@dataclass(frozen=True, slots=True)
class Isolation:
    """All of it, for one supervisor."""

    tree: Namespace
    box: Box
    network: Network
    watcher: Watcher
    origin: Origin
    tier: Tier = Tier.FULL
    holds_calls: bool = True
    """Whether the kernel holds calls of a guest for the watcher; gVisor's does not."""
