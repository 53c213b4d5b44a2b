"""The table of docs/sandbox.md: hostile and ordinary programs behind each wall, counted.

Usage, as root, from the repository: `python tests/hostile/table.py [WALL…]`, a wall being one of

    full-root, full-user             the jail's full tier
    reduced-root, reduced-user       its reduced tier, in what Docker's default profile leaves
    runc, runc-default               containers, under the jail's list of system calls, under Docker's own
    runsc                            gVisor's containers
    podman                           containers of an unprivileged user's podman, where it can run any

and all of them by default. Each prints a row, and on stderr what was not contained, what has another record
than in the full tier, and what harmed an ordinary program. Daemons and images are made as the tests make
them. The judgement is that of the tests: what a program printed, and this machine's canaries afterwards.
"""

from __future__ import annotations

import json
import os
import runpy
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from machine import SECRET, Machine, exposed
from reduced_differences import DIFFERENCES
from snippets import HOSTILE, WITHOUT_NODE

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "plugins"))
_ORDINARY_FILE = HERE.parent / "sandbox" / "backends" / "jail" / "test_jail_ordinary.py"
ORDINARY = runpy.run_path(str(_ORDINARY_FILE), run_name="ordinary")["ORDINARY"]
RUN = [sys.executable, "-m", "spanproof.cli", "sandbox", "run", "--jsonl", "--workers", "2"]
TITLES = {
    "full-root": "jail, full tier, as root",
    "full-user": "jail, full tier, as a user",
    "reduced-root": "jail, reduced tier, as root",
    "reduced-user": "jail, reduced tier, as a user",
    "runc": "docker: runc, `seccomp=own`",
    "runc-default": "docker: runc, `seccomp=default`",
    "runsc": "docker: runsc",
    "podman": "docker: rootless podman",
}
"""Of each wall, in the table."""
REDUCED = ("reduced-root", "reduced-user")
SETTINGS = {"runc": (), "runc-default": ("seccomp=default",), "runsc": ("runtime=runsc",), "podman": ()}


@contextmanager
def command_for(wall: str) -> Iterator[list[str]]:
    """The command line that runs programs behind a wall."""
    if wall == "full-root":
        yield RUN
    elif wall == "full-user":
        yield [sys.executable, str(HERE / "unprivileged.py"), *RUN]
    elif wall in REDUCED:
        within = [sys.executable, str(HERE / "container.py"), wall.removeprefix("reduced-")]
        yield [*within, *RUN, "--set", "tier=reduced"]
    else:
        with daemon_for(wall) as (host, image):
            settings = (f"host={host}", f"image={image}", *SETTINGS[wall])
            yield [*RUN, "--backend", "docker", *(word for one in settings for word in ("--set", one))]


@contextmanager
def daemon_for(wall: str) -> Iterator[tuple[str, str]]:
    """A daemon of our own, and its image."""
    import docker_daemon
    import podman_service

    with tempfile.TemporaryDirectory(prefix="spanproof-table-") as shared:
        daemon = podman_service.running if wall == "podman" else docker_daemon.running
        with daemon(Path(shared)) as found:
            yield found.host, found.image


def rows_for(machine: Machine, wall: str) -> list[dict[str, Any]]:
    """All programs, as lines of the command."""
    host_pid = 2 if wall in REDUCED else os.getpid()
    hostile = [
        {
            "id": f"hostile: {one.name}",
            "language": one.language,
            "source": machine.filled(one.source, host_pid),
            "timeout_s": one.timeout_s,
            "http": one.recorded,
            "tests": one.tests,
        }
        for one in programs_of(wall)
    ]
    ordinary = [
        {"id": f"ordinary: {name}", "language": "python", "source": text, "timeout_s": 120}
        for name, text in ORDINARY.items()
    ]
    return hostile + ordinary


def programs_of(wall: str) -> tuple[Any, ...]:
    """The hostile programs that can run behind a wall."""
    return WITHOUT_NODE if wall in SETTINGS else HOSTILE


def answers_of(command: list[str], rows: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """What became of each program."""
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    environment = {**os.environ, "SPANPROOF_CANARY": SECRET, "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(command, input=lines, capture_output=True, text=True, env=environment, check=False)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    if len(answers) != len(rows):
        sys.exit(f"not all programs were answered:\n{done.stderr[-2000:]}")
    return {answer["id"]: answer for answer in answers}


def is_contained(snippet: Any, answer: dict[str, Any], wall: str) -> bool:
    """Whether it got nothing that it must not get, and ended."""
    if "error" in answer:
        return False
    accepted = DIFFERENCES[snippet.name].prints if wall in REDUCED and snippet.name in DIFFERENCES else ""
    printed = answer["stdout"].replace(accepted, "") if accepted else answer["stdout"]
    return "BREACH" not in printed and SECRET not in printed + answer["stderr"]


def is_reported(snippet: Any, answer: dict[str, Any], machine: Machine) -> bool:
    """Whether attempt and end are on_record as in the full tier."""
    if "error" in answer or (snippet.classes and answer["failure_class"] not in snippet.classes):
        return False
    if not snippet.on_record:
        return True
    kind, fragment = snippet.on_record[0], machine.filled(snippet.on_record[1], os.getpid())
    return any(
        attempt["kind"] == kind
        and fragment in attempt["target"]
        and (snippet.on_record[0] == "process" or not attempt["allowed"])
        for attempt in answer["attempts"]
    )


def row_of(wall: str, machine: Machine) -> str:
    """Run all, and count."""
    with command_for(wall) as command:
        answers = answers_of(command, rows_for(machine, wall))
    hostile = [(one, answers[f"hostile: {one.name}"]) for one in programs_of(wall)]
    escaped = [one.name for one, answer in hostile if not is_contained(one, answer, wall)]
    unreported = [one.name for one, answer in hostile if not is_reported(one, answer, machine)]
    harmed = [name for name in ORDINARY if answers[f"ordinary: {name}"].get("failure_class") != "ok"]
    for what, names in (("not contained", escaped), ("recorded otherwise", unreported), ("harmed", harmed)):
        for name in names:
            answer = answers.get(f"hostile: {name}") or answers[f"ordinary: {name}"]
            said = answer.get("error") or f"{answer['failure_class']} {answer['stdout'][:100]!r}"
            print(f"{wall}: {what}: {name}: {said}", file=sys.stderr)
    if changes := machine.changes():
        sys.exit(f"{wall}: this machine was reached: {changes}")
    counts = [(len(hostile), escaped), (len(hostile), unreported), (len(ORDINARY), harmed)]
    return " | ".join(["", TITLES[wall], *(f"{of - len(bad)} of {of}" for of, bad in counts), ""]).strip()


def main() -> None:
    """Print the table."""
    walls = sys.argv[1:] or list(TITLES)
    for wall in walls:
        if wall not in TITLES:
            sys.exit(f"there is no wall {wall!r}; there are {', '.join(TITLES)}")
    print(
        "| where | contained | record as in the full tier | ordinary programs unharmed |\n|---|---|---|---|"
    )
    with tempfile.TemporaryDirectory() as directory:
        Path(directory).chmod(0o755)
        with exposed(Path(directory)) as machine:
            for wall in walls:
                print(row_of(wall, machine), flush=True)


if __name__ == "__main__":
    main()
