"""Hostile system calls in a sandbox: whether every one is answered, and every supervisor stays.

Usage: `python tests/hostile/fuzz_calls.py CALLS [--seed N] [--set NAME=VALUE …]`; `container.py` puts the
reduced tier where it is all there is. `fuzz_guest.py` draws programs of 2,000 calls each from a grammar
of all calls that reach the supervisor: plain ones, with a seed and a clock, with recorded HTTP, and steps of
sessions. After each, an ordinary program must be answered rightly. Exit code 1 when a supervisor was lost, a
program had no verdict, or an ordinary one another answer.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from spanproof.sandbox import (
    Clock,
    Exchange,
    Execution,
    Fixtures,
    Limits,
    Program,
    Sandbox,
    SessionSpec,
    ToolAnswer,
)
from spanproof.sandbox.registry import open_sandbox
from spanproof.sandbox.supervisor.reduced.processes import SHOWN
from spanproof.sandbox.supervisor.seccomp import rules
from spanproof.sandbox.supervisor.seccomp.path_arguments import MUTATORS, OPENS
from spanproof.sandbox.supervisor.seccomp.syscalls import get_arch

GUEST = Path(__file__).with_name("fuzz_guest.py").read_text()
CALLS_A_PROGRAM = 2_000
LIMITS = Limits(wall_s=60.0, cpu_s=60.0, processes=32)
FIXTURES = (
    Fixtures(),
    Fixtures(seed=7, clock=Clock(1.7e9)),
    Fixtures(http=(Exchange("GET", "http://api.example.com/"),)),
)

KINDS = {
    "execve": "pxx",
    "execveat": "fpxxw",
    "connect": "faw",
    "bind": "faw",
    "sendto": "fxwwaw",
    "sendmsg": "fmw",
    "sendmmsg": "fmww",
    "recvmsg": "fmw",
    "recvfrom": "fxwwax",
    "getsockname": "fxx",
    "getpeername": "fxx",
    "getsockopt": "fssxx",
    "setsockopt": "fssxw",
    "socket": "sss",
    "mmap": "xwwwfw",
    "mremap": "xwwwx",
    "getrandom": "xww",
    "flock": "fw",
    "read": "fxw",
    "write": "fxw",
    "fcntl": "fsw",
    "ioctl": "fww",
    "prctl": "swwww",
    "clone": "wxxxx",
    "utime": "px",
    "mknod": "pww",
    "mknodat": "fpww",
    "fchmod": "fw",
    "fchown": "fww",
}
"""Of the arguments: p a path, f a descriptor, a an address, m messages, h how to open, x a pointer, n a
process, s a small number, w any word. Others have any word."""
EXTRA = ("getrandom", "read", "write", "getsockname", "getpeername", "getsockopt", "recvmsg", "recvfrom")
LEFT_OUT = frozenset(("exit_group", "fork", "vfork", "rt_sigqueueinfo", "kexec_load", "reboot"))
"""Calls that end the caller or double it, of which few are enough; `clone` makes processes, too."""


def grammar() -> list[tuple[str, int, str]]:
    """Return every call that reaches a supervisor in some tier: name, number and kinds of arguments."""
    numbers = get_arch().numbers
    names = set(rules.WATCHED | rules.REFUSED | rules.CONDITIONAL | SHOWN) | set(EXTRA)
    kinds = dict(KINDS)
    for name, (directory, path, _flags) in OPENS.items():
        kinds[name] = _with_paths([(directory, path)])
    for name, arguments in MUTATORS.items():
        kinds[name] = _with_paths(arguments)
    kinds["openat2"] = "fphw"
    for name in SHOWN:
        kinds.setdefault(name, "nnww")
    # Those with a handler of their own more often than those that are only refused.
    weighted = [
        (name, 1 if name in rules.REFUSED else 4) for name in sorted(names - LEFT_OUT) if name in numbers
    ]
    return [
        (name, numbers[name], kinds.get(name, "wwwwww")) for name, times in weighted for _ in range(times)
    ]


def _with_paths(arguments: object) -> str:
    kinds = ["w"] * 6
    for directory, path in arguments:  # type: ignore[attr-defined] # rows of a table
        if path is not None:
            kinds[path] = "p"
        if directory is not None:
            kinds[directory] = "f"
    return "".join(kinds)


@dataclass
class Tally:
    """The outcomes of all programs."""

    calls: int = 0
    programs: int = 0
    classes: Counter[str] = field(default_factory=Counter)
    unsure: int = 0
    faults: list[str] = field(default_factory=list)

    def add(self, execution: Execution) -> None:
        """Count a program that had a verdict."""
        made = sum(int(number) for number in re.findall(r"^calls (\d+)$", execution.stdout, re.M))
        self.calls += made
        self.programs += 1
        self.classes[execution.failure_class.value] += 1
        self.unsure += not execution.attempts_whole


def run_one(sandbox: Sandbox, number: int, seed: int, calls: list[tuple[str, int, str]]) -> Execution:
    """Run one program of hostile calls; every fourth as a step of a session."""
    plan = {"calls": calls, "seed": f"{seed} {number}", "count": CALLS_A_PROGRAM}
    source = GUEST.replace("PLAN: dict[str, Any] = {}", f"PLAN: dict[str, Any] = {plan!r}")
    if number % 4 == 3:
        with sandbox.session(SessionSpec(limits=LIMITS), lambda _request: ToolAnswer()) as session:
            return session.execute(source)
    return sandbox.run(Program("python", source, limits=LIMITS, fixtures=FIXTURES[number % 4]))


def check_ordinary(sandbox: Sandbox) -> str | None:
    """Return what is wrong with the run of an ordinary program."""
    execution = sandbox.run(
        Program("python", "import os; open('a', 'x').write('b'); print(6 * 7, os.listdir('.'))")
    )
    held = execution.stdout == "42 ['a']\n" and execution.attempts_whole and not execution.attempts
    return None if held else f"an ordinary program: {execution}"


def fuzz(wanted: int, seed: int, settings: dict[str, str], workers: int = 4) -> Tally:
    """Make at least so many calls."""
    tally, calls = Tally(), grammar()
    with (
        open_sandbox("jail", workers=workers, settings=settings) as sandbox,
        ThreadPoolExecutor(workers) as pool,
    ):

        def turn(number: int) -> None:
            try:
                tally.add(run_one(sandbox, number, seed, calls))
                fault = check_ordinary(sandbox)
            except Exception as problem:  # a lost supervisor is what is looked for
                fault = f"{type(problem).__name__}: {problem}"
            if fault:
                tally.faults.append(f"program {number} of seed {seed}: {fault[:600]}")

        number = 0
        while tally.calls < wanted and len(tally.faults) < 10:
            list(pool.map(turn, range(number, number + 4 * workers)))
            number += 4 * workers
            if sys.stderr.isatty() or number % (40 * workers) == 0:
                print(f"{tally.calls} calls, {len(tally.faults)} faults", file=sys.stderr, flush=True)
    return tally


def main() -> int:
    """Fuzz, and print what was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("calls", type=int)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--set", dest="settings", action="append", default=[])
    options = parser.parse_args()
    began = time.monotonic()
    tally = fuzz(options.calls, options.seed, dict(word.split("=", 1) for word in options.settings))
    seconds = round(time.monotonic() - began)
    row = {"calls": tally.calls, "programs": tally.programs, "seconds": seconds, "unsure": tally.unsure}
    print(json.dumps(row | {"classes": dict(tally.classes), "faults": tally.faults}))
    return 1 if tally.faults else 0


if __name__ == "__main__":
    sys.exit(main())
