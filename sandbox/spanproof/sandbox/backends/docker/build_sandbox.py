"""Building environments in a container: one of the sandbox's own, with two directories of this machine in it.

In: a program, and two directories. Out: its `Execution`. As every container it has no network. The daemon has
to see this machine's files, and the image to have the interpreter that packages are chosen for here.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from spanproof.sandbox.backends.docker.container import Container
from spanproof.sandbox.backends.docker.daemon import Shape
from spanproof.sandbox.backends.docker.pool import Pool
from spanproof.sandbox.errors import UnsupportedFixtures
from spanproof.sandbox.guest.outcome import build_execution
from spanproof.sandbox.model import Ecosystem, Execution, Program
from spanproof.sandbox.supervisor.namespaces.root import Bind
from spanproof.sandbox.supervisor.run.job import build_job

_GRACE_S = 15.0


def build_in(pool: Pool, user: str, program: Program, archives: Path, image: Path) -> Execution:
    """Run a program that may read `archives`, and write to `image`: its input says where it sees them.

    Raises:
        UnsupportedFixtures: the container's interpreter is another one.
        SandboxUnavailable: no container can be had.
        SandboxBroken: it failed.
    """
    if os.geteuid() == 0:
        os.chown(image, *map(int, user.split(":")))
    else:
        user = f"{os.geteuid()}:{os.getegid()}"  # what it writes must be ours to remove
    limits = program.limits
    binds = (Bind(str(archives), "/archives"), Bind(str(image), "/image", writable=True))
    shape = Shape(limits.memory_bytes, limits.processes, limits.disk_bytes, binds, user)
    container = pool.get_container(shape)
    try:
        wheels = any(archives.glob("*.whl"))
        check_fits(container, Ecosystem.PIP if wheels else Ecosystem.NPM)
        header, parts = build_job(replace(program, stdin=b"/archives\n/image"), container.runtimes)
        container.send(header, parts)
        answer = container.wait_for_frame(limits.wall_s + _GRACE_S)
    finally:
        pool.close_container(container)
    return build_execution(answer.header, answer.parts, limits)


def check_fits(container: Container, ecosystem: Ecosystem) -> None:
    """Refuse a container in which packages chosen for this interpreter and system may not run.

    Raises:
        UnsupportedFixtures: names both, and what to do.
    """
    libc, libc_version = platform.libc_ver()
    own = {"python": platform.python_version(), "machine": platform.machine()}
    here = _Base.from_reply({**own, "libc": libc, "libc_version": libc_version}, ecosystem)
    there = _Base.from_reply(container.facts, ecosystem)
    if not there.bears(here):
        raise UnsupportedFixtures(
            f"the image has {there}, and package sets are chosen for what Spanproof runs on, {here}:"
            " name an image with the same, or run Spanproof with the image's"
        )


@dataclass(frozen=True, slots=True)
class _Base:
    """What built packages rest on: an interpreter's minor version, a processor, a C library."""

    python: str
    machine: str
    libc: str
    libc_version: tuple[int, ...]

    @classmethod
    def from_reply(cls, reply: Mapping[str, object], ecosystem: Ecosystem) -> _Base:
        python, machine, libc, version = (
            str(reply.get(name, "")) for name in ("python", "machine", "libc", "libc_version")
        )
        minor = ".".join(python.split(".")[:2]) if ecosystem is Ecosystem.PIP else ""
        numbers = tuple(int(part) for part in version.split(".") if part.isdecimal())
        return cls(minor, machine, libc or "musl", numbers)

    def bears(self, other: _Base) -> bool:
        """Whether what was chosen for another runs on it: its C library may be newer."""
        same = (self.python, self.machine, self.libc) == (other.python, other.machine, other.libc)
        return same and self.libc_version >= other.libc_version

    def __str__(self) -> str:
        python = f"Python {self.python} on " if self.python else ""
        return f"{python}{self.machine} with {self.libc} {'.'.join(map(str, self.libc_version))}".rstrip()
