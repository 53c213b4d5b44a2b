"""Hostile and ordinary programs in turn, in four supervisors: whether any of them notices another, or stays.

Usage: `python tests/hostile/mixed_runs.py RUNS [--seed N] [--backend NAME] [--set NAME=VALUE …]`.

Half of the runs are hostile programs of `snippets`, drawn at random; half are ordinary, each of which must
end well, with what it prints, no refused attempt, and a whole record. Afterwards there are as many processes,
descriptors, mounts and control groups as before, and files where the reduced tier keeps its boxes; after
closing, none. Exit code 1 when one of this does not hold, or a hostile program had no verdict.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from snippets import HOSTILE, WITHOUT_NODE

sys.path.insert(0, str(Path(__file__).parents[1] / "bench"))

import leaks

from spanproof.sandbox import Execution, FailureClass, Fixtures, Limits, Program, Sandbox
from spanproof.sandbox.har import read_exchanges
from spanproof.sandbox.registry import open_sandbox

WORKERS = 4
ENDLESS_S = 1.5
"""For hostile programs that never end by themselves; the others have `PATIENT_S`."""
PATIENT_S = 60.0
FAULTS = 20
ORDINARY = {
    "numbers": ("print(sum(n * n for n in range(1000)))", "332833500\n"),
    "files": (
        "import os; open('a', 'w').write('x' * 9); print(os.listdir('.'), os.path.getsize('a'))",
        "['a'] 9\n",
    ),
    "json": ("import json; print(json.loads('[1, 2]')[1])", "2\n"),
    "a child": ("import subprocess; print(subprocess.check_output(['echo', 'hi']))", "b'hi\\n'\n"),
    "threads": (
        "from multiprocessing.pool import ThreadPool as P\nwith P(3) as p: print(sum(p.map(abs, [-1, -2])))",
        "3\n",
    ),
    "sqlite": ("import sqlite3; print(sqlite3.connect('d').execute('select 1 + 1').fetchone())", "(2,)\n"),
    "the shell": ("echo $((6 * 7)); ls", "42\n"),
}
SHELL = frozenset(("the shell",))
NODE = frozenset(("javascript", "typescript"))
"""Languages that the image of containers has not."""
WAITING = {
    "bash": "sleep 1.5",
    "javascript": "setTimeout(() => {}, 1500)",
    "typescript": "setTimeout(() => {}, 1500)",
    "python": "import time; time.sleep(1.5)",  # last: a supervisor of Python's may become another language's
}


def is_right(execution: Execution, printed: str) -> bool:
    """Whether an ordinary program was left alone."""
    refused = [attempt for attempt in execution.attempts if not attempt.allowed]
    clean = execution.failure_class is FailureClass.OK and execution.attempts_whole and not refused
    return clean and execution.stdout == printed


def run_hostile(sandbox: Sandbox, snippet: Any) -> str | None:
    """Run a hostile program; return what is wrong with its verdict."""
    wall_s = ENDLESS_S if "timeout" in snippet.classes else PATIENT_S
    calls = read_exchanges(snippet.recorded, snippet.name) if snippet.recorded else ()
    limits, fixtures = Limits(wall_s=wall_s, cpu_s=wall_s), Fixtures(http=calls)
    program = Program(snippet.language, snippet.source, tests=snippet.tests, limits=limits, fixtures=fixtures)
    try:
        sandbox.run(program)
    except Exception as problem:  # a lost supervisor is what is looked for
        return f"hostile {snippet.name!r} has no verdict: {type(problem).__name__}: {problem}"
    return None


def run_ordinary(sandbox: Sandbox, name: str) -> str | None:
    """Run an ordinary program; return what it noticed."""
    source, printed = ORDINARY[name]
    language = "bash" if name in SHELL else "python"
    limits = Limits(wall_s=PATIENT_S, cpu_s=PATIENT_S)
    try:
        execution = sandbox.run(Program(language, source, limits=limits))
    except Exception as problem:
        return f"ordinary {name!r}: {type(problem).__name__}: {problem}"
    return None if is_right(execution, printed) else f"ordinary {name!r}: {execution}"


def run_all(sandbox: Sandbox, runs: int, seed: int) -> list[str]:
    """Run them in an order that the seed decides; return what was wrong."""
    draw = random.Random(seed)
    hostile = HOSTILE if sandbox.name == "jail" else WITHOUT_NODE
    turns = [(True, draw.choice(hostile)) for _ in range(runs // 2)]
    turns += [(False, draw.choice(list(ORDINARY))) for _ in range(runs - runs // 2)]
    draw.shuffle(turns)
    faults: list[str] = []

    def turn(number: int) -> None:
        is_hostile, what = turns[number]
        fault = run_hostile(sandbox, what) if is_hostile else run_ordinary(sandbox, what)
        if fault:
            faults.append(f"run {number} of seed {seed}: {fault[:500]}")

    with ThreadPoolExecutor(WORKERS) as pool:
        for at in range(0, runs, 100):
            list(pool.map(turn, range(at, min(at + 100, runs))))
            print(f"{at} runs, {len(faults)} faults", file=sys.stderr, flush=True)
            if len(faults) > FAULTS:
                break
    return faults


def fill(sandbox: Sandbox) -> None:
    """Leave as many supervisors as there can be, each with the next interpreter of its language."""
    with ThreadPoolExecutor(WORKERS) as pool:
        for language, source in WAITING.items():
            if language in NODE and sandbox.name != "jail":
                continue
            program = Program(language, source, limits=Limits(wall_s=PATIENT_S))
            list(pool.map(sandbox.run, [program] * WORKERS))


def kept_files() -> int:
    """Count what lies where the reduced tier has its boxes."""
    return sum(1 for home in Path(tempfile.gettempdir()).glob("spanproof-jail-*") for _ in os.walk(home))


def main() -> int:
    """Run, and print what was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("runs", type=int)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--backend", default="jail")
    parser.add_argument("--set", dest="settings", action="append", default=[])
    options = parser.parse_args()
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as directory:
        Path(directory).chmod(0o755)
        tempfile.tempdir = directory  # others have their boxes in the usual one
        settings = dict(word.split("=", 1) for word in options.settings)
        with open_sandbox(options.backend, workers=WORKERS, settings=settings) as sandbox:
            run_all(sandbox, 40, options.seed + 1)
            fill(sandbox)
            before, files = leaks.counts(leaks.settled()), kept_files()
            faults = run_all(sandbox, options.runs, options.seed)
            fill(sandbox)
            after, files_after = leaks.counts(leaks.settled()), kept_files()
        closed, files_closed = leaks.counts(leaks.settled()), kept_files()
    row = {"runs": options.runs, "seconds": round(time.monotonic() - began), "faults": faults}
    held = {"before": [*before, files], "after": [*after, files_after], "closed": [*closed, files_closed]}
    print(json.dumps(row | held))
    grew = any(now > then for then, now in zip(held["before"], held["after"], strict=True))
    stays = closed[0] > 0 or closed[3] > 0 or files_closed > 0
    return 1 if faults or grew or stays else 0


if __name__ == "__main__":
    sys.exit(main())
