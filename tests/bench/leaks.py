"""Whether many runs leave anything behind: processes, descriptors, mounts, control groups, memory.

Usage: `python tests/bench/leaks.py [RUNS] [--json]`, 10,000 runs by default. Runs of several kinds take turns
in one sandbox with one worker, so that the same supervisor serves them all; what the machine holds is counted
after a warm-up, after the runs, and after closing. Exit code 1 when a count grew, or memory beyond its
allowance.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from spanproof.sandbox import Limits, Program, Sandbox
from spanproof.sandbox.registry import open_sandbox

WARM_UP = 60
ALLOWED_BYTES = 4 * 1024 * 1024
"""Of growth in a process, over all runs: an interpreter's heap is not the same at any two moments."""

LOOKS, SETTLES_S = 6, 120.0

PROGRAMS = {
    "trivial": Program("python", "print(1)"),
    "files": Program("python", "open('a', 'w').write('x' * 100_000); import os; os.makedirs('b/c')"),
    "an orphan": Program("python", "import os, time\nif os.fork() == 0: time.sleep(60)"),
    "an exception": Program("python", "def f(n): return f(n - 1) if n else 1 / 0\nf(50)"),
    "output": Program("python", "print('x' * 200_000)", limits=Limits(output_bytes=10_000)),
    "a refused call": Program("python", "import socket; socket.create_connection(('192.0.2.1', 80))"),
    "tests": Program("python", "def f(x): return x + 1", tests="def test_f(): assert f(1) == 2"),
    "the loopback": Program(
        "python",
        "import socket as s\na = s.create_server(('127.0.0.1', 0)); s.create_connection(a.getsockname())",
    ),
}
RARE = {"the loopback": 20, "output": 5, "tests": 5, "an orphan": 3}
"""Every how many-th round a kind takes part; the others do in each."""


@dataclass(frozen=True)
class Held:
    """What is held at a moment.

    Attributes:
        memory: resident bytes that are no file's, by process: this one, and those below it in order of birth.
    """

    processes: int
    descriptors: int
    mounts: int
    groups: int
    memory: tuple[int, ...]


def held() -> Held:
    below = [pid for pid in descendants() if alive(pid)]
    return Held(
        processes=len(below),
        descriptors=sum(count_descriptors(pid) for pid in (os.getpid(), *below)),
        mounts=sum(count_mounts(pid) for pid in below),
        groups=len(groups()),
        memory=tuple(private_bytes(pid) for pid in (os.getpid(), *below)),
    )


def count_descriptors(pid: int) -> int:
    try:
        return len(list(Path(f"/proc/{pid}/fd").iterdir()))
    except PermissionError:  # a user of a container may not look into a process that is closed to others
        return 0


def count_mounts(pid: int) -> int:
    try:
        return len(Path(f"/proc/{pid}/mountinfo").read_text().splitlines())
    except PermissionError:
        return 0


def descendants() -> list[int]:
    parents = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parents[int(entry.name)] = int(
                    (entry / "stat").read_text(errors="replace").rpartition(")")[2].split()[1]
                )
            except OSError:
                continue
    found = [os.getpid()]
    for pid in found:
        found += sorted(child for child, parent in parents.items() if parent == pid)
    return found[1:]


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def groups() -> list[str]:
    own = re.compile(rf"/spanproof-jail-\w+-{os.getpid()}(/|$)")
    # Not Path.rglob: others' groups come and go meanwhile.
    return [base for base, _names, _files in os.walk("/sys/fs/cgroup") if own.search(base)]


def private_bytes(pid: int) -> int:
    lines = Path(f"/proc/{pid}/status").read_text(errors="replace").splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("RssAnon:"))


def work(sandbox: Sandbox, runs: int, tick: Callable[[int], None]) -> None:
    done, turn = 0, 0
    while done < runs:
        turn += 1
        for name, program in PROGRAMS.items():
            if turn % RARE.get(name, 1) == 0 and done < runs:
                sandbox.run(program)
                done += 1
        tick(done)


def settled() -> Held:
    """What is held once the next guest is armed and the last one gone: when it stays the same for a while."""
    deadline = time.monotonic() + SETTLES_S
    seen: list[Held] = []
    while len({counts(one) for one in seen[-LOOKS:]}) != 1 or len(seen) < LOOKS:
        time.sleep(0.1)
        try:
            seen.append(held())
        except OSError:  # one of them has ended while it was looked at
            seen.clear()
        if time.monotonic() > deadline:
            sys.exit(f"what is held does not come to rest within {SETTLES_S:g} s: {seen[-LOOKS:]}")
    return seen[-1]


def counts(moment: Held) -> tuple[int, ...]:
    return moment.processes, moment.descriptors, moment.mounts, moment.groups


def measure(runs: int, console: Console) -> tuple[Held, Held, Held, float]:
    with open_sandbox() as sandbox:
        work(sandbox, WARM_UP, lambda _done: None)
        before = settled()
        started = time.monotonic()
        with console.status("") as status:
            work(sandbox, runs, lambda done: status.update(f"{done} of {runs} runs"))
        seconds = time.monotonic() - started
        after = settled()
    return before, after, settled(), seconds


def grew(before: Held, after: Held, closed: Held) -> list[str]:
    names = ("processes", "descriptors", "mounts", "groups")
    found = [name for name in names if getattr(after, name) > getattr(before, name)]
    found += [f"{name} after closing" for name in ("processes", "groups") if getattr(closed, name) > 0]
    pairs = zip(before.memory, after.memory, strict=False)
    found += ["memory"] if any(now - then > ALLOWED_BYTES for then, now in pairs) else []
    return found


def table(before: Held, after: Held, closed: Held) -> Table:
    shown = Table("", "after warm-up", "after the runs", "after closing")
    for name in ("processes", "descriptors", "mounts", "groups"):
        shown.add_row(name, *(str(getattr(moment, name)) for moment in (before, after, closed)))
    who = ["this process", "launcher", "master", "spawner", "supervisor", "zygote", "armed guest"]
    for number, name in enumerate(who):
        cells = [moment.memory[number : number + 1] for moment in (before, after, closed)]
        shown.add_row(f"{name}, KiB", *(str(cell[0] // 1024) if cell else "-" for cell in cells))
    return shown


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("runs", type=int, nargs="?", default=10_000)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    console = Console(stderr=options.json)
    before, after, closed, seconds = measure(options.runs, console)
    leaks = grew(before, after, closed)
    if options.json:
        moments = {"before": asdict(before), "after": asdict(after), "closed": asdict(closed)}
        print(json.dumps({"runs": options.runs, "seconds": seconds, "leaks": leaks, **moments}))
    else:
        console.print(table(before, after, closed))
        verdict = f"grew: {', '.join(leaks)}" if leaks else "nothing grew"
        console.print(f"{options.runs} runs in {seconds:.0f} s: {verdict}")
    return 1 if leaks else 0


if __name__ == "__main__":
    sys.exit(main())
