"""What of this machine no hostile program may reach: a file, a port, a socket's name."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

SECRET = f"canary-{os.urandom(4).hex()}"
"""The content of the file and of a variable of the process that starts the programs; none may print it."""

ABSTRACT = f"spanproof-canary-{os.getpid()}"
"""An abstract socket's name is the whole machine's: another run of these tests may be at work."""


KERNEL_SETTINGS = (
    "core_pattern", "core_pipe_limit", "core_uses_pid", "domainname", "hostname", "hotplug", "kptr_restrict",
    "modprobe", "modules_disabled", "panic", "pid_max", "poweroff_cmd", "printk", "randomize_va_space",
    "sched_rt_runtime_us", "shmmax", "suid_dumpable", "sysrq", "threads-max", "unprivileged_bpf_disabled",
)  # fmt: skip
"""Settings of the machine below /proc/sys/kernel: a program that changed one would have a way to root."""


@dataclass
class Machine:
    """Where these are, who came to the sockets, and what the kernel's settings were before."""

    canary: Path
    port: int
    reached: list[str] = field(default_factory=list)
    settings: dict[str, str] = field(default_factory=lambda: read_settings())

    def changes(self) -> list[str]:
        """Return what of this machine is not as it was."""
        now = read_settings()
        changed = [f"{name}: {text!r}" for name, text in now.items() if text != self.settings[name]]
        if self.canary.read_text() != SECRET:
            changed.append("the canary")
        return changed + [f"a connection to {family}" for family in self.reached]

    def filled(self, text: str, host_pid: int) -> str:
        """A program's text, with where these are; `host_pid` is a process it must not reach."""
        return fill(text, self.values(host_pid))

    def values(self, host_pid: int) -> dict[str, str]:
        """Return the values of the names in programs, of what is here."""
        found = {"canary": self.canary, "port": self.port, "abstract": ABSTRACT, "host_pid": host_pid}
        return {name: str(value) for name, value in found.items()}


def fill(text: str, values: dict[str, str]) -> str:
    """Return a text with each `{name}` replaced by its value."""
    for name, value in values.items():
        text = text.replace(f"{{{name}}}", value)
    return text


def read_settings() -> dict[str, str]:
    """Return the settings of the kernel that can be read here."""
    found = {}
    for name in KERNEL_SETTINGS:
        with suppress(OSError):
            found[name] = Path("/proc/sys/kernel", name).read_text()
    return found


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
