"""What a step leaves running is on the step's record, whenever it acts; no step answers for a later one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from .snippets.sessions import SESSIONS, HostileSession

HERE = Path(__file__).parent
WALLS = ["root", "user", "reduced-root", "reduced-user"] if os.geteuid() == 0 else ["user"]
NO_NAMES = frozenset({"a name is looked up by an earlier step"})
"""Where the query itself is held, its task is known, and the later step has no part in it."""


@pytest.fixture(scope="module", params=WALLS)
def found(request: pytest.FixtureRequest) -> dict[str, list[dict[str, Any]]]:
    command = [sys.executable, str(HERE / "run_sessions.py")]
    if request.param.startswith("reduced"):
        user = request.param.removeprefix("reduced-")
        command = [sys.executable, str(HERE / "container.py"), user, *command, "tier=reduced"]
    elif request.param == "user" and os.geteuid() == 0:
        command = [sys.executable, str(HERE / "unprivileged.py"), *command]
    rows = [{"steps": each.steps, "pause_s": each.pause_s} for each in SESSIONS]
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(command, input=lines, capture_output=True, text=True, check=False, env=environment)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(answers) == len(SESSIONS), done.stderr[-2000:]
    return dict(zip((each.name for each in SESSIONS), answers, strict=True))


@pytest.mark.parametrize("session", SESSIONS, ids=lambda each: each.name)
def test_each_step_answers_for_what_it_began_and_no_other_does(
    session: HostileSession, found: dict[str, list[dict[str, Any]]]
) -> None:
    steps = found[session.name]
    for number, step in enumerate(steps):
        wanted = session.on_record.get(number)
        if wanted is None:
            assert step["refused"] == [], (number, steps)
        else:
            kind, fragment = wanted
            assert any(k == kind and fragment in target for k, target in step["refused"]), (number, steps)
        if number in session.unsure:
            assert not step["whole"] or session.name in NO_NAMES, (number, steps)
        elif wanted is None:
            assert step["whole"], (number, steps)
        if number in session.results:
            assert step["text"] == session.results[number], (number, steps)


def test_the_names_are_distinct() -> None:
    names = [each.name for each in SESSIONS]
    assert len(set(names)) == len(names)
    assert all(asdict(each) for each in SESSIONS)
