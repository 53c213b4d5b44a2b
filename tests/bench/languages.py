"""What a run of each kind costs in the jail beside the plain interpreter, bubblewrap and nsjail, in one run.

Usage: python tests/bench/languages.py [--runs 20] [--pause 1.0] [--only KIND …] [--json]

A kind is a language whose program prints a number, `tests` (a function of Python with three tests), or
`numpy tests` (tests that import numpy). The ways take turns, so that other load falls on all of them alike.
*Warm* follows a run of the same kind after a pause, in which the supervisor has started the next interpreter;
*cold* is the first run of a sandbox's supervisor, whose interpreter starts then. The other ways run the same
text, its tests below it. A way whose program is not installed is left out. Milliseconds: quickest, median,
and the median's ratio to that of the plain interpreter.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median

from spanproof.sandbox import Program, Sandbox
from spanproof.sandbox.registry import open_sandbox
from spanproof.sandbox.supervisor.node import find_node

_FUNCTION = "def add(a, b):\n    return a + b\n"
_TESTS = "assert add(1, 2) == 3\nassert add(-1, 1) == 0\nassert add('a', 'b') == 'ab'\n"
_NUMPY_TESTS = "import numpy as np\nassert np.array_equal(add(np.arange(3), 1), np.array([1, 2, 3]))\n"
KINDS = {
    "python": ("main.py", Program("python", "print(1)")),
    "bash": ("main.sh", Program("bash", "echo 1")),
    "javascript": ("main.js", Program("javascript", "console.log(1)")),
    "typescript": ("main.ts", Program("typescript", "const n: number = 1; console.log(n)")),
    "tests": ("main.py", Program("python", _FUNCTION, tests=_TESTS)),
    "numpy tests": ("main.py", Program("python", _FUNCTION, tests=_NUMPY_TESTS)),
}
PLAIN = "plain"
BUBBLEWRAP = [
    *("bwrap", "--ro-bind", "/", "/", "--tmpfs", "/tmp", "--proc", "/proc", "--dev", "/dev"),
    *("--unshare-all", "--die-with-parent"),
]
NSJAIL = ["nsjail", "--mode", "o", "--quiet", "--chroot", "/", "--disable_clone_newuser", "--"]


@dataclass(frozen=True, slots=True)
class Row:
    """One kind, one way; milliseconds, and the ratio of medians to the plain interpreter."""

    kind: str
    way: str
    quickest: float
    median: float
    ratio: float


def main() -> None:
    """Measure each, print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--pause", type=float, default=1.0)
    parser.add_argument("--only", nargs="+", choices=KINDS, default=list(KINDS))
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    rows = [row for kind in options.only for row in measure(kind, options.runs, options.pause)]
    if options.json:
        print(json.dumps([asdict(row) for row in rows]))
        return
    for row in rows:
        figures = f"quickest {row.quickest:7.1f} median {row.median:7.1f} ratio {row.ratio:5.2f}"
        print(f"{row.kind:12} {row.way:10} {figures}")
    print(f"load {os.getloadavg()[0]:.0f}")


def measure(kind: str, runs: int, pause_s: float) -> list[Row]:
    """Return the rows of a kind."""
    name, program = KINDS[kind]
    # Not below /tmp, which is empty in bubblewrap.
    with tempfile.TemporaryDirectory(dir="/var/tmp") as scratch, open_sandbox("jail", workers=1) as warm:
        script = Path(scratch, name)
        script.write_text(program.source + (program.tests or ""))
        command = build_plain_command(program.language, str(script))
        ways: dict[str, Callable[[], object]] = {
            "warm": lambda: run_in_jail(warm, program),
            PLAIN: lambda: run_command(command),
        }
        for tool, walls in (("bubblewrap", BUBBLEWRAP), ("nsjail", NSJAIL)):
            if shutil.which(walls[0]):
                ways[tool] = lambda walls=walls: run_command([*walls, *command])  # type: ignore[misc]
        run_in_jail(warm, program)
        times: dict[str, list[float]] = {way: [] for way in (*ways, "cold")}
        for _ in range(runs):
            time.sleep(pause_s)
            for way, run in ways.items():
                times[way].append(measure_ms(run))
            with open_sandbox("jail", workers=1) as cold:
                run_in_jail(cold, Program("python", "print(1)"))  # the jail itself is there
                time.sleep(0.1)
                times["cold"].append(measure_ms(lambda: run_in_jail(cold, program)))
    plain = median(times[PLAIN])
    return [Row(kind, way, min(found), median(found), median(found) / plain) for way, found in times.items()]


def build_plain_command(language: str, script: str) -> list[str]:
    """Return how the interpreter runs a script without a jail."""
    if language == "python":
        return [sys.executable, "-I", script]
    if language == "bash":
        return ["/bin/bash", script]
    node = find_node()
    assert node is not None
    return [node.path, *(["--experimental-transform-types"] if language == "typescript" else []), script]


def run_command(command: list[str]) -> None:
    """Run a command, which must end well."""
    subprocess.run(command, check=True, capture_output=True)


def run_in_jail(sandbox: Sandbox, program: Program) -> None:
    """Run the program, which must end well."""
    execution = sandbox.run(program)
    assert execution.exit_code == 0, execution


def measure_ms(work: Callable[[], object]) -> float:
    """Return how long it takes, ms."""
    began = time.perf_counter()
    work()
    return (time.perf_counter() - began) * 1000


if __name__ == "__main__":
    main()
