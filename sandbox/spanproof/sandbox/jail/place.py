"""What isolates a guest, as its slot uses it: the parts in which the tiers differ.

The full tier makes them of namespaces (`root`, `tree`, `network`, `arming`), the reduced one of what a plain
process may do (`reduced/`). Whatever runs, watches and judges a program is the same in both.
"""

from __future__ import annotations

import socket
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from spanproof.sandbox.jail.tree import Namespace
    from spanproof.sandbox.jail.watch import Watcher


class Box(Protocol):
    """The directory that is a program's own, and all that it can write to."""

    work: str
    """Where a program starts; `code` holds its script, where it has one."""
    code: str

    def fresh(self, size_bytes: int) -> None:
        """Make it empty, with room for so much."""

    def resize(self, size_bytes: int) -> None:
        """Change the room in it."""

    def touched(self) -> bool:
        """Whether anything in it changed since it was fresh."""

    def drop(self) -> None:
        """Take it away, with all that lies in it; nobody uses it any more."""

    def files_left(self) -> dict[str, int]:
        """Sizes of the regular files under the work directory; a link is never followed."""

    def memory_bytes(self) -> int:
        """What its files hold of the memory."""

    def enforce(self) -> None:
        """Bound what the kernel does not bound by itself; called several times a second."""


class Resolver(Protocol):
    """Hears which names a guest looks up, and answers none."""

    def fileno(self) -> int:
        """For polling."""

    def serve(self) -> list[str]:
        """The names asked for since the last call."""


class Network(Protocol):
    """What of a network a guest finds."""

    @property
    def resolver(self) -> Resolver:
        """The one of now."""

    def renew(self) -> None:
        """Make it as it was before a run that used it."""


class Arming(Protocol):
    """How a guest comes under its filter, and its slot by the listener."""

    def arm(self, control: int) -> None:
        """In the guest: raise the walls that hold this process; `control` leads to the slot."""

    def fetch(self, control: socket.socket, pid: int, pidfd: int) -> int:
        """In the slot: the listener of a guest that is arming itself.

        Raises:
            RuntimeError: the guest could not; says why.
        """


@dataclass(frozen=True, slots=True)
class Place:
    """All of it, for one slot; `arming_seeded` is for guests whose random bytes the slot answers."""

    tree: Namespace
    box: Box
    network: Network
    watcher: Watcher
    arming: Arming
    arming_seeded: Arming
