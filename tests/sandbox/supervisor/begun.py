"""A session as its supervisor sees it, begun with no guest behind it: the test sends its messages."""

from __future__ import annotations

import contextlib
import os
import socket
import threading
from pathlib import Path
from typing import cast

from spanproof.sandbox.guest.wire import FROM_HOST, Decoder, Frame
from spanproof.sandbox.supervisor.isolation import Armed, Isolation, Origin, WaitingGuest
from spanproof.sandbox.supervisor.reduced.box import Directory
from spanproof.sandbox.supervisor.reduced.network import NoNetwork
from spanproof.sandbox.supervisor.reduced.process_tree import Descendants
from spanproof.sandbox.supervisor.run.run import Links
from spanproof.sandbox.supervisor.run.steps import SessionRun
from spanproof.sandbox.supervisor.seccomp.paths import Boundary
from spanproof.sandbox.supervisor.seccomp.syscalls import find_arch
from spanproof.sandbox.supervisor.seccomp.watcher import Watcher


class Alone(Descendants):
    """The processes of a guest that has started none: no signal of these tests reaches anybody."""

    def _find_pids(self, below: dict[int, list[int]] | None = None) -> list[int]:
        return []

    def send_signal(self, number: int, *, but: int) -> None:
        """To no process."""


class _Never:
    """Where a guest came from that goes on."""

    def __init__(self) -> None:
        self._reading, self._writing = os.pipe()

    def fileno(self) -> int:
        return self._reading


def begun_in(directory: Path) -> tuple[SessionRun, socket.socket]:
    """A session with its box in a directory, and the guest's end of its control channel."""
    arch = find_arch()
    assert arch is not None
    (out, _), (err, _), (listener, _), (_, stdin) = (os.pipe() for _ in range(4))
    tree = Alone(own_user=False)
    box = Directory(str(directory), tree)
    watcher = Watcher(arch, Boundary((), ""), tree)
    place = Isolation(tree, box, NoNetwork(), watcher, cast(Origin, _Never()), holds_calls=False)
    control, guest = socket.socketpair()
    channel, host = socket.socketpair()
    control.setblocking(False)
    for link in (guest, host):
        threading.Thread(target=_swallow, args=(link,), daemon=True).start()
    for fd in (out, err):
        os.set_blocking(fd, False)
    armed = Armed(WaitingGuest(os.getpid(), listener, 0, 0), control, stdin, out, err, "right")
    limits = {
        "memory_bytes": 1 << 40,
        "output_bytes": 9,
        "output_kill_bytes": 9,
        "processes": 9,
        "wall_s": 3600.0,
    }
    job = Frame({"limits": limits}, (b"", b"", b""))
    run = SessionRun(job, armed, Links(channel, Decoder(FROM_HOST), place, None, channel.fileno()))
    run.start()
    return run, guest


def _swallow(link: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while link.recv(1 << 16):
            continue
