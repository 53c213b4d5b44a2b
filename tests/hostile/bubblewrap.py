"""The hostile programs behind bubblewrap alone, for the comparison of docs/sandbox.md.

Usage: `python tests/hostile/bubblewrap.py`. It runs those that look for files, rights, the network, the host
and earlier runs, in Python and bash. Those that use up memory, disk or processes are left out: it bounds
none of that. The judgement is that of `table.py`: what a program printed, and the canaries of this machine.

Root's run as a user: to a program that root starts, bubblewrap leaves the kernel's settings, so that one of
these (`kernel settings`) makes the machine's next crash run a program as root.
"""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from machine import SECRET, Machine, exposed
from snippets import evasions, files, generated, network, origins, privileges, resolution
from snippets.model import Hostile

HERE = Path(__file__).parent
KINDS = (files, network, privileges, origins, resolution, generated, evasions)
TIMEOUT_S = 20.0
_GIB = 1 << 30


def programs() -> Iterator[Hostile]:
    """Yield those that use up nothing."""
    for kind in KINDS:
        yield from (one for one in kind.SNIPPETS if one.language in ("python", "bash") and not one.recorded)


def command(workplace: Path, language: str) -> list[str]:
    """Return the command line: all unshared, the system and the interpreter read-only, no other file."""
    prefixes = {sys.prefix, sys.base_prefix}
    seen = [word for path in ("/usr", *sorted(prefixes)) for word in ("--ro-bind", path, path)]
    links = [word for name in ("bin", "lib", "lib64") for word in ("--symlink", f"usr/{name}", f"/{name}")]
    own = ["--bind", str(workplace), "/box", "--chdir", "/box", "--tmpfs", "/tmp"]
    base = [
        str(shutil.which("bwrap")),
        "--unshare-all",
        "--die-with-parent",
        "--new-session",
        "--clearenv",
        "--proc",
        "/proc",
    ]
    run = [sys.executable, "-I", "/box/program"] if language == "python" else ["/bin/bash", "/box/program"]
    as_user = [sys.executable, str(HERE / "unprivileged.py")] if os.geteuid() == 0 else []
    return [*as_user, *base, "--dev", "/dev", *seen, *links, *own, *run]


def bound() -> None:
    """Keep a program from harming the machine where bubblewrap does not."""
    for kind, value in ((resource.RLIMIT_AS, 8 * _GIB), (resource.RLIMIT_FSIZE, _GIB // 8)):
        resource.setrlimit(kind, (value, value))


def is_contained(program: Hostile, machine: Machine) -> bool:
    """Run a program; whether it got nothing that it must not get."""
    with tempfile.TemporaryDirectory() as directory:
        workplace = Path(directory)
        workplace.chmod(0o777)
        (workplace / "program").write_text(machine.filled(program.source, os.getpid()))
        words = command(workplace, program.language)
        environment = {**os.environ, "SPANPROOF_CANARY": SECRET}
        try:
            done = subprocess.run(
                words,
                capture_output=True,
                timeout=TIMEOUT_S,
                env=environment,
                check=False,
                errors="replace",
                preexec_fn=bound,
            )
        except subprocess.TimeoutExpired:
            return True
        return "BREACH" not in done.stdout and SECRET not in done.stdout + done.stderr


def main() -> None:
    """Run them, and count."""
    with tempfile.TemporaryDirectory() as directory:
        Path(directory).chmod(0o755)
        with exposed(Path(directory)) as machine:
            found = {program.name: is_contained(program, machine) for program in programs()}
            if changes := machine.changes():
                print(f"this machine was reached: {changes}")
    for name, contained in found.items():
        if not contained:
            print(f"not contained: {name}", file=sys.stderr)
    print(f"bubblewrap: {sum(found.values())} of {len(found)} contained, none of them recorded")


if __name__ == "__main__":
    main()
