"""Hostile sessions and programs behind a wall, each followed by a program that looks for what it left."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from .snippets import HOSTILE, exits, judges, leftovers, machine_view
from .snippets.sessions import SESSIONS

HERE = Path(__file__).parent
WALLS = ["root", "user", "reduced-root", "reduced-user"] if os.geteuid() == 0 else ["user"]
_CAN_BE_FOLLOWED = [
    each
    for each in HOSTILE
    if each.language in ("python", "bash") and each.recorded is None and "timeout" not in each.classes
]
_LEAVING = {each.name for module in (machine_view, exits, leftovers, judges) for each in module.SNIPPETS}
FOLLOWED = [each for number, each in enumerate(_CAN_BE_FOLLOWED) if number % 4 == 0 or each.name in _LEAVING]
"""Of each kind some, and all that act at the end of a program."""
NAMES = [each.name for each in (*SESSIONS, *FOLLOWED)]


def run_in_turn(wall: str) -> dict[str, dict[str, Any]]:
    """Return the steps of each session and program, by name, and what the next program saw of it."""
    command = [sys.executable, str(HERE / "run_in_turn.py")]
    if wall.startswith("reduced"):
        user = wall.removeprefix("reduced-")
        command = [sys.executable, str(HERE / "container.py"), user, *command, "tier=reduced"]
    elif wall == "user" and os.geteuid() == 0:
        command = [sys.executable, str(HERE / "unprivileged.py"), *command]
    rows = encode_rows()
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(command, input=lines, capture_output=True, text=True, check=False, env=environment)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(answers) == len(rows), done.stderr[-2000:]
    return dict(zip(NAMES, answers, strict=True))


def encode_rows() -> list[dict[str, Any]]:
    """Return sessions and programs as `run_in_turn.py` reads them, in the order of `NAMES`."""
    rows: list[dict[str, Any]] = [{"steps": each.steps, "pause_s": each.pause_s} for each in SESSIONS]
    for each in FOLLOWED:
        fields = ("source", "language", "timeout_s", "tests")
        rows.append({name: getattr(each, name) for name in fields})
    return rows
