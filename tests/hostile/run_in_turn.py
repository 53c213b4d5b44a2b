"""Runs sessions and programs from standard input, a JSON object a line, and prints what became of each.

Usage: `python run_in_turn.py [SETTING=VALUE …]`, in what plays the machine. After each of them a program
looks around in the same supervisor: what it sees is compared with what it saw there before any of them.
"""

from __future__ import annotations

import json
import secrets
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from spanproof.sandbox import (
    Execution,
    Limits,
    NoteKind,
    Program,
    Sandbox,
    SandboxBroken,
    SessionSpec,
    ToolAnswer,
    ToolRequest,
)
from spanproof.sandbox.registry import open_sandbox

SUPERVISORS = 4
COMMENTS = {"python": "#", "bash": "#"}


@dataclass(frozen=True)
class Place:
    """A sandbox of one supervisor, and what a program sees in it that nothing ran before."""

    sandbox: Sandbox
    view: dict[str, Any]


class Viewer:
    """Shows what is around a program, and whether it finds the marker that every text carries."""

    def __init__(self) -> None:
        self.marker = secrets.token_hex(12)
        half = len(self.marker) // 2
        text = Path(__file__).with_name("view_guest.py").read_text()
        text = text.replace("@HEAD", self.marker[:half]).replace("@TAIL", self.marker[half:][::-1])
        self._text = text.replace("@PREFIX", sys.prefix)

    def mark(self, text: str, language: str = "python") -> str:
        """Return a program's text with the marker in it."""
        return f"{text}\n{COMMENTS[language]} {self.marker}\n"

    def look(self, sandbox: Sandbox) -> dict[str, Any]:
        """Return what the next program in this supervisor sees."""
        execution = sandbox.run(Program("python", self._text))
        view: dict[str, Any] = json.loads(execution.stdout or json.dumps({"ended": repr(execution)}))
        return view


def run_row(place: Place, viewer: Viewer, row: dict[str, Any]) -> dict[str, Any]:
    """Run a session or a program, and return its steps with what the next program sees that it should not."""
    if "steps" in row:
        steps = run_session(place.sandbox, [viewer.mark(each) for each in row["steps"]], row["pause_s"])
    else:
        limits = Limits(wall_s=row["timeout_s"], cpu_s=row["timeout_s"])
        source = viewer.mark(row["source"], row["language"])
        program = Program(row["language"], source, tests=row["tests"], limits=limits)
        steps = [encode(place.sandbox.run(program))]
    view = viewer.look(place.sandbox)
    changed = {name: view[name] for name in view if view[name] != place.view.get(name)}
    return {"steps": steps, "next": changed}


def run_session(sandbox: Sandbox, sources: list[str], pause_s: float) -> list[dict[str, Any]]:
    """Return what became of the steps, up to the one that ended the session where one did."""
    with sandbox.session(SessionSpec(), no_tool) as session:
        executions = []
        with suppress(SandboxBroken):  # a step ended the session: the rest is missing from what is returned
            for source in sources:
                executions.append(session.execute(source))
                time.sleep(pause_s)
    found = session.amended()
    return [encode(found.get(number, execution)) for number, execution in enumerate(executions)]


def no_tool(request: ToolRequest) -> ToolAnswer:
    return ToolAnswer(error_type="LookupError", error_message=request.tool)


def encode(execution: Execution) -> dict[str, Any]:
    return {
        "class": execution.failure_class.value,
        "tier": execution.tier.value,
        "text": execution.result_text,
        "output": execution.stdout + execution.stderr,
        "whole": execution.attempts_whole,
        "left": sum(each.count for each in execution.notes if each.kind is NoteKind.LEFT_RUNNING),
        "refused": [[each.kind.value, each.target] for each in execution.attempts if not each.allowed],
    }


def run_rows(opened: list[Sandbox], rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Run rows in sandboxes of one supervisor each, and return what became of them, in their order."""
    viewer, places = Viewer(), SimpleQueue[Place]()
    for sandbox in opened:
        places.put(Place(sandbox, viewer.look(sandbox)))

    def turn(row: dict[str, Any]) -> dict[str, Any]:
        place = places.get()
        try:
            return run_row(place, viewer, row)
        finally:
            places.put(place)

    with ThreadPoolExecutor(len(opened)) as pool:
        return list(pool.map(turn, rows))


def main() -> None:
    settings = dict(word.split("=", 1) for word in sys.argv[1:])
    rows = [json.loads(line) for line in sys.stdin]
    with ExitStack() as stack:
        opened = [
            stack.enter_context(open_sandbox("jail", workers=1, settings=settings))
            for _ in range(SUPERVISORS)
        ]
        for answer in run_rows(opened, rows):
            print(json.dumps(answer))


if __name__ == "__main__":
    main()
