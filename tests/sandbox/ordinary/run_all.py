"""Runs each ordinary program by itself in the jail, and prints those accused or with another output.

Usage: python -m tests.sandbox.ordinary.run_all [--tier full|reduced] [--plain] [--timing] [--repeat N]
           [--workers N] [--record] [NAME …]

`test_ordinary_programs.py` runs programs of data science many in one run; this gives each a run of its own,
behind either wall. `--plain` runs them outside instead, `--repeat` each N times, and `--timing` selects those
that use threads, processes, signals or time. Exit code 1 where a program is accused or prints something else.

`--record` writes what a plain interpreter prints, for programs that have no output yet. It runs them beside
each other, each `count_runs` times, and writes only what was the same each time: delete what it refuses.
To check those that are there, on a machine that is busy enough to change the order of threads:

    python -m tests.sandbox.ordinary.run_all --timing --repeat 20 --workers 4 --plain
    python -m tests.sandbox.ordinary.run_all --timing --repeat 20 --workers 4
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

from spanproof.sandbox import Execution, Limits, Program, Sandbox
from spanproof.sandbox.registry import open_sandbox

from .in_one_run import find_modules

PROGRAMS = Path(__file__).parent / "programs"
LANGUAGES = {".py": "python", ".sh": "bash", ".mjs": "javascript"}
LIMITS = Limits(
    wall_s=120,
    cpu_s=120,
    memory_bytes=2 << 30,
    processes=256,
    disk_bytes=512 << 20,
    open_files=1024,
)
"""Those of a machine; what is tested is the boundary."""
ENDLESS = frozenset(("b023.py",))
"""Programs that come to no end in the jail: a pool starts its workers anew for ever."""
ENDLESS_S = 5.0
SHOWN = 5
"""Problems of one program that are printed."""
GROUP = 20
"""Programs that are recorded in one run, where their packages take longer to import than they run."""
IN_ONE_RUN = Path(__file__).parent / "in_one_run.py"
INTERPRETERS = {".py": sys.executable, ".sh": "bash", ".mjs": "node"}
TIMING = {
    ".py": re.compile(
        r"thread|multiprocessing|concurrent|joblib|n_jobs|subprocess|os\.(fork|kill|system|popen)"
        r"|asyncio|signal|sched|queue|socket|http|server|sleep|perf_counter|monotonic|time\.|now\(|today\(|tqdm"
    ),
    ".sh": re.compile(
        r"&\s*$|& |\b(wait|kill|trap|sleep|timeout|time|date|coproc|parallel)\b|-P ?\d|>\(", re.M
    ),
    ".mjs": re.compile(
        r"setTimeout|setInterval|setImmediate|nextTick|timers|child_process|cluster|orker|process\.(on|kill|hr)"
        r"|performance|Date|http|net\b|dgram|watch|Signal|race"
    ),
}
"""What programs have whose output may depend on an order or a time."""
TIMING_RUNS = 20
"""Runs before the output of such a program is recorded: one that differed in 1 of 200 failed the tests."""
OTHER_RUNS = 2
"""Runs of the others: they show sets without an order, addresses, names of temporary files."""


def main() -> int:
    """Run what the command line says."""
    arguments = parse_arguments()
    paths = [path for path in list_programs() if not arguments.names or path.name in arguments.names]
    if arguments.timing:
        paths = [path for path in paths if uses_timing(path)]
    with ThreadPoolExecutor(arguments.workers) as pool:
        if arguments.record:
            return record(pool, [path for path in paths if not path.with_suffix(".out").exists()])
        runs = [path for path in paths for _ in range(arguments.repeat)]
        if arguments.plain:
            failed = print_problems(runs, pool.map(list_plain_problems, runs))
        else:
            settings = {"tier": arguments.tier}
            with open_sandbox("jail", workers=arguments.workers, settings=settings) as sandbox:
                failed = print_problems(runs, pool.map(lambda path: list_jail_problems(sandbox, path), runs))
    print(f"{len(failed)} of {len(paths)} programs are accused or print something else")
    return int(bool(failed))


def record(pool: ThreadPoolExecutor, paths: list[Path]) -> int:
    """Write the output of programs that print the same each time; return 1 where one does not."""
    together = [path for path in paths if path.suffix == ".py" and find_modules([load(path)])]
    groups = [[path] for path in paths if path not in together]
    for timing in (False, True):
        alike = [path for path in together if uses_timing(path) is timing]
        groups += [alike[first : first + GROUP] for first in range(0, len(alike), GROUP)]
    refused = 0
    for problems in pool.map(record_group, groups):
        refused += len(problems)
        for problem in problems:
            print(problem, flush=True)
    return int(refused > 0)


def record_group(paths: list[Path]) -> list[str]:
    """Write what the programs of one run print outside, and list those that have nothing to write."""
    run = run_plain if len(paths) == 1 else run_plain_together
    try:
        runs = [run(paths) for _ in range(max(map(count_runs, paths)))]
    except RuntimeError as problem:
        return [str(problem)]
    problems = []
    for path in paths:
        outputs = {outputs[path] for outputs in runs}
        if None in outputs:
            problems.append(f"{path.name} fails")
        elif len(outputs) > 1:
            problems.append(f"{path.name} prints {len(outputs)} different outputs: {list(outputs)[:2]!r}")
        else:
            path.with_suffix(".out").write_text(str(outputs.pop()), encoding="utf-8")
    return problems


def count_runs(path: Path) -> int:
    """Return how often a program must print the same before its output is recorded."""
    return TIMING_RUNS if uses_timing(path) else OTHER_RUNS


def uses_timing(path: Path) -> bool:
    """Return whether a program uses threads, processes, signals or time."""
    return bool(TIMING[path.suffix].search(load(path)))


def print_problems(paths: list[Path], listed: Iterable[list[str]]) -> set[Path]:
    """Print the problems of each run as it ends, and return the programs that have some."""
    failed = set()
    for path, problems in zip(paths, listed, strict=True):
        if problems:
            failed.add(path)
        for problem in problems[:SHOWN]:
            print(f"{path.name}: {problem}", flush=True)
        if len(problems) > SHOWN:
            print(f"{path.name}: {len(problems) - SHOWN} more", flush=True)
    return failed


def list_plain_problems(path: Path) -> list[str]:
    """List what is wrong with a run outside."""
    try:
        printed = run_plain([path])[path]
    except RuntimeError as problem:
        return [str(problem)]
    return [] if printed == load_output(path) else [f"prints {printed!r}"]


def list_jail_problems(sandbox: Sandbox, path: Path) -> list[str]:
    """List what is wrong with a run in the jail."""
    return list_problems(run_in_jail(sandbox, path), load_output(path))


def load(path: Path) -> str:
    """Load the source of a program."""
    return path.read_text(encoding="utf-8")


def load_output(path: Path) -> str:
    """Load what a program prints outside."""
    return load(path.with_suffix(".out"))


def parse_arguments() -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--tier", choices=("full", "reduced"), default="full")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--record", action="store_true")
    parser.add_argument("--plain", action="store_true")
    parser.add_argument("--timing", action="store_true")
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("names", nargs="*", metavar="NAME")
    return parser.parse_args()


def list_programs() -> list[Path]:
    """List the programs by name."""
    return sorted(path for path in PROGRAMS.iterdir() if path.suffix in LANGUAGES)


def run_in_jail(sandbox: Sandbox, path: Path) -> Execution:
    """Run a program by itself."""
    return sandbox.run(Program(LANGUAGES[path.suffix], load(path), limits=get_limits(path)))


def get_limits(path: Path) -> Limits:
    """Return the limits of a program."""
    return replace(LIMITS, wall_s=ENDLESS_S) if path.name in ENDLESS else LIMITS


def list_refused(execution: Execution) -> list[str]:
    """List what a program is accused of, and that its record is not whole."""
    refused = [f"{each.kind} {each.target}" for each in execution.attempts if not each.allowed]
    return refused if execution.attempts_whole else [*refused, "its record is not whole"]


def list_problems(execution: Execution, expected: str) -> list[str]:
    """List what a program is accused of, and that it prints something else."""
    problems = list_refused(execution)
    if execution.stdout != expected:
        problems.append(f"prints {execution.stdout[-300:]!r} ({execution.stderr[-300:]!r})")
    return problems


def run_plain(paths: list[Path]) -> dict[Path, str | None]:
    """Return what a program prints in an empty directory outside.

    Raises:
        RuntimeError: it fails there, too.
    """
    (path,) = paths
    with tempfile.TemporaryDirectory() as directory:
        done = run_outside([INTERPRETERS[path.suffix], str(path)], directory)
    if done.returncode != 0:
        raise RuntimeError(f"{path.name} ends with {done.returncode}: {done.stderr[-500:]}")
    return {path: done.stdout}


def run_plain_together(paths: list[Path]) -> dict[Path, str | None]:
    """Return what programs print outside in one run, None for one that fails.

    Raises:
        RuntimeError: the run fails.
    """
    with tempfile.TemporaryDirectory() as directory:
        sources = {path.stem: load(path) for path in paths}
        Path(directory, "programs.json").write_text(json.dumps(sources), encoding="utf-8")
        done = run_outside([sys.executable, str(IN_ONE_RUN)], directory)
    answers = {answer["name"]: answer for answer in map(json.loads, done.stdout.splitlines())}
    if answers.keys() != sources.keys():
        raise RuntimeError(f"one run of {paths[0].name} to {paths[-1].name} fails: {done.stderr[-500:]}")
    return {path: None if answers[path.stem]["status"] else answers[path.stem]["stdout"] for path in paths}


def run_outside(command: list[str], directory: str) -> subprocess.CompletedProcess[str]:
    """Run a command in a directory, with what the jail sets for Python."""
    return subprocess.run(
        command,
        cwd=directory,
        env={**os.environ, "PYTHONHASHSEED": "0"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


if __name__ == "__main__":
    sys.exit(main())
