"""Runs each ordinary program by itself in the jail, and prints those accused or with another output.

Usage: python tests/sandbox/ordinary/run_all.py [--tier full|reduced] [--workers 2] [--record] [NAME …]

`test_ordinary_programs.py` runs programs of data science many in one run; this gives each a run of its own,
behind either wall. `--record` writes instead what a plain interpreter prints, for programs that have no
output yet. Exit code 1 where a program is accused or prints something else.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

from spanproof.sandbox import Execution, Limits, Program, Sandbox
from spanproof.sandbox.registry import open_sandbox

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
INTERPRETERS = {".py": sys.executable, ".sh": "bash", ".mjs": "node"}


def main() -> int:
    """Run what the command line says."""
    arguments = parse_arguments()
    paths = [path for path in list_programs() if not arguments.names or path.name in arguments.names]
    if arguments.record:
        for path in paths:
            if not path.with_suffix(".out").exists():
                path.with_suffix(".out").write_text(run_plain(path), encoding="utf-8")
        return 0
    failed = 0
    with (
        open_sandbox("jail", workers=arguments.workers, settings={"tier": arguments.tier}) as sandbox,
        ThreadPoolExecutor(arguments.workers) as pool,
    ):
        executions = pool.map(lambda path: run_in_jail(sandbox, path), paths)
        for path, execution in zip(paths, executions, strict=True):
            problems = list_problems(execution, path.with_suffix(".out").read_text(encoding="utf-8"))
            failed += bool(problems)
            for problem in problems[:SHOWN]:
                print(f"{path.name}: {problem}", flush=True)
            if len(problems) > SHOWN:
                print(f"{path.name}: {len(problems) - SHOWN} more", flush=True)
    print(f"{failed} of {len(paths)} programs are accused or print something else")
    return int(failed > 0)


def parse_arguments() -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--tier", choices=("full", "reduced"), default="full")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--record", action="store_true")
    parser.add_argument("names", nargs="*", metavar="NAME")
    return parser.parse_args()


def list_programs() -> list[Path]:
    """List the programs by name."""
    return sorted(path for path in PROGRAMS.iterdir() if path.suffix in LANGUAGES)


def run_in_jail(sandbox: Sandbox, path: Path) -> Execution:
    """Run a program by itself."""
    source = path.read_text(encoding="utf-8")
    return sandbox.run(Program(LANGUAGES[path.suffix], source, limits=get_limits(path)))


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


def run_plain(path: Path) -> str:
    """Return what a program prints in an empty directory outside.

    Raises:
        RuntimeError: it fails there, too.
    """
    environment = {**os.environ, "PYTHONHASHSEED": "0"}
    with tempfile.TemporaryDirectory() as directory:
        done = subprocess.run(
            [INTERPRETERS[path.suffix], str(path)],
            cwd=directory,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
    if done.returncode != 0:
        raise RuntimeError(f"{path.name} ends with {done.returncode}: {done.stderr[-500:]}")
    return done.stdout


if __name__ == "__main__":
    sys.exit(main())
