# ruff: noqa: PTH109, PTH115, PTH120, PTH123, PTH208 - a program
"""What a program finds around it, printed as JSON: run after a hostile one, it shows what that one left.

`HEAD` and `TAIL` are filled in: they are the two halves of a marker, the second reversed, so that this
text does not hold what it looks for. `PREFIX` is where the libraries are.
"""

from __future__ import annotations

import builtins
import json
import os
import re
import resource
import signal
import socket
import sys
import threading
from collections.abc import Callable
from typing import Any

HEAD, TAIL = b"@HEAD", b"@TAIL"
HOME = os.path.dirname(os.getcwd())
NUMBERS = re.compile(r"\d+")


def attempt(look: Callable[[], Any]) -> Any:
    try:
        return look()
    except OSError as problem:
        return type(problem).__name__


def read(name: str) -> str:
    with open(name) as file:
        return file.read().replace(HOME, "~")


def walk(top: str) -> list[Any]:
    found = []
    for place, under, files in os.walk(top):
        if place.endswith("@PREFIX"):  # libraries, of a checkout below /tmp
            under.clear()
            continue
        found.append((place.replace(HOME, "~"), sorted(under), sorted(files)))
    return sorted(found)


def holds_marker(data: bytes) -> bool:
    at = data.find(HEAD)
    while at >= 0:
        rest = at + len(HEAD)
        if all(data[rest + n : rest + n + 1] == TAIL[-1 - n : len(TAIL) - n] for n in range(len(TAIL))):
            return True
        at = data.find(HEAD, at + 1)
    return False


def search_memory() -> list[str]:
    found = []
    memory = os.open("/proc/self/mem", os.O_RDONLY)
    writable = r"^(\w+)-(\w+) (?:rw|r..s)\S* \S+ \S+ \S+ *(.*)$"
    for first, last, name in re.findall(writable, read("/proc/self/maps"), re.M):
        at, end = int(first, 16), int(last, 16)
        while at < end:
            size = min(1 << 22, end - at)
            try:
                if holds_marker(os.pread(memory, size + 64, at)):
                    found.append(name or "anonymous")
            except OSError:
                pass
            at += size
    os.close(memory)
    return found


def status_lines() -> list[str]:
    wanted = re.compile(r"Sig(Ign|Blk|Cgt)|Shd|Cap|NoNewPrivs|Seccomp|Cpus_allowed:|Threads")
    return [line for line in read("/proc/self/status").splitlines() if wanted.match(line)]


def count_room() -> tuple[int, int]:
    about = os.statvfs(".")
    return about.f_bfree, about.f_ffree


VIEW = {
    "memory": attempt(search_memory),
    "environment": sorted((name, value.replace(HOME, "~")) for name, value in os.environ.items()),
    "directory": os.getcwd().replace(HOME, "~"),
    "files": [walk(top) for top in (HOME, "/tmp", "/var/tmp", "/dev/shm")],
    "descriptors": [
        NUMBERS.sub("#", attempt(lambda n=n: os.readlink(f"/proc/self/fd/{n}"))) for n in range(64)
    ],
    "processes": attempt(lambda: sum(name.isdigit() for name in os.listdir("/proc"))),
    "threads": threading.active_count(),
    "identity": [os.getresuid(), os.getresgid(), os.getgroups(), os.umask(0o22), os.nice(0)],
    "status": attempt(status_lines),
    "score": attempt(lambda: read("/proc/self/oom_score_adj")),
    "limits": [resource.getrlimit(number) for number in range(16) if number != resource.RLIMIT_NPROC],
    "timers": [signal.getitimer(number) for number in range(3)],
    "sockets": [
        attempt(lambda n=n: read(f"/proc/self/net/{n}").count("\n")) for n in ("tcp", "tcp6", "udp", "unix")
    ],
    "host": [socket.gethostname(), os.uname().release],
    "arguments": sys.argv,
    "modules": sorted(sys.modules),
    "builtins": sorted(vars(builtins)),
}
if HOME == "/box":  # else a directory of the machine's
    mounts = [line.split(" ", 3)[3] for line in read("/proc/self/mountinfo").splitlines()]
    VIEW |= {"room": count_room(), "mounts": sorted(mounts)}
print(json.dumps(VIEW))
