"""What a run in each language costs in the jail, warm and cold, beside the plain interpreter in the same run.

Usage: python tests/bench/languages.py [--runs 20] [--pause 1.0] [--json]

A program prints a number. The ways take turns, so that other load falls on all of them alike. *Warm* follows
a run of the same language after a pause, in which the supervisor has started the next interpreter; *cold* is
the first run of a sandbox's supervisor, whose interpreter starts then. Milliseconds: quickest and median.
"""

from __future__ import annotations

import argparse
import json
import os
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

PROGRAMS = {
    "python": ("main.py", "print(1)"),
    "bash": ("main.sh", "echo 1"),
    "javascript": ("main.js", "console.log(1)"),
    "typescript": ("main.ts", "const n: number = 1; console.log(n)"),
}


@dataclass(frozen=True, slots=True)
class Row:
    """One language, one way; milliseconds."""

    language: str
    way: str
    quickest: float
    median: float


def main() -> None:
    """Measure each, print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--pause", type=float, default=1.0)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    rows = [row for language in PROGRAMS for row in measure(language, options.runs, options.pause)]
    if options.json:
        print(json.dumps([asdict(row) for row in rows]))
        return
    for row in rows:
        print(f"{row.language:12} {row.way:6} quickest {row.quickest:7.1f} median {row.median:7.1f}")
    print(f"load {os.getloadavg()[0]:.0f}")


def measure(language: str, runs: int, pause_s: float) -> list[Row]:
    """Return the rows of a language."""
    name, source = PROGRAMS[language]
    times: dict[str, list[float]] = {"plain": [], "cold": [], "warm": []}
    with tempfile.TemporaryDirectory() as scratch, open_sandbox("jail", workers=1) as warm:
        script = Path(scratch, name)
        script.write_text(source)
        command = plain_command(language, str(script))
        jailed(warm, language, source)
        for _ in range(runs):
            time.sleep(pause_s)
            times["warm"].append(timed(lambda: jailed(warm, language, source)))
            times["plain"].append(timed(lambda: subprocess.run(command, check=True, capture_output=True)))
            with open_sandbox("jail", workers=1) as cold:
                jailed(cold, "python", "print(1)")  # the jail itself is there
                time.sleep(0.1)
                times["cold"].append(timed(lambda: jailed(cold, language, source)))
    return [Row(language, way, min(found), median(found)) for way, found in times.items()]


def plain_command(language: str, script: str) -> list[str]:
    """Return how the interpreter runs a script without a jail."""
    if language == "python":
        return [sys.executable, "-I", script]
    if language == "bash":
        return ["/bin/bash", script]
    node = find_node()
    assert node is not None
    return [node.path, *(["--experimental-transform-types"] if language == "typescript" else []), script]


def jailed(sandbox: Sandbox, language: str, source: str) -> None:
    """Run the program."""
    execution = sandbox.run(Program(language, source))
    assert execution.exit_code == 0, execution


def timed(work: Callable[[], object]) -> float:
    """Return how long it takes, ms."""
    began = time.perf_counter()
    work()
    return (time.perf_counter() - began) * 1000


if __name__ == "__main__":
    main()
