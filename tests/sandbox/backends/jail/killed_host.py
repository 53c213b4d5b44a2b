"""Kills a jail with SIGKILL, host and all, then runs `spanproof doctor --clean`; prints what was there when.

Usage: `python killed_host.py`. The program of the jail has a child, and both sleep.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[3] / "plugins"))

import waiting
from control_groups import control_groups_of

NAME = "killed-with-all"
HOST = f"""
from spanproof.sandbox import Limits, Program
from spanproof.sandbox.registry import open_sandbox
sandbox = open_sandbox(settings={{"tier": "reduced"}})
source = "import ctypes, os, time; ctypes.CDLL(None).prctl(15, b'{NAME}'); os.fork(); time.sleep(999)"
sandbox.run(Program("python", source, limits=Limits(wall_s=999)))
"""


def below(top: int) -> list[int]:
    """Return a process and all that descend from it."""
    parents = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and (fields := fields_of(int(entry.name))):
            parents[int(entry.name)] = int(fields[1])
    found = [top]
    for pid in found:
        found += [child for child, parent in parents.items() if parent == pid]
    return found


def fields_of(pid: int) -> list[bytes]:
    """Return what /proc says of a process from its state on; nothing of one that has ended."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
    except OSError:
        return []
    return fields if fields[0] not in b"ZX" else []


def is_named(pid: int) -> bool:
    """Whether a process is one of the program's."""
    try:
        return Path(f"/proc/{pid}/comm").read_text(errors="replace") == f"{NAME}\n"
    except OSError:
        return False


def is_released(pid: int) -> bool:
    """Whether a process of the jail belongs to a program or could: it has forgone new rights."""
    try:
        return b"\nNoNewPrivs:\t1" in Path(f"/proc/{pid}/status").read_bytes()
    except OSError:  # it has ended with those that were killed
        return False


def send(pid: int, number: signal.Signals) -> None:
    """Send a signal to a process, which may have ended by now."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)


def main() -> None:
    """Kill and clean."""
    with tempfile.TemporaryDirectory() as directory:
        os.environ["TMPDIR"] = directory  # other jails of the machine clean up in theirs
        Path(directory).chmod(0o755)
        host = subprocess.Popen([sys.executable, "-c", HOST])
        waiting.wait_until(lambda: sum(map(is_named, below(host.pid))) == 2, "the program and its child run")
        jail = below(host.pid)
        for pid in jail:
            send(pid, signal.SIGSTOP)  # none of them sees another one's end, and cleans up
        groups = control_groups_of(host.pid)
        for pid in [pid for pid in jail if not is_released(pid)]:
            send(pid, signal.SIGKILL)
        host.wait()
        waiting.wait_until(
            lambda: not any(fields_of(pid) for pid in jail if not is_named(pid)), "it has ended"
        )

        def left() -> list[str]:
            paths = [*groups, *Path(directory).glob("spanproof-jail-*")]
            return [str(pid) for pid in jail if fields_of(pid)] + [
                str(path) for path in paths if path.exists()
            ]

        before = left()
        command = [sys.executable, "-m", "spanproof.cli", "doctor", "--clean", "--json"]
        removed = json.loads(subprocess.check_output(command))["removed"]
        print(json.dumps({"left": before, "removed": removed, "still_there": left()}))


if __name__ == "__main__":
    main()
