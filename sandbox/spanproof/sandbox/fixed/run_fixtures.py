"""What one run finds fixed around it, gathered for its supervisor: one thing to poll, to query and to close.

In: a job's `seed`, `clock` and `tape`. Out: a clock in each process of the run, random bytes that repeat, and
recorded calls that are answered. A run without any of them has no `RunFixtures`, and pays nothing.
"""

from __future__ import annotations

import contextlib
import platform
import select
import socket
import time
from functools import cache

from spanproof.sandbox import kernel
from spanproof.sandbox.fixed import vdso
from spanproof.sandbox.fixed.entropy import Entropy
from spanproof.sandbox.fixed.stubs import STUBS
from spanproof.sandbox.guest.wire import Frame, Header
from spanproof.sandbox.tape.server import Note
from spanproof.sandbox.tape.tape import Lead, Tape
from spanproof.sandbox.tape.target import Target

own_image = cache(vdso.read_own_image)
"""Read once: a supervisor may close its memory to all, itself included."""


def has_fixtures(job: Header) -> bool:
    """Whether a job requests any of it."""
    return job["seed"] is not None or job["clock"] is not None or bool(job["tape"])


class RunFixtures:
    """What one run finds fixed, from its first moment on."""

    def __init__(self, job: Frame, guest: int, lead: Lead, code: str, note: Note) -> None:
        """Fix what the job names, for a guest that waits; `lead`, `code` and `note` are for its `Tape`.

        Raises:
            OSError: the kernel does not let us.
        """
        self._poll = select.epoll()
        seed, clock = job.header["seed"], job.header["clock"]
        self._entropy = Entropy(seed, guest, self._poll) if seed is not None else None
        stubs = STUBS[platform.machine()]
        writes: tuple[tuple[int, bytes], ...] = ()
        if seed is not None:
            writes += vdso.build_entropy_patch(own_image(), stubs).writes
        if clock is not None:
            start_ns, began_ns = int(clock[0] * 1e9), time.time_ns()
            writes += vdso.build_clock_patch(own_image(), stubs, began_ns, start_ns, clock[1]).writes
        self._patch = vdso.Patch(writes)
        self._renewed: set[int] = set()
        try:
            self._enter(guest)
        except OSError as failure:
            raise OSError(
                f"this kernel lets no process write another's code ({failure.strerror}), so no clock and no"
                " seed can be given; boot it without proc_mem.force_override, or run without them"
            ) from failure
        self._tape: Tape | None = None
        if job.header["tape"]:
            self._tape = Tape(job.parts[-1], lead, code, note)
            self._poll.register(self._tape, select.EPOLLIN)

    @property
    def has_seed(self) -> bool:
        """Whether random bytes are ours to give."""
        return self._entropy is not None

    @property
    def environment(self) -> dict[str, str]:
        """Variables a program needs to find it."""
        return self._tape.environment if self._tape is not None else {}

    def resolve(self, target: Target) -> tuple[str, bool]:
        """Return where an address leads: the text to report, and whether a recorded server is there."""
        return self._tape.resolve(target) if self._tape is not None else (target.text, False)

    def called(self, name: str, pid: int) -> None:
        """Follow a process over its next program: that starts with the kernel's own image again.

        The first held call after it, which is that of the loader for its libraries, is where we enter.
        """
        if name in ("execve", "execveat"):
            self._renewed.add(kernel.process_of(pid))
        elif pid in self._renewed:
            self._renewed.discard(pid)
            with contextlib.suppress(OSError):  # a program that cannot be read cannot be entered either
                self._enter(pid)

    def random(self, pid: int, length: int) -> bytes:
        """Return the bytes that `getrandom` gives a thread."""
        assert self._entropy is not None, "only a seeded guest's filter calls this"
        return self._entropy.draw(pid, length)

    def in_place_of(self, path: str, *, writes: bool) -> int | None:
        """Return a descriptor to use in place of a file, the caller's to close; None if the file stays."""
        given = self._entropy.in_place_of(path) if self._entropy is not None else None
        if given is None and self._tape is not None and not writes:
            given = self._tape.in_place_of(path)
        return given

    def take(self, stream: socket.socket, destination: str) -> None:
        """Serve one end of a connection, as if it had come to this place."""
        assert self._tape is not None, "only a run with a tape has a destination that is served"
        self._tape.take(stream, destination)

    def fileno(self) -> int:
        """Return the descriptor to poll."""
        return self._poll.fileno()

    def serve(self) -> None:
        """Serve what waits."""
        for fd, _events in self._poll.poll(0):
            if self._tape is not None and fd == self._tape.fileno():
                self._tape.serve()
            elif self._entropy is not None:
                self._entropy.feed()

    def close(self) -> None:
        """Let go of everything."""
        if self._entropy is not None:
            self._entropy.close()
        if self._tape is not None:
            self._tape.close()
        self._poll.close()

    def _enter(self, pid: int) -> None:
        """Change what a process reads from its own memory; its children inherit that."""
        if self._patch.writes:
            self._patch.apply(pid)
